"""Operators as PyTorch sees them: C++ types of ATen, for registration into PyTorch and ATen mode.

Source of the conventions: torchgen.api.cpp (the faithful signature, without SymInt), which is the
oracle in tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..selective.memory_header import c_string
from .context import RUNTIME_PRIM_KERNELS, Row, RowGroup
from .cpp import argument_conversion, cpp_identifier, parameter_names, split_symbol
from .model import CatalogueEntry, KernelSpec, PlannedOperator
from .schema import Argument, BaseType, ListType, OptionalType, Return, Schema, SchemaType

_VALUES = {
    "int": "int64_t",
    "SymInt": "int64_t",
    "DeviceIndex": "at::DeviceIndex",
    "float": "double",
    "bool": "bool",
    "SymBool": "c10::SymBool",
    "str": "::std::string_view",
    "Generator": "at::Generator",
    "ScalarType": "at::ScalarType",
    "Layout": "at::Layout",
    "Device": "at::Device",
    "MemoryFormat": "at::MemoryFormat",
    "QScheme": "at::QScheme",
    "Storage": "at::Storage",
    "Stream": "at::Stream",
    "Dimname": "at::Dimname",
}


class TorchFunction(NamedTuple):
    """An operator as a C++ function of PyTorch's types.

    `definition` is the schema as a string literal. `direct` is its name in Functions.h. `call`
    computes it, by `kernel` or, for ATen's own, by PyTorch. `stub` is the statement's rest after
    `return` in a placeholder.
    """

    operator: str
    schema: str
    definition: str
    wrapper: str
    direct: str
    returns: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    kernel: str
    call: str
    stub: str


class AtenFunction(NamedTuple):
    """The boxed function of an operator, or of one of its kernels, in ATen mode.

    `target` is what it calls: the operator's function in Functions.h, which takes the context, or
    a kernel. `before` and `after` stand around the call. `arguments` are expressions, the
    operator's as they come out of the stack; `logged` are the outputs' positions there.
    """

    schema: str
    scope: str
    stack_size: int
    target: str
    before: str
    after: str
    arguments: tuple[str, ...]
    logged: tuple[int, ...]


def torch_argument_type(argument: Argument) -> str | None:
    """Return the C++ type of an argument of a PyTorch kernel; None for a type it does not know."""
    return _argument(argument.type, argument.is_write)


def _argument(kind: SchemaType, is_write: bool) -> str | None:
    if isinstance(kind, BaseType):
        if kind.name == "Tensor":
            return "at::Tensor &" if is_write else "const at::Tensor &"
        if kind.name == "Scalar":
            return "const at::Scalar &"
        return _VALUES.get(kind.name)
    if isinstance(kind, OptionalType):
        text = str(kind.element)
        if text in {"Tensor", "Scalar"}:
            return f"const ::std::optional<at::{text}> &"
        if isinstance(kind.element, ListType) and str(kind.element.element) in {"int", "SymInt"}:
            return "at::OptionalIntArrayRef"
        element = _argument(kind.element, is_write)
        return f"::std::optional<{element}>" if element else None
    return _list_argument(kind)


def _list_argument(kind: ListType) -> str | None:
    text = str(kind.element)
    if text == "bool" and kind.size is not None:
        return f"::std::array<bool,{kind.size}>"
    if text == "Tensor":
        return "at::TensorList"
    if text == "Tensor?":
        return "const c10::List<::std::optional<at::Tensor>> &"
    if text in {"int", "SymInt"}:
        return "at::IntArrayRef"
    if text == "Dimname":
        return "at::DimnameList"
    if text == "Scalar":
        return "at::ArrayRef<at::Scalar>"
    element = _argument(kind.element, is_write=False)
    return f"at::ArrayRef<{element}>" if element else None


def torch_return_type(schema: Schema) -> str | None:
    """Return the C++ return type; None when PyTorch has none."""
    types = [_return(r) for r in schema.returns]
    known = [t for t in types if t is not None]
    if len(known) < len(types):
        return None
    if len(known) == 1:
        return known[0]
    return f"::std::tuple<{','.join(known)}>" if known else "void"


def _return(result: Return) -> str | None:
    if isinstance(result.type, BaseType):
        if result.type.name == "Tensor":
            written = result.alias is not None and result.alias.is_write
            return "at::Tensor &" if written else "at::Tensor"
        return "at::Scalar" if result.type.name == "Scalar" else _VALUES.get(result.type.name)
    if isinstance(result.type, ListType):
        element = _return(Return(result.type.element))
        return f"::std::vector<{element}>" if element else None
    return None


def torch_function(entry: CatalogueEntry, kernel: str) -> TorchFunction:
    """Return the operator as PyTorch calls it; its types are ones that an EValue carries."""
    schema = entry.schema
    types = [torch_argument_type(a) or "" for a in schema.arguments]
    names = parameter_names(schema)
    name = schema.name
    direct = cpp_identifier(name.base + ("_outf" if schema.out else ""))
    arguments = ", ".join(names)
    if name.namespace != "aten":
        call = f"::{kernel}({arguments})"
    elif "function" in entry.variants:
        call = f"at::{direct}({arguments})"
    else:
        call = f"{names[0]}.{direct}({', '.join(names[1:])})"
    return TorchFunction(
        operator=name.base + (f".{name.overload}" if name.overload else ""),
        schema=str(schema).partition("::")[2],
        definition=c_string(str(schema).partition("::")[2]),
        # Operators of several namespaces share the file.
        wrapper=f"{name.namespace}_{name.base}_{name.overload}".replace("::", "_").rstrip("_"),
        direct=direct,
        returns=torch_return_type(schema) or "void",
        parameters=tuple(f"{t} {n}" for t, n in zip(types, names, strict=True)),
        arguments=names,
        kernel=kernel,
        call=call,
        stub=f" {_stub(schema, names)}".rstrip(),
    )


def _unboxed(argument: Argument, position: int) -> str:
    """The argument out of its EValue, in ATen mode (executorch::aten is PyTorch's there)."""
    conversion = argument_conversion(argument)
    value = f"stack[{position}]->{conversion.evalue if conversion else ''}"
    kind = torch_argument_type(argument) or ""
    if kind.startswith("::std::array"):
        return f"bool_array<{kind.removeprefix('::std::array<bool,')}({value})"
    if kind.startswith("const c10::List"):
        return f"optional_tensors({value})"
    if kind == "at::OptionalIntArrayRef":
        return f"{kind}({value})"
    return value


def _stub(schema: Schema, names: tuple[str, ...]) -> str:
    """What a kernel that computes nothing returns: outputs, an input of the type, or a default."""
    if not schema.returns:
        return ""
    if schema.out:
        outputs = names[-len(schema.out) :]
        return outputs[0] if len(outputs) == 1 else "{" + ", ".join(outputs) + "}"
    if len(schema.returns) == 1:
        for argument, name in zip(schema.arguments, names, strict=True):
            if argument.type == schema.returns[0].type:
                return name
    return "{}"


def torch_values(operators: Iterable[PlannedOperator], custom_only: bool) -> dict[str, Any]:
    """Return the templates' variables about PyTorch.

    `torch_functions`: namespace -> its operators. With `custom_only` those outside ATen that come
    from the user's catalogues; else all. `torch_kernels`: C++ namespace -> kernels of those outside
    ATen, each with its name there.
    """
    functions: dict[str, list[TorchFunction]] = {}
    kernels: dict[str, dict[tuple[str, tuple[str, ...]], TorchFunction]] = {}
    for operator in operators:
        entry = operator.entry
        namespace = entry.schema.name.namespace
        if custom_only and (namespace == "aten" or entry.bundled):
            continue
        general = _general(entry.kernels)
        functions.setdefault(namespace, []).append(torch_function(entry, general.symbol))
        if namespace == "aten":
            continue
        for kernel in (general,) if custom_only else entry.kernels:
            function = torch_function(entry, kernel.symbol)
            place, _ = split_symbol(kernel.symbol)
            kernels.setdefault(place, {}).setdefault((kernel.symbol, function.parameters), function)
    return {
        "torch_functions": {name: functions[name] for name in sorted(functions)},
        "torch_kernels": {
            name: [(f, split_symbol(f.kernel)[1]) for f in kernels[name].values()]
            for name in sorted(kernels)
        },
    }


def aten_values(operators: Iterable[PlannedOperator]) -> dict[str, Any]:
    """Return the templates' variables for ATen mode.

    Its kernels of ATen's operators are PyTorch's, which choose by dtype themselves: one row each.
    Other operators have the rows of their kernels.
    """
    functions: list[AtenFunction] = []
    rows: list[Row] = []
    for entry in (o.entry for o in operators):
        own = entry.schema.name.namespace != "aten"
        for kernel in entry.kernels if own else (_general(entry.kernels),):
            boxed = f"boxed_{len(functions)}"
            keys = kernel.keys if own else ()
            functions.append(_aten_function(entry, kernel if keys else None))
            rows.extend(Row(entry.name, key, boxed, prim=False) for key in keys or ("",))
    return {
        "aten_functions": tuple(functions),
        "row_groups": (RowGroup("", tuple(rows)),) if rows else (),
        "table_condition": "",
        "kernel_count": len(rows),
        "registry_size": len(rows) + RUNTIME_PRIM_KERNELS,
    }


def _aten_function(entry: CatalogueEntry, special: KernelSpec | None) -> AtenFunction:
    schema = entry.schema
    count = len(schema.arguments)
    boxes = bool(schema.returns) and not schema.out
    function = torch_function(entry, _general(entry.kernels).symbol)
    namespace = cpp_identifier(schema.name.namespace)
    values = tuple(_unboxed(a, i) for i, a in enumerate(schema.arguments))
    return AtenFunction(
        schema=str(schema),
        scope=f"native_call_{function.operator}",
        stack_size=count + 1,
        target=f"::{special.symbol}"
        if special
        else f"::torch::executor::{namespace}::{function.direct}",
        before=f"*stack[{count}] = EValue(" if boxes else "",
        after=")" if boxes else "",
        arguments=values if special else ("context", *values),
        logged=tuple(range(count - len(schema.out), count)) or (count,),
    )


def _general(kernels: tuple[KernelSpec, ...]) -> KernelSpec:
    """The fallback kernel, or the first when there is none."""
    return next((k for k in kernels if not k.keys), kernels[0])
