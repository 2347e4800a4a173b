"""Holds a model's kernel calls against the catalogue's schemas, before the device does.

A model and a library of different releases disagree in an operator's arguments; the runtime only
says so when the call is executed (InvalidProgram), or reads a value as what it is not. What each
schema type accepts is what `EValue::to<T>` accepts in ExecuTorch's runtime/core/evalue.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..codegen.diagnostics import Diagnostic, Location, Severity
from ..codegen.model import CatalogueEntry
from ..codegen.schema import Argument, BaseType, ListType, OptionalType, Schema, SchemaType
from .kernel_key import MAX_KEY_BYTES, call_key
from .models import Model
from .program import Call, Method, Value, ValueKind, calls

_KINDS: dict[str, tuple[ValueKind, ...]] = {
    "Tensor": (ValueKind.TENSOR,),
    "int": (ValueKind.INT,),
    "SymInt": (ValueKind.INT,),
    "float": (ValueKind.DOUBLE,),
    "bool": (ValueKind.BOOL,),
    "SymBool": (ValueKind.BOOL,),
    "Scalar": (ValueKind.INT, ValueKind.DOUBLE, ValueKind.BOOL),
    "str": (ValueKind.STRING,),
    "ScalarType": (ValueKind.INT,),
    "Layout": (ValueKind.INT,),
    "MemoryFormat": (ValueKind.INT,),
    "Device": (ValueKind.INT,),
}
_LIST_KINDS: dict[str, tuple[ValueKind, ...]] = {
    "Tensor": (ValueKind.TENSOR_LIST,),
    "Tensor?": (ValueKind.OPTIONAL_TENSOR_LIST,),
    "int": (ValueKind.INT_LIST,),
    "SymInt": (ValueKind.INT_LIST,),
    "float": (ValueKind.DOUBLE_LIST,),
    "bool": (ValueKind.BOOL_LIST,),
    "Scalar": (ValueKind.INT_LIST, ValueKind.DOUBLE_LIST, ValueKind.BOOL_LIST),
}
_ELEMENTS: dict[ValueKind, tuple[ValueKind, ...]] = {
    ValueKind.INT_LIST: (ValueKind.INT,),
    ValueKind.TENSOR_LIST: (ValueKind.TENSOR,),
    ValueKind.OPTIONAL_TENSOR_LIST: (ValueKind.TENSOR, ValueKind.NULL),
}
_KIND_NAMES = {
    ValueKind.NULL: "None",
    ValueKind.INT: "an int",
    ValueKind.BOOL: "a bool",
    ValueKind.DOUBLE: "a float",
    ValueKind.TENSOR: "a tensor",
    ValueKind.STRING: "a string",
    ValueKind.INT_LIST: "a list of ints",
    ValueKind.DOUBLE_LIST: "a list of floats",
    ValueKind.BOOL_LIST: "a list of bools",
    ValueKind.TENSOR_LIST: "a list of tensors",
    ValueKind.OPTIONAL_TENSOR_LIST: "a list of optional tensors",
}


_HINT = (
    "model and catalogue are of different releases: export the model again, or use the "
    "catalogue of its release"
)
_LONG_KEY = (
    "its tensors make a kernel key of {} bytes; ExecuTorch's runtime takes {} and will not load "
    "the method"
)


class _Fault(NamedTuple):
    code: str
    text: str


def check_calls(
    models: Sequence[Model], find: Callable[[str], CatalogueEntry | None]
) -> tuple[Diagnostic, ...]:
    """The calls that do not fit their operator's schema, as errors; each fault once a model.

    `find` gives the catalogue entry of an operator, None when there is none (not an error here).
    """
    diagnostics: list[Diagnostic] = []
    for model in models:
        faults: dict[tuple[str, _Fault], list[Call]] = {}
        for method in model.program.methods:
            for call in calls(method):
                key_size = len(call_key(call))
                if key_size > MAX_KEY_BYTES:
                    fault = _Fault("GK214", _LONG_KEY.format(key_size, MAX_KEY_BYTES))
                    faults.setdefault((call.operator, fault), []).append(call)
                entry = find(call.operator)
                if entry is not None:
                    for fault in call_faults(call, entry.schema):
                        faults.setdefault((call.operator, fault), []).append(call)
        for (operator, fault), where in faults.items():
            diagnostics.append(_diagnostic(model.display, operator, fault, where, find(operator)))
    return tuple(diagnostics)


def _diagnostic(
    display: str,
    operator: str,
    fault: _Fault,
    where: Sequence[Call],
    entry: CatalogueEntry | None,
) -> Diagnostic:
    first = where[0]
    more = f", and {len(where) - 1} more" if len(where) > 1 else ""
    place = f"method '{first.method.name}', {position_text(first.position)}{more}"
    message = f"call of {operator} ({place}): {fault.text}"
    if fault.code == "GK214" or entry is None:
        return Diagnostic(fault.code, message, Location(display), severity=Severity.WARNING)
    file, line = entry.location.file, entry.location.line
    source = f"{file}:{line}" if line else file or entry.catalogue
    return Diagnostic(
        fault.code, message, Location(display), _HINT, (f"schema ({source}): {entry.schema}",)
    )


def position_text(position: tuple[int, int]) -> str:
    """An instruction's place: "instruction 3", with its chain when that is not the first."""
    chain, index = position
    return f"instruction {index}" if chain == 0 else f"chain {chain}, instruction {index}"


