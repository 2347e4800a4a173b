"""Selectors: union, provenance, dtypes, exclusion; and their wrong uses."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from gen_kernels.codegen.diagnostics import Severity
from gen_kernels.codegen.generate import Request, generate
from gen_kernels.selective.models import Model, load_models
from gen_kernels.selective.oplist import format_operator_list
from gen_kernels.selective.program import Program
from gen_kernels.selective.pte import parse_program
from gen_kernels.selective.select import select
from gen_kernels.selective.selection import Origin, SelectedOperator

from tests.support import pte_builder as build

MODELS = Path(__file__).parent.parent / "models"
KNOWN = ("aten::add.out", "aten::add.Scalar_out", "aten::addmm.out", "aten::mul.out", "my::one")
BYTE, INT, FLOAT, DOUBLE, HALF = 0, 3, 6, 7, 5


def models(*names: str) -> tuple[Model, ...]:
    found, diagnostics = load_models([str(MODELS / name) for name in names])
    assert not diagnostics
    return found


def chosen(**options: object) -> dict[str, SelectedOperator]:
    selection, diagnostics = select(**options)  # type: ignore[arg-type]
    assert not diagnostics
    assert [item.name for item in selection.operators] == sorted(
        item.name for item in selection.operators
    )
    return {item.name: item for item in selection.operators}


def program_of(*plans: build.Table) -> Program:
    data = build.serialise(build.program(list(plans)))
    return parse_program(data, len(data))


def test_nothing_is_an_empty_selection() -> None:
    assert chosen() == {}


def test_model_gives_names_dtypes_keys_and_where() -> None:
    (model,) = models("add.pte")
    assert chosen(models=[model]) == {
        "aten::add.out": SelectedOperator(
            "aten::add.out",
            (FLOAT,),
            ("v1/6;0,1|6;0,1|6;0,1|6;0,1",),
            (Origin("model", model.display, "forward", (0, 0)),),
        )
    }


def test_tensor_lists_count_for_dtypes_and_not_for_keys() -> None:
    """The runtime's key leaves lists out, but the kernel reads and writes their dtypes."""
    values = [
        build.tensor([2], dtype=HALF),
        build.tensor([2], dtype=BYTE),
        build.items(build.TENSOR_LIST, [0, 1]),
        build.integer(0),
        build.tensor([4], dtype=FLOAT),
        build.items(build.OPTIONAL_TENSOR_LIST, [-1, 1]),
    ]
    plan = build.method(
        values,
        [build.call(0, [2, 3, 4, 4]), build.call(1, [4, 5, 4, 4])],
        ["aten::cat.out", "a::i"],
    )
    found = chosen(models=[Model("m.pte", program_of(plan))])
    assert found["aten::cat.out"].dtypes == (BYTE, HALF, FLOAT)
    assert found["aten::cat.out"].keys == ("v1/6;0|6;0",)
    assert found["a::i"].dtypes == (BYTE, FLOAT)


def test_models_unite() -> None:
    values = [build.tensor([2], dtype=DOUBLE)]
    plan = build.method(values, [build.call(0, [0, 0, 0, 0])], ["aten::add.out"], name="second")
    other = Model("b.pte", program_of(plan))
    found = chosen(models=[*models("add.pte"), other])["aten::add.out"]
    assert found.dtypes == (FLOAT, DOUBLE)
    assert found.keys == ("v1/6;0,1|6;0,1|6;0,1|6;0,1", "v1/7;0|7;0|7;0|7;0")
    assert [origin.method for origin in found.origins] == ["forward", "second"]


def test_operator_without_a_call_keeps_every_dtype() -> None:
    plan = build.method([], [], ["aten::add.out"])
    assert chosen(models=[Model("m.pte", program_of(plan))])["aten::add.out"].dtypes is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aten::add.out", {"aten::add.out": None}),
        ("add.out", {"aten::add.out": None}),
        ("add.out:Float", {"aten::add.out": (FLOAT,)}),
        ("add.out:float32,Int,HALF", {"aten::add.out": (INT, HALF, FLOAT)}),
        ("add.out:Float,mul.out:Int", {"aten::add.out": (FLOAT,), "aten::mul.out": (INT,)}),
        ("add.out mul.out", {"aten::add.out": None, "aten::mul.out": None}),
        ("aten::add", {"aten::add.out": None, "aten::add.Scalar_out": None}),
        ("add:Int", {"aten::add.out": (INT,), "aten::add.Scalar_out": (INT,)}),
        ("add*", {"aten::add.out": None, "aten::add.Scalar_out": None, "aten::addmm.out": None}),
        ("my::one", {"my::one": None}),
        ("your::own.out", {"your::own.out": None}),
    ],
)
def test_operator_option(text: str, expected: dict[str, tuple[int, ...] | None]) -> None:
    found = chosen(ops=[text], known=KNOWN)
    assert {name: item.dtypes for name, item in found.items()} == expected
    assert all(item.origins == (Origin("op", text),) for item in found.values())


