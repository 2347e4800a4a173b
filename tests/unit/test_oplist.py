"""Operator lists: the three forms that are read, the one that is written, what is wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml
from gen_kernels.codegen.generate import Request, generate
from gen_kernels.selective.oplist import (
    ListedOperator,
    OperatorList,
    format_operator_list,
    parse_operator_list,
    read_operator_list,
)
from gen_kernels.selective.select import select
from gen_kernels.selective.selection import Origin, SelectedOperator, Selection
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.mutate import mutate

# What ExecuTorch's gen_oplist writes for add.pte and `--root_ops aten::mul.out`.
OFFICIAL = """\
build_features: []
custom_classes: []
et_kernel_metadata:
  aten::add.out:
  - v1/6;0,1|6;0,1|6;0,1|6;0,1
  aten::mul.out:
  - default
include_all_non_op_selectives: false
include_all_operators: false
kernel_metadata: {}
operators:
  aten::add.out:
    debug_info:
    - add.pte
    include_all_overloads: false
    is_root_operator: true
    is_used_for_training: true
  aten::mul.out:
    debug_info:
    - add.pte
    include_all_overloads: false
    is_root_operator: true
    is_used_for_training: true
"""
ADD = ListedOperator("aten::add.out", ("v1/6;0,1|6;0,1|6;0,1|6;0,1",), False)
MUL = ListedOperator("aten::mul.out", ("default",), False)


def test_reads_what_executorch_writes() -> None:
    assert parse_operator_list(OFFICIAL) == OperatorList((ADD, MUL))


def test_writes_what_executorch_writes() -> None:
    origin = (Origin("model", "some/where/add.pte", "forward", (0, 0)),)
    selection = Selection(
        (
            SelectedOperator("aten::add.out", (6,), ADD.keys, origin),
            SelectedOperator("aten::mul.out", None, ("v1/3;",), origin),
        )
    )
    assert format_operator_list(selection) == OFFICIAL


def test_empty_selection_reads_back() -> None:
    text = format_operator_list(Selection())
    assert parse_operator_list(text) == OperatorList()
    assert parse_operator_list(format_operator_list(Selection((), True))).include_all


@pytest.mark.parametrize(
    "text",
    [
        "aten::add.out\naten::mul.out\n",
        "# both\nadd.out, mul.out  # same line\n",
        "add.out mul.out",
        "- aten::add.out\n- mul.out\n",
        "[add.out, mul.out]\n",
    ],
)
def test_plain_lists(text: str) -> None:
    listed = parse_operator_list(text)
    assert [item.name for item in listed.operators] == ["aten::add.out", "aten::mul.out"]
    assert {item.keys for item in listed.operators} == {("default",)}


def test_plain_list_with_dtypes_and_patterns() -> None:
    listed = parse_operator_list("add.out:Float,Int, cortex_m::*\n")
    assert listed.operators == (
        ListedOperator("aten::add.out", ("v1/3;", "v1/6;")),
        ListedOperator("cortex_m::*", ("default",)),
    )


def test_catalogue() -> None:
    text = """\
