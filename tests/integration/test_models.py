"""Real models, from .pte to outputs: on the host, on QEMU, on the core's RTL.

Expected outputs are PyTorch's own (tests/models/models.json) and, for the third-party
keyword-spotting model, those published beside it.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen.firmware import Case, Input
from gen_kernels.selective.pte import read_program

from ..support.models import (
    TREE,
    Expected,
    Model,
    Value,
    difference,
    load_model,
    model_names,
    thirdparty,
)
from ..support.run import Outcome, build_library, execute, link_program, missing_tools

# The models of the project's main job. The others share one library with every operator.
MAIN = ("add", "mlp", "lenet", "ds_cnn", "cortexm_add", "cortexm_mlp", "cortexm_dscnn")
# Minutes on the RTL: GEN_KERNELS_SLOW_RTL=1 runs them.
SLOW_ON_RTL = ("lenet", "ds_cnn")

TARGETS = (
    pytest.param("host"),
    pytest.param("qemu", marks=pytest.mark.cross),
    pytest.param("rtl", marks=pytest.mark.rtl),
)


def needs(target: str) -> None:
    reason = missing_tools(target)
    if reason:
        pytest.skip(reason)


def check(model: Model, outcome: Outcome) -> None:
    """Every output of every case is the expected one."""
    assert outcome.exit_code == 0, outcome.text
    for number, expected in enumerate(model.cases):
        outputs = outcome.outputs.get(number, {})
        assert sorted(outputs) == list(range(len(expected.outputs))), outcome.text
        for index, value in enumerate(expected.outputs):
            problem = difference(outputs[index], value)
            assert not problem, f"case {number} output {index}: {problem}"


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", MAIN)
def test_main_job(name: str, target: str, tmp_path: Path) -> None:
    """A library with only the model's kernels and dtypes computes what PyTorch computes."""
    needs(target)
    if target == "rtl" and name in SLOW_ON_RTL and not os.environ.get("GEN_KERNELS_SLOW_RTL"):
        pytest.skip("minutes on the RTL: set GEN_KERNELS_SLOW_RTL=1")
    model = load_model(name)
    library = build_library(target, tmp_path / "build", "--model", str(model.path))
    cases = [expected.case for expected in model.cases]
    program = link_program(target, library, model.path, cases, out=tmp_path / "program")
    check(model, execute(target, program, timeout=3600))
    if target != "host":
        assert atomics(program) == []