def test_partial_information_never_narrows() -> None:
    model = models("add.pte")
    assert chosen(models=model, ops=["add.out:Int"])["aten::add.out"].dtypes == (INT, FLOAT)
    assert chosen(models=model, ops=["add.out"])["aten::add.out"].dtypes is None
    assert chosen(ops=["add.out:Int", "add.out"])["aten::add.out"].dtypes is None
    everything = chosen(models=model, include_all=True, known=KNOWN)
    assert set(everything) == set(KNOWN)
    assert everything["aten::add.out"].dtypes is None


def test_exclude() -> None:
    model = models("mlp.pte")
    names = set(chosen(models=model))
    assert set(chosen(models=model, exclude=["relu.out"])) == names - {"aten::relu.out"}
    assert set(chosen(models=model, exclude=["*"])) == set()
    assert set(chosen(ops=["add"], exclude=["add.out"], known=KNOWN)) == {"aten::add.Scalar_out"}


def test_exclude_of_what_was_not_selected_warns() -> None:
    _, (diagnostic,) = select(ops=["add.out"], exclude=["mul.out"])
    assert diagnostic.severity is Severity.WARNING
    assert diagnostic.message == "--exclude: 'mul.out' was not selected"


def test_any_order_gives_the_same_bytes(tmp_path: Path) -> None:
    yaml_file = tmp_path / "selected_operators.yaml"
    yaml_file.write_text(format_operator_list(select(ops=["sub.out:Int"])[0]))
    plain = tmp_path / "ops.txt"
    plain.write_text("aten::relu.out\n")
    texts = set()
    for names in itertools.permutations(["add.pte", "mlp.pte", "half.pte"]):
        for files in itertools.permutations([str(yaml_file), str(plain)]):
            for ops in itertools.permutations(["mul.out", "add.out:Half"]):
                selection, _ = select(models(*names), ops=ops, ops_files=files)
                texts.add(format_operator_list(selection))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"ops": ["add.out:Flaot"]}, "--op: 'Flaot' in 'add.out:Flaot' is no dtype"),
        ({"ops": ["add.out:"]}, "--op: '' in 'add.out:' is no dtype"),
        ({"ops": ["add.out;"]}, "--op: 'add.out;' is no operator name"),
        ({"ops": [""]}, "--op needs an operator's name"),
        ({"ops": [" , "]}, "--op needs an operator's name"),
        ({"ops": ["nothing*"]}, "--op: no operator matches 'nothing*'"),
        (
            {"ops": ["add.out(Tensor"]},
            "--op: 'add.out(Tensor' is a schema; only the operator's name",
        ),
        ({"ops": ["a:::b"]}, "--op: 'a:::b' is no operator name"),
        ({"ops": ["add.out:Float:Int"]}, "--op: 'Float:Int' in 'add.out:Float:Int' is no dtype"),
        ({"exclude": ["add.out:Float"]}, "--exclude: 'add.out:Float' names dtypes"),
        ({"exclude": ["$"]}, "--exclude: '$' is no operator name"),
    ],
)
def test_wrong_option(option: dict[str, list[str]], message: str) -> None:
    _, (diagnostic,) = select(**option, known=KNOWN)  # type: ignore[arg-type]
    assert diagnostic.severity is Severity.ERROR
    assert diagnostic.message.startswith(message)


def test_misspelt_dtype_gets_a_suggestion() -> None:
    assert select(ops=["add.out:flaot32"])[1][0].hint == "did you mean float32?"


def test_any_order_gives_the_same_files(tmp_path: Path) -> None:
    """Two models, an operator and a YAML list, in every order: all generated files are equal."""
    yaml_file = tmp_path / "selected_operators.yaml"
    yaml_file.write_text(format_operator_list(select(ops=["sub.out:Int"])[0]))
    results = []
    for names in itertools.permutations(["add.pte", "mlp.pte"]):
        for ops in itertools.permutations(["mul.out", "add.out:Half"]):
            request = Request(
                models=tuple(str(MODELS / name) for name in names),
                ops=ops,
                ops_files=(str(yaml_file),),
                our_kernels=False,
            )
            generation = generate(request)
            assert generation.plan is not None, generation.diagnostics
            results.append(generation.files)
    assert len(results[0]) > 6
    assert all(files == results[0] for files in results)