def call_faults(call: Call, schema: Schema) -> Iterator[_Fault]:
    """What is wrong with one call.

    Arguments are the schema's, out arguments last, then one entry for what is returned: the out
    argument again, or a list of them. An operator that returns nothing may leave that out.
    """
    arguments = schema.arguments
    count = len(call.args)
    wanted = len(arguments) + 1
    if count != wanted and not (not schema.returns and count == wanted - 1):
        yield _Fault(
            "GK210",
            f"{count} values, the schema's {len(arguments)} arguments and the return slot "
            f"make {wanted}",
        )
        return
    values = call.values
    for argument, value in zip(arguments, values, strict=False):
        fault = _value_fault(argument.type, value, call.method)
        if fault:
            yield _Fault("GK211", f"argument '{argument.name}' ({argument.type}) is {fault}")
        elif argument.is_write and value.tensor is not None and value.tensor.is_constant:
            yield _Fault("GK213", f"argument '{argument.name}' is written, but it is a constant")
    yield from _return_faults(call, schema, arguments)


def _value_fault(wanted: SchemaType, value: Value, method: Method) -> str:
    """Why the value is not of the type; "" when it is. Types that no EValue holds are let pass."""
    if isinstance(wanted, OptionalType):
        if value.kind == ValueKind.NULL:
            return ""
        wanted = wanted.element
    kinds = _LIST_KINDS.get(str(wanted.element)) if isinstance(wanted, ListType) else None
    if isinstance(wanted, BaseType):
        kinds = _KINDS.get(wanted.name)
    if kinds is None:
        return ""
    if value.kind not in kinds:
        return _KIND_NAMES[value.kind]
    allowed = _ELEMENTS.get(value.kind)
    if allowed is None:
        return ""
    for number, index in enumerate(value.indices):
        kind = ValueKind.NULL if index < 0 else method.values[index].kind
        if kind not in allowed:
            return f"{_KIND_NAMES[value.kind]}, but item {number} is {_KIND_NAMES[kind]}"
    return ""


def _return_faults(call: Call, schema: Schema, arguments: Sequence[Argument]) -> Iterator[_Fault]:
    """The return slot names the written arguments again, where the schema returns those."""
    written = [
        index for argument, index in zip(arguments, call.args, strict=False) if argument.is_write
    ]
    returned = [item for item in schema.returns if item.alias is not None and item.alias.is_write]
    if len(call.args) == len(arguments) or not returned or len(returned) != len(written):
        return
    last = call.args[-1]
    value = call.method.values[last]
    if len(returned) == 1 and isinstance(returned[0].type, ListType):
        fits = value.indices == call.method.values[written[0]].indices
    elif len(returned) == 1:
        fits = last == written[0]
    else:
        fits = value.kind == ValueKind.TENSOR_LIST and list(value.indices) == written
    if not fits:
        yield _Fault("GK212", "the return slot does not name the out arguments")
