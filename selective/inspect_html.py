"""The report as one self-contained page: operators, coverage, planned memory over time.

Everything that the template prints is computed here; the template only places it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .call_ways import way_rows
from .memory_map import BEFORE, BufferMap, Occupant, instructions
from .program import (
    DelegateCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    dtype_name,
)
from .report import (
    POOL_COLUMNS,
    MethodFacts,
    ModelFacts,
    coverage_counts,
    pool_rows,
    tensor_text,
    value_text,
)

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"

_HEIGHT = 360.0  # of a plot, in pixels
_STEP, _WIDTH = 16.0, 880.0  # least width of an instruction, least width of a plot
_LEFT, _TOP, _RIGHT = 84.0, 30.0, 24.0  # room around a plot
_CHARACTER, _LINE = 6.7, 13.0  # of the labels' font
_TICK_STEPS = (1, 2, 5)
_MOST_CONSTANTS = 10  # rows of their table


class Label(NamedTuple):
    """A line of text in a box."""

    y: float
    text: str


class Box(NamedTuple):
    """An occupant as a rectangle, with the label that fits into it and the whole text."""

    x: float
    y: float
    width: float
    height: float
    role: str
    labels: tuple[Label, ...]
    title: str


class Tick(NamedTuple):
    """A mark on an axis."""

    at: float
    label: str


class Plot(NamedTuple):
    """The memory of one planned buffer over time, in pixels."""

    buffer: int
    size: int
    peak: int
    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    boxes: tuple[Box, ...]
    bytes_ticks: tuple[Tick, ...]
    time_ticks: tuple[Tick, ...]
    peak_x: float
    peak_width: float
    peak_label: str
    peak_label_x: float
    peak_anchor: str
    rows: tuple[tuple[str, ...], ...]


class Share(NamedTuple):
    """A part of the coverage bar; `percent` of all calls."""

    name: str
    calls: int
    percent: float


class Column(NamedTuple):
    """A column of a table: its title and the class of its cells, "code" or "number"."""

    title: str
    css: str


class ConstantTable(NamedTuple):
    """The largest constants of a method, with names when one has a name; `more` are left out."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int


def page(models: Sequence[ModelFacts]) -> str:
    """The page for some models, as HTML text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(bytes=lambda number: f"{number:,}", px=lambda number: f"{number:g}")
    environment.globals.update(
        shares=shares,
        plots=plots,
        pool_rows=pool_rows,
        pool_columns=POOL_COLUMNS,
        tensor_text=tensor_text,
        values=_value_rows,
        constants=constant_table,
        way_rows=way_rows,
        dtypes=lambda operator: ", ".join(map(dtype_name, operator.dtypes)),
    )
    return environment.get_template("inspect.html.j2").render(models=models)


def shares(facts: MethodFacts) -> tuple[Share, ...]:
    """The coverage of a method's calls, the largest part first."""
    counts = coverage_counts(facts)
    total = max(sum(counts.values()), 1)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(name, count, round(100 * count / total, 2)) for name, count in ordered)


def constant_table(facts: MethodFacts) -> ConstantTable:
    """The largest constants of a method that has some."""
    largest = facts.constants[:_MOST_CONSTANTS]
    columns = [Column("Value", "code"), Column("Bytes", "number"), Column("Type", "code")]
    rows: list[tuple[str, ...]] = [
        (f"%{c.value}", f"{c.tensor.nbytes:,}", tensor_text(c.tensor)) for c in largest
    ]
    names = [c.name + " (in a .ptd file)" * c.external for c in largest]
    if any(names):
        columns.append(Column("Name", "code"))
        rows = [(*row, name) for row, name in zip(rows, names, strict=True)]
    return ConstantTable(tuple(columns), tuple(rows), len(facts.constants) - len(largest))


