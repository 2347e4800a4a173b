"""Our output held against what the tests of ExecuTorch's generator ask of theirs.

Those tests ship in the executorch package (codegen/test, codegen/tools/test). Their inputs are
taken from there where a test class prepares files, the official code makes its output, and ours
is compared. docs/official-tests.md is the table of what agrees and what differs on purpose.
"""

from __future__ import annotations

import subprocess
import sys
import types
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from gen_kernels.codegen.aten_schemas import aten_names, aten_schema
from gen_kernels.codegen.catalogue import load_catalogue, open_catalogues
from gen_kernels.codegen.cpp import argument_conversion
from gen_kernels.codegen.generate import Request, generate
from gen_kernels.codegen.pytorch import torch_function
from gen_kernels.codegen.schema_parser import parse_schema
from gen_kernels.selective.models import load_models
from gen_kernels.selective.oplist import format_operator_list
from gen_kernels.selective.program import DTYPES
from gen_kernels.selective.select import select

executorch = pytest.importorskip("executorch", reason="run by make conformance")
pytest.importorskip("executorch.codegen.tools.gen_oplist")
torchgen_model = pytest.importorskip("torchgen.model")

pytestmark = pytest.mark.conformance

PACKAGE = Path(next(iter(executorch.__path__)))
MODELS = Path(__file__).resolve().parent.parent / "models"


def official(module: str) -> Any:
    if "expecttest" not in sys.modules:
        try:
            import_module("expecttest")
        except ImportError:  # the tests' base class; its comparisons are not used here
            stub: Any = types.ModuleType("expecttest")
            stub.TestCase = unittest.TestCase
            sys.modules["expecttest"] = stub
    return import_module(f"executorch.codegen.{module}")


@contextmanager
def prepared(module: str, case: str) -> Iterator[Any]:
    """An official test case with its input files in place."""
    test = getattr(official(module), case)()
    test.setUp()
    try:
        yield test
    finally:
        test.tearDown()


# Data types of the selected operators: selected_op_variants.h


def dtype_matrix(header: str, operators: list[str], folder: Path) -> dict[tuple[str, int], bool]:
    """should_include_kernel_dtype of a header for each operator and each ScalarType."""
    folder.mkdir()
    (folder / "selected_op_variants.h").write_text(header)
    calls = "".join(
        f'  std::printf("{name} {number} %d\\n", '
        f'should_include_kernel_dtype("{name}", executorch::aten::ScalarType({number})));\n'
        for name in operators
        for number in DTYPES
    )
    (folder / "main.cpp").write_text(
        "#include <executorch/runtime/core/exec_aten/exec_aten.h>\n#include <cstdio>\n"
        f'#include <string_view>\n#include "selected_op_variants.h"\nint main() {{\n{calls}}}\n'
    )
    include = PACKAGE / "include"
    c10 = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    command = ["g++", "-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS", f"-I{include}"]
    command += [f"-I{c10}", str(folder / "main.cpp"), "-o", str(folder / "main")]
    subprocess.run(command, check=True)
    shown = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True)
    lines = (line.split() for line in shown.stdout.splitlines())
    return {(name, int(number)): answer == "1" for name, number, answer in lines}


VARIANTS = official("tools.test.test_gen_selected_op_variants") if executorch else None
VARIANT_CASES = sorted(name for name in vars(VARIANTS) if name.startswith("TestGenSelectedOp"))


@pytest.mark.parametrize("case", VARIANT_CASES)
def test_selected_op_variants(case: str, tmp_path: Path) -> None:
    tool = official("tools.gen_selected_op_variants")
    with prepared("tools.test.test_gen_selected_op_variants", case) as test:
        source = Path(test.temp_dir.name) / "selected_operators.yaml"
        document = yaml.safe_load(source.read_text())
        tool.write_selected_op_variants(str(source), str(tmp_path))
    theirs = (tmp_path / "selected_op_variants.h").read_text()
    # Only what the header is made from; the inputs also list operators that ATen does not have.
    document["operators"] = {
        name: {"include_all_overloads": False} for name in document["et_kernel_metadata"]
    }
    selected = tmp_path / "selected_operators.yaml"
    selected.write_text(yaml.safe_dump(document))
    made = generate(Request(ops_files=(str(selected),), our_kernels=False))
    assert made.diagnostics == ()
    names = [name.removeprefix("aten::") for name in document["operators"]] or ["add.out"]
    expected = dtype_matrix(theirs, names, tmp_path / "theirs")
    got = dtype_matrix(made.files["selected_op_variants.h"], names, tmp_path / "ours")
    assert got == expected


