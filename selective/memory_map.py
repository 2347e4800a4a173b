"""Planned memory over time: which values occupy which bytes from which instruction to which.

The memory planner gives tensors places in a few buffers; places are used again. A file only says
the places, so the times come from the instructions: a value lives from the instruction that first
writes it to the one that last uses it. Values of other shapes at the same place that are read
without having been written are views: they belong to the tensor that was written there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from .program import (
    DelegateCall,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Tensor,
    ValueKind,
)

BEFORE = -1
"""The time before the first instruction: inputs are set, state is kept from earlier runs."""


class Occupant(NamedTuple):
    """Bytes [offset, offset + size) of a planned buffer from instruction `start` to `end`.

    Both ends are included. `values` are the tensor that was written and its views. `role`:
    "input", "output", "state" (kept between runs) or "".
    """

    buffer: int
    offset: int
    size: int
    start: int
    end: int
    values: tuple[int, ...]
    role: str = ""


class BufferMap(NamedTuple):
    """One planned buffer. `peak` is the most bytes that live at once, first at `peak_at`."""

    buffer: int
    size: int
    occupants: tuple[Occupant, ...]
    peak: int
    peak_at: int


class _Access(NamedTuple):
    time: int
    value: int
    writes: bool


def instructions(method: Method) -> tuple[Instruction, ...]:
    """The instructions of all chains, one after the other: an index into these is a time."""
    return tuple(item for chain in method.chains for item in chain.instructions)


def memory_map(
    method: Method, written: Callable[[str], Sequence[int]] = lambda _: ()
) -> tuple[BufferMap, ...]:
    """The planned buffers of a method, in order; the reserved first one is left out.

    `written` gives the positions of arguments that an operator writes besides its result (scratch
    memory), as its schema says; without it they pass for views.
    """
    sequence = instructions(method)
    by_place: dict[tuple[int, int], list[_Access]] = {}
    for access in _accesses(method, sequence, written):
        tensor = _tensor(method, access.value)
        place = tensor.allocation
        if place is not None and tensor.nbytes:
            by_place.setdefault((place.buffer, place.offset), []).append(access)
    timeline = _Timeline(method, sequence, _loops(method))
    occupants: list[Occupant] = []
    for (buffer, offset), accesses in by_place.items():
        for group in _groups(accesses):
            occupants.append(_occupant(timeline, buffer, offset, group))
    occupants.sort(key=lambda item: (item.buffer, item.start, item.offset, item.end, item.values))
    return tuple(
        _buffer_map(buffer, size, tuple(item for item in occupants if item.buffer == buffer))
        for buffer, size in enumerate(method.buffer_sizes)
        if buffer > 0
    )


def _tensor(method: Method, index: int) -> Tensor:
    tensor = method.values[index].tensor
    assert tensor is not None
    return tensor


def _accesses(
    method: Method, sequence: Sequence[Instruction], written_by: Callable[[str], Sequence[int]]
) -> Iterator[_Access]:
    """Uses of tensors in time order; at one instruction reads come before writes."""
    seen = set(_tensors(method, method.inputs))
    moved: dict[int, list[int]] = {}
    for index in _tensors(method, method.inputs):
        yield _Access(BEFORE, index, True)
    for time, instruction in enumerate(sequence):
        reads, writes = _uses(method, instruction)
        used, written = list(_tensors(method, reads)), set(_tensors(method, writes))
        if isinstance(instruction, KernelCall):
            args = instruction.args
            more = written_by(method.operators[instruction.operator])
            written.update(_tensors(method, [args[at] for at in more if at < len(args)]))
        if isinstance(instruction, MoveCall):  # copies the pointer: the bytes stay where they are
            written.clear()
            if used:
                moved.setdefault(instruction.target, []).append(instruction.source)
        if isinstance(instruction, DelegateCall):  # the file does not say what it writes
            written.update(index for index in used if index not in seen)
        used = [source for index in used for source in moved.get(index, (index,))]
        for index in dict.fromkeys(used):
            if index not in written:
                yield _Access(time, index, False)
        for index in sorted(written):
            yield _Access(time, index, True)
        seen.update(used, written)
    for index in _tensors(method, method.outputs):
        for source in moved.get(index, (index,)):
            yield _Access(len(sequence), source, False)


def _uses(method: Method, instruction: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Value indices that an instruction reads, and those that it writes.

    What a kernel writes is its last value, the return slot: an out argument, or a list of them.
    """
    if isinstance(instruction, KernelCall):
        return instruction.args[:-1], instruction.args[-1:]
    if isinstance(instruction, DelegateCall):
        return instruction.args, ()
    if isinstance(instruction, MoveCall):
        return (instruction.source,), (instruction.target,)
    if isinstance(instruction, JumpFalseCall):
        return (instruction.condition,), ()
    if isinstance(instruction, FreeCall):
        return (instruction.value,), ()
    return (), ()


