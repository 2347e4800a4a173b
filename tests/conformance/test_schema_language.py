"""The schema language against torchgen, PyTorch's own parser of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from gen_kernels.codegen.aten_schemas import aten_names, aten_schema
from gen_kernels.codegen.schema import (
    Argument,
    BaseType,
    ListType,
    OptionalType,
    Return,
    SchemaType,
)
from gen_kernels.codegen.schema_parser import BASE_TYPES, SchemaError, parse_schema

torchgen_gen = pytest.importorskip("torchgen.gen")
model = pytest.importorskip("torchgen.model")

pytestmark = pytest.mark.conformance

NATIVE = Path(torchgen_gen.__file__).parent / "packaged" / "ATen" / "native"


@pytest.fixture(scope="module")
def native_schemas() -> list[str]:
    text = (NATIVE / "native_functions.yaml").read_text()
    return [entry["func"] for entry in yaml.load(text, Loader=yaml.CSafeLoader)]


@pytest.fixture(scope="module")
def all_functions() -> list[Any]:
    """torchgen's functions, with the out variants that it derives."""
    parsed = torchgen_gen.parse_native_yaml(
        str(NATIVE / "native_functions.yaml"), str(NATIVE / "tags.yaml")
    )
    return list(parsed.native_functions)


def test_every_native_schema_parses_and_prints_back(native_schemas: list[str]) -> None:
    assert len(native_schemas) == 2584  # of torch 2.13.0
    assert [s for s in native_schemas if str(parse_schema(s)) != s] == []


def test_every_native_schema_has_torchgens_structure(native_schemas: list[str]) -> None:
    for text in native_schemas:
        ours, theirs = parse_schema(text), model.FunctionSchema.parse(text)
        base = theirs.name.name
        assert str(ours.name) == str(theirs.name)
        assert ours.name.overload == theirs.name.overload_name
        assert ours.name.base == str(base)
        groups = theirs.arguments
        assert_same_arguments(ours.positional, list(groups.flat_positional))
        assert_same_arguments(ours.keyword_only, list(groups.flat_kwarg_only))
        assert_same_arguments(ours.out, list(groups.out))
        assert_same_arguments(ours.returns, list(theirs.returns))


def assert_same_arguments(ours: tuple[Argument | Return, ...], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert our.name == their.name
        assert same_type(our.type, their.type)
        if isinstance(our, Argument):
            assert our.default == their.default
            assert our.is_write == their.is_write
        alias = their.annotation
        assert (our.alias is None) == (alias is None)
        if our.alias is not None:
            assert our.alias.before == alias.alias_set
            assert our.alias.is_write == alias.is_write
            assert our.alias.after == alias.alias_set_after


def same_type(ours: SchemaType, theirs: Any) -> bool:
    if isinstance(ours, OptionalType):
        return isinstance(theirs, model.OptionalType) and same_type(ours.element, theirs.elem)
    if isinstance(ours, ListType):
        return (
            isinstance(theirs, model.ListType)
            and ours.size == theirs.size
            and same_type(ours.element, theirs.elem)
        )
    assert isinstance(ours, BaseType)
    if isinstance(theirs, model.CustomClassType):
        return ours.name == f"__torch__.torch.classes.{theirs.class_name}"
    return isinstance(theirs, model.BaseType) and ours.name == theirs.name.name


def test_base_types_are_torchgens() -> None:
    assert {t.name for t in model.BaseTy} <= BASE_TYPES
    # Dimname left torchgen's list but stays in TorchScript's.
    assert BASE_TYPES - {t.name for t in model.BaseTy} <= {"Dimname"}


@pytest.mark.parametrize(
    "text",
    [
        "f(Tenosr x) -> Tensor",
        "f(Tensor) -> Tensor",
        "f(Tensor x, *, Tensor(a!) out, int y) -> Tensor(a!)",
        "f(Tensor x -> Tensor",
        "f(Tensor x)",
        "f(Tensor(1!) x) -> ()",
        "f(int[x] y) -> Tensor",
        "f(__torch__.foo y) -> Tensor",
    ],
)
def test_what_torchgen_rejects_we_reject(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017 (torchgen has no error type of its own)
        model.FunctionSchema.parse(text)
    with pytest.raises(SchemaError):
        parse_schema(text)


def test_bundled_schemas_are_all_of_torchgens(all_functions: list[Any]) -> None:
    theirs = {str(f.func.name): str(f.func) for f in all_functions}
    assert set(aten_names()) == set(theirs)
    for name, text in theirs.items():
        assert aten_schema(name) == text