- op: add.out
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::add_out
- func: my::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels: []
"""
    names = [item.name for item in parse_operator_list(text).operators]
    assert names == ["aten::add.out", "my::mul3.out"]


def test_all_overloads() -> None:
    text = "operators:\n  aten::add:\n    include_all_overloads: true\n  aten::b: {}\n  a::c.d:\n"
    assert [(item.name, item.expand) for item in parse_operator_list(text).operators] == [
        ("aten::add", True),
        ("aten::b", True),  # ExecuTorch's own default
        ("a::c.d", False),
    ]


def test_metadata_without_operator_is_no_selection() -> None:
    assert parse_operator_list("et_kernel_metadata: {a::b: [default]}") == OperatorList()


WRONG = [
    ("operators: [a]\n", 1, "a mapping is expected here"),
    ("operators:\n  a::b: {include_all_overloads: maybe}\n", 2, "true or false is expected here"),
    ("operators:\n  a::b:\n    is_root: true\n", 3, "operator 'a::b' has no key 'is_root'"),
    ("operatrs: {}\n", 1, "selected_operators.yaml has no key 'operatrs'"),
    ("operators: {}\noperators: {}\n", 2, "key 'operators' comes twice"),
    ("et_kernel_metadata: {a::b: 3}\n", 1, "a list is expected here"),
    ("et_kernel_metadata: {a::b: [{}]}\n", 1, "a kernel key is a text such as v1/6;0,1"),
    ("et_kernel_metadata:\n  a::b:\n  - v2/6;0\n", 3, "kernel key 'v2/6;0' does not begin"),
    ("et_kernel_metadata:\n  a::b:\n  - v1/6\n", 3, "kernel key 'v1/6': '6' is not"),
    ("et_kernel_metadata:\n  a::b:\n  - v1/6;0,x\n", 3, "kernel key 'v1/6;0,x': '6;0,x' is not"),
    ("et_kernel_metadata:\n  a::b:\n  - v1/99;0\n", 3, "there is no dtype 99"),
    ("- name: add\n", 1, "an entry has neither 'op' nor 'func'"),
    ("- - a\n", 1, "an entry has neither 'op' nor 'func'"),
    ("aten::add.out\n\nadd.out:Flaot\n", 3, "'Flaot' in 'add.out:Flaot' is no dtype"),
    ("operators: {\n", 2, "expected"),
    ("a: &x 1\nb: *x\n", 2, "references are not supported here"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_list(text: str, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(text)
    listed, (diagnostic,) = read_operator_list(str(path))
    assert listed == OperatorList()
    assert diagnostic.code == "GK303"
    assert message in diagnostic.message
    assert diagnostic.location.line == line


def test_list_that_cannot_be_read(tmp_path: Path) -> None:
    _, (diagnostic,) = read_operator_list(str(tmp_path / "none.yaml"))
    assert diagnostic.code == "GK301"
    assert diagnostic.message == "cannot read the operator list: No such file or directory"
    binary = tmp_path / "model.pte"
    binary.write_bytes(b"\xff\xfe\x00")
    _, (diagnostic,) = read_operator_list(str(binary))
    assert diagnostic.code == "GK302"
    assert diagnostic.message == "not text: byte 0 is not UTF-8"
    assert diagnostic.hint == "a model is given with --model"


FILE_NAMES = st.one_of(
    st.text(min_size=1, max_size=5).filter(
        lambda t: Path(t).name == t and len((t + "x").splitlines()) == 1
    ),
    st.sampled_from(["model.pte", "yes", "no.pte", "1.5", "1e3", "null", "~", "-", "a b.pte"]),
    st.sampled_from(["x: y", "# z", "a #b", "'q'", "&a", "*a", "!t", "%d", "@", "`", "é.pte"]),
)
OPERATORS = st.builds(
    SelectedOperator,
    st.sampled_from(["aten::add.out", "aten::mm.out", "my::no", "a::b", "cortex_m::linear.out"]),
    st.sampled_from([None, (), (6,), (5, 6)]),
    st.lists(
        st.sampled_from(["v1/6;0,1|6;0,1|6;0,1", "v1/6;", "v1", "v1/" + "|".join(["6;0"] * 40)])
    ).map(tuple),
    st.lists(st.builds(Origin, st.just("model"), FILE_NAMES), max_size=3).map(tuple),
)


def test_a_file_name_of_several_lines_stays_one_item() -> None:
    operator = SelectedOperator("aten::add.out", origins=(Origin("model", "a\nb\n"),))
    text = format_operator_list(Selection((operator,)))
    assert yaml.safe_load(text)["operators"]["aten::add.out"]["debug_info"] == ["a\nb\n"]


@settings(deadline=None)
@given(st.lists(OPERATORS, max_size=4, unique_by=lambda o: o.name), st.booleans())
def test_written_as_pyyaml_writes_it(operators: list[SelectedOperator], everything: bool) -> None:
    text = format_operator_list(Selection(tuple(operators), everything))
    document = {
        "build_features": [],
        "custom_classes": [],
        "et_kernel_metadata": {
            o.name: ["default"] if o.dtypes is None else sorted(set(o.keys)) for o in operators
        },
        "include_all_non_op_selectives": False,
        "include_all_operators": everything,
        "kernel_metadata": {},
        "operators": {
            o.name: {
                "debug_info": sorted({origin.source for origin in o.origins}),
                "include_all_overloads": False,
                "is_root_operator": o.root,
                "is_used_for_training": True,
            }
            for o in operators
        },
    }
    assert text == yaml.safe_dump(document, default_flow_style=False)


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("nul\0byte", "GK301", "cannot read the operator list: embedded null byte"),
        ("x" * 5000, "GK301", "cannot read the operator list: File name too long"),
        ("/dev/zero", "GK302", "more than 16,777,216 bytes: this is no operator list"),
        (".", "GK301", "cannot read the operator list: Is a directory"),
    ],
)
def test_paths_that_are_no_list(path: str, code: str, message: str) -> None:
    listed, (diagnostic,) = read_operator_list(path)
    assert listed == OperatorList()
    assert (diagnostic.code, diagnostic.message) == (code, message)


def test_damaged_lists(tmp_path: Path) -> None:
    """A diagnostic or a list; what is read can be written and read again."""
    rng = random.Random(3)
    path = tmp_path / "list.yaml"
    for text in (
        OFFICIAL,
        "aten::add.out:Float\nmul.out # x\n",
        "- op: add.out\n- func: a::b() -> ()\n",
    ):
        for _ in range(250):
            path.write_bytes(mutate(text.encode(), rng, OFFICIAL.encode()))
            selection, diagnostics = select(ops_files=[str(path)])
            assert all(item.code.startswith("GK30") for item in diagnostics)
            parse_operator_list(format_operator_list(selection))


def test_operators_that_are_no_roots_stay_in_the_list(tmp_path: Path) -> None:
    """Official meaning (SelectiveBuilder.is_root_operator): dtypes kept, not registered."""
    path = tmp_path / "selected_operators.yaml"
    rest = OFFICIAL.partition("  aten::mul.out:\n    debug_info")
    text = "".join(
        (*rest[:2], rest[2].replace("is_root_operator: true", "is_root_operator: false"))
    )
    assert text.count("is_root_operator: false") == 1
    path.write_text(text)
    selection, diagnostics = select(ops_files=[str(path)])
    assert not diagnostics
    assert [(o.name, o.root) for o in selection.operators] == [
        ("aten::add.out", True),
        ("aten::mul.out", False),
    ]
    again = parse_operator_list(format_operator_list(selection))
    assert [(o.name, o.root) for o in again.operators] == [
        ("aten::add.out", True),
        ("aten::mul.out", False),
    ]
    generated = generate(Request(ops_files=(str(path),)))
    registration = generated.files["RegisterCodegenUnboxedKernels.cpp"]
    assert "aten::add.out" in registration
    assert "aten::mul" not in registration
    assert '"mul.out"' in generated.files["selected_op_variants.h"]

    selection, _ = select(ops=["aten::mul.out"], ops_files=[str(path)])
    assert all(o.root for o in selection.operators)  # one that asks for it is enough
