"""A program as data: what a `.pte` file says, without the weights.

Source of the format: ExecuTorch's schema/program.fbs (1.5.1). Indices are positions in the tuples
of the same object: an argument is an index into `Method.values`, a delegate index one into
`Method.delegates`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


class ValueKind(enum.IntEnum):
    """What an EValue holds: the numbers of the union in the file."""

    NULL = 1
    INT = 2
    BOOL = 3
    DOUBLE = 4
    TENSOR = 5
    STRING = 6
    INT_LIST = 7
    DOUBLE_LIST = 8
    BOOL_LIST = 9
    TENSOR_LIST = 10
    OPTIONAL_TENSOR_LIST = 11


class Dynamism(enum.IntEnum):
    """Whether a tensor's sizes can change: never, up to the sizes given, or freely."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


DTYPES: dict[int, tuple[str, int]] = {
    0: ("Byte", 1),
    1: ("Char", 1),
    2: ("Short", 2),
    3: ("Int", 4),
    4: ("Long", 8),
    5: ("Half", 2),
    6: ("Float", 4),
    7: ("Double", 8),
    8: ("ComplexHalf", 4),
    9: ("ComplexFloat", 8),
    10: ("ComplexDouble", 16),
    11: ("Bool", 1),
    12: ("QInt8", 1),
    13: ("QUInt8", 1),
    14: ("QInt32", 4),
    15: ("BFloat16", 2),
    16: ("QUInt4x2", 1),
    17: ("QUInt2x4", 1),
    18: ("Bits1x8", 1),
    19: ("Bits2x4", 1),
    20: ("Bits4x2", 1),
    21: ("Bits8", 1),
    22: ("Bits16", 2),
    23: ("Float8_e5m2", 1),
    24: ("Float8_e4m3fn", 1),
    25: ("Float8_e5m2fnuz", 1),
    26: ("Float8_e4m3fnuz", 1),
    27: ("UInt16", 2),
    28: ("UInt32", 4),
    29: ("UInt64", 8),
}
"""ScalarType number -> name as ExecuTorch spells it, bytes of one element."""

PRIM_NAMESPACE = "executorch_prim::"
"""Operators of this namespace are the runtime's own (arithmetic on sizes, views, loops)."""


class Allocation(NamedTuple):
    """Planned memory: the buffer (`Method.buffer_sizes` index, 1 and up), the byte in it."""

    buffer: int
    offset: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor value.

    `data_index` > 0 without an allocation: constant; with one: planned, with an initial state of
    `Program.mutable_segments[mutable_index]`. 0 without an allocation: the pointer is set at run
    time. `external` tensors are found by `name` in a `.ptd` file.
    """

    dtype: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: Dynamism
    data_index: int = 0
    allocation: Allocation | None = None
    name: str = ""
    external: bool = False
    mutable_index: int = 0
    device: tuple[int, int] = (0, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of the data (for a dynamic tensor: the upper bound)."""
        total = DTYPES[self.dtype][1]
        for size in self.sizes:
            total *= size
        return total

    @property
    def is_constant(self) -> bool:
        """Whether its data is a weight, in the program or in a file beside it."""
        return self.allocation is None and (self.external or self.data_index > 0)


class Value(NamedTuple):
    """One EValue. `payload` by kind: None, int, bool, float, Tensor, str, or a tuple.

    The items of an INT_LIST, TENSOR_LIST and OPTIONAL_TENSOR_LIST are value indices (-1 in the
    last: none); those of a DOUBLE_LIST and BOOL_LIST are the values.
    """

    kind: ValueKind
    payload: int | bool | float | str | Tensor | tuple[int, ...] | tuple[float, ...] | None = None

    @property
    def tensor(self) -> Tensor | None:
        """The tensor, when it is one."""
        return self.payload if isinstance(self.payload, Tensor) else None

    @property
    def indices(self) -> tuple[int, ...]:
        """The value indices that the value refers to; empty for values that refer to none."""
        if self.kind in INDEX_KINDS and isinstance(self.payload, tuple):
            return tuple(int(item) for item in self.payload)
        return ()


