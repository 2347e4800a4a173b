"""`gen-kernels explain`: an operator (overloads, kernels, arguments) or an error code."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from .aten_schemas import aten_names, aten_overloads
from .catalogue import TARGET_OF, Catalogue, open_catalogues
from .cpp import argument_conversion
from .diagnostics import Diagnostic, Location
from .model import CatalogueEntry
from .node_reader import did_you_mean
from .schema import BaseType, Schema, base_type
from .schema_parser import SchemaError, parse_operator_name, parse_schema

_COMMAND_LINE = Location("<command line>")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "subject",
        nargs="?",
        help="an operator (aten::abs, add.out, quantized_add) or an error code (GK350); "
        "without: list all error codes",
    )
    parser.add_argument(
        "--functions",
        action="append",
        default=[],
        metavar="FILE",
        help="a catalogue of your own, asked before the bundled ones; repeatable",
    )


def run_explain(args: argparse.Namespace) -> tuple[str, tuple[Diagnostic, ...]]:
    """Text for standard output, and what is wrong with the question."""
    subject = (args.subject or "").strip()
    if not subject or re.fullmatch(r"(?i)gk\d+", subject):
        return _explain_code(subject.upper())
    catalogues, diagnostics = open_catalogues(args.functions, target=None)
    if diagnostics:
        return "", diagnostics
    return explain_operator(subject, catalogues)


def _explain_code(code: str) -> tuple[str, tuple[Diagnostic, ...]]:
    from .errors import ERRORS, explain

    if not code:
        return "".join(f"{known}  {ERRORS[known][0]}\n" for known in sorted(ERRORS)), ()
    text = explain(code)
    if text is None:
        hint = "`gen-kernels explain` lists them"
        message = f"no such error code: {code}"
        return "", (Diagnostic("GK001", message, _COMMAND_LINE, hint),)
    return text.rstrip("\n") + "\n", ()


def explain_operator(
    text: str, catalogues: Sequence[Catalogue]
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Every overload of an operator, what it is for, and which kernel serves it."""
    try:
        asked = parse_operator_name(text)
    except SchemaError as error:
        message = f"'{text}' is not an operator name: {error.message}"
        return "", (Diagnostic("GK185", message, _COMMAND_LINE, error.hint),)
    entries = catalogues_by_operator(catalogues)
    schemas = _overloads(asked.namespace, asked.base, entries)
    if asked.overload:
        schemas = [s for s in schemas if s.name.overload == asked.overload] or schemas
    if not schemas:
        hint = _nearest(asked.namespace, asked.base, entries)
        message = f"no operator '{text}' in ATen or in a catalogue"
        return "", (Diagnostic("GK185", message, _COMMAND_LINE, hint),)
    if asked.overload and schemas[0].name.overload != asked.overload:
        known = ", ".join(str(s.name) for s in schemas)
        message = f"{asked.base} has no overload '{asked.overload}'"
        return "", (Diagnostic("GK185", message, _COMMAND_LINE, f"its overloads: {known}"),)
    return "\n".join(_explain_overload(schema, entries) for schema in schemas), ()


def out_variant(schema: Schema, entries: dict[str, tuple[Catalogue, ...]]) -> Schema | None:
    """The out variant that export makes of a functional, in-place or view overload, if any."""
    base = schema.name.base
    bases = [base, base.removesuffix("_"), f"{base}_copy"]
    for candidate in (c for b in bases for c in _overloads(schema.name.namespace, b, entries)):
        if candidate.out and _inputs(candidate) == _inputs(schema):
            return candidate
    return None


def _inputs(schema: Schema) -> list[tuple[str, str]]:
    """Names and types of what goes in; out variants go without the options of a new tensor."""
    inputs = (*schema.positional, *schema.keyword_only)
    options = {"dtype", "layout", "device", "pin_memory"}
    if not options <= {a.name for a in inputs}:
        options = set()
    return [(a.name, str(a.type)) for a in inputs if a.name not in options]


def catalogues_by_operator(catalogues: Sequence[Catalogue]) -> dict[str, tuple[Catalogue, ...]]:
    """The catalogues that have an operator, in priority order."""
    found: dict[str, tuple[Catalogue, ...]] = {}
    for catalogue in catalogues:
        for name in catalogue.names:
            found[name] = (*found.get(name, ()), catalogue)
    return found


