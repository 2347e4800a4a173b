"""Operator schemas as data: `aten::add.out(Tensor self, ..., Tensor(a!) out) -> Tensor(a!)`.

The parser lives in schema_parser.py; `str()` of each class prints the text it was parsed from.
Source of the grammar: PyTorch's aten/src/ATen/native/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """Characters [start, end) of the schema text, counted from 0. Never part of equality."""

    start: int
    end: int


@dataclass(frozen=True)
class BaseType:
    """A type without parts: `Tensor`, `int`, `SymInt`, `Scalar`, `ScalarType`, ..."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class OptionalType:
    """`element?`: a value or None."""

    element: SchemaType

    def __str__(self) -> str:
        return f"{self.element}?"


@dataclass(frozen=True)
class ListType:
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


@dataclass(frozen=True)
class Alias:
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


@dataclass(frozen=True)
class Argument:
    """One parameter. `default` is the text behind `=`, None when there is no default."""

    name: str
    type: SchemaType
    default: str | None = None
    alias: Alias | None = None
    span: Span = field(default=Span(0, 0), compare=False)

    @property
    def is_write(self) -> bool:
        """Whether the operator writes this argument."""
        return self.alias is not None and self.alias.is_write

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{_annotated(self.type, self.alias)} {self.name}{default}"


@dataclass(frozen=True)
class Return:
    """One result; `name` is None for an unnamed one."""

    type: SchemaType
    name: str | None = None
    alias: Alias | None = None

    def __str__(self) -> str:
        return _annotated(self.type, self.alias) + (f" {self.name}" if self.name else "")


@dataclass(frozen=True)
class OperatorName:
    """`namespace::base.overload`. Namespace is "" when the text had none; so is overload."""

    namespace: str
    base: str
    overload: str = ""

    def __str__(self) -> str:
        prefix = f"{self.namespace}::" if self.namespace else ""
        return prefix + self.base + (f".{self.overload}" if self.overload else "")


@dataclass(frozen=True)
class Schema:
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
