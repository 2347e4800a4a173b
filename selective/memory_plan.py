"""How much memory loading and running a method takes: pool sizes, computed from the program.

Both functions retrace the allocations that a runtime makes, in its order and with its alignments;
docs/memory.md has the formulas. The results are sizes of pools that begin at a multiple of 16.
For our runtime they are exact (runtime/src/method_state.h). For ExecuTorch's, 1.3 to 1.5, they
were derived from a trace of libexecutorch 1.5.1 and the sizes of its types on 32-bit RISC-V.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .program import (
    DelegateCall,
    Dynamism,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Tensor,
    Value,
    ValueKind,
)

PLANNED_ALIGNMENT = 16
"""What a planned buffer is aligned to, and its size rounded up to, in a pool."""


class Pools(NamedTuple):
    """Bytes of the pools that one method needs.

    `micro`: method allocator of our runtime. `executorch`: of ExecuTorch's runtime when it has a
    temporary allocator of `executorch_temp` bytes; `executorch_alone`: when it has none.
    Temporary memory of kernels is not in these: ours take none.
    """

    micro: int
    executorch: int
    executorch_temp: int
    executorch_alone: int


class _Pool:
    """A bump allocator that only counts."""

    def __init__(self) -> None:
        self.used = 0

    def take(self, size: int, alignment: int) -> None:
        self.used = -(-self.used // alignment) * alignment + size


def pools(method: Method, pointer: int) -> Pools:
    """What a method needs on a machine whose pointers have `pointer` bytes (4 or 8)."""
    method_pool, temp = _executorch(method, _EXECUTORCH_TYPES[pointer], with_temp=True)
    alone, _ = _executorch(method, _EXECUTORCH_TYPES[pointer], with_temp=False)
    return Pools(_micro(method, pointer), method_pool, temp, alone)


def planned_sizes(method: Method) -> tuple[int, ...]:
    """Bytes of the planned buffers, the reserved first one left out."""
    return method.buffer_sizes[1:]


def planned_total(method: Method) -> int:
    """Bytes of all planned buffers of a method, one behind the other in a pool."""
    pool = _Pool()
    for size in planned_sizes(method):
        pool.take(size, PLANNED_ALIGNMENT)
    return -(-pool.used // PLANNED_ALIGNMENT) * PLANNED_ALIGNMENT


def _instructions(method: Method) -> Iterator[Instruction]:
    return (item for chain in method.chains for item in chain.instructions)


# Our runtime.

_STATE = {4: 72, 8: 120}  # sizeof(MethodState)
_TENSOR_IMPL = {4: 28, 8: 56}
_EXTERNAL_DATA = {4: 32, 8: 48}
_DELEGATE = {4: 32, 8: 56}
_COMPILE_SPEC = {4: 12, 8: 24}
_EVALUE = 16
_NUMBERS = (ValueKind.NULL, ValueKind.INT, ValueKind.BOOL, ValueKind.DOUBLE)
_TENSOR_LISTS = (ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST)


def _up(size: int) -> int:
    return -(-size // 8) * 8


def _micro(method: Method, pointer: int) -> int:
    instructions = list(_instructions(method))
    pool = _Pool()
    state = _STATE[pointer] + _up(4 * -(-len(method.values) // 32))
    pool.take(state + _up(pointer * len(method.operators)), 8)
    if method.delegates:
        pool.take(_DELEGATE[pointer] * len(method.delegates), 8)
    for delegate in method.delegates:
        pool.take(_COMPILE_SPEC[pointer] * len(delegate.specs), pointer)
    lasting = _lasting_at_first(method)
    scratch = max((_scratch(method, item, lasting, pointer) for item in instructions), default=0)
    blocks = sum(_block(method, method.values[index], pointer) for index in lasting)
    pool.take(blocks + scratch, 8)
    for index in lasting:
        tensor = method.values[index].tensor
        if tensor is not None and _is_external(tensor):
            pool.take(_EXTERNAL_DATA[pointer], 8)
    return pool.used


def _lasting_at_first(method: Method) -> set[int]:
    """Values that a run can change, as far as instructions do not say so."""
    marked: set[int] = set()
    for index, value in enumerate(method.values):
        if value.tensor is not None and _tensor_lasts(value.tensor):
            marked.add(index)
    for index in (*method.inputs, *method.outputs):
        marked.add(index)
        marked.update(item for item in method.values[index].indices if item >= 0)
    return marked


def _tensor_lasts(tensor: Tensor) -> bool:
    if tensor.dynamism is not Dynamism.STATIC:
        return True
    if tensor.allocation is not None:
        return bool(tensor.name)
    return tensor.external or tensor.data_index == 0


def _is_external(tensor: Tensor) -> bool:
    return tensor.external and tensor.allocation is None


def _block(method: Method, value: Value, pointer: int) -> int:
    """Bytes of a value with all that it points to."""
    tensor, kind = value.tensor, value.kind
    if tensor is not None:
        shape = _up(4 * len(tensor.sizes))
        static = tensor.dynamism is Dynamism.STATIC
        return _EVALUE + _up(_TENSOR_IMPL[pointer]) + (shape if static else 2 * shape)
    if kind in _NUMBERS:
        return _EVALUE
    count = len(value.payload) if isinstance(value.payload, tuple) else 0
    if kind in (ValueKind.STRING, ValueKind.BOOL_LIST):
        return _EVALUE + _up(2 * pointer)
    if kind == ValueKind.DOUBLE_LIST:
        return _EVALUE + _up(2 * pointer) + 8 * count
    size = _EVALUE + _up(3 * pointer)
    if kind == ValueKind.INT_LIST:
        return size + 8 * count
    size += _up(count * pointer * (2 if kind == ValueKind.OPTIONAL_TENSOR_LIST else 1))
    members = (method.values[item] for item in value.indices if item >= 0)
    return size + sum(
        _block(method, member, pointer) - _EVALUE for member in members if member.tensor is not None
    )


def _scratch(method: Method, item: Instruction, lasting: set[int], pointer: int) -> int:
    """Bytes in which an instruction's values are made; adds what it makes last to `lasting`."""
    if isinstance(item, MoveCall):
        lasting.update((item.source, item.target))
    if isinstance(item, JumpFalseCall):
        return _block(method, method.values[item.condition], pointer)
    if not isinstance(item, (KernelCall, DelegateCall)):
        return 0
    size = _up(pointer * len(item.args))
    for position, index in enumerate(item.args):
        value = method.values[index]
        last = position + 1 == len(item.args)
        if (last or isinstance(item, DelegateCall)) and value.kind in _NUMBERS:
            lasting.add(index)
        made = index not in lasting or value.kind >= ValueKind.INT_LIST
        if made and (last or index != item.args[-1]):
            size += _block(method, value, pointer)
    return size


