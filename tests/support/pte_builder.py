"""Builds `.pte` files with the flatbuffers library, independent of the reader under test.

Slot numbers follow ExecuTorch's schema/program.fbs; a table is a dict from slot to content.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import flatbuffers

NULL, INT, BOOL, DOUBLE, TENSOR, STRING = 1, 2, 3, 4, 5, 6
INT_LIST, DOUBLE_LIST, BOOL_LIST, TENSOR_LIST, OPTIONAL_TENSOR_LIST = 7, 8, 9, 10, 11
KERNEL, DELEGATE, MOVE, JUMP, FREE = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Num:
    """A scalar field; `kind` as in the struct module."""

    kind: str
    value: float


@dataclass(frozen=True)
class Vec:
    """A vector of scalars."""

    kind: str
    items: Any


Table = dict[int, Any]

_PREPEND = {
    "B": "Uint8",
    "b": "Int8",
    "?": "Bool",
    "i": "Int32",
    "I": "Uint32",
    "q": "Int64",
    "Q": "Uint64",
    "d": "Float64",
}


def _write(builder: flatbuffers.Builder, content: object) -> int:
    """Write a string, vector or table; the offset of it."""
    if isinstance(content, str):
        return int(builder.CreateString(content))
    if isinstance(content, bytes):
        return int(builder.CreateByteVector(content))
    if isinstance(content, Vec):
        size = struct.calcsize(content.kind)
        builder.StartVector(size, len(content.items), size)
        for item in reversed(content.items):
            getattr(builder, f"Prepend{_PREPEND[content.kind]}")(item)
        return int(builder.EndVector())
    if isinstance(content, list):
        offsets = [_write(builder, item) for item in content]
        builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            builder.PrependUOffsetTRelative(offset)
        return int(builder.EndVector())
    offsets_by_slot = {
        slot: _write(builder, item) for slot, item in content.items() if not isinstance(item, Num)
    }
    builder.StartObject(max(content, default=0) + 1)
    for slot, item in content.items():
        if isinstance(item, Num):
            getattr(builder, f"Prepend{_PREPEND[item.kind]}Slot")(slot, item.value, None)
        else:
            builder.PrependUOffsetTRelativeSlot(slot, offsets_by_slot[slot], 0)
    return int(builder.EndObject())


def serialise(root: Table, identifier: bytes = b"ET12") -> bytes:
    """A whole buffer."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(_write(builder, root), file_identifier=identifier)
    return bytes(builder.Output())


def with_header(
    program: bytes, segments: bytes = b"", *, length: int = 32, segment_base: int | None = None
) -> bytes:
    """Insert an extended header of `length` bytes behind the identifier; append segments."""
    header_size = 32 if length > 24 else 24
    header_size += -(8 + header_size) % 16  # as exir does: inner alignment stays
    size = len(program) + header_size
    base = size + -size % 16 if segment_base is None else segment_base
    header = b"eh00" + struct.pack("<IQQ", length, size, base if segments else 0)
    if length > 24:
        header += struct.pack("<Q", len(segments))
    root = struct.unpack_from("<I", program)[0] + header_size
    whole = struct.pack("<I", root) + program[4:8] + header.ljust(header_size, b"\0") + program[8:]
    return whole.ljust(base, b"\0") + segments if segments else whole


def value(kind: int, content: Table | None = None) -> Table:
    """An EValue."""
    return {0: Num("B", kind), 1: content if content is not None else {}}


def integer(number: int) -> Table:
    """An int."""
    return value(INT, {0: Num("q", number)})


def boolean(truth: bool) -> Table:
    """A bool."""
    return value(BOOL, {0: Num("?", truth)})


def double(number: float) -> Table:
    """A float."""
    return value(DOUBLE, {0: Num("d", number)})


def text(string: str) -> Table:
    """A string."""
    return value(STRING, {0: string})


def items(kind: int, numbers: list[Any]) -> Table:
    """A list value of any kind."""
    code = {INT_LIST: "q", DOUBLE_LIST: "d", BOOL_LIST: "?"}.get(kind, "i")
    return value(kind, {0: Vec(code, numbers)})


def tensor(
    sizes: list[int],
    dtype: int = 6,
    *,
    order: list[int] | None = None,
    data: int = 0,
    place: tuple[int, int] | None = None,
    extra: Table | None = None,
    **fields: object,
) -> Table:
    """A tensor; `place`: (memory id, offset). `fields`: slot7=... for the rest."""
    table: Table = {
        0: Num("b", dtype),
        2: Vec("i", sizes),
        3: Vec("B", list(range(len(sizes))) if order is None else order),
        5: Num("I", data),
    }
    if place:
        low, high = place[1] & 0xFFFFFFFF, place[1] >> 32
        table[6] = {0: Num("I", place[0]), 1: Num("I", low), 2: Num("I", high)}
    if extra is not None:
        table[9] = extra
    table.update({int(name[4:]): field for name, field in fields.items()})
    return value(TENSOR, table)


def call(operator: int, args: list[int]) -> Table:
    """A kernel call."""
    return {0: Num("B", KERNEL), 1: {0: Num("i", operator), 1: Vec("i", args)}}


def delegate_call(delegate: int, args: list[int]) -> Table:
    """A delegate call."""
    return {0: Num("B", DELEGATE), 1: {0: Num("i", delegate), 1: Vec("i", args)}}


def move(source: int, target: int) -> Table:
    """A move."""
    return {0: Num("B", MOVE), 1: {0: Num("i", source), 1: Num("i", target)}}


def jump(condition: int, destination: int) -> Table:
    """A jump if false."""
    return {0: Num("B", JUMP), 1: {0: Num("i", condition), 1: Num("i", destination)}}


def free(index: int) -> Table:
    """A free."""
    return {0: Num("B", FREE), 1: {0: Num("i", index)}}


def method(
    values: list[Table],
    instructions: list[Table],
    operators: list[str],
    *,
    name: str = "forward",
    inputs: list[int] | None = None,
    outputs: list[int] | None = None,
    buffers: list[int] | None = None,
    delegates: list[Table] | None = None,
    frames: list[Table] | None = None,
    devices: list[Table] | None = None,
) -> Table:
    """An execution plan with one chain; operators are written "aten::add.out"."""
    chain: Table = {2: instructions}
    if frames is not None:
        chain[3] = frames
    plan: Table = {
        0: name,
        2: values,
        3: Vec("i", inputs or []),
        4: Vec("i", outputs or []),
        5: [chain],
        6: [dict(enumerate(operator.split("."))) for operator in operators],
        7: delegates or [],
        8: Vec("q", [0, *(buffers or [])]),
    }
    if devices is not None:
        plan[9] = devices
    return plan


def program(methods: list[Table], **fields: object) -> Table:
    """A program; `fields`: slot2=... for constant_buffer and so on.

    As newer exporters write it, there is a segment of constants even when there are none.
    """
    table: Table = {0: Num("I", 0), 1: methods}
    if "slot2" not in fields:
        table[4] = [{0: Num("Q", 0), 1: Num("Q", 0)}]
        table[5] = {0: Num("I", 0), 1: Vec("Q", [0])}
    table.update({int(name[4:]): field for name, field in fields.items()})
    return table


def add_program() -> Table:
    """x + y of two planned 2x3 float tensors."""
    tensors = [tensor([2, 3], place=(1, 32 * index)) for index in range(3)]
    return program(
        [
            method(
                [*tensors, integer(1)],
                [call(0, [0, 1, 3, 2, 2])],
                ["aten::add.out"],
                inputs=[0, 1],
                outputs=[2],
                buffers=[96],
            )
        ]
    )
