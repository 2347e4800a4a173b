"""`gen-kernels catalogue lint` and `import`: look after catalogues.

Lint reads a user's catalogues as generation does and looks further: what is valid but surely not
meant, what cannot be called from a model, and which catalogue wins an operator.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .catalogue import FUNCTIONS, Catalogue, open_catalogues
from .cpp import argument_conversion, return_type
from .diagnostics import Diagnostic, Location, Severity, has_errors
from .model import CatalogueEntry

KERNELS = FUNCTIONS.parent / "kernels"
"""The folder that `source` keys are relative to."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    lint = commands.add_parser("lint", help="check catalogues of your own", allow_abbrev=False)
    lint.add_argument("files", nargs="+", metavar="FILE", help="in the order of --functions")
    refresh = commands.add_parser(
        "import",
        help="refresh the bundled catalogues from installed torch and executorch packages",
        allow_abbrev=False,
    )
    refresh.add_argument(
        "--python", default="", metavar="FILE", help="interpreter of the environment they are in"
    )
    refresh.add_argument(
        "--executorch", default="", metavar="DIR", help="the executorch package, when not there"
    )
    refresh.add_argument(
        "--out", type=Path, default=FUNCTIONS, metavar="DIR", help="folder of the catalogues"
    )
    refresh.add_argument("--dry-run", action="store_true", help="show the difference only")


def run_catalogue(args: argparse.Namespace) -> tuple[str, tuple[Diagnostic, ...]]:
    """Text for standard output, and diagnostics."""
    if args.action == "lint":
        return lint(args.files)
    from .catalogue_import import run_import

    return run_import(args.python, args.executorch, args.out, args.dry_run)


def lint(files: Sequence[str]) -> tuple[str, tuple[Diagnostic, ...]]:
    """Check the files, given as the user wrote them, in priority order."""
    catalogues, _ = open_catalogues(files)
    own = catalogues[: len(files)]
    diagnostics: list[Diagnostic] = []
    lines: list[str] = []
    for catalogue in own:
        entries = catalogue.entries()
        diagnostics += catalogue.diagnostics
        for entry in entries:
            for found in check_entry(entry, catalogues):
                line = catalogue.source_line(found.location.line)
                diagnostics.append(found._replace(source_line=line))
        kernels = [kernel for entry in entries for kernel in entry.kernels]
        keys = sum(len(kernel.keys) for kernel in kernels)
        counts = [f"{len(entries)} operators", f"{len(kernels)} kernels"]
        counts += [f"{keys} kernel keys"] if keys else []
        lines.append(f"{catalogue.display}: {', '.join(counts)}")
    if has_errors(diagnostics):
        return "", tuple(diagnostics)
    lines += [f"  {line}" for line in winners(catalogues, own)]
    return "".join(f"{line}\n" for line in lines), tuple(diagnostics)


def winners(catalogues: Sequence[Catalogue], own: Sequence[Catalogue]) -> list[str]:
    """One line for each operator of `own` that several catalogues have: who serves it."""
    lines = []
    for name in sorted({name for catalogue in own for name in catalogue.names}):
        entries = [entry for c in catalogues if (entry := c.find(name)) is not None]
        places = [f"{e.location.file}:{e.location.line}" for e in entries]
        if len(places) > 1:
            lines.append(f"{name}: {places[0]} goes before {', '.join(places[1:])}")
    return lines


def check_entry(entry: CatalogueEntry, catalogues: Sequence[Catalogue]) -> list[Diagnostic]:
    """What is suspicious about a valid entry of one of the catalogues."""
    found: list[Diagnostic] = []

    def warn(code: str, message: str, where: Location, hint: str = "") -> None:
        found.append(Diagnostic(code, message, where, hint, severity=Severity.WARNING))

    schema = entry.schema
    if not entry.boxed:
        for argument in schema.arguments:
            if argument_conversion(argument) is None:
                what = f"argument '{argument.name}' of {schema.name} has type {argument.type}"
                hint = "models can carry tensors, numbers, strings, and lists and options of them"
                warn("GK173", f"{what}: no model can carry it", entry.location, hint)
        if return_type(schema) is None or not any(a.is_write for a in schema.arguments):
            hint = "give it an out argument: *, Tensor(a!) out) -> Tensor(a!)"
            warn("GK174", f"{schema.name} is not an out variant", entry.location, hint)
    outs = [a for a in schema.out if not a.name.startswith("_scratch_")]
    if schema.out and schema.returns and len(outs) != len(schema.returns):
        what = f"{schema.name} has {len(outs)} out arguments and returns {len(schema.returns)}"
        warn("GK170", what, entry.location, "an out variant returns its out arguments")
    for kernel in entry.kernels:
        if "::native::native::" in kernel.symbol:
            hint = "'native' is added to every kernel_name: leave it out"
            warn("GK171", f"the kernel is looked for as {kernel.symbol}", kernel.location, hint)
        if kernel.source is not None and not (KERNELS / kernel.source).is_file():
            hint = "'source' names files of this package; your own need none"
            warn("GK175", f"there is no kernels/{kernel.source}", kernel.location, hint)
    same = [other for c in catalogues if (other := c.find(entry.name)) is not None]
    if all(kernel.keys for other in same for kernel in other.kernels):
        hint = "add a kernel with `arg_meta: null`"
        warn("GK176", f"{schema.name} has no fallback for other tensors", entry.location, hint)
    return found
