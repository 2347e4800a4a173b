"""The `.ptd` reader: names and shapes of tensors that lie in a file beside a program.

Source of the format: ExecuTorch's extension/flat_tensor/serialize (flat_tensor.fbs 1.5.1 and the
header written by serialize.py).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from ..codegen.diagnostics import Diagnostic
from .flatbuffer import Buffer, Bytes, FormatError, Layout
from .model_file import open_file
from .pte_schema import SEGMENT

IDENTIFIER = b"FT01"
HEADER_MAGIC = b"FH01"
_HEADER = struct.Struct("<IQQQQ")  # length, flatbuffer offset and size, segment base and size

_FLAT_TENSOR = Layout("FlatTensor", "version segments named_data")
_NAMED = Layout("NamedData", "key segment_index tensor_layout")
_TENSOR_LAYOUT = Layout("TensorLayout", "scalar_type sizes dim_order")


class NamedTensor(NamedTuple):
    """One entry; `dtype` is None for data that is no tensor. `size` is its bytes."""

    name: str
    size: int
    dtype: int | None = None
    sizes: tuple[int, ...] = ()
    dim_order: tuple[int, ...] = ()


def read_tensors(
    path: Path, display: str
) -> tuple[tuple[NamedTensor, ...] | None, tuple[Diagnostic, ...]]:
    """The entries of the file at `path`, which messages call `display`. None with errors."""
    return open_file(path, display, parse_tensors)


def parse_tensors(data: Bytes, size: int) -> tuple[NamedTensor, ...]:
    """The entries of a file of `size` bytes, sorted by name. Raises FormatError."""
    if bytes(data[4:8]) != IDENTIFIER:
        raise FormatError(f"bytes 4 to 7 are {bytes(data[4:8])!r}", 4, "file identifier")
    end, base = size, 0
    head = bytes(data[8 : 12 + _HEADER.size])
    if head[:4] == HEADER_MAGIC and len(head) == 4 + _HEADER.size:
        _, offset, length, base, segments_size = _HEADER.unpack_from(head, 4)
        end = offset + length
        if max(end, base + segments_size) > size:
            message = f"{max(end, base + segments_size)} bytes, the file has {size}: it is cut"
            raise FormatError(message, 8, "header")
    root = Buffer(data, end).root(_FLAT_TENSOR)
    segments = [
        (table.u64("offset"), table.u64("size")) for table in root.tables("segments", SEGMENT)
    ]
    found = []
    for table in root.tables("named_data", _NAMED):
        index = table.u32("segment_index")
        if index >= len(segments):
            raise table.error(f"index {index} of {len(segments)}", "segment_index")
        start, length = segments[index]
        if base + start + length > size:
            raise table.error(f"ends at byte {base + start + length}: the file is cut")
        layout = table.table("tensor_layout", _TENSOR_LAYOUT)
        if layout is None:
            found.append(NamedTensor(table.string("key"), length))
        else:
            found.append(
                NamedTensor(
                    table.string("key"),
                    length,
                    layout.i8("scalar_type"),
                    layout.numbers("sizes", "i"),
                    layout.numbers("dim_order", "B"),
                )
            )
    # By name alone: a damaged file can have one twice, with a layout and without.
    return tuple(sorted(found, key=lambda tensor: tensor.name))
