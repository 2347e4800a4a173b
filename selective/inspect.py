"""`gen-kernels inspect`: a report of what is in a model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..codegen.catalogue import open_catalogues
from ..codegen.diagnostics import Diagnostic, Location, Severity, has_errors
from ..codegen.model import CatalogueEntry
from ..codegen.toolchain import TARGETS
from .call_check import check_calls
from .call_ways import ways_lines
from .models import load_models
from .program import (
    DelegateCall,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    dtype_name,
)
from .ptd import read_tensors
from .report import (
    MISSING,
    POOL_COLUMNS,
    MethodFacts,
    ModelFacts,
    coverage_counts,
    model_facts,
    pool_rows,
    tensor_text,
    value_text,
)

_LARGEST = 5  # constants shown without --calls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("model", nargs="+", help="file, folder, pattern or '-', as for --model")
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        metavar="FILE",
        help="a .ptd file with tensors of the model; repeatable",
    )
    parser.add_argument(
        "--functions",
        action="append",
        default=[],
        metavar="FILE",
        help="a catalogue of your own, asked before the bundled ones; repeatable",
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default="",
        help="say which kernel runs each call on this target (cv32e40p: CORE-V instructions)",
    )
    parser.add_argument("--calls", action="store_true", help="list every instruction too")
    parser.add_argument("--json", action="store_true", help="print all facts as JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page of one file too")


def run_inspect(args: argparse.Namespace) -> tuple[str, tuple[Diagnostic, ...]]:
    """Text for standard output, and what is wrong with the models."""
    catalogues, problems = open_catalogues(args.functions, args.target)
    diagnostics = list(problems)
    models, found = load_models(args.model)
    diagnostics.extend(found)
    names, found = _data_names(args.data)
    diagnostics.extend(found)

    def find(name: str) -> CatalogueEntry | None:
        return next((entry for c in catalogues if (entry := c.find(name)) is not None), None)

    facts = [model_facts(model, find, names, bool(args.target)) for model in models]
    for item in facts:
        diagnostics.extend(_missing_data(item))
    if has_errors(diagnostics):
        return "", tuple(diagnostics)
    diagnostics.extend(check_calls(models, find))
    if args.html is not None:
        from ..codegen.output import write_files
        from .inspect_html import page

        _, found = write_files({args.html.name: page(facts)}, args.html.parent)
        diagnostics.extend(found)
    if args.json:
        import json

        from .report_json import model_json

        document = [model_json(item) for item in facts]
        return json.dumps(document, indent=2, allow_nan=False) + "\n", tuple(diagnostics)
    return "\n".join(text_report(item, args.calls) for item in facts), tuple(diagnostics)


def _data_names(
    files: Sequence[str],
) -> tuple[frozenset[str] | None, tuple[Diagnostic, ...]]:
    """The names of all tensors in the data files; None when there are no files."""
    names: set[str] = set()
    diagnostics: list[Diagnostic] = []
    for file in files:
        tensors, problems = read_tensors(Path(file), file)
        diagnostics.extend(problems)
        names.update(tensor.name for tensor in tensors or ())
    return frozenset(names) if files else None, tuple(diagnostics)


def _missing_data(facts: ModelFacts) -> Iterator[Diagnostic]:
    if facts.missing_data:
        shown = ", ".join(facts.missing_data[:5]) + (" ..." if len(facts.missing_data) > 5 else "")
        count = len(facts.missing_data)
        message = f"{count} tensor{'s' * (count > 1)} of the model in no data file: {shown}"
        location = Location(facts.model.display)
        yield Diagnostic("GK207", message, location, severity=Severity.WARNING)


def text_report(facts: ModelFacts, with_calls: bool = False) -> str:
    """The report for a terminal; ends with a newline."""
    program = facts.model.program
    segments = sum(segment.size for segment in program.segments)
    lines = [
        f"{facts.model.display}: {program.size:,} bytes, of these {program.program_size:,} program"
        + (f" and {segments:,} in {_count(len(program.segments), 'segment')}" if segments else ""),
        f"{_count(len(facts.methods), 'method')}: "
        + ", ".join(item.method.name for item in facts.methods),
    ]
    if program.named_data:
        lines.append(f"named data: {_count(len(program.named_data), 'entry', 'entries')}")
        lines += [
            f"  {program.segments[index].size:>12,} bytes  {name}"
            for name, index in program.named_data[:_LARGEST]
        ]
        lines += _rest(len(program.named_data))
    for item in facts.methods:
        lines += ["", *_method_lines(item, with_calls)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _rest(number: int) -> list[str]:
    return [f"  ... and {number - _LARGEST} more"] if number > _LARGEST else []


def _method_lines(facts: MethodFacts, with_calls: bool) -> Iterator[str]:
    method = facts.method
    yield f"method {method.name}"
    for what, indices in (("input", method.inputs), ("output", method.outputs)):
        for number, index in enumerate(indices):
            yield f"  {what} {number:<3} {value_text(method, index)}"
    kinds = ", ".join(_count(count, name) for name, count in facts.counts.items())
    yield f"  {kinds or 'no instructions'}"
    if facts.dynamic:
        yield f"  {_count(len(facts.dynamic), 'tensor')} of dynamic shape"
    yield from _operator_lines(facts)
    for number, delegate in enumerate(method.delegates):
        place = f"segment {delegate.index}" if delegate.in_segment else "in the program"
        specs = ", ".join(f"{key} ({size} bytes)" for key, size in delegate.specs)
        yield (
            f"  delegate {number}: {delegate.id}, {delegate.size:,} bytes, {place}"
            f"{f'; {specs}' if specs else ''}"
        )
    yield from _memory_lines(facts)
    if facts.ways:
        yield "  which kernel runs each call"
        yield from ways_lines(facts.ways)
    if with_calls:
        yield "  instructions"
        computed = computed_values(method)
        for number, chain in enumerate(method.chains):
            for index, instruction in enumerate(chain.instructions):
                frames = chain.frames[index] if index < len(chain.frames) else ()
                source = f"   # {_printable(frames[-1].file)}:{frames[-1].line}" if frames else ""
                position = f"{number}/{index}" if number else str(index)
                text = instruction_text(method, instruction, computed)
                yield f"    {position:>5}  {text}{source}"


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)


def _operator_lines(facts: MethodFacts) -> Iterator[str]:
    if not facts.operators:
        yield "  no operators: everything runs in delegates" if facts.counts else "  no operators"
        return
    rows = [("operator", "calls", "kernel", "", "dtypes")]
    for operator in facts.operators:
        source = ", ".join(operator.sources) or ", ".join(operator.kernels)
        shown = "" if operator.coverage == MISSING else source
        dtypes = ", ".join(map(dtype_name, operator.dtypes))
        rows.append((operator.name, str(len(operator.positions)), operator.coverage, shown, dtypes))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for name, number, kernel, source, dtypes in rows:
        yield (
            f"  {name:{widths[0]}}  {number:>{widths[1]}}  {kernel:{widths[2]}}  "
            f"{source:{widths[3]}}  {dtypes}"
        )
    counts = coverage_counts(facts)
    yield "  coverage (calls): " + ", ".join(f"{count} {name}" for name, count in counts.items())


def _memory_lines(facts: MethodFacts) -> Iterator[str]:
    method = facts.method
    devices = {index: f", device {kind}:{number}" for index, kind, number in method.devices}
    for part in facts.memory:
        when = "before the first instruction" if part.peak_at < 0 else f"at {part.peak_at}"
        yield (
            f"  planned buffer {part.buffer}: {part.size:,} bytes, most in use {part.peak:,} {when}"
            f"{devices.get(part.buffer, '')}"
        )
    yield from _pool_lines(facts)
    if facts.state:
        total = sum(_bytes(method, index) for index in facts.state)
        yield f"  state kept between runs: {_count(len(facts.state), 'tensor')}, {total:,} bytes"
    if facts.constants:
        total = facts.constant_bytes
        yield f"  {_count(len(facts.constants), 'constant')}, {total:,} bytes; the largest:"
        for item in facts.constants[:_LARGEST]:
            name = f"  {item.name}" if item.name else ""
            place = " (in a .ptd file)" if item.external else ""
            yield f"  {item.tensor.nbytes:>12,} bytes  {tensor_text(item.tensor)}{name}{place}"
        yield from _rest(len(facts.constants))


def _pool_lines(facts: MethodFacts) -> Iterator[str]:
    """Sizes of the pools, as memory_plan.h gives them."""
    for name, *numbers in (POOL_COLUMNS, *pool_rows(facts)):
        yield f"  {name:30}" + "".join(f"  {number:>9}" for number in numbers)


def _bytes(method: Method, index: int) -> int:
    tensor = method.values[index].tensor
    return tensor.nbytes if tensor is not None else 0


def computed_values(method: Method) -> frozenset[int]:
    """Numbers that instructions write: what the file says of them is only a placeholder."""
    found: set[int] = set()
    for chain in method.chains:
        for item in chain.instructions:
            written = item.args[-1:] if isinstance(item, KernelCall) else ()
            written = (item.target,) if isinstance(item, MoveCall) else written
            found.update(index for index in written if method.values[index].tensor is None)
    return frozenset(found)


def instruction_text(
    method: Method, instruction: Instruction, computed: frozenset[int] = frozenset()
) -> str:
    """One instruction in short: "aten::add.out(%0 Float[2, 3], %1 Float[2, 3], 1) -> %2"."""

    def texts(indices: Sequence[int]) -> list[str]:
        return [_argument(method, index, computed) for index in indices]

    if isinstance(instruction, KernelCall):
        args = ", ".join(texts(instruction.args[:-1]))
        result = "".join(f" -> {text}" for text in texts(instruction.args[-1:]))
        return f"{method.operators[instruction.operator]}({args}){result}"
    if isinstance(instruction, DelegateCall):
        name = method.delegates[instruction.delegate].id
        return f"delegate {instruction.delegate} {name}({', '.join(texts(instruction.args))})"
    if isinstance(instruction, MoveCall):
        return f"move {texts([instruction.source])[0]} -> %{instruction.target}"
    if isinstance(instruction, JumpFalseCall):
        return f"if not %{instruction.condition}: go to {instruction.destination}"
    assert isinstance(instruction, FreeCall)
    return f"free %{instruction.value}"


def _argument(method: Method, index: int, computed: frozenset[int]) -> str:
    if index in computed:
        return f"%{index} {method.values[index].kind.name.lower()}"
    text = value_text(method, index)
    return f"%{index} {text}" if method.values[index].tensor is not None else text
