"""C++ types of schema types. Expected values are ExecuTorch's kernel conventions, by hand."""

from __future__ import annotations

import pytest
from gen_kernels.codegen.cpp import (
    argument_conversion,
    conversion,
    cpp_identifier,
    parameter_names,
    return_type,
    split_symbol,
)
from gen_kernels.codegen.schema_parser import parse_schema, parse_type

ATEN = "::executorch::aten::"


@pytest.mark.parametrize(
    ("text", "parameter", "evalue"),
    [
        ("Tensor", f"const {ATEN}Tensor&", f"to<{ATEN}Tensor>()"),
        ("int", "int64_t", "to<int64_t>()"),
        ("SymInt", "int64_t", "to<int64_t>()"),
        ("float", "double", "to<double>()"),
        ("bool", "bool", "to<bool>()"),
        ("str", "::std::string_view", "to<::std::string_view>()"),
        ("Scalar", f"const {ATEN}Scalar&", f"to<{ATEN}Scalar>()"),
        ("ScalarType", f"{ATEN}ScalarType", f"to<{ATEN}ScalarType>()"),
        ("Tensor?", f"const ::std::optional<{ATEN}Tensor>&", f"toOptional<{ATEN}Tensor>()"),
        ("Scalar?", f"const ::std::optional<{ATEN}Scalar>&", f"toOptional<{ATEN}Scalar>()"),
        ("int?", "::std::optional<int64_t>", "toOptional<int64_t>()"),
        ("Tensor[]", f"{ATEN}ArrayRef<{ATEN}Tensor>", "toTensorList()"),
        ("int[]", f"{ATEN}ArrayRef<int64_t>", "toIntList()"),
        ("int[2]", f"{ATEN}ArrayRef<int64_t>", "toIntList()"),
        ("float[]", f"{ATEN}ArrayRef<double>", "toDoubleList()"),
        ("bool[3]", f"{ATEN}ArrayRef<bool>", "toBoolList()"),
        (
            "Tensor?[]",
            f"{ATEN}ArrayRef<::std::optional<{ATEN}Tensor>>",
            "toListOptionalTensor()",
        ),
        (
            "int[1]?",
            f"::std::optional<{ATEN}ArrayRef<int64_t>>",
            f"toOptional<{ATEN}ArrayRef<int64_t>>()",
        ),
    ],
)
def test_carried_types(text: str, parameter: str, evalue: str) -> None:
    found = conversion(parse_type(text))
    assert found is not None
    assert (found.parameter, found.evalue) == (parameter, evalue)


@pytest.mark.parametrize(
    "text",
    [
        *("Generator", "Generator?", "Storage", "Stream", "QScheme", "Dimname", "Dimname[]"),
        *("Scalar[]", "str[]", "ScalarType[]", "int?[]", "int[][]", "Tensor?[]?"),
    ],
)
def test_types_that_no_evalue_carries(text: str) -> None:
    assert conversion(parse_type(text)) is None


def test_written_tensors_are_not_const() -> None:
    schema = parse_schema("f.out(Tensor(a!) x, Tensor y, *, Tensor(b!) out) -> Tensor(b!)")
    parameters = [c.parameter for a in schema.arguments if (c := argument_conversion(a))]
    assert parameters == [f"{ATEN}Tensor&", f"const {ATEN}Tensor&", f"{ATEN}Tensor&"]


def test_an_optional_that_is_written_stays_an_optional() -> None:
    # torchgen prints `Tensor &` for it, and code that does not compile.
    schema = parse_schema("f(Tensor(a!)? x) -> ()")
    found = argument_conversion(schema.arguments[0])
    assert found is not None
    assert found.parameter == f"const ::std::optional<{ATEN}Tensor>&"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("f(int a) -> ()", "void"),
        ("f(int a) -> int", "int64_t"),
        ("f(Tensor a) -> Tensor", f"{ATEN}Tensor"),
        ("f(Tensor(a) a) -> Tensor(a)", f"{ATEN}Tensor"),
        ("f.out(int a, *, Tensor(a!) out) -> Tensor(a!)", f"{ATEN}Tensor&"),
        (
            "f.out(int a, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
            f"::std::tuple<{ATEN}Tensor&, {ATEN}Tensor&>",
        ),
        ("f(int a) -> (Tensor, Tensor)", None),
        ("f(int a) -> Tensor[]", None),
        ("f(int a) -> Generator", None),
    ],
)
def test_return_types(schema: str, expected: str | None) -> None:
    assert return_type(parse_schema(schema)) == expected


def test_parameter_names_are_usable_and_distinct() -> None:
    schema = parse_schema("f(int int, int int_, int context, int plain) -> ()")
    assert parameter_names(schema) == ("int__", "int_", "context_", "plain")


def test_identifiers() -> None:
    assert cpp_identifier("operator") == "operator_"
    assert cpp_identifier("add_out") == "add_out"
    assert split_symbol("a::b::f") == ("a::b", "f")
