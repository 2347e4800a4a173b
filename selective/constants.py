"""Small constants of a model, read on request: the rest of the package never looks at weights."""

from __future__ import annotations

import struct
from pathlib import Path

from .flatbuffer import Bytes
from .model_file import STANDARD_INPUT, open_models
from .models import Model
from .program import Program, Tensor, ValueKind

INT = 3
_MOST = 1 << 16  # elements: tables of channels are smaller

Constants = dict[int, tuple[int, ...]]
"""`Tensor.data_index` -> the values of a constant of 32-bit integers."""


def integer_constants(model: Model) -> Constants:
    """The 32-bit integer constants that lie in the model's segment of constants.

    Empty for a model from standard input, which cannot be read again; constants of old files,
    which lie in the program, and of `.ptd` files are left out.
    """
    if model.input == STANDARD_INPUT:
        return {}

    def read(data: Bytes, size: int) -> Constants:
        return read_constants(model.program, data, size)

    programs, _ = open_models(Path(model.input), model.input, read)
    return dict(programs).get(model.display, {})


def read_constants(program: Program, data: Bytes, size: int) -> Constants:
    """The same from the program's `size` bytes; what lies beyond them is left out."""
    return {
        index: struct.unpack_from(f"<{count}i", data, offset)
        for index, (offset, count) in _wanted(program)
        if count >= 0 and 0 <= offset <= size - 4 * count
    }


def _wanted(program: Program) -> list[tuple[int, tuple[int, int]]]:
    """data_index -> (byte in the program, elements)."""
    constants = program.constants
    if not 0 <= constants.segment < len(program.segments):
        return []
    base = program.segment_base + program.segments[constants.segment].offset
    return [
        (tensor.data_index, (base + constants.offsets[tensor.data_index], tensor.nbytes // 4))
        for method in program.methods
        for value in method.values
        if value.kind == ValueKind.TENSOR
        and (tensor := value.tensor) is not None
        and _is_table(tensor)
        and tensor.data_index < len(constants.offsets)
    ]


def _is_table(tensor: Tensor) -> bool:
    return (
        tensor.dtype == INT
        and tensor.is_constant
        and not tensor.external
        and tensor.nbytes <= 4 * _MOST
    )
