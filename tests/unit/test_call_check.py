"""Calls against schemas: what fits, and how each misfit is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from gen_kernels.codegen.catalogue import bundled_catalogues, open_catalogue
from gen_kernels.codegen.diagnostics import Diagnostic, Location, Severity
from gen_kernels.codegen.model import CatalogueEntry
from gen_kernels.codegen.schema_parser import parse_schema
from gen_kernels.selective.call_check import check_calls
from gen_kernels.selective.models import Model, load_models
from gen_kernels.selective.pte import parse_program

from tests.support import pte_builder as build

MODELS = Path(__file__).parent.parent / "models"


def entry_of(schema: str) -> CatalogueEntry:
    return CatalogueEntry(parse_schema(schema), (), "mine", Location("mine.yaml", 7))


def check(
    schema: str, values: list[build.Table], args: list[int], times: int = 1, **fields: object
) -> list[Diagnostic]:
    name = schema.partition("(")[0]
    plan = build.method(values, [build.call(0, args)] * times, [name], buffers=[64])
    data = build.serialise(build.program([plan], **fields))
    entry = entry_of(schema)
    model = Model("m.pte", parse_program(data, len(data)))
    return list(check_calls([model], {name: entry}.get))


def test_every_model_fits_the_bundled_catalogues() -> None:
    catalogues = [open_catalogue(path, path.name, True) for path in bundled_catalogues()]

    def find(name: str) -> CatalogueEntry | None:
        return next((entry for c in catalogues if (entry := c.find(name))), None)

    models, _ = load_models([str(MODELS)])
    assert len(models) > 40
    assert check_calls(models, find) == ()


T = build.tensor([2])
TENSORS = build.items(build.TENSOR_LIST, [0, 1])
OPTIONALS = build.items(build.OPTIONAL_TENSOR_LIST, [0, -1])

# The type of argument `x`; values that fit it; values that do not, and what is said of them.
FITS = [
    ("int", [build.integer(1)], [(build.boolean(True), "a bool"), (build.double(1), "a float")]),
    ("SymInt", [build.integer(1)], [(build.value(build.NULL), "None")]),
    ("float", [build.double(1)], [(build.integer(1), "an int")]),
    ("bool", [build.boolean(True)], [(build.integer(1), "an int")]),
    ("Scalar", [build.integer(1), build.double(1), build.boolean(True)], [(T, "a tensor")]),
    ("str", [build.text("x")], [(build.integer(1), "an int")]),
    ("ScalarType", [build.integer(6)], [(build.text("Float"), "a string")]),
    ("MemoryFormat?", [build.integer(0), build.value(build.NULL)], [(build.double(0), "a float")]),
    ("Tensor", [T], [(TENSORS, "a list of tensors"), (build.value(build.NULL), "None")]),
    ("Tensor?", [T, build.value(build.NULL)], [(build.integer(1), "an int")]),
    ("Tensor[]", [TENSORS], [(T, "a tensor"), (OPTIONALS, "a list of optional tensors")]),
    ("Tensor?[]", [OPTIONALS], [(TENSORS, "a list of tensors")]),
    (
        "int[]",
        [build.items(build.INT_LIST, [2, 2])],
        [
            (build.integer(1), "an int"),
            (build.items(build.INT_LIST, [2, 0]), "a list of ints, but item 1 is a tensor"),
            (build.items(build.DOUBLE_LIST, [1.0]), "a list of floats"),
        ],
    ),
    ("int[2]?", [build.items(build.INT_LIST, [2]), build.value(build.NULL)], []),
    ("float[]", [build.items(build.DOUBLE_LIST, [1.0])], [(build.double(1), "a float")]),
    ("bool[3]", [build.items(build.BOOL_LIST, [True])], [(build.boolean(True), "a bool")]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), FITS, ids=[item[0] for item in FITS])
def test_value_kinds(
    kind: str, good: list[build.Table], bad: list[tuple[build.Table, str]]
) -> None:
    schema = f"my::f.out({kind} x, *, Tensor(a!) out) -> Tensor(a!)"
    for value in good:
        assert check(schema, [T, T, build.integer(5), value], [3, 0, 0]) == []
    for value, text in bad:
        (diagnostic,) = check(schema, [T, T, build.integer(5), value], [3, 0, 0])
        assert diagnostic.code == "GK211"
        assert diagnostic.message == (
            f"call of my::f.out (method 'forward', instruction 0): argument 'x' ({kind}) is {text}"
        )
        assert diagnostic.notes == (f"schema (mine.yaml:7): {schema}",)


ONE = "my::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"
TWO = "my::f.out(Tensor x, *, Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))"
LIST = "my::f.out(Tensor x, *, Tensor(a!)[] out) -> ()"
INPLACE = "my::f_(Tensor(a!) self, Tensor x) -> Tensor(a!)"


@pytest.mark.parametrize(
    ("schema", "args", "code"),
    [
        (ONE, [0, 1, 1], ""),
        (ONE, [0, 1], "GK210"),
        (ONE, [0, 1, 1, 1], "GK210"),
        (ONE, [], "GK210"),
        (ONE, [0, 1, 0], "GK212"),
        (ONE, [0, 2, 2], "GK213"),
        (TWO, [0, 0, 1, 3], ""),
        (TWO, [0, 1, 0, 3], "GK212"),
        (TWO, [0, 0, 1, 1], "GK212"),
        (TWO, [0, 0, 1], "GK210"),
        (LIST, [0, 3, 3], ""),
        (LIST, [0, 3], ""),
        (INPLACE, [1, 0, 1], ""),
        (INPLACE, [1, 0, 0], "GK212"),
    ],
)
def test_out_positions(schema: str, args: list[int], code: str) -> None:
    values = [T, T, build.tensor([2], data=1), TENSORS]
    diagnostics = check(schema, values, args, slot2=[{0: b""}, {0: bytes(8)}])
    assert [diagnostic.code for diagnostic in diagnostics] == ([code] if code else [])


def test_argument_count_names_both_numbers() -> None:
    (diagnostic,) = check(ONE, [T], [0, 0], times=3)
    assert diagnostic.message == (
        "call of my::f.out (method 'forward', instruction 0, and 2 more): 2 values, "
        "the schema's 2 arguments and the return slot make 3"
    )
    assert diagnostic.hint.startswith("model and catalogue are of different releases")
    assert diagnostic.location.file == "m.pte"


def test_key_that_is_too_long_for_executorch() -> None:
    values = [build.tensor([1] * 16, dtype=15, place=(1, 0))]
    for count, codes in ((16, []), (17, ["GK214"])):
        arguments = ", ".join(f"Tensor x{index}" for index in range(count - 2))
        schema = f"my::f.out({arguments}, *, Tensor(a!) out) -> Tensor(a!)"
        diagnostics = check(schema, values, [0] * count)
        assert [diagnostic.code for diagnostic in diagnostics] == codes
        assert all(diagnostic.severity is Severity.WARNING for diagnostic in diagnostics)