# ExecuTorch's runtime.


class _Types(NamedTuple):
    """Bytes of ExecuTorch's types on a machine; `delegate` and `external` are aligned to 8.

    `own_temp` is the temporary allocator that the runtime makes when it is given none.
    """

    pointer: int
    tensor_impl: int
    delegate: int
    external: int
    own_temp: int

    @property
    def span(self) -> int:
        return 2 * self.pointer

    @property
    def boxed_list(self) -> int:
        return 3 * self.pointer

    @property
    def chain(self) -> int:
        return 4 * self.pointer

    @property
    def tensor_meta(self) -> int:
        return 3 * self.pointer

    @property
    def compile_spec(self) -> int:
        return 3 * self.pointer


_EXECUTORCH_TYPES = {4: _Types(4, 32, 40, 40, 28), 8: _Types(8, 64, 56, 48, 48)}


def executorch_allocations(method: Method, pointer: int) -> Iterator[tuple[str, int, int]]:
    """What ExecuTorch allocates to load a method: ("method" or "temp", bytes, alignment).

    ("reset", 0, 1) where it gives temporary memory back.
    """
    return _executorch_steps(method, _EXECUTORCH_TYPES[pointer])


def _executorch(method: Method, types: _Types, *, with_temp: bool) -> tuple[int, int]:
    """Bytes of the method pool and of the temporary pool."""
    pool, temp, most = _Pool(), _Pool(), 0
    if not with_temp:
        pool.take(types.own_temp, types.pointer)
    for kind, size, alignment in _executorch_steps(method, types):
        if kind == "reset":
            temp = _Pool()
        else:
            (temp if kind == "temp" and with_temp else pool).take(size, alignment)
            most = max(most, temp.used)
    return pool.used, most


def _executorch_steps(method: Method, types: _Types) -> Iterator[tuple[str, int, int]]:
    word = types.pointer
    tensors = [value.tensor for value in method.values if value.tensor is not None]
    yield "method", _EVALUE * len(method.values), 8
    if method.inputs:
        yield "method", len(method.inputs), 1
    external = sum(map(_is_external, tensors))
    if external:
        yield "method", types.external * external, 8
    for value in method.values:
        yield from _executorch_value(value, types)
    if method.delegates:
        yield "method", types.delegate * len(method.delegates), 8
        for delegate in method.delegates:
            yield "method", types.compile_spec * len(delegate.specs), word
    else:
        yield "method", 0, 8
    yield "method", types.chain * len(method.chains), word
    for chain in method.chains:
        yield "method", word * len(chain.instructions), word
        yield "method", types.span * len(chain.instructions), word
        for item in chain.instructions:
            if isinstance(item, (KernelCall, DelegateCall)):
                yield "method", word * len(item.args), word
            if isinstance(item, KernelCall):
                yield "temp", types.tensor_meta * len(item.args), word
                for index in item.args:
                    tensor = method.values[index].tensor
                    if tensor is not None:
                        yield "temp", len(tensor.sizes), 1
                yield "reset", 0, 1


def _executorch_value(value: Value, types: _Types) -> Iterator[tuple[str, int, int]]:
    word, kind = types.pointer, value.kind
    tensor = value.tensor
    if tensor is not None:
        rank = len(tensor.sizes)
        if tensor.dynamism is not Dynamism.STATIC:
            yield "method", 4 * rank, 4
            yield "method", rank, 1
        yield "method", 4 * rank, 4
        yield "method", types.tensor_impl, word
    elif kind in (ValueKind.STRING, ValueKind.BOOL_LIST, ValueKind.DOUBLE_LIST):
        yield "method", types.span, word
    elif isinstance(value.payload, tuple):
        count = len(value.payload)
        yield "method", word * count, word
        item = {ValueKind.INT_LIST: 8, ValueKind.OPTIONAL_TENSOR_LIST: 2 * word}.get(kind, word)
        yield "method", item * count, 8 if kind == ValueKind.INT_LIST else word
        yield "method", types.boxed_list, word
