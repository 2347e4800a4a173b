"""Bounds-checked reading of FlatBuffers tables from bytes or a memory map.

Source of the format: FlatBuffers' internals document (tables, vtables, vectors, strings; all
little-endian, offsets of objects unsigned and forward). Nothing is trusted: every offset is held
against the end of the buffer, and all reads together against a budget, since a hostile file can
point to the same bytes again and again and grow without end when it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from mmap import mmap

Bytes = bytes | mmap | memoryview

_U8 = struct.Struct("<B")
_I8 = struct.Struct("<b")
_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_U64 = struct.Struct("<Q")
_I64 = struct.Struct("<q")
_F64 = struct.Struct("<d")
_SIZE = {"B": 1, "b": 1, "i": 4, "I": 4, "q": 8, "Q": 8, "d": 8, "?": 1}
_TABLE_COST = 8  # bytes that a table takes at least, with the offset that names it


class FormatError(ValueError):
    """The bytes break the format: at byte `offset`, while reading `where` ("Tensor.sizes").

    `places` says what was read, from the inside out ("value 12", "method 'forward'").
    """

    def __init__(self, message: str, offset: int, where: str) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.where = where
        self.places: tuple[str, ...] = ()

    def within(self, place: str) -> FormatError:
        """The same error, with one more place around it."""
        self.places += (place,)
        return self


class Layout:
    """A table's name and its field names in slot order; a union takes two (`x_type`, `x`)."""

    __slots__ = ("name", "slots")

    def __init__(self, name: str, fields: str) -> None:
        self.name = name
        self.slots = {field: 4 + 2 * slot for slot, field in enumerate(fields.split())}


class Buffer:
    """The bytes [0, end) of `data`, and what may still be read of them."""

    __slots__ = ("budget", "data", "end")

    def __init__(self, data: Bytes, end: int) -> None:
        self.data = data
        self.end = min(end, len(data))
        self.budget = 2 * self.end + 65536

    def spend(self, cost: int, offset: int, where: str) -> None:
        """Count `cost` bytes as read; an honest file is read once, give or take shared parts."""
        self.budget -= cost
        if self.budget < 0:
            raise FormatError("the same bytes are used again and again", offset, where)

    def root(self, layout: Layout) -> Table:
        """The root table, which the first four bytes point to."""
        if self.end < 8:
            raise FormatError(f"only {self.end} bytes", 0, layout.name)
        return Table(self, int(_U32.unpack_from(self.data, 0)[0]), layout)

    def target(self, position: int, where: str) -> int:
        """Where the offset stored at `position` points to; at least four bytes lie there."""
        offset: int = _U32.unpack_from(self.data, position)[0]
        if offset < 4 or position + offset > self.end - 4:
            raise FormatError(
                f"offset {offset} leaves the program of {self.end} bytes", position, where
            )
        return position + offset

    def extent(self, position: int, size: int, where: str) -> tuple[int, int]:
        """First byte and length of the vector at `position` whose elements take `size` bytes."""
        length: int = _U32.unpack_from(self.data, position)[0]
        if position + 4 + length * size > self.end:
            raise FormatError(
                f"{length} elements of {size} bytes leave the program of {self.end} bytes",
                position,
                where,
            )
        return position + 4, length


