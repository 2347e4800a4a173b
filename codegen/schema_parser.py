"""Parser of operator schemas: text -> Schema, by recursive descent over exact spans.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

`str(parse_schema(text))` gives the text back in canonical spacing. Source of the grammar:
PyTorch's aten/src/ATen/native/README.md.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .schema import (
    Alias,
    Argument,
    BaseType,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Schema,
    SchemaType,
    Span,
)

BASE_TYPES = frozenset(
    {
        *("Tensor", "int", "float", "bool", "str", "Scalar", "ScalarType", "SymInt", "SymBool"),
        *("Layout", "Device", "DeviceIndex", "MemoryFormat", "Generator", "Dimname"),
        *("DimVector", "QScheme", "Storage", "Stream", "GraphModule"),
    }
)
"""Every base type of the language; class types start with CLASS_PREFIX instead."""

CLASS_PREFIX = "__torch__.torch.classes."
"""Start of the name of a type that C++ code registered with PyTorch."""

MAX_NESTING = 8
"""Deepest `?[]?[]...` of a type and deepest list in a default: guards the call stack."""

MAX_LENGTH = 1 << 16
"""Longest schema, in characters; PyTorch's longest has 900."""

# Habits of C++, Python and TorchScript, and what the schema language calls the same thing.
_FOREIGN_TYPES = {
    "tensor": "Tensor",
    "double": "float",
    "int64_t": "int",
    "long": "int",
    "string": "str",
    "String": "str",
    "string_view": "str",
    "boolean": "bool",
    "number": "Scalar",
    "Number": "Scalar",
    "dtype": "ScalarType",
    "Optional": "Tensor?",
    "List": "Tensor[]",
    "IntArrayRef": "int[]",
    "IntList": "int[]",
    "TensorList": "Tensor[]",
}

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<mark>->|::|[()\[\],*?!|=.:-])
    """,
    re.VERBOSE | re.ASCII,
)


class SchemaError(ValueError):
    """A schema that does not follow the language.

    `span` is the place in the text (never empty, may reach one past its end), `hint` what to do
    about it ("" when there is nothing to say).
    """

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint


class _Token(NamedTuple):
    kind: str  # name, number, string, mark, end
    text: str
    start: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + max(1, len(self.text)))

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


def parse_schema(text: str) -> Schema:
    """Parse one schema, with or without a namespace.

    Raises SchemaError at the first mistake.
    """
    return _Parser(text).schema()


def parse_type(text: str) -> SchemaType:
    """Parse a type on its own (`Tensor?[]`). Raises SchemaError."""
    parser = _Parser(text)
    parsed, _ = parser.type()
    parser.end("type")
    return parsed


def parse_operator_name(text: str) -> OperatorName:
    """Parse `namespace::base.overload`, namespace and overload optional. Raises SchemaError."""
    parser = _Parser(text)
    name = parser.operator_name()
    parser.end("name")
    return name


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0

    # Token access

    @property
    def token(self) -> _Token:
        return self.tokens[self.position]

    def next(self) -> _Token:
        token = self.token
        self.position += token.kind != "end"
        return token

    def accept(self, mark: str) -> bool:
        """Step over `mark` when it comes next."""
        found = self.token.kind == "mark" and self.token.text == mark
        self.position += found
        return found

    def expect(self, mark: str, after: str, hint: str = "") -> None:
        if not self.accept(mark):
            raise SchemaError(
                f"expected '{mark}' {after}, found {self.token}", self.token.span, hint
            )

    def name(self, what: str) -> str:
        if self.token.kind != "name":
            raise SchemaError(f"expected {what}, found {self.token}", self.token.span)
        return self.next().text

    def end(self, of: str) -> None:
        if self.token.kind != "end":
            span = Span(self.token.start, len(self.text.rstrip()))
            raise SchemaError(f"unexpected {self.token} after the end of the {of}", span)

    # Grammar

    def schema(self) -> Schema:
        name = self.operator_name()
        self.expect("(", "after the operator's name")
        positional, keyword_only, out = self.arguments()
        self.expect("->", "after the arguments", "a schema ends with its results: `-> Tensor`")
        returns = self.returns()
        self.end("schema")
        return Schema(name, positional, keyword_only, out, returns)

    def operator_name(self) -> OperatorName:
        base = self.name("an operator name")
        namespace = ""
        if self.accept("::"):
            namespace, base = base, self.name("an operator name after '::'")
        if self.token.text == "::":
            raise SchemaError(
                "an operator has one namespace only",
                self.token.span,
                "C++ namespaces belong into kernel_name",
            )
        overload = self.name("an overload name after '.'") if self.accept(".") else ""
        return OperatorName(namespace, base, overload)

    def arguments(self) -> tuple[tuple[Argument, ...], tuple[Argument, ...], tuple[Argument, ...]]:
        positional: list[Argument] = []
        keyword_only: list[Argument] = []
        out: list[Argument] = []
        seen: set[str] = set()
        group = positional
        if self.accept(")"):
            return (), (), ()
        while True:
            star = self.token
            if self.accept("*"):
                if group is not positional:
                    raise SchemaError("a second '*'", star.span)
                group = keyword_only
                if self.token.text == ")":
                    raise SchemaError("no argument after '*'", star.span)
            else:
                argument = self.argument()
                if argument.name in seen:
                    raise SchemaError(f"a second argument '{argument.name}'", argument.span)
                seen.add(argument.name)
                if group is not positional and argument.is_write:
                    group = out
                elif group is out:
                    raise SchemaError(
                        f"argument '{argument.name}' after an out argument",
                        argument.span,
                        "out arguments come last",
                    )
                group.append(argument)
            if self.accept(")"):
                return tuple(positional), tuple(keyword_only), tuple(out)
            self.expect(",", "or ')' after an argument")

    def argument(self) -> Argument:
        start = self.token.start
        parsed, alias = self.type()
        if self.token.kind != "name":
            raise SchemaError(
                f"expected the name of the argument of type {parsed}, found {self.token}",
                self.token.span,
            )
        last = name = self.next()
        default = None
        if self.accept("="):
            first = self.token
            last = self.literal(0)
            default = self.text[first.start : last.start + len(last.text)]
        span = Span(start, last.start + len(last.text))
        return Argument(name.text, parsed, default, alias, span)

    def returns(self) -> tuple[Return, ...]:
        if not self.accept("("):
            return (self.result(),)
        returns: list[Return] = []
        if self.accept(")"):
            return ()
        while True:
            returns.append(self.result())
            if self.accept(")"):
                return tuple(returns)
            self.expect(",", "or ')' after a result")

    def result(self) -> Return:
        parsed, alias = self.type()
        name = self.next().text if self.token.kind == "name" else None
        return Return(parsed, name, alias)

    def type(self) -> tuple[SchemaType, Alias | None]:
        start = self.token
        parsed: SchemaType = self.base_type()
        alias = self.alias() if self.accept("(") else None
        nesting = 0
        while True:
            if self.accept("?"):
                if isinstance(parsed, OptionalType):
                    raise SchemaError("'??': the type is optional already", self.span_from(start))
                parsed = OptionalType(parsed)
            elif self.accept("["):
                parsed = ListType(parsed, self.list_size())
            else:
                return parsed, alias
            nesting += 1
            if nesting > MAX_NESTING:
                raise SchemaError("a type nested too deeply", self.span_from(start))

    def base_type(self) -> BaseType:
        start = self.token
        name = self.name("a type")
        while self.accept("."):
            name += "." + self.name("a name after '.'")
        if name in BASE_TYPES or (name.startswith(CLASS_PREFIX) and len(name) > len(CLASS_PREFIX)):
            return BaseType(name)
        raise SchemaError(f"unknown type '{name}'", self.span_from(start), _type_hint(name))

    def list_size(self) -> int | None:
        if self.accept("]"):
            return None
        size = self.next()
        if size.kind != "number" or not size.text.isdigit() or len(size.text) > 9:
            raise SchemaError(f"expected a list's size or ']', found {size}", size.span)
        self.expect("]", "after the list's size")
        return int(size.text)

    def alias(self) -> Alias:
        before = self.alias_sets()
        is_write = self.accept("!")
        after = self.alias_sets() if self.accept("->") else ()
        self.expect(")", "after an alias annotation")
        return Alias(before, is_write, after)

    def alias_sets(self) -> tuple[str, ...]:
        sets: list[str] = []
        while True:
            if self.accept("*"):
                sets.append("*")
            else:
                sets.append(self.name("an alias set, as in (a!)"))
            if not self.accept("|"):
                return tuple(sets)

    def literal(self, nesting: int) -> _Token:
        """Step over a default value; gives its last token."""
        token = self.next()
        if token.kind in ("name", "number", "string"):
            return token
        if token.text == "-":
            value = self.next()
            if value.kind in ("name", "number"):
                return value
            raise SchemaError(f"expected a number after '-', found {value}", value.span)
        if token.text != "[":
            raise SchemaError(f"expected a default value after '=', found {token}", token.span)
        if nesting == MAX_NESTING:
            raise SchemaError("a list nested too deeply", token.span)
        while True:
            close = self.token
            if self.accept("]"):
                return close
            self.literal(nesting + 1)
            close = self.token
            if self.accept("]"):
                return close
            self.expect(",", "or ']' in a list")

    def span_from(self, start: _Token) -> Span:
        last = self.tokens[self.position - 1]
        return Span(start.start, last.start + len(last.text))


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_LENGTH:
        span = Span(MAX_LENGTH, len(text))
        raise SchemaError(f"longer than {MAX_LENGTH} characters", span)
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            character = text[position]
            what = "a string without an end" if character in "\"'" else f"'{character}'"
            raise SchemaError(f"{what} has no place in a schema", Span(position, position + 1))
        kind = match.lastgroup
        assert kind is not None
        if kind != "space":
            tokens.append(_Token(kind, match.group(), position))
        position = match.end()
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _type_hint(name: str) -> str:
    from difflib import get_close_matches

    if name.startswith("__torch__"):
        return f"a class type is written {CLASS_PREFIX}<name>"
    nearest = _FOREIGN_TYPES.get(name) or next(iter(get_close_matches(name, BASE_TYPES, 1)), None)
    return f"did you mean {nearest}?" if nearest else ""
