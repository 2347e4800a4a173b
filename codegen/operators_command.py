"""`gen-kernels ops`: list and filter the operators of the catalogues."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase

from .catalogue import TARGET_OF, Catalogue, open_catalogues
from .diagnostics import Diagnostic, Location
from .model import CatalogueEntry
from .node_reader import did_you_mean


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "pattern", nargs="*", help="names to list, with * and ? (aten::add*, *conv*); default: all"
    )
    parser.add_argument("--namespace", action="append", help="only these namespaces; repeatable")
    parser.add_argument("--catalogue", action="append", help="only these catalogues; repeatable")
    kernels = parser.add_mutually_exclusive_group()
    kernels.add_argument("--available", action="store_true", help="only those with a kernel")
    kernels.add_argument("--missing", action="store_true", help="only those without a kernel yet")
    parser.add_argument(
        "--target", default="", choices=("", *TARGET_OF.values()), help="take its own kernels too"
    )
    parser.add_argument("--schema", action="store_true", help="print whole schemas")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--functions",
        action="append",
        default=[],
        metavar="FILE",
        help="a catalogue of your own, asked before the bundled ones; repeatable",
    )


def run_ops(args: argparse.Namespace) -> tuple[str, tuple[Diagnostic, ...]]:
    """Text for standard output, and what is wrong with the question."""
    catalogues, diagnostics = open_catalogues(args.functions, args.target)
    problems = [
        *diagnostics,
        *_unknown("catalogue", args.catalogue, [c.name for c in catalogues]),
        *_unknown(
            "namespace", args.namespace, {_namespace(n) for c in catalogues for n in c.names}
        ),
    ]
    if problems:
        return "", tuple(problems)
    served = serving(catalogues)
    chosen = [entry for entry in served if _wanted(entry, args)]
    if not chosen and args.pattern:
        message = f"no operator matches {' or '.join(args.pattern)}"
        hint = did_you_mean(args.pattern[0], [entry.name for entry in served])
        return "", (Diagnostic("GK186", message, Location("<command line>"), hint),)
    if args.json:
        import json

        return json.dumps([as_json(entry) for entry in chosen], indent=2) + "\n", ()
    return _table(chosen, args.schema), ()


def serving(catalogues: Sequence[Catalogue]) -> list[CatalogueEntry]:
    """The entry that serves each operator (the first catalogue that has it), by name."""
    found: dict[str, CatalogueEntry] = {}
    for catalogue in catalogues:
        for entry in catalogue.entries():
            found.setdefault(entry.name, entry)
    return [found[name] for name in sorted(found)]


def is_available(entry: CatalogueEntry) -> bool:
    """Whether every kernel of the entry exists: a user's own, or one with a source."""
    return not entry.bundled or all(kernel.source for kernel in entry.kernels)


def as_json(entry: CatalogueEntry) -> dict[str, object]:
    """An entry as JSON."""
    return {
        "name": entry.name,
        "schema": str(entry.schema),
        "catalogue": entry.catalogue,
        "available": is_available(entry),
        "boxed": entry.boxed,
        "stack_size": entry.stack_size,
        "kernels": [
            {"symbol": k.symbol, "keys": list(k.keys), "source": k.source} for k in entry.kernels
        ],
    }


def _namespace(name: str) -> str:
    return name.partition("::")[0]


def _unknown(
    what: str, given: Sequence[str] | None, known: set[str] | list[str]
) -> list[Diagnostic]:
    names = sorted(known)
    return [
        Diagnostic(
            "GK186",
            f"no {what} '{name}'",
            Location("<command line>"),
            did_you_mean(name, names) or f"there are {', '.join(names)}",
        )
        for name in given or ()
        if name not in names
    ]


def _wanted(entry: CatalogueEntry, args: argparse.Namespace) -> bool:
    if args.namespace and _namespace(entry.name) not in args.namespace:
        return False
    if args.catalogue and entry.catalogue not in args.catalogue:
        return False
    if (args.available and not is_available(entry)) or (args.missing and is_available(entry)):
        return False
    bare = entry.name.partition("::")[2]
    return not args.pattern or any(
        fnmatchcase(entry.name, p) or fnmatchcase(bare, p) for p in args.pattern
    )


def _table(entries: Sequence[CatalogueEntry], schemas: bool) -> str:
    """One line an operator: name or schema, catalogue, source of its kernels."""
    rows = []
    for entry in entries:
        sources = sorted({k.source for k in entry.kernels if k.source})
        own = "missing" if entry.bundled else "yours"
        source = ", ".join(sources) if is_available(entry) and sources else own
        rows.append((str(entry.schema) if schemas else entry.name, entry.catalogue, source))
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
    lines = [f"{r[0]:{widths[0]}}  {r[1]:{widths[1]}}  {r[2]}" for r in rows]
    available = sum(is_available(entry) for entry in entries)
    lines.append(f"{len(entries)} operators, {available} with kernels")
    return "".join(f"{line}\n" for line in lines)