class Table:
    """One table. Missing fields read as their default: 0, "", (), None."""

    __slots__ = ("_slots", "_vtable", "_vtable_size", "buffer", "layout", "position")

    def __init__(self, buffer: Buffer, position: int, layout: Layout) -> None:
        where = layout.name
        data, end = buffer.data, buffer.end
        if position > end - 4:
            raise FormatError(f"the table lies behind byte {end}, the end", position, where)
        vtable = position - int(_I32.unpack_from(data, position)[0])
        if not 0 <= vtable <= end - 4:
            raise FormatError(f"its vtable lies at byte {vtable}, outside", position, where)
        vtable_size: int = _U16.unpack_from(data, vtable)[0]
        if vtable_size < 4 or vtable_size % 2 or vtable + vtable_size > end:
            raise FormatError(f"vtable of {vtable_size} bytes", vtable, where)
        buffer.spend(_TABLE_COST, position, where)
        self.buffer = buffer
        self.position = position
        self.layout = layout
        self._vtable = vtable
        self._vtable_size = vtable_size
        self._slots = layout.slots

    def where(self, field: str) -> str:
        """The field's name as errors print it: "Tensor.sizes"."""
        return f"{self.layout.name}.{field}"

    def locate(self, field: str, size: int) -> int:
        """Byte offset of the field, which takes `size` bytes in the table; 0: not there.

        The table's size in the vtable is of no use: FlatBuffers' Python builder, which ExecuTorch
        exports with, shares vtables between tables of different sizes.
        """
        slot = self._slots[field]
        if slot >= self._vtable_size:
            return 0
        data = self.buffer.data
        offset: int = _U16.unpack_from(data, self._vtable + slot)[0]
        if offset == 0:
            return 0
        if offset < 4 or self.position + offset + size > self.buffer.end:
            raise FormatError(
                f"field offset {offset} leaves the program", self._vtable + slot, self.where(field)
            )
        return self.position + offset

    def error(self, message: str, field: str = "") -> FormatError:
        """A format error at this table, or at the field named."""
        where = self.where(field) if field else self.layout.name
        return FormatError(message, (field and self.locate(field, 1)) or self.position, where)

    def _scalar(self, field: str, kind: struct.Struct) -> int:
        position = self.locate(field, kind.size)
        return int(kind.unpack_from(self.buffer.data, position)[0]) if position else 0

    def u8(self, field: str) -> int:
        """An unsigned byte (union types, booleans)."""
        return self._scalar(field, _U8)

    def i8(self, field: str) -> int:
        """A signed byte (enumerations)."""
        return self._scalar(field, _I8)

    def i32(self, field: str) -> int:
        """A signed 32-bit number."""
        return self._scalar(field, _I32)

    def u32(self, field: str) -> int:
        """An unsigned 32-bit number."""
        return self._scalar(field, _U32)

    def i64(self, field: str) -> int:
        """A signed 64-bit number."""
        return self._scalar(field, _I64)

    def u64(self, field: str) -> int:
        """An unsigned 64-bit number."""
        return self._scalar(field, _U64)

    def f64(self, field: str) -> float:
        """A double."""
        position = self.locate(field, 8)
        return float(_F64.unpack_from(self.buffer.data, position)[0]) if position else 0.0

    def _target(self, field: str) -> int:
        position = self.locate(field, 4)
        return self.buffer.target(position, self.where(field)) if position else 0

    def has(self, field: str) -> bool:
        """Whether the field is stored at all."""
        return self.locate(field, 1) != 0

    def string(self, field: str) -> str:
        """A string, which must be UTF-8; "" when missing."""
        start, length = self.blob(field)
        self.buffer.spend(length, start, self.where(field))
        try:
            return bytes(self.buffer.data[start : start + length]).decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                "the text is not UTF-8", start + error.start, self.where(field)
            ) from None

    def blob(self, field: str) -> tuple[int, int]:
        """First byte and length of a vector of bytes, which is not read; (0, 0) when missing."""
        target = self._target(field)
        return self.buffer.extent(target, 1, self.where(field)) if target else (0, 0)

    def numbers(self, field: str, kind: str) -> tuple[int, ...]:
        """A vector of integers; `kind` is a letter of the struct module ("i", "q", "B", ...)."""
        target = self._target(field)
        if not target:
            return ()
        size = _SIZE[kind]
        start, length = self.buffer.extent(target, size, self.where(field))
        self.buffer.spend(4 + length * size, target, self.where(field))
        return struct.unpack_from(f"<{length}{kind}", self.buffer.data, start)

    def doubles(self, field: str) -> tuple[float, ...]:
        """A vector of doubles."""
        return self.numbers(field, "d")

    def table(self, field: str, layout: Layout) -> Table | None:
        """A table, or None when it is missing."""
        target = self._target(field)
        return Table(self.buffer, target, layout) if target else None

    def need(self, field: str, layout: Layout) -> Table:
        """A table that must be there."""
        found = self.table(field, layout)
        if found is None:
            raise self.error("missing", field)
        return found

    def tables(self, field: str, layout: Layout) -> Iterator[Table]:
        """The tables of a vector of tables."""
        target = self._target(field)
        if target:
            where = self.where(field)
            start, length = self.buffer.extent(target, 4, where)
            self.buffer.spend(4 + length * 4, target, where)
            for position in range(start, start + 4 * length, 4):
                yield Table(self.buffer, self.buffer.target(position, where), layout)