def test_half_operators_keep_their_compute_type(tmp_path: Path) -> None:
    """On purpose different: the official header lacks Float, and fp16 models abort."""
    tool = official("tools.gen_selected_op_variants")
    model = str(MODELS / "half.pte")
    made = generate(Request(models=(model,), our_kernels=False))
    selected = tmp_path / "selected_operators.yaml"
    selected.write_text(made.files["selected_operators.yaml"])
    tool.write_selected_op_variants(str(selected), str(tmp_path))
    theirs = (tmp_path / "selected_op_variants.h").read_text()
    names = ["addmm.out", "relu.out"]
    expected = dtype_matrix(theirs, names, tmp_path / "theirs")
    got = dtype_matrix(made.files["selected_op_variants.h"], names, tmp_path / "ours")
    half, real = 5, 6
    for name in names:
        assert expected[name, half]
        assert not expected[name, real]
        expected[name, real] = True
    assert got == expected


# Operator lists of models: gen_oplist


@pytest.mark.parametrize("model", sorted(path.stem for path in MODELS.glob("*.pte")))
def test_operator_list_of_a_model(model: str) -> None:
    tool = official("tools.gen_oplist")
    path = str(MODELS / f"{model}.pte")
    theirs = tool._get_kernel_metadata_for_model(path)
    models, _ = load_models([path])
    selection, diagnostics = select(models)
    assert diagnostics == ()
    document = yaml.safe_load(format_operator_list(selection))
    ours = document["et_kernel_metadata"]
    assert set(document["operators"]) == set(tool._get_operators(path))
    catalogues, _ = open_catalogues()
    for name, keys in theirs.items():
        entry = next((e for c in catalogues if (e := c.find(name)) is not None), None)
        if entry is None:
            assert model == "custom_op"
            continue
        lists = any("[]" in str(a.type) and "Tensor" in str(a.type) for a in entry.schema.arguments)
        if lists or len(entry.schema.returns) != 1:
            continue  # the official key counts members of lists; see test_kernel_choice.py
        assert sorted(set(keys)) == ours[name], name


@pytest.mark.parametrize("ops", [["aten::add.out", "aten::mul.out", "aten::relu.out"]])
def test_operator_list_of_root_operators(ops: list[str], tmp_path: Path) -> None:
    tool = official("tools.gen_oplist")
    tool.main([f"--output_path={tmp_path}/selected_operators.yaml", f"--root_ops={','.join(ops)}"])
    theirs = yaml.safe_load((tmp_path / "selected_operators.yaml").read_text())
    selection, diagnostics = select(ops=ops, known=[f"aten::{name}" for name in aten_names()])
    assert diagnostics == ()
    ours = yaml.safe_load(format_operator_list(selection))
    for document in (ours, theirs):  # debug_info says where from, each in its own words
        for operator in document["operators"].values():
            operator.pop("debug_info")
    assert ours == theirs


def test_operator_list_of_a_catalogue(tmp_path: Path) -> None:
    with prepared("tools.test.test_gen_oplist", "TestGenOpList") as test:
        text = Path(test.ops_schema_yaml).read_text()
        theirs = official("tools.gen_oplist")._get_et_kernel_metadata_from_ops_yaml(
            test.ops_schema_yaml
        )
    path = tmp_path / "ops.yaml"
    path.write_text(text)
    selection, diagnostics = select(ops_files=[str(path)], known=list(theirs))
    assert diagnostics == ()
    assert {o.name for o in selection.operators} == set(theirs)


# Several lists: gen_all_oplist


def test_merged_operator_lists(tmp_path: Path) -> None:
    with prepared("tools.test.test_gen_all_oplist", "TestGenAllOplist") as test:
        files = [tmp_path / "test1.yaml", tmp_path / "test2.yaml"]
        for source, file in zip((test.test1_yaml, test.test2_yaml), files, strict=True):
            file.write_text(Path(source).read_text())
        listed = tmp_path / "files"
        listed.write_text("\n".join(map(str, files)))
        official("tools.gen_all_oplist").main(
            [f"--output_dir={tmp_path}", f"--model_file_list_path=@{listed}"]
        )
    theirs = yaml.safe_load((tmp_path / "selected_operators.yaml").read_text())
    selection, diagnostics = select(
        ops_files=[str(file) for file in files], known=list(theirs["operators"])
    )
    assert diagnostics == ()
    ours = yaml.safe_load(format_operator_list(selection))
    for name, operator in theirs["operators"].items():
        # Theirs are whole paths; ours would make the output depend on the folder.
        operator["debug_info"] = sorted(Path(p).name for p in operator["debug_info"])
        assert operator["debug_info"] == ours["operators"][name]["debug_info"]
    assert ours == theirs


# Headers for the runtime


