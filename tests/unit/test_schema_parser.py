"""The schema language: structure, printing, and the place and hint of each mistake."""

from __future__ import annotations

import string

import pytest
from gen_kernels.codegen.schema import (
    Alias,
    Argument,
    BaseType,
    ListType,
    OperatorName,
    OptionalType,
    Return,
    Schema,
)
from gen_kernels.codegen.schema_parser import (
    BASE_TYPES,
    SchemaError,
    parse_operator_name,
    parse_schema,
    parse_type,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TENSOR = BaseType("Tensor")


def test_the_parts_of_a_schema() -> None:
    schema = parse_schema(
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    assert schema == Schema(
        OperatorName("aten", "add", "out"),
        (Argument("self", TENSOR), Argument("other", TENSOR)),
        (Argument("alpha", BaseType("Scalar"), "1"),),
        (Argument("out", TENSOR, None, Alias(("a",), True)),),
        (Return(TENSOR, None, Alias(("a",), True)),),
    )
    assert [a.name for a in schema.arguments] == ["self", "other", "alpha", "out"]
    assert [a.is_write for a in schema.arguments] == [False, False, False, True]


def test_argument_spans_cover_their_text() -> None:
    text = "f(Tensor(a!)? x,  int[2] y=[1, -1], *, str s='a,b') -> ()"
    arguments = parse_schema(text).arguments
    found = [text[a.span.start : a.span.end] for a in arguments]
    assert found == ["Tensor(a!)? x", "int[2] y=[1, -1]", "str s='a,b'"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tensor", TENSOR),
        ("Tensor?[]", ListType(OptionalType(TENSOR))),
        ("Tensor[]?", OptionalType(ListType(TENSOR))),
        ("int[2]?", OptionalType(ListType(BaseType("int"), 2))),
        ("bool[3]", ListType(BaseType("bool"), 3)),
        ("SymInt[1]?[]", ListType(OptionalType(ListType(BaseType("SymInt"), 1)))),
        ("__torch__.torch.classes.xnnpack.Context", "__torch__.torch.classes.xnnpack.Context"),
    ],
)
def test_types(text: str, expected: object) -> None:
    parsed = parse_type(text)
    assert parsed == (BaseType(expected) if isinstance(expected, str) else expected)
    assert str(parsed) == text


@pytest.mark.parametrize(
    "text",
    [
        "f() -> ()",
        "f(*, Tensor(a!) out) -> Tensor(a!)",
        "f(Tensor(a) self) -> Tensor(a)[]",
        "f(Tensor(a -> *) self, int chunks) -> Tensor(a)[]",
        "f(Tensor(a|b) self) -> Tensor(a|b)",
        "f(Tensor(a! -> b|c) self) -> ()",
        "f(Tensor(a!)[] self) -> ()",
        "ns::f.o(Tensor? x=None, float p=-1e-05, float q=.5, int r=Mean, int[] d=[-2,1]) -> ()",
        "f(str a='it\\'s', str b=\"x, y) -> z\", bool c=False, int[] d=[]) -> (Tensor, int[])",
        "f(MemoryFormat m=contiguous_format) -> (Tensor values, Tensor indices)",
        "f(Tensor(a!) x, Tensor y, *, int z, Tensor(b!) o1, Tensor(c!)[] o2) -> Tensor(b!)",
        "__and__.Tensor(Tensor self, Tensor other) -> Tensor",
        "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
    ],
)
def test_text_comes_back_unchanged(text: str) -> None:
    assert str(parse_schema(text)) == text


def test_spacing_is_free_and_printed_in_one_way() -> None:
    text = " f ( Tensor  a ,int[ 2 ] b = [ 1 ] ,*,\n Tensor( a! ) out )->Tensor( a! ) "
    expected = "f(Tensor a, int[2] b=[ 1 ], *, Tensor(a!) out) -> Tensor(a!)"
    assert str(parse_schema(text)) == expected


# Each case: text, the characters that the error points at (marked by ^), words of the message,
# words of the hint.
MISTAKES = [
    ("f(Tenosr x) -> ()", "  ^^^^^^", "unknown type 'Tenosr'", "did you mean Tensor?"),
    ("f(tensor x) -> ()", "  ^^^^^^", "unknown type 'tensor'", "did you mean Tensor?"),
    ("f(double x) -> ()", "  ^^^^^^", "unknown type 'double'", "did you mean float?"),
    ("f(int64_t x) -> ()", "  ^^^^^^^", "unknown type 'int64_t'", "did you mean int?"),
    ("f(qqqq x) -> ()", "  ^^^^", "unknown type 'qqqq'", ""),
    (
        "f(__torch__.foo x) -> ()",
        "  ^^^^^^^^^^^^^",
        "unknown type '__torch__.foo'",
        "__torch__.torch.classes.<name>",
    ),
    ("f(Tensor?? x) -> ()", "  ^^^^^^^^", "optional already", ""),
    ("f(Tensor) -> ()", "        ^", "expected the name of the argument of type Tensor", ""),
    ("f(Tensor x", "          ^", "expected ',' or ')' after an argument, found the end", ""),
    ("f(Tensor x y) -> ()", "           ^", "expected ',' or ')' after an argument", ""),
    ("f(Tensor x,) -> ()", "           ^", "expected a type, found ')'", ""),
    ("f(Tensor x)", "           ^", "expected '->' after the arguments", "`-> Tensor`"),
    ("f(Tensor x) -> ", "               ^", "expected a type, found the end", ""),
    ("f(Tensor x) -> () extra", "                  ^^^^^", "unexpected 'extra'", ""),
    ("f(Tensor x, int x) -> ()", "            ^^^^^", "a second argument 'x'", ""),
    ("f(*) -> ()", "  ^", "no argument after '*'", ""),
    ("f(*, int a, *, int b) -> ()", "            ^", "a second '*'", ""),
    (
        "f(*, Tensor(a!) o, int b) -> ()",
        "                   ^^^^^",
        "argument 'b' after an out argument",
        "out arguments come last",
    ),
    ("f(int[x] a) -> ()", "      ^", "expected a list's size or ']'", ""),
    ("f(int[1.5] a) -> ()", "      ^^^", "expected a list's size or ']', found '1.5'", ""),
    ("f(int[2 a) -> ()", "        ^", "expected ']' after the list's size", ""),
    ("f(Tensor(!) a) -> ()", "         ^", "expected an alias set", ""),
    ("f(Tensor(a! a) -> ()", "            ^", "expected ')' after an alias annotation", ""),
    ("f(int a=) -> ()", "        ^", "expected a default value after '='", ""),
    ("f(int a=-) -> ()", "         ^", "expected a number after '-'", ""),
    ("f(int[] a=[1 2]) -> ()", "             ^", "expected ',' or ']' in a list", ""),
    ("f(str a='x) -> ()", "        ^", "a string without an end", ""),
    ("f(Tensor x) -> Tensor; g", "                     ^", "';' has no place in a schema", ""),
    ("f(Tensor x) → Tensor", "            ^", "'→' has no place in a schema", ""),
    ("a::b::c(Tensor x) -> ()", "    ^^", "one namespace only", "kernel_name"),
    ("f.(Tensor x) -> ()", "  ^", "expected an overload name after '.'", ""),
    ("(Tensor x) -> ()", "^", "expected an operator name", ""),
    ("", "^", "expected an operator name, found the end", ""),
    ("f", " ^", "expected '(' after the operator's name", ""),
    ("f(Tensor x) -> (Tensor", "                      ^", "expected ',' or ')' after a result", ""),
    ("f(int" + "[]" * 9 + " a) -> ()", "  " + "^" * 21, "a type nested too deeply", ""),
    ("f(int a=" + "[" * 9 + ") -> ()", " " * 16 + "^", "a list nested too deeply", ""),
]


@pytest.mark.parametrize(("text", "marks", "message", "hint"), MISTAKES)
def test_mistakes(text: str, marks: str, message: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_schema(text)
    span = caught.value.span
    assert " " * span.start + "^" * (span.end - span.start) == marks
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert bool(hint) == bool(caught.value.hint)


def test_operator_names() -> None:
    assert parse_operator_name("aten::add.out") == OperatorName("aten", "add", "out")
    assert parse_operator_name("relu") == OperatorName("", "relu")
    with pytest.raises(SchemaError):
        parse_operator_name("add.out(")


# Schemas at random: printing and parsing are each other's inverse.

names = st.builds(
    str.__add__,
    st.sampled_from(string.ascii_letters + "_"),
    st.text(string.ascii_letters + string.digits + "_", max_size=6),
)
base_types = st.sampled_from(sorted(BASE_TYPES)).map(BaseType) | names.map(
    lambda name: BaseType(f"__torch__.torch.classes.{name}")
)
types = st.recursive(
    base_types,
    lambda inner: st.one_of(
        st.builds(ListType, inner, st.none() | st.integers(min_value=0, max_value=99)),
        inner.map(lambda t: t if isinstance(t, OptionalType) else OptionalType(t)),
    ),
    max_leaves=4,
).filter(lambda t: str(t).count("[") + str(t).count("?") <= 8)
alias_sets = st.lists(names | st.just("*"), min_size=1, max_size=3).map(tuple)
numbers = st.integers().map(str) | st.floats(allow_nan=False, allow_infinity=False).map(repr)
strings = st.text(string.printable.replace("\\", "").replace("'", ""), max_size=8).map(
    lambda text: f"'{text}'"
)
literals = st.recursive(
    numbers | strings | names,
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
    max_leaves=5,
).filter(lambda text: "[" * 8 not in text)


def aliases(write: bool) -> st.SearchStrategy[Alias]:
    return st.builds(Alias, alias_sets, st.just(write), st.just(()) | alias_sets)


def arguments(alias: st.SearchStrategy[Alias | None]) -> st.SearchStrategy[Argument]:
    return st.builds(Argument, names, types, st.none() | literals, alias)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    readable = st.none() | aliases(False)
    positional = draw(st.lists(arguments(readable | aliases(True)), max_size=4))
    keyword_only = draw(st.lists(arguments(readable), max_size=3))
    out = draw(st.lists(arguments(aliases(True)), max_size=2))
    seen: set[str] = set()
    groups = [
        tuple(a for a in group if not (a.name in seen or seen.add(a.name)))  # type: ignore[func-returns-value]
        for group in (positional, keyword_only, out)
    ]
    returns = draw(
        st.lists(st.builds(Return, types, st.none() | names, readable | aliases(True)), max_size=3)
    )
    name = draw(st.builds(OperatorName, st.just("") | names, names, st.just("") | names))
    return Schema(name, groups[0], groups[1], groups[2], tuple(returns))


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(schemas())
def test_printing_and_parsing_are_inverse(schema: Schema) -> None:
    assert parse_schema(str(schema)) == schema


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text("fTensor int()[]*,.:?!|->='\"\\ a12\n", max_size=60) | st.text(max_size=30))
def test_any_text_is_a_schema_or_a_schema_error(text: str) -> None:
    try:
        schema = parse_schema(text)
    except SchemaError as error:
        assert 0 <= error.span.start <= len(text)
        assert error.span.start < error.span.end
        assert error.message
    else:
        assert parse_schema(str(schema)) == schema
