"""Values, operators and instructions of a method in a `.pte` file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from . import pte_schema as schema
from .flatbuffer import Layout, Table
from .program import (
    DTYPES,
    Allocation,
    DelegateCall,
    Dynamism,
    Frame,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Tensor,
    Value,
    ValueKind,
)

_NAME = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*", re.ASCII)
_OVERLOAD = re.compile(r"\w*", re.ASCII)
MAX_RANK = 16
"""kTensorDimensionLimit of the runtime."""

_DYNAMISMS = frozenset(int(item) for item in Dynamism)
_NEWER = "perhaps the file is of a newer ExecuTorch"


class Shape(NamedTuple):
    """What the indices and places in a method must keep to.

    `values`, `operators`, `delegates` are how many there are; `buffers` the sizes of the planned
    buffers; `constants` and `mutables` the bytes from each data index on to the end of its segment.
    """

    values: int
    operators: int
    delegates: int
    buffers: tuple[int, ...]
    constants: tuple[int, ...]
    mutables: tuple[tuple[int, ...], ...]

    def value(self, table: Table, field: str) -> int:
        """A value index."""
        index = table.i32(field)
        if not 0 <= index < self.values:
            raise table.error(f"value index {index} of {self.values}", field)
        return index

    def value_indices(
        self, table: Table, field: str, kind: str = "i", least: int = 0
    ) -> tuple[int, ...]:
        """A list of value indices; `least` is -1 where none is allowed."""
        indices = table.numbers(field, kind)
        for index in indices:
            if not least <= index < self.values:
                raise table.error(f"value index {index} of {self.values}", field)
        return indices


def text(table: Table, field: str) -> str:
    """A name: it can be printed, in messages and in comments of generated code."""
    found = table.string(field)
    if not found.isprintable():
        raise table.error(f"{found[:40]!a} cannot be printed", field)
    return found


def parse_operator(table: Table) -> str:
    """The operator's name: "aten::add.out"."""
    name, overload = table.string("name"), table.string("overload")
    if not _NAME.fullmatch(name):
        raise table.error(f"{name[:40]!a} is no operator name", "name")
    if not _OVERLOAD.fullmatch(overload):
        raise table.error(f"{overload[:40]!a} is no overload name", "overload")
    return f"{name}.{overload}" if overload else name


def parse_value(table: Table, shape: Shape) -> Value:
    """One EValue."""
    number = table.u8("val_type")
    if number == ValueKind.NULL:
        return _NULL
    if number == ValueKind.TENSOR:
        return Value(ValueKind.TENSOR, _tensor(table.need("val", schema.TENSOR), shape))
    parser = _PARSERS.get(number)
    if parser is None:
        raise table.error(f"unknown kind of value, {number}: {_NEWER}", "val_type")
    kind, layout, parse = parser
    return Value(kind, parse(table.need("val", layout), shape))


Payload = int | float | str | tuple[int, ...]

_NULL = Value(ValueKind.NULL)
_PARSERS: dict[int, tuple[ValueKind, Layout, Callable[[Table, Shape], Payload]]] = {
    kind: (kind, layout, parse)
    for kind, layout, parse in (
        (ValueKind.INT, schema.INT, lambda table, _: table.i64("int_val")),
        (ValueKind.BOOL, schema.BOOL, lambda table, _: bool(table.u8("bool_val"))),
        (ValueKind.DOUBLE, schema.DOUBLE, lambda table, _: table.f64("double_val")),
        (ValueKind.STRING, schema.STRING, lambda table, _: table.string("string_val")),
        (
            ValueKind.INT_LIST,
            schema.LIST,
            lambda table, shape: shape.value_indices(table, "items", "q"),
        ),
        (ValueKind.DOUBLE_LIST, schema.LIST, lambda table, _: table.numbers("items", "d")),
        (ValueKind.BOOL_LIST, schema.LIST, lambda table, _: table.numbers("items", "?")),
        (
            ValueKind.TENSOR_LIST,
            schema.LIST,
            lambda table, shape: shape.value_indices(table, "items"),
        ),
        (
            ValueKind.OPTIONAL_TENSOR_LIST,
            schema.LIST,
            lambda table, shape: shape.value_indices(table, "items", least=-1),
        ),
    )
}