INDEX_KINDS = frozenset((ValueKind.INT_LIST, ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST))
"""Kinds whose payload holds value indices."""


class KernelCall(NamedTuple):
    """Calls `Method.operators[operator]`; `args`: the schema's arguments, out, return slots."""

    operator: int
    args: tuple[int, ...]


class DelegateCall(NamedTuple):
    """Runs `Method.delegates[delegate]` on the values `args`."""

    delegate: int
    args: tuple[int, ...]


class MoveCall(NamedTuple):
    """Copies one value to another place."""

    source: int
    target: int


class JumpFalseCall(NamedTuple):
    """Goes on at instruction `destination` of the chain when value `condition` is false."""

    condition: int
    destination: int


class FreeCall(NamedTuple):
    """Frees the memory of a dynamically allocated tensor."""

    value: int


Instruction = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


class Frame(NamedTuple):
    """One line of the Python stack that an instruction came from."""

    file: str
    line: int
    function: str
    source: str


class Chain(NamedTuple):
    """A sequence of instructions; `frames` has one entry an instruction, or is empty."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    frames: tuple[tuple[Frame, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Delegate:
    """A backend's part of the method.

    `size` is the bytes of its blob, which lies in `Program.segments[index]` when `in_segment`,
    else in the program itself. `specs`: key and value size in bytes.
    """

    id: str
    size: int
    in_segment: bool
    index: int
    specs: tuple[tuple[str, int], ...] = ()


class Method(NamedTuple):
    """One entry point. `buffer_sizes[0]` is reserved; `devices`: (buffer, type, index)."""

    name: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    chains: tuple[Chain, ...]
    operators: tuple[str, ...]
    delegates: tuple[Delegate, ...]
    buffer_sizes: tuple[int, ...]
    devices: tuple[tuple[int, int, int], ...] = ()
    input_structure: str = ""
    output_structure: str = ""


class Segment(NamedTuple):
    """Bytes behind the program; `offset` counts from the segment base."""

    offset: int
    size: int


class Offsets(NamedTuple):
    """Where tensors begin in segment `segment`; entry 0 is reserved in constant data."""

    segment: int
    offsets: tuple[int, ...]


class Program(NamedTuple):
    """A whole program.

    `size` is the file's bytes, `program_size` those of the program without segments.
    `inline_constants` are the sizes of constants that lie in the program (old files).
    `container` says what the program came in: "pte", "bpte", ...
    """

    version: int
    methods: tuple[Method, ...]
    size: int
    program_size: int
    segment_base: int
    segments: tuple[Segment, ...]
    constants: Offsets
    inline_constants: tuple[int, ...]
    inline_delegates: tuple[int, ...]
    mutable_segments: tuple[Offsets, ...]
    named_data: tuple[tuple[str, int], ...]
    container: str = "pte"
    has_header: bool = False


class Call(NamedTuple):
    """A kernel call in its place: operator name, method, (chain, index), its values."""

    operator: str
    method: Method
    position: tuple[int, int]
    args: tuple[int, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of `args`."""
        return tuple(self.method.values[index] for index in self.args)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the call, those in lists too, in argument order."""
        found: list[Tensor] = []
        for value in self.values:
            if value.tensor is not None:
                found.append(value.tensor)
            elif value.kind in (ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST):
                members = (self.method.values[i].tensor for i in value.indices if i >= 0)
                found.extend(member for member in members if member is not None)
        return tuple(found)


def calls(method: Method) -> Iterator[Call]:
    """The kernel calls of a method in the order of its chains."""
    for chain_index, chain in enumerate(method.chains):
        for index, instruction in enumerate(chain.instructions):
            if isinstance(instruction, KernelCall):
                name = method.operators[instruction.operator]
                yield Call(name, method, (chain_index, index), instruction.args)


def dtype_name(dtype: int) -> str:
    """The dtype's name ("Float"), or its number when it is unknown."""
    return DTYPES[dtype][0] if dtype in DTYPES else str(dtype)