def _overloads(
    namespace: str, base: str, entries: dict[str, tuple[Catalogue, ...]]
) -> list[Schema]:
    """The overloads of `base` and its in-place form, run-time ones last within an operator."""
    schemas: dict[str, Schema] = {}
    bases = (base, f"{base}_")
    if namespace in ("", "aten"):
        for text in (t for b in bases for t in aten_overloads(b)):
            schemas[f"aten::{text.partition('(')[0]}"] = parse_schema(f"aten::{text}")
    for name, catalogues in entries.items():
        own, _, rest = name.partition("::")
        entry = catalogues[0].find(name) if rest.partition(".")[0] in bases else None
        if entry is not None and namespace in ("", own):
            schemas[name] = entry.schema
    return list(schemas.values())


def _nearest(namespace: str, base: str, entries: dict[str, tuple[Catalogue, ...]]) -> str:
    known = {f"aten::{name.partition('.')[0]}" for name in aten_names()}
    known |= {name.partition(".")[0] for name in entries}
    if namespace:
        return did_you_mean(f"{namespace}::{base}", sorted(known))
    bases = {name.rpartition("::")[2]: name for name in sorted(known)}
    from difflib import get_close_matches

    near = get_close_matches(base, bases, 3, 0.7)
    return f"did you mean {' or '.join(bases[b] for b in near)}?" if near else ""


def describe(schema: Schema) -> str:
    """What kind of overload it is, and what becomes of it on the way to a device."""
    if schema.out:
        if any(a.name.startswith("_scratch_") for a in schema.out):
            return "out variant with scratch memory: runs on the device"
        return "out variant: writes into memory that was planned; this is what runs on the device"
    if any(a.is_write for a in schema.positional):
        if schema.name.base.endswith("_") and not schema.name.base.startswith("__"):
            return "in place: overwrites its argument"
        return "mutating: overwrites an argument"
    if any(r.alias is not None for r in schema.returns):
        return "view: shares its argument's memory; export elides it or makes it a copy"
    if any(base_type(r.type) == BaseType("Tensor") for r in schema.returns):
        return "functional: allocates its result"
    return "returns plain values"


def _explain_overload(schema: Schema, entries: dict[str, tuple[Catalogue, ...]]) -> str:
    lines = [str(schema)]
    name = str(schema.name)
    catalogues = entries.get(name, ())
    found = [(c, entry) for c in catalogues if (entry := c.find(name)) is not None]
    boxed = bool(found) and found[0][1].boxed
    what = "part of the runtime: its kernel takes the stack as it is" if boxed else describe(schema)
    if not schema.out and not found and (variant := out_variant(schema, entries)) is not None:
        what += f"; to_executorch() turns it into {variant.name}"
    lines.append(f"  {what}")
    for catalogue, entry in found:
        lines += _kernel_lines(catalogue, entry)
    if not found and schema.out:
        lines.append("  kernel    none: no catalogue has it; give your own with --functions")
    if found:
        lines += _argument_lines(found[0][1])
    return "\n".join(lines) + "\n"


def _kernel_lines(catalogue: Catalogue, entry: CatalogueEntry) -> list[str]:
    lines = []
    for kernel in entry.kernels:
        when = f" for {len(kernel.keys)} kernel keys, first {kernel.keys[0]}" if kernel.keys else ""
        lines.append(f"  kernel    {kernel.symbol}{when}")
        if kernel.source:
            lines.append(f"  source    kernels/{kernel.source}")
        elif entry.bundled:
            lines.append("  source    not written yet")
        place = kernel.location
        target = TARGET_OF.get(catalogue.name) if catalogue.bundled else None
        condition = f" (used with --target {target})" if target else ""
        lines.append(f"  named in  {catalogue.display}:{place.line}{condition}")
    return lines


def _argument_lines(entry: CatalogueEntry) -> list[str]:
    """A table: position on the stack, name, schema type, C++ type of the kernel's parameter."""
    schema = entry.schema
    rows: list[tuple[str, str, str, str]] = []
    for position, argument in enumerate(schema.arguments):
        conversion = None if entry.boxed else argument_conversion(argument)
        cpp = "" if conversion is None else conversion.parameter
        cpp = cpp.replace("::executorch::aten::", "").replace("::std::", "std::")
        kind = str(argument._replace(default=None)).rpartition(" ")[0]
        default = "" if argument.default is None else f" = {argument.default}"
        role = "  (written)" if argument.is_write else ""
        rows.append((str(position), argument.name + default, kind, cpp + role))
    if entry.stack_size > len(schema.arguments):
        returns = ", ".join(str(r) for r in schema.returns) or "()"
        rows.append((str(len(rows)), "(result)", returns, ""))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"  arguments ({entry.stack_size} values on the stack)"]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append(f"    {'  '.join([*cells, row[3]])}".rstrip())
    return lines