def _tensor(table: Table, shape: Shape) -> Tensor:
    dtype = table.i8("scalar_type")
    if dtype not in DTYPES:
        raise table.error(f"unknown dtype {dtype}: {_NEWER}", "scalar_type")
    sizes = table.numbers("sizes", "i")
    if min(sizes, default=0) < 0:
        raise table.error(f"a size of {min(sizes)}", "sizes")
    if len(sizes) > MAX_RANK:
        raise table.error(f"{len(sizes)} dims, the runtime allows {MAX_RANK}", "sizes")
    dim_order = table.numbers("dim_order", "B")
    if sorted(dim_order) != list(range(len(sizes))):
        raise table.error(
            f"{list(dim_order)[:MAX_RANK]} does not order {len(sizes)} dims", "dim_order"
        )
    if table.i32("storage_offset"):
        raise table.error(f"{table.i32('storage_offset')}, only 0 is defined", "storage_offset")
    dynamism = table.i8("shape_dynamism")
    if dynamism not in _DYNAMISMS:
        raise table.error(f"unknown dynamism {dynamism}: {_NEWER}", "shape_dynamism")
    extra = table.table("extra_tensor_info", schema.EXTRA)
    tensor = Tensor(
        dtype=dtype,
        sizes=sizes,
        dim_order=dim_order,
        dynamism=Dynamism(dynamism),
        data_index=table.u32("data_buffer_idx"),
        allocation=_allocation(table, len(shape.buffers)),
        name=text(extra, "fully_qualified_name") if extra else "",
        external=extra is not None and extra.i8("location") == 1,
        mutable_index=extra.u64("mutable_data_segments_idx") if extra else 0,
        device=(extra.i8("device_type"), extra.i8("device_index")) if extra else (0, 0),
    )
    _check_place(table, tensor, shape)
    return tensor


def _check_place(table: Table, tensor: Tensor, shape: Shape) -> None:
    """Its bytes must lie inside of the planned buffer, and of the segment of its data."""
    place = tensor.allocation
    if place is not None and place.offset + tensor.nbytes > shape.buffers[place.buffer]:
        raise table.error(
            f"{tensor.nbytes} bytes at {place.offset} of memory {place.buffer}, which has "
            f"{shape.buffers[place.buffer]}",
            "allocation_info",
        )
    if not tensor.data_index or tensor.external:
        return
    rooms = shape.constants
    if place is not None:
        if tensor.mutable_index >= len(shape.mutables):
            raise table.error(
                f"mutable segment {tensor.mutable_index} of {len(shape.mutables)}",
                "extra_tensor_info",
            )
        rooms = shape.mutables[tensor.mutable_index]
    if tensor.data_index >= len(rooms):
        raise table.error(f"data index {tensor.data_index} of {len(rooms)}", "data_buffer_idx")
    if tensor.nbytes > rooms[tensor.data_index]:
        raise table.error(
            f"{tensor.nbytes} bytes of data, {rooms[tensor.data_index]} are there",
            "data_buffer_idx",
        )


def _allocation(tensor: Table, buffers: int) -> Allocation | None:
    table = tensor.table("allocation_info", schema.ALLOCATION)
    if table is None:
        return None
    buffer = table.u32("memory_id")
    if not 1 <= buffer < buffers:
        raise table.error(f"memory {buffer}, the method has 1 to {buffers - 1}", "memory_id")
    return Allocation(
        buffer, table.u32("memory_offset_low") | table.u32("memory_offset_high") << 32
    )


def parse_instruction(table: Table, shape: Shape, count: int) -> Instruction:
    """One instruction of a chain of `count`."""
    kind = table.u8("instr_args_type")
    if kind == 1:
        call = table.need("instr_args", schema.KERNEL_CALL)
        operator = call.i32("op_index")
        if not 0 <= operator < shape.operators:
            raise call.error(f"operator index {operator} of {shape.operators}", "op_index")
        return KernelCall(operator, shape.value_indices(call, "args"))
    if kind == 2:
        call = table.need("instr_args", schema.DELEGATE_CALL)
        delegate = call.i32("delegate_index")
        if not 0 <= delegate < shape.delegates:
            raise call.error(f"delegate index {delegate} of {shape.delegates}", "delegate_index")
        return DelegateCall(delegate, shape.value_indices(call, "args"))
    if kind == 3:
        call = table.need("instr_args", schema.MOVE_CALL)
        return MoveCall(shape.value(call, "move_from"), shape.value(call, "move_to"))
    if kind == 4:
        call = table.need("instr_args", schema.JUMP_CALL)
        destination = call.i32("destination_instruction")
        if not 0 <= destination <= count:
            raise call.error(f"instruction {destination} of {count}", "destination_instruction")
        return JumpFalseCall(shape.value(call, "cond_value_index"), destination)
    if kind == 5:
        return FreeCall(shape.value(table.need("instr_args", schema.FREE_CALL), "value_index"))
    raise table.error(f"unknown kind of instruction, {kind}: {_NEWER}", "instr_args_type")


def parse_frames(table: Table) -> tuple[Frame, ...]:
    """The Python stack of one instruction."""
    return tuple(
        Frame(
            frame.string("filename"),
            frame.i32("lineno"),
            frame.string("name"),
            frame.string("context"),
        )
        for frame in table.tables("items", schema.FRAME)
    )
