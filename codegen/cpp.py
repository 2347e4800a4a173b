"""Schema types as C++: parameter types of kernels, and how each argument leaves its EValue.

The types are those of ExecuTorch's own kernels (runtime/kernel/kernel_includes.h), spelled with
their whole namespace. A type without an entry here cannot be carried by an EValue: `conversion`
and `return_type` answer None and resolve makes it a diagnostic.
"""

from __future__ import annotations

from typing import NamedTuple

from .schema import Argument, BaseType, ListType, OptionalType, Return, Schema, SchemaType

_ATEN = "::executorch::aten::"

# Names that a parameter cannot have: the keywords of C++17 and of later standards, alternative
# tokens, and `context`, our own first parameter.
_RESERVED = frozenset(
    """alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor
    bool break case catch char char8_t char16_t char32_t class compl concept const consteval
    constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
    public reflexpr register reinterpret_cast requires return short signed sizeof static
    static_assert static_cast struct switch synchronized template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    context""".split()  # noqa: SIM905
)


class Conversion(NamedTuple):
    """How one kind of argument leaves its EValue.

    `name`: C++ identifier of the kind ("OptionalInt"). `parameter`: type of the kernel's
    parameter. `stored`: type kept between conversion and call. `reject`: C++ condition on `value`
    (an EValue&) that holds when it carries something else; `take`: expression of type `stored`.
    `evalue`: the EValue method that gives the value, as ExecuTorch's generator would call it.
    """

    name: str
    parameter: str
    stored: str
    reject: str
    take: str
    evalue: str


# Base types: kind, C++ type, EValue's test. SymInt and friends are plain numbers at run time.
_BASE = {
    "Tensor": ("Tensor", _ATEN + "Tensor", "isTensor"),
    "int": ("Int", "int64_t", "isInt"),
    "SymInt": ("Int", "int64_t", "isInt"),
    "float": ("Double", "double", "isDouble"),
    "bool": ("Bool", "bool", "isBool"),
    "SymBool": ("Bool", "bool", "isBool"),
    "str": ("String", "::std::string_view", "isString"),
    "Scalar": ("Scalar", _ATEN + "Scalar", "isScalar"),
    "ScalarType": ("ScalarType", _ATEN + "ScalarType", "isInt"),
    "MemoryFormat": ("MemoryFormat", _ATEN + "MemoryFormat", "isInt"),
    "Layout": ("Layout", _ATEN + "Layout", "isInt"),
    "Device": ("Device", _ATEN + "Device", "isInt"),
}

# List elements: kind, element type, EValue's test, EValue's accessor.
_LIST = {
    "Tensor": ("TensorList", _ATEN + "Tensor", "isTensorList", "toTensorList"),
    "int": ("IntList", "int64_t", "isIntList", "toIntList"),
    "SymInt": ("IntList", "int64_t", "isIntList", "toIntList"),
    "float": ("DoubleList", "double", "isDoubleList", "toDoubleList"),
    "bool": ("BoolList", "bool", "isBoolList", "toBoolList"),
    "Tensor?": (
        "OptionalTensorList",
        f"::std::optional<{_ATEN}Tensor>",
        "isListOptionalTensor",
        "toListOptionalTensor",
    ),
}

# Class types that kernels take by reference to const; all others are passed by value.
_BY_REFERENCE = frozenset({"Tensor", "Scalar"})


def conversion(kind: SchemaType, is_write: bool = False) -> Conversion | None:
    """Return the conversion of an argument of type `kind`; None when no EValue carries it.

    `is_write` marks a tensor that the operator writes, which kernels take as `Tensor&`.
    """
    if isinstance(kind, BaseType):
        if kind.name not in _BASE:
            return None
        name, cpp, test = _BASE[kind.name]
        if kind.name == "Tensor":
            parameter = f"{cpp}&" if is_write else f"const {cpp}&"
            return Conversion(
                name, parameter, f"{cpp}*", f"!value.{test}()", "&value.toTensor()", f"to<{cpp}>()"
            )
        parameter = f"const {cpp}&" if kind.name in _BY_REFERENCE else cpp
        take = f"value.to<{cpp}>()"
        return Conversion(name, parameter, cpp, f"!value.{test}()", take, f"to<{cpp}>()")
    if isinstance(kind, ListType):
        if str(kind.element) not in _LIST:
            return None
        name, element, test, accessor = _LIST[str(kind.element)]
        cpp = f"{_ATEN}ArrayRef<{element}>"
        return Conversion(
            name, cpp, cpp, f"!value.{test}()", f"value.{accessor}()", f"{accessor}()"
        )
    if isinstance(kind.element, OptionalType):
        return None
    inner = conversion(kind.element)
    if inner is None or inner.name == "OptionalTensorList":
        return None
    element = inner.stored.removesuffix("*")
    cpp = f"::std::optional<{element}>"
    by_reference = isinstance(kind.element, BaseType) and kind.element.name in _BY_REFERENCE
    evalue = f"toOptional<{element}>()"
    return Conversion(
        f"Optional{inner.name}",
        f"const {cpp}&" if by_reference else cpp,
        cpp,
        f"!value.isNone() && {inner.reject}",
        f"value.{evalue}",
        evalue,
    )


def argument_conversion(argument: Argument) -> Conversion | None:
    """`conversion` of a schema's argument."""
    return conversion(argument.type, argument.is_write)


def _single_return(result: Return) -> str | None:
    if not isinstance(result.type, BaseType) or result.type.name not in _BASE:
        return None
    cpp = _BASE[result.type.name][1]
    written = result.alias is not None and result.alias.is_write
    return f"{cpp}&" if written and result.type.name == "Tensor" else cpp


def return_type(schema: Schema) -> str | None:
    """Return the C++ return type of a kernel; None when the runtime cannot take it.

    Out variants return what they wrote. A value is boxed into the return slot, so there can be
    only one.
    """
    types = tuple(_single_return(r) for r in schema.returns)
    known = tuple(t for t in types if t is not None)
    if len(known) < len(types):
        return None
    if not known:
        return "void"
    if len(known) == 1:
        return known[0]
    if not all(t.endswith("&") for t in known):
        return None
    return f"::std::tuple<{', '.join(known)}>"


def parameter_names(schema: Schema) -> tuple[str, ...]:
    """Return the names of the kernel's parameters behind the context, all usable and distinct."""
    taken = {a.name for a in schema.arguments}
    names = []
    for argument in schema.arguments:
        name = cpp_identifier(argument.name)
        while name != argument.name and name in taken:
            name += "_"
        names.append(name)
    return tuple(names)


def cpp_identifier(name: str) -> str:
    """Return `name`, with an underscore behind it where C++ or our own code reserves it."""
    return f"{name}_" if name in _RESERVED else name


def split_symbol(symbol: str) -> tuple[str, str]:
    """Split `a::b::f` into namespace "a::b" and name "f"."""
    namespace, _, name = symbol.rpartition("::")
    return namespace, name
