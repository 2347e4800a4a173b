"""Resolve: a selection and catalogues in priority order give the plan of what to register."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ..selective.selection import Origin, SelectedOperator, Selection
from .cpp import argument_conversion, return_type
from .diagnostics import Diagnostic, Location, Severity, has_errors
from .model import CatalogueEntry, KernelSpec, Plan, PlannedOperator


class Operators(Protocol):
    """A catalogue as resolve sees it (codegen.catalogue.Catalogue)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators in the catalogue."""

    def find(self, name: str) -> CatalogueEntry | None:
        """Return the entry of operator `name`."""


class _Found(NamedTuple):
    """The entry that serves an operator, or the first one that would if it were written."""

    entry: CatalogueEntry | None
    unwritten: CatalogueEntry | None = None


def resolve(
    selection: Selection,
    catalogues: Sequence[Operators],
    library: str,
    need_sources: bool = True,
    incomplete: bool = False,
) -> tuple[Plan | None, tuple[Diagnostic, ...]]:
    """Find the kernels of every selected operator.

    The first catalogue with a kernel for an operator wins. `library` is the C identifier in the
    name of the registration function. With `need_sources` a bundled entry counts only when its
    kernels are written; without, the kernels come from elsewhere (ExecuTorch's own libraries).
    `incomplete` catalogues have entries that could not be read: an operator of a namespace that
    none of them knows may be one of those, and nothing is said of it.
    The plan is None when a diagnostic is an error.
    """
    planned: list[PlannedOperator] = []
    diagnostics: list[Diagnostic] = []
    left_out: list[str] = []
    explicit = {o.name for o in selection.operators if any(g.kind != "all" for g in o.origins)}
    for operator in _wanted(selection, catalogues):
        found = _find(operator.name, catalogues, need_sources)
        if found.entry is None:
            if found.unwritten is not None and operator.name not in explicit:
                left_out.append(operator.name)
            elif found.unwritten is not None:
                diagnostics.append(_unwritten(operator, found.unwritten))
            elif not (incomplete and _unknown_namespace(operator.name, catalogues)):
                diagnostics.append(_unknown(operator, catalogues))
            continue
        problems = _uncarriable(operator, found.entry)
        if problems:
            diagnostics.extend(problems)
            continue
        kernels, problem = _matching_kernels(operator, found.entry)
        if problem is not None:
            diagnostics.append(problem)
            continue
        planned.append(PlannedOperator(found.entry._replace(kernels=kernels), operator))
    if left_out:
        diagnostics.append(
            Diagnostic(
                "GK354",
                f"{len(left_out)} operators of the catalogues have no kernel yet and are left out",
                Location("<selection>"),
                notes=tuple(left_out),
                severity=Severity.NOTE,
            )
        )
    diagnostics.extend(_clashes(planned))
    if incomplete or has_errors(diagnostics):
        return None, tuple(diagnostics)
    return Plan(tuple(planned), library), tuple(diagnostics)


def _wanted(selection: Selection, catalogues: Sequence[Operators]) -> list[SelectedOperator]:
    operators = {o.name: o for o in selection.operators if o.root}
    if selection.include_all:
        origins = (Origin("all", "--all"),)
        for name in {n for c in catalogues for n in c.names}:
            operators.setdefault(name, SelectedOperator(name, origins=origins))
    return [operators[name] for name in sorted(operators)]


def _find(name: str, catalogues: Sequence[Operators], need_sources: bool) -> _Found:
    """First come, first served; one with specialised kernels alone gets the next one's fallback."""
    found: CatalogueEntry | None = None
    unwritten: CatalogueEntry | None = None
    for catalogue in catalogues:
        entry = catalogue.find(name)
        if entry is None:
            continue
        if entry.bundled and need_sources and any(k.source is None for k in entry.kernels):
            unwritten = unwritten or entry
        elif found is None:
            found = entry
        elif entry.schema.arguments == found.schema.arguments:
            found = found._replace(kernels=found.kernels + _fallback(entry))
        if found is not None and (found.boxed or _fallback(found)):
            break
    return _Found(found, unwritten)


def _fallback(entry: CatalogueEntry) -> tuple[KernelSpec, ...]:
    return tuple(k for k in entry.kernels if not k.keys)


def _matching_kernels(
    operator: SelectedOperator, entry: CatalogueEntry
) -> tuple[tuple[KernelSpec, ...], Diagnostic | None]:
    """Keep the kernels that the selected calls can reach, each with the keys they use."""
    if operator.dtypes is None or not operator.keys or not any(k.keys for k in entry.kernels):
        return entry.kernels, None
    used = set(operator.keys)
    kept = []
    covered: set[str] = set()
    for kernel in entry.kernels:
        keys = tuple(k for k in kernel.keys if k in used)
        if keys:
            kept.append(kernel._replace(keys=keys))
            covered.update(keys)
    missing = sorted(used - covered)
    fallback = _fallback(entry)
    if missing and not fallback:
        return (), Diagnostic(
            "GK353",
            f"no kernel of {operator.name} takes the tensors of a call: {missing[0]}",
            _place(operator),
            hint="add a kernel with `arg_meta: null` as the fallback, or one for these tensors",
            notes=(
                *_origin_notes(operator),
                f"its kernels are declared at {_where(entry.location)}",
            ),
        )
    return (*kept, *(fallback if missing else ())), None


def _uncarriable(operator: SelectedOperator, entry: CatalogueEntry) -> list[Diagnostic]:
    if entry.boxed:
        return []
    schema = entry.schema
    places = entry.argument_places or [entry.location] * len(schema.arguments)
    problems = [
        (f"argument '{a.name}' has type {a.type}", place)
        for a, place in zip(schema.arguments, places, strict=True)
        if argument_conversion(a) is None
    ]
    if return_type(schema) is None:
        returned = ", ".join(str(r.type) for r in schema.returns)
        problems.append((f"it returns ({returned}) by value", entry.location))
    return [
        Diagnostic(
            "GK352",
            f"{operator.name} cannot be called by the runtime: {problem}",
            place,
            hint="no EValue carries such a value; use another type, or an out variant",
            notes=_origin_notes(operator),
        )
        for problem, place in problems
    ]


def _unwritten(operator: SelectedOperator, entry: CatalogueEntry) -> Diagnostic:
    return Diagnostic(
        "GK351",
        f"no kernel for {operator.name}: this library does not have one yet",
        _place(operator),
        hint="give your own with --functions, or link another library's with --kernels none",
        notes=_origin_notes(operator),
    )


def _unknown(operator: SelectedOperator, catalogues: Sequence[Operators]) -> Diagnostic:
    names = sorted({n for c in catalogues for n in c.names})
    return Diagnostic(
        "GK350",
        f"no kernel for {operator.name}: no catalogue has this operator",
        _place(operator),
        hint=suggest(operator.name, names),
        notes=_origin_notes(operator),
    )


def _unknown_namespace(name: str, catalogues: Sequence[Operators]) -> bool:
    namespace = _parts(name)[0]
    return all(_parts(n)[0] != namespace for c in catalogues for n in c.names)


def suggest(name: str, names: Iterable[str]) -> str:
    """Say what to use instead of the unknown operator `name`, given the known ones."""
    known = sorted(names)
    namespace, base, overload = _parts(name)
    siblings = [n for n in known if _parts(n)[:2] == (namespace, base)]
    if siblings and not overload.endswith("out"):
        return f"{name} is not an out variant; use {_either(siblings)}"
    if siblings:
        return f"its overloads are {_either(siblings)}"
    import difflib

    bases = {_parts(n)[1] for n in known}
    near = [base] if base in bases else difflib.get_close_matches(base, bases, 2, cutoff=0.65)
    close = [n for n in known if _parts(n)[1] in near]
    if same := [n for n in close if _parts(n)[2] == overload]:
        close = same
    if close and (namespace in {_parts(n)[0] for n in known} or not namespace):
        return f"did you mean {_either(close)}?"
    if not any(n.startswith(f"{namespace}::") for n in known):
        return f"give the catalogue that has the operators of '{namespace}' with --functions"
    return "`gen-kernels ops` lists the operators that there are"


def _parts(name: str) -> tuple[str, str, str]:
    """Namespace, base name and overload of an operator's name."""
    namespace, _, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    return namespace, base, overload


def _either(names: Sequence[str]) -> str:
    shown = list(names[:6])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _clashes(planned: Sequence[PlannedOperator]) -> list[Diagnostic]:
    """Two kernels of one symbol whose parameters are equal must return the same."""
    seen: dict[tuple[str, tuple[str, ...]], tuple[str, CatalogueEntry]] = {}
    clashes = []
    for operator in planned:
        entry = operator.entry
        if entry.boxed:
            continue
        conversions = [argument_conversion(a) for a in entry.schema.arguments]
        parameters = tuple(c.parameter for c in conversions if c is not None)
        result = return_type(entry.schema) or ""
        for kernel in entry.kernels:
            other = seen.setdefault((kernel.symbol, parameters), (result, entry))
            if other[0] != result:
                clashes.append(
                    Diagnostic(
                        "GK355",
                        f"{entry.name} and {other[1].name} name the same kernel {kernel.symbol}, "
                        "but disagree in what it returns",
                        entry.location,
                        notes=(f"{other[1].name} is declared at {_where(other[1].location)}",),
                    )
                )
    return clashes


def _place(operator: SelectedOperator) -> Location:
    for origin in operator.origins:
        return Location("<command line>" if origin.kind in {"op", "all"} else origin.source)
    return Location("<selection>")


def describe_origin(origin: Origin) -> str:
    """Say in words who asked for an operator."""
    if origin.kind == "model":
        chain, index = origin.instruction
        place = f", method {origin.method}" if origin.method else ""
        if index >= 0:
            place += f", instruction {index}" + (f" of chain {chain}" if chain else "")
        return f"used by {origin.source}{place}"
    if origin.kind == "all":
        return "selected by --all"
    if origin.kind == "op":
        return f"selected by --op {origin.source}"
    return f"selected by {origin.source}"


def _origin_notes(operator: SelectedOperator) -> tuple[str, ...]:
    return tuple(describe_origin(o) for o in operator.origins[:4])


def _where(location: Location) -> str:
    return f"{location.file}:{location.line}" if location.line else location.file