def test_selected_prim_ops(tmp_path: Path) -> None:
    tool = official("tools.gen_selected_prim_ops")
    catalogues, _ = open_catalogues()
    (prim,) = [c for c in catalogues if c.name == "prim_ops"]
    made = generate(Request(ops=(*prim.names, "aten::add.out"), our_kernels=False))
    assert made.diagnostics == ()
    tool.write_selected_prim_ops(list(prim.names), str(tmp_path))

    def macros(text: str) -> list[str]:
        return sorted(line.split()[1] for line in text.splitlines() if line.startswith("#define"))

    assert macros(made.files["selected_prim_ops.h"]) == macros(
        (tmp_path / "selected_prim_ops.h").read_text()
    )
    assert len(macros(made.files["selected_prim_ops.h"])) == 28
    made = generate(Request(ops=("aten::add.out",), our_kernels=False))
    assert macros(made.files["selected_prim_ops.h"]) == []


@pytest.mark.parametrize("model", ["add", "lenet", "mixed_dtypes"])
def test_selected_max_kernel_num(model: str, tmp_path: Path) -> None:
    tool = official("tools.gen_max_kernel_num")
    made = generate(Request(models=(str(MODELS / f"{model}.pte"),), our_kernels=False))
    selected = tmp_path / "selected_operators.yaml"
    selected.write_text(made.files["selected_operators.yaml"])
    (line,) = [
        line
        for line in made.files["selected_max_kernel_num.h"].splitlines()
        if line.startswith("#define")
    ]
    _, name, number = line.split()
    assert name == "EXECUTORCH_SELECTED_MAX_KERNEL_NUM"
    operators = len(yaml.safe_load(selected.read_text())["operators"])
    assert int(number) == operators + 28
    # The official number has a place for each dtype of a call, though one kernel serves them all.
    official_number = tool._count_yaml_kernels(selected) + 28
    keys = yaml.safe_load(selected.read_text())["et_kernel_metadata"]
    assert official_number - int(number) == sum(len(listed) - 1 for listed in keys.values())


# C++ types


def test_parameter_types_of_all_of_aten() -> None:
    """Every argument of 3,101 schemas; those that we refuse no EValue can carry."""
    types_module = official("api.et_cpp")
    local = import_module("torchgen.local")
    agreed, refused, only_ours = 0, set(), set()
    with local.parametrize(
        use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
    ):
        for name in aten_names():
            text = aten_schema(name)
            assert text is not None
            for argument in parse_schema(text).arguments:
                ours = argument_conversion(argument)
                if ours is None:
                    refused.add(str(argument.type))
                    continue
                their_argument = torchgen_model.Argument.parse(str(argument))
                try:
                    theirs = types_module.argument_type(their_argument, binds=argument.name)
                except KeyError:
                    only_ours.add(str(argument.type))
                    continue
                assert plain(ours.parameter) == plain(theirs.cpp_type()), str(argument)
                agreed += 1
    assert agreed > 10_000
    # The official generator stops with a KeyError at these, and makes C++ that does not compile
    # of the others.
    assert only_ours == {"Layout", "Layout?", "Device", "Device?"}
    assert refused == {"Scalar[]", "Generator?", "Storage", "Stream", "DeviceIndex"}


def plain(cpp_type: str) -> str:
    """A type without namespaces and blanks."""
    for namespace in ("::executorch::aten::", "torch::executor::", "::std::", "std::"):
        cpp_type = cpp_type.replace(namespace, "")
    cpp_type = cpp_type.replace("TensorList", "ArrayRef<Tensor>").replace("optional<", "optional<")
    return cpp_type.replace(" ", "")


# Custom operators in PyTorch

STUBS = [
    "custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    "custom::foo.Tensor(Tensor self) -> Tensor",
    "custom::foo.out(Tensor self, *, Tensor(a!)[] out) -> ()",
    "custom::foo(Tensor self, Tensor[] other) -> (Tensor, Tensor, Tensor)",
    "custom::foo(Tensor[] a) -> Tensor",
    "custom::two.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
]


@pytest.mark.parametrize("schema", STUBS)
def test_stubs_of_custom_operators(schema: str, tmp_path: Path) -> None:
    generator = official("api.custom_ops").ComputeNativeFunctionStub()
    location = torchgen_model.Location(__file__, 1)
    function, _ = torchgen_model.NativeFunction.from_yaml({"func": schema}, location, set())
    declaration, _, body = generator(function).strip().partition(" {\n")
    path = tmp_path / "my.yaml"
    path.write_text(f"- func: {schema}\n  kernels: [{{kernel_name: my::foo}}]\n")
    (entry,), _ = load_catalogue(path, "my.yaml")
    ours = torch_function(entry, "my::native::foo")
    returns, _, rest = declaration.partition(" wrapper_CPU_")
    assert ours.returns == returns
    assert f"({', '.join(ours.parameters)})" == rest[rest.index("(") :]
    returned = body.strip().removesuffix("}").strip().removesuffix(";").removeprefix("return")
    simple = returned.strip()
    if simple.isidentifier():
        assert ours.stub.strip() == simple
    else:  # ours leaves the types out: {} for at::Tensor(), {x, y} for std::tuple<...>(x, y)
        assert ours.stub.strip() in ("", "{}", "{x, y}")