def _tensors(method: Method, indices: Iterable[int]) -> Iterator[int]:
    """The tensors among the values, members of tensor lists too."""
    for index in indices:
        value = method.values[index]
        if value.kind == ValueKind.TENSOR:
            yield index
        elif value.kind in (ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST):
            yield from (
                item
                for item in value.indices
                if item >= 0 and method.values[item].kind == ValueKind.TENSOR
            )


def _groups(accesses: list[_Access]) -> Iterator[list[_Access]]:
    """Split the uses of one place into those of one tensor each.

    A new tensor begins where a value is written that is not yet part of the group. Uses before
    any writing belong to the first group.
    """
    group: list[_Access] = []
    members: set[int] = set()
    for access in accesses:
        if access.writes and group and access.value not in members:
            yield group
            group, members = [], set()
        group.append(access)
        members.add(access.value)
    if group:
        yield group


class _Timeline(NamedTuple):
    """A method's instructions, and first and last time of its loops."""

    method: Method
    sequence: tuple[Instruction, ...]
    loops: tuple[tuple[int, int], ...]


def _occupant(timeline: _Timeline, buffer: int, offset: int, group: list[_Access]) -> Occupant:
    last = len(timeline.sequence) - 1
    start, end = group[0].time, min(group[-1].time, last)
    values = tuple(dict.fromkeys(access.value for access in group))
    role = ""
    if group[-1].time > last:
        role = "output"
    if start == BEFORE:
        role = "input"
    elif not group[0].writes:
        role, start, end = "state", BEFORE, last
    for first, jump in timeline.loops:  # what a loop uses of the time before lives until its end
        if start < first <= end <= jump:
            end = jump
    size = max(_tensor(timeline.method, index).nbytes for index in values)
    return Occupant(buffer, offset, size, start, max(end, start), values, role)


def _loops(method: Method) -> tuple[tuple[int, int], ...]:
    """First and last time of each loop: jumps backwards."""
    loops: list[tuple[int, int]] = []
    base = 0
    for chain in method.chains:
        for index, instruction in enumerate(chain.instructions):
            if isinstance(instruction, JumpFalseCall) and instruction.destination <= index:
                loops.append((base + instruction.destination, base + index))
        base += len(chain.instructions)
    return tuple(loops)


def _buffer_map(buffer: int, size: int, occupants: tuple[Occupant, ...]) -> BufferMap:
    """With the peak: a sweep over the times at which something begins or has ended."""
    changes: dict[int, int] = {}
    for item in occupants:
        changes[item.start] = changes.get(item.start, 0) + item.size
        changes[item.end + 1] = changes.get(item.end + 1, 0) - item.size
    live, peak, peak_at = 0, 0, BEFORE
    for time in sorted(changes):
        live += changes[time]
        if live > peak:
            peak, peak_at = live, time
    return BufferMap(buffer, size, occupants, min(peak, size), peak_at)