def atomics(program: Path) -> list[str]:
    """Atomic instructions in an image: it is linked with libraries for rv32imac."""
    command = ["riscv64-unknown-elf-objdump", "-d", str(program)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert text.count("\tret") > 10  # it is a disassembly
    return re.findall(r"\t((?:lr|sc|amo\w+)\.w\S*)\t", text)


@pytest.fixture(scope="session")
def shared_library(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One library a target with the kernels of all models, built on first use."""
    return {"folder": tmp_path_factory.mktemp("shared")}


def library_for_all(target: str, known: dict[str, Path]) -> Path:
    if target not in known:
        wanted = [load_model(name) for name in OTHERS]
        arguments = [word for model in wanted for word in ("--model", str(model.path))]
        known[target] = build_library(target, known["folder"] / target, *arguments)
    return known[target]


def servable(name: str) -> bool:
    """Whether the bundled kernels are all the model needs: no delegates, no custom operators."""
    model = load_model(name)
    custom = any(op.startswith("my_ops::") for op in model.operators)
    return not model.delegates and not custom


DELEGATED = tuple(name for name in model_names() if load_model(name).delegates)
OTHERS = tuple(name for name in model_names() if name not in MAIN and servable(name))


# One worker for each target: the library is built once.
SHARED = (
    pytest.param("host", marks=pytest.mark.xdist_group("shared-host")),
    pytest.param("qemu", marks=[pytest.mark.cross, pytest.mark.xdist_group("shared-qemu")]),
)


@pytest.mark.slow
@pytest.mark.parametrize("target", SHARED)
@pytest.mark.parametrize("name", OTHERS)
def test_other_models(
    name: str, target: str, shared_library: dict[str, Path], tmp_path: Path
) -> None:
    """One library for many models serves each of them."""
    needs(target)
    model = load_model(name)
    library = library_for_all(target, shared_library)
    cases = [expected.case for expected in model.cases]
    out = tmp_path / "program"
    program = link_program(target, library, model.path, cases, out=out, weights=model.weights)
    check(model, execute(target, program))


CUSTOM = """\
- func: my_ops::mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: my_ops::mul3_out
- func: my_ops::scale_shift.out(Tensor input, float scale, int[] shifts, Tensor? bias, bool flag, str mode, *, Tensor(a!) output) -> Tensor(a!)
  kernels:
    - arg_meta: null
      kernel_name: my_ops::scale_shift_out
"""  # noqa: E501


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[:2])
def test_custom_operators(target: str, tmp_path: Path) -> None:
    """A user's kernels for a user's operators, with a catalogue of his own."""
    needs(target)
    model = load_model("custom_op")
    catalogue = tmp_path / "my_ops.yaml"
    catalogue.write_text(CUSTOM)
    arguments = ("--model", str(model.path), "--functions", str(catalogue))
    library = build_library(target, tmp_path / "build", *arguments)
    program = link_program(
        target,
        library,
        model.path,
        [expected.case for expected in model.cases],
        out=tmp_path / "program",
        sources=(TREE / "tests" / "cpp" / "custom_operators.cpp",),
    )
    check(model, execute(target, program))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[:2])
@pytest.mark.parametrize("name", DELEGATED)
def test_delegated_models(name: str, target: str, tmp_path: Path) -> None:
    """Models that need XNNPACK get as far as asking for it: its backend is NotFound (0x20)."""
    needs(target)
    model = load_model(name)
    library = build_library(target, tmp_path / "build", "--model", str(model.path))
    cases = [expected.case for expected in model.cases]
    program = link_program(target, library, model.path, cases, out=tmp_path / "program")
    outcome = execute(target, program)
    assert (outcome.exit_code, outcome.error) == (1, "error load_method 0x20")


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_keyword_spotting(target: str, tmp_path: Path) -> None:
    """The published model names all eight words with the published outputs, bit for bit."""
    needs(target)
    folder = thirdparty()
    if folder is None:
        pytest.skip("the third-party models are not here: set GEN_KERNELS_THIRDPARTY")
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    facts = index["kws_dscnn_int8.pte"]
    path = folder / "kws_dscnn_int8.pte"
    program, problems = read_program(path, str(path))
    assert program is not None, problems
    method = program.methods[0]
    tensor = method.values[method.inputs[0]].tensor
    assert tensor is not None
    files = sorted(facts["inputs"])
    if target == "rtl" and not os.environ.get("GEN_KERNELS_SLOW_RTL"):
        files = files[:2]
    cases = []
    for file in files:
        data = (folder / file).read_bytes()
        given = Input("tensor", data, tensor.dtype, tensor.sizes, tensor.dim_order)
        expected = facts["expected_outputs"][file]
        value = Value(6, (1, len(expected)), struct.pack(f"<{len(expected)}f", *expected))
        cases.append(Expected(Case(method.name, (given,)), (value,)))
    library = build_library(target, tmp_path / "build", "--model", str(path))
    image = link_program(
        target, library, path, [case.case for case in cases], out=tmp_path / "program"
    )
    outcome = execute(target, image, timeout=3600)
    assert outcome.exit_code == 0, outcome.text
    if target != "host":
        # Beside its planned 16,000 bytes the runtime takes less than 4 kB.
        assert sum(outcome.used[pool][1] for pool in ("method", "temp")) <= 4096
    for number, (file, case) in enumerate(zip(files, cases, strict=True)):
        actual = outcome.outputs[number][0]
        assert actual.data == case.outputs[0].data, f"{file}: {difference(actual, case.outputs[0])}"
        scores = actual.numbers
        word = facts["classes"][max(range(len(scores)), key=scores.__getitem__)]
        assert word == facts["inputs"][file]
