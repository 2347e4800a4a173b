"""Operator schemas as data: `aten::add.out(Tensor self, ..., Tensor(a!) out) -> Tensor(a!)`.

The parser lives in schema_parser.py; `str()` of each class prints the text it was parsed from.
The classes are named tuples: as immutable as frozen dataclasses, and created seven times faster
when the module is imported, which counts in a tool that others' builds start.
Source of the grammar: PyTorch's aten/src/ATen/native/README.md.
"""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Characters [start, end) of the schema text, counted from 0."""

    start: int
    end: int


class BaseType(NamedTuple):
    """A type without parts: `Tensor`, `int`, `SymInt`, `Scalar`, `ScalarType`, ..."""

    name: str

    def __str__(self) -> str:
        return self.name


class OptionalType(NamedTuple):
    """`element?`: a value or None."""

    element: SchemaType

    def __str__(self) -> str:
        return f"{self.element}?"


class ListType(NamedTuple):
    """`element[size]`; `size` is None for a list of any length."""

    element: SchemaType
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.element}[{'' if self.size is None else self.size}]"


SchemaType = BaseType | OptionalType | ListType


def base_type(schema_type: SchemaType) -> BaseType:
    """The innermost element: `Tensor` of `Tensor?[]`."""
    while not isinstance(schema_type, BaseType):
        schema_type = schema_type.element
    return schema_type


def _annotated(schema_type: SchemaType, alias: Alias | None) -> str:
    """The type as it is written: an alias annotation stands behind the base type's name."""
    text = str(schema_type)
    if alias is None:
        return text
    name = base_type(schema_type).name
    return f"{name}({alias}){text[len(name) :]}"


class Alias(NamedTuple):
    """An alias annotation, the `(a!)` of `Tensor(a!)`.

    `before` and `after` are alias set names around `->` (`(a -> *)`); `after` is empty without
    an arrow. `is_write` is true when an exclamation mark says the tensor is written.
    """

    before: tuple[str, ...]
    is_write: bool = False
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = "|".join(self.before) + ("!" if self.is_write else "")
        return f"{text} -> {'|'.join(self.after)}" if self.after else text


class Argument(NamedTuple):
    """One parameter. `default` is the text behind `=`, None when there is no default.

    `span` is the parameter's place in the text; it takes no part in comparisons.
    """

    name: str
    type: SchemaType
    default: str | None = None
    alias: Alias | None = None
    span: Span = Span(0, 0)

    @property
    def is_write(self) -> bool:
        """Whether the operator writes this argument."""
        return self.alias is not None and self.alias.is_write

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Argument) and self[:-1] == other[:-1]

    def __hash__(self) -> int:
        return hash(self[:-1])

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{_annotated(self.type, self.alias)} {self.name}{default}"


class Return(NamedTuple):
    """One result; `name` is None for an unnamed one."""

    type: SchemaType
    name: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        return _annotated(self.type, self.alias) + (f" {self.name}" if self.name else "")


class OperatorName(NamedTuple):
    """`namespace::base.overload`. Namespace is "" when the text had none; so is overload."""

    namespace: str
    base: str
    overload: str = ""

    def __str__(self) -> str:
        prefix = f"{self.namespace}::" if self.namespace else ""
        return prefix + self.base + (f".{self.overload}" if self.overload else "")


class Schema(NamedTuple):
    """A whole operator schema. Arguments keep their three groups, as the text has them.

    `out` are the keyword-only arguments that the operator writes and returns; `keyword_only` the
    other ones behind `*`.
    """

    name: OperatorName
    positional: tuple[Argument, ...]
    keyword_only: tuple[Argument, ...]
    out: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments in the order of a boxed call's stack (out arguments last)."""
        return self.positional + self.keyword_only + self.out

    def __str__(self) -> str:
        arguments = [str(a) for a in self.positional]
        if self.keyword_only or self.out:
            arguments += ["*", *(str(a) for a in self.keyword_only + self.out)]
        returns = ", ".join(str(r) for r in self.returns)
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.name}({', '.join(arguments)}) -> {returns}"
