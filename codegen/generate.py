"""The whole generation in memory: selectors and catalogues in, files and diagnostics out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..selective.selection import Selection
from .diagnostics import Diagnostic, Location, has_errors
from .model import CatalogueEntry, Plan
from .options import Options

if TYPE_CHECKING:
    from ..selective.models import Model
    from .catalogue import Catalogue

PACKAGE = Path(__file__).resolve().parent.parent

# What expressions in a user's template can raise besides Jinja's own errors.
_TEMPLATE_MISTAKES = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)


class Request(NamedTuple):
    """What to generate, as the user wrote it.

    `functions` are the user's catalogues, asked before the bundled ones, in this order. Without
    `our_kernels` the kernels come from elsewhere and no source is listed. Kernels with instructions
    of one core are used when it is the `target` (codegen.toolchain.TARGETS).
    """

    models: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    ops_files: tuple[str, ...] = ()
    include_all: bool = False
    exclude: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    library: str = "all"
    our_kernels: bool = True
    target: str = ""
    options: Options = Options()


class Generation(NamedTuple):
    """What came out. `files` is empty when a diagnostic is an error."""

    plan: Plan | None
    selection: Selection
    files: dict[str, str]
    inputs: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def generate(request: Request) -> Generation:
    """Load, select, resolve and render; writes nothing."""
    from ..selective.models import load_models
    from ..selective.select import select
    from .catalogue import open_catalogues
    from .resolve import resolve

    diagnostics: list[Diagnostic] = []
    catalogues, _ = open_catalogues(request.functions, request.target)
    names = sorted({name for catalogue in catalogues for name in catalogue.names})

    models, problems = load_models(request.models)
    diagnostics.extend(problems)
    selection, problems = select(
        models,
        ops=request.ops,
        ops_files=request.ops_files,
        include_all=request.include_all,
        exclude=request.exclude,
        known=names,
    )
    diagnostics.extend(problems)
    plan, problems = resolve(
        selection,
        catalogues,
        request.library,
        need_sources=request.our_kernels,
        incomplete=any(has_errors(c.diagnostics) for c in catalogues),
    )
    diagnostics.extend(problems)
    if plan is not None and not request.our_kernels:
        plan = _without_sources(plan)
    if models and plan is not None:
        from ..selective.call_check import check_calls

        entries = {o.entry.name: o.entry for o in plan.operators}
        diagnostics.extend(check_calls(models, entries.get))
    for catalogue in catalogues:
        diagnostics.extend(catalogue.diagnostics)
    inputs = (
        *dict.fromkeys(model.input for model in models),
        *request.ops_files,
        *request.functions,
        *(str(catalogue.path) for catalogue in catalogues if catalogue.bundled),
    )
    files: dict[str, str] = {}
    if plan is not None and not has_errors(diagnostics):
        files, problems = _render(plan, selection, request, models)
        diagnostics.extend(problems)
    return Generation(plan, selection, files, inputs, _with_lines(diagnostics, catalogues))


def _with_lines(
    diagnostics: Sequence[Diagnostic], catalogues: Sequence[Catalogue]
) -> tuple[Diagnostic, ...]:
    """The diagnostics, those about a place in a catalogue with its line."""
    by_file = {catalogue.display: catalogue for catalogue in catalogues}

    def with_line(found: Diagnostic) -> Diagnostic:
        where = found.location
        if found.source_line or not where.line or where.file not in by_file:
            return found
        return found._replace(source_line=by_file[where.file].source_line(where.line))

    return tuple(map(with_line, diagnostics))


def tool_files(options: Options) -> tuple[str, ...]:
    """Return the files of this package that shape the output, and the user's templates."""
    folders = [(PACKAGE / "codegen", "*.py"), (PACKAGE / "selective", "*.py")]
    folders += [(f, "*.j2") for f in (PACKAGE / "templates", options.template_dir) if f is not None]
    return tuple(str(path) for folder, pattern in folders for path in folder.glob(pattern))


def _render(
    plan: Plan, selection: Selection, request: Request, models: Sequence[Model]
) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    import jinja2

    from .render import render

    try:
        return render(plan, selection, request.options, models), ()
    except (jinja2.TemplateError, *_TEMPLATE_MISTAKES) as error:
        if request.options.template_dir is None:
            raise
        location = _template_location(error, request.options.template_dir)
        message = f"template error: {getattr(error, 'message', None) or error}"
        return {}, (Diagnostic("GK012", message, location),)


def _template_location(error: Exception, folder: Path) -> Location:
    """Where in a template the error is; Jinja makes tracebacks speak of templates."""
    line = getattr(error, "lineno", None)
    if line is not None:
        return Location(str(getattr(error, "filename", None) or folder), line)
    location = Location(str(folder))
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(".j2"):
            location = Location(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return location


def _without_sources(plan: Plan) -> Plan:
    def strip(entry: CatalogueEntry) -> CatalogueEntry:
        return entry._replace(kernels=tuple(k._replace(source=None) for k in entry.kernels))

    operators = tuple(o._replace(entry=strip(o.entry)) for o in plan.operators)
    return plan._replace(operators=operators)


def operator_facts(generation: Generation) -> list[dict[str, Any]]:
    """Each operator of the plan for a JSON report: what serves it, for what, who asked for it.

    `dtypes` is null when every dtype is kept; an instruction is [chain, index].
    """
    from ..selective.program import dtype_name

    return [
        {
            "name": entry.name,
            "catalogue": entry.catalogue,
            "kernels": [
                {"symbol": k.symbol, "keys": list(k.keys), "source": k.source}
                for k in entry.kernels
            ],
            "dtypes": None if selected.dtypes is None else [dtype_name(d) for d in selected.dtypes],
            "selected_by": [
                {"kind": origin.kind, "source": origin.source}
                | ({"method": origin.method} if origin.method else {})
                | ({"instruction": list(origin.instruction)} if origin.instruction[0] >= 0 else {})
                for origin in selected.origins
            ],
        }
        for entry, selected in (generation.plan.operators if generation.plan else ())
    ]


def summary(generation: Generation, models: Sequence[str]) -> str:
    """Return a short report: what was registered, and from which catalogue and source."""
    plan = generation.plan
    if plan is None:
        return ""
    asked = ", ".join(models) or "the selection"
    count = len(plan.operators)
    lines = [f"{count} operator{'' if count == 1 else 's'} in {asked}"]
    rows = [
        (o.entry.name, kernel.symbol, o.entry.catalogue, kernel.source or "")
        for o in plan.operators
        for kernel in o.entry.kernels
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines)