def _value_rows(method: Method, indices: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Number and text of values."""
    return tuple((f"%{index}", value_text(method, index)) for index in indices)


def plots(facts: MethodFacts) -> tuple[Plot, ...]:
    """One plot for each planned buffer that holds something."""
    return tuple(_plot(facts.method, part) for part in facts.memory if part.occupants)


def _plot(method: Method, part: BufferMap) -> Plot:
    sequence = instructions(method)
    columns = len(sequence) + 1  # the first is the time before
    inner = max(_WIDTH, _STEP * columns)
    step = inner / columns
    scale = _HEIGHT / max(part.size, 1)
    names = [_instruction_name(method, item) for item in sequence]
    bottom = _TOP + _HEIGHT
    room = max(map(len, ["before", *names])) * _CHARACTER + 34
    peak_x = _LEFT + (part.peak_at - BEFORE) * step
    label = f"peak: {part.peak:,} bytes"
    to_the_left = peak_x > _LEFT + inner / 2
    return Plot(
        buffer=part.buffer,
        size=part.size,
        peak=part.peak,
        width=_LEFT + inner + _RIGHT,
        height=round(bottom + room, 1),
        left=_LEFT,
        top=_TOP,
        right=_LEFT + inner,
        bottom=bottom,
        boxes=tuple(_box(method, item, step, scale, bottom) for item in part.occupants),
        bytes_ticks=tuple(
            Tick(round(bottom - value * scale, 1), f"{value:,}") for value in _ticks(part.size)
        ),
        time_ticks=tuple(
            Tick(round(_LEFT + (index + 0.5) * step, 1), text)
            for index, text in enumerate(
                ["before", *(f"{time} {name}" for time, name in enumerate(names))]
            )
        ),
        peak_x=round(peak_x, 1),
        peak_width=round(step, 1),
        peak_label=label,
        peak_label_x=round(peak_x + (step if to_the_left else 0), 1),
        peak_anchor="end" if to_the_left else "start",
        rows=tuple(_row(method, item) for item in part.occupants),
    )


def _box(method: Method, item: Occupant, step: float, scale: float, bottom: float) -> Box:
    width = (item.end - item.start + 1) * step
    height = max(item.size * scale, 1.0)
    title = "; ".join(_row(method, item))
    return Box(
        x=round(_LEFT + (item.start - BEFORE) * step, 1),
        y=round(bottom - item.offset * scale - height, 1),
        width=round(width, 1),
        height=round(height, 1),
        role=item.role or "other",
        labels=tuple(
            Label(round(bottom - item.offset * scale - height / 2 + shift, 1), text)
            for shift, text in _labels(method, item, width, height)
        ),
        title=title,
    )


def _labels(
    method: Method, item: Occupant, width: float, height: float
) -> tuple[tuple[float, str], ...]:
    """What fits: number and type in one line or two, or the number; with baselines."""
    first = item.values[0]
    tensor = method.values[first].tensor
    assert tensor is not None
    number, kind = f"%{first}", tensor_text(tensor)

    def fits(text: str) -> bool:
        return len(text) * _CHARACTER + 6 <= width

    if height >= _LINE and fits(f"{number} {kind}"):
        return ((4.0, f"{number} {kind}"),)
    if height >= 2 * _LINE + 2 and fits(kind) and fits(number):
        return ((-3.0, number), (11.0, kind))
    if height >= _LINE and fits(number):
        return ((4.0, number),)
    return ()


def _row(method: Method, item: Occupant) -> tuple[str, ...]:
    """Offset, bytes, time, tensors and role of an occupant, as text."""
    start = "before" if item.start == BEFORE else str(item.start)
    tensors = [method.values[index].tensor for index in item.values]
    texts = [
        f"%{index} {tensor_text(tensor)}"
        for index, tensor in zip(item.values, tensors, strict=True)
        if tensor is not None
    ]
    views = f" (also as {', '.join(texts[1:])})" if len(texts) > 1 else ""
    return (
        f"{item.offset:,}",
        f"{item.size:,}",
        f"{start} to {item.end if item.end >= 0 else 'before'}",
        texts[0] + views,
        item.role,
    )


def _ticks(size: int) -> list[int]:
    """Round numbers from 0 up to `size`, four to ten of them."""
    magnitude = 1
    while True:
        for factor in _TICK_STEPS:
            if size // (factor * magnitude) < 8:
                return list(range(0, size + 1, factor * magnitude))
        magnitude *= 10


def _instruction_name(method: Method, item: Instruction) -> str:
    """An instruction as the axis names it."""
    if isinstance(item, KernelCall):
        return method.operators[item.operator].removeprefix("aten::")
    if isinstance(item, DelegateCall):
        return f"delegate {item.delegate}"
    if isinstance(item, MoveCall):
        return "move"
    return "jump" if isinstance(item, JumpFalseCall) else "free"
