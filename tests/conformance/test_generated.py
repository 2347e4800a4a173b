"""Generated code against ExecuTorch's own headers and runtime, and PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gen_kernels.codegen.build import KERNELS
from gen_kernels.codegen.cli import main
from gen_kernels.codegen.firmware import cases_header, data_assembly

from ..golden.test_compile import (
    CHECKED,
    OTHER_HEADERS,
    WARNINGS,
    all_headers,
    flags_of,
    registration_in,
)
from ..golden.test_generate import CASES, FOLDER
from ..support.models import TREE, difference, load_model
from ..support.run import execute
from .executorch_wheels import headers_of, include_flags, installed

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"
CXX = ("c++", "-std=c++17")


def run(*command: str | Path, timeout: float = 900) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=timeout
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def generate(out: Path, *arguments: str) -> Path:
    assert main([*arguments, "--out", str(out), "--quiet"]) == 0
    return out


def libraries() -> tuple[str, ...]:
    folder = installed() / "lib"
    return (f"-L{folder}", "-lexecutorch", f"-Wl,-rpath,{folder}")


# Headers of all releases that the generated code is for.


@pytest.mark.parametrize("version", ["1.3.1", "1.5.1"])
@pytest.mark.parametrize("tracing", [(), ("-DET_EVENT_TRACER_ENABLED",), ("-DPROFILING_ENABLED",)])
def test_all_operators_compile(version: str, tracing: tuple[str, ...], tmp_path: Path) -> None:
    out = generate(tmp_path, "--all", "--kernels", "none")
    flags = (*headers_of(version), *WARNINGS, *tracing, f"-I{out}", "-fsyntax-only")
    (out / "headers.cpp").write_text(all_headers(out))
    for name in (REGISTRATION, "headers.cpp"):
        run(*CXX, *flags, out / name)


@pytest.mark.parametrize("version", ["0.6.0", "0.7.0"])
def test_the_stack_form_compiles(version: str, tmp_path: Path) -> None:
    headers = headers_of(version)
    folders = [FOLDER / case / "expected" for case in ("stack_api", "nothing_stack")]
    folders.append(generate(tmp_path, "--all", "--kernels", "none", "--api", "stack"))
    for folder in folders:
        flags = (*headers, *WARNINGS, "-DET_EVENT_TRACER_ENABLED", f"-I{folder}")
        run(*CXX, *flags, "-fsyntax-only", registration_in(folder))


@pytest.mark.parametrize("case", [case for case in CASES if case not in OTHER_HEADERS])
def test_every_golden_compiles(case: str) -> None:
    folder = FOLDER / case / "expected"
    flags = (*include_flags(installed()), *WARNINGS, *flags_of(case), f"-I{folder}")
    run(*CXX, *flags, "-fsyntax-only", registration_in(folder))


# The real runtime.


@pytest.mark.parametrize("case", CHECKED)
def test_calls_through_the_real_registry(case: str, tmp_path: Path) -> None:
    folder = FOLDER / case / "expected"
    flags = (*include_flags(installed()), *flags_of(case), "-O1", "-DET_EVENT_TRACER_ENABLED")
    include = (f"-I{folder}", f"-I{FOLDER.parent}")
    sources = (FOLDER / case / "check.cpp", folder / REGISTRATION)
    run(*CXX, *flags, *include, *sources, *libraries(), "-o", tmp_path / "check")
    run(tmp_path / "check")


def test_event_tracer(tmp_path: Path) -> None:
    """Scopes and logged outputs are those of ExecuTorch's generator: it logs inside the scope."""
    folder = FOLDER / "several_results" / "expected"
    flags = (*include_flags(installed()), "-DET_EVENT_TRACER_ENABLED")
    include = (f"-I{folder}", f"-I{FOLDER.parent}")
    source = Path(__file__).parent / "event_tracer.cpp"
    program = tmp_path / "check"
    run(*CXX, *flags, *include, source, folder / REGISTRATION, *libraries(), "-o", program)
    assert run(program).splitlines() == [
        *("start native_call_split.out", "log 2", "log 3", "end 1"),
        *("start native_call_three.out", "log 1", "log 2", "log 3", "end 2"),
    ]


MODELS = (
    *("add", "mlp", "lenet", "cortexm_add", "cortexm_mlp", "cortexm_dscnn", "half", "bf16"),
    *("int8_uint8", "conv_channels_last", "multi_method", "scalar_inputs", "mixed_dtypes"),
)


@pytest.fixture(scope="module")
def real_library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Registration and kernels of all MODELS, compiled against the real headers."""
    folder = tmp_path_factory.mktemp("real")
    models = [word for name in MODELS for word in ("--model", str(load_model(name).path))]
    generate(folder, *models)
    flags = (*include_flags(installed()), "-O1", f"-I{folder}", f"-I{KERNELS}")
    sources = [KERNELS / s for s in (folder / "kernel_sources.txt").read_text().split()]
    sources.append(folder / REGISTRATION)
    objects = [folder / f"{source.stem}_{i}.o" for i, source in enumerate(sources)]
    with ThreadPoolExecutor(2) as pool:
        jobs = zip(sources, objects, strict=True)
        list(pool.map(lambda job: run(*CXX, *flags, "-c", job[0], "-o", job[1]), jobs))
    return folder, objects


@pytest.mark.parametrize("name", MODELS)
def test_models_on_the_real_runtime(
    name: str, real_library: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    """ExecuTorch's runtime with our registration and kernels computes what PyTorch computes."""
    folder, objects = real_library
    model = load_model(name)
    cases = [expected.case for expected in model.cases]
    for i, case in enumerate(cases):
        for j, given in enumerate(case.inputs):
            (tmp_path / f"input_{i}_{j}.bin").write_bytes(given.data)
    (tmp_path / "runner_cases.h").write_text(cases_header(cases))
    (tmp_path / "runner_data.S").write_text(data_assembly(model.path.name, cases))
    common = TREE / "platform" / "common"
    include = (f"-I{tmp_path}", f"-I{folder}", f"-I{common}", f"-I{model.path.parent}")
    sources = (common / "runner.cpp", common / "host.cpp", tmp_path / "runner_data.S")
    flags = (*include_flags(installed()), *include)
    run(*CXX, *flags, *sources, *objects, *libraries(), "-o", tmp_path / "program")
    outcome = execute("host", tmp_path / "program")
    assert outcome.exit_code == 0, outcome.text
    for number, expected in enumerate(model.cases):
        for index, value in enumerate(expected.outputs):
            problem = difference(outcome.outputs[number][index], value)
            assert not problem, f"case {number} output {index}: {problem}"


# PyTorch: its types, ATen mode, registration of custom operators.


def torch_include() -> tuple[str, ...]:
    torch = pytest.importorskip("torch", reason="run by make conformance")
    include = Path(torch.__file__).parent / "include"
    api = include / "torch" / "csrc" / "api" / "include"
    return ("-isystem", str(include), "-isystem", str(api))


@pytest.mark.parametrize("case", ["aten", "aten_static", "nothing_aten"])
def test_aten_mode_compiles(case: str) -> None:
    folder = FOLDER / case / "expected"
    flags = ("-std=c++20", "-DUSE_ATEN_LIB", "-DET_EVENT_TRACER_ENABLED", "-Wall", "-Wextra")
    include = ("-isystem", installed() / "include", *torch_include(), f"-I{folder}")
    run("c++", *flags, "-Werror", *include, "-fsyntax-only", registration_in(folder))


def test_torch_types_are_torchgens() -> None:
    """Over every operator of native_functions.yaml that an EValue can carry."""
    pytest.importorskip("torchgen", reason="run by make conformance")
    from gen_kernels.codegen.aten_schemas import aten_names, aten_schema
    from gen_kernels.codegen.pytorch import torch_argument_type, torch_return_type
    from gen_kernels.codegen.schema_parser import parse_schema
    from torchgen import local
    from torchgen.api import cpp
    from torchgen.model import FunctionSchema

    compared = 0
    for name in aten_names():
        text = aten_schema(name)
        assert text is not None
        ours, theirs = parse_schema(text), FunctionSchema.parse(text.removeprefix("aten::"))
        ours_by_name = {argument.name: argument for argument in ours.arguments}
        # torchgen keeps some arguments apart (TensorOptions, out); flat_all has each once.
        with local.parametrize(
            use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
        ):
            for argument in theirs.arguments.flat_all:
                expected = cpp.argument_type(argument, binds="x", symint=False).cpp_type()
                mine = torch_argument_type(ours_by_name[argument.name])
                assert mine == expected.replace("c10::string_view", STRING), name
                compared += 1
            returns = cpp.returns_type(theirs.returns, symint=False).cpp_type()
        # Of several results torchgen keeps the SymInts although it was asked not to.
        returns = returns.replace("c10::string_view", STRING).replace("c10::SymInt", "int64_t")
        assert torch_return_type(ours) == returns, name
    assert compared > 10000


STRING = "::std::string_view"


CALLER = """
import sys, torch
torch.ops.load_library(sys.argv[1])
x = torch.arange(6.0).reshape(2, 3)
out = torch.empty(0)
result = torch.ops.my_ops.mul3.out(x, output=out)
assert result is out and torch.equal(out, 3 * x), out
torch.ops.my_ops.scale_shift.out(x, 2.0, 0.5, output=out)
assert torch.equal(out, 2 * x + 0.5), out
value = torch.ops.my.norm(x, [None, x], [1, 2], [True, False], how="plus")
assert value.item() == 15 + 1 + 2 + 4, value
assert torch.ops.my.norm(x, [], [0, 0], [False, False], [3], how="plus").item() == 15 + 3
print("ok")
"""

KERNELS_FOR_TORCH = """
#include "CustomOpsNativeFunctions.h"
namespace my_ops::native {
at::Tensor& mul3_out(const at::Tensor& input, at::Tensor& output) {
  return at::mul_out(output, input, at::scalar_tensor(3.0f));
}
at::Tensor& scale_shift_out(const at::Tensor& input, double scale, double shift,
                            at::Tensor& output) {
  output.resize_(input.sizes());
  output.copy_(input * scale + shift);
  return output;
}
}
namespace my::native {
at::Tensor norm(const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& rest,
                at::IntArrayRef at, std::array<bool, 2> flags, at::OptionalIntArrayRef dims,
                std::string_view how) {
  TORCH_CHECK(how == "plus");
  double extra = double(at[0] + at[1]);
  if (rest.size() == 2 && !rest.get(0).has_value() && rest.get(1).has_value()) extra += 4;
  if (flags[0] && flags[1]) extra += 100;
  if (dims.has_value()) extra += double((*dims)[0]);
  return self.sum() + extra;
}
}
"""

CALLER_OF_STUBS = """
import sys, torch
torch.ops.load_library(sys.argv[1])
x, out = torch.ones(2), torch.zeros(3)
assert torch.ops.my_ops.mul3.out(x, output=out) is out
assert torch.equal(out, torch.zeros(3))
assert torch.equal(torch.ops.my.norm(x, [], [0, 0], [False, False]), x)
print("ok")
"""


def shared_library(out: Path, *sources: Path) -> Path:
    import torch

    lib = Path(torch.__file__).parent / "lib"
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"
    flags = ("-std=c++20", "-O0", "-fPIC", "-shared", abi, *torch_include())
    link = (f"-L{lib}", "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{lib}")
    folder = FOLDER / "pytorch" / "expected"
    run("c++", *flags, f"-I{folder}", *sources, folder / "RegisterSchema.cpp", *link, "-o", out)
    return out


def test_custom_operators_in_pytorch(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels.cpp"
    kernels.write_text(KERNELS_FOR_TORCH)
    registration = FOLDER / "pytorch" / "expected" / "RegisterCPUCustomOps.cpp"
    library = shared_library(tmp_path / "ops.so", kernels, registration)
    assert run(sys.executable, "-c", CALLER, library) == "ok\n"


def test_placeholders_in_pytorch(tmp_path: Path) -> None:
    stub = FOLDER / "pytorch" / "expected" / "RegisterCPUStub.cpp"
    library = shared_library(tmp_path / "stubs.so", stub)
    assert run(sys.executable, "-c", CALLER_OF_STUBS, library) == "ok\n"


# ExecuTorch's own generator, over far more operators than its catalogues have.


def test_types_are_the_official_generators() -> None:
    """Every ATen operator: the same C++ types, or none where the official code is wrong.

    The official generator either raises for a type, or prints C++ that cannot compile (lists whose
    elements it unboxes into std::vector, mutable optionals); ours has a message for all of them.
    """
    pytest.importorskip("torchgen", reason="run by make conformance")
    et_cpp = pytest.importorskip("executorch.codegen.api.et_cpp")
    from gen_kernels.codegen.aten_schemas import aten_names, aten_schema
    from gen_kernels.codegen.cpp import argument_conversion, return_type
    from gen_kernels.codegen.schema_parser import parse_schema
    from torchgen import local
    from torchgen.model import FunctionSchema

    from ..unit.test_official_signatures import plain

    compared = refused = 0
    for name in aten_names():
        text = aten_schema(name)
        assert text is not None
        ours, theirs = parse_schema(text), FunctionSchema.parse(text.removeprefix("aten::"))
        by_name = {argument.name: argument for argument in ours.arguments}
        with local.parametrize(
            use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
        ):
            for argument in theirs.arguments.flat_all:
                mine = argument_conversion(by_name[argument.name])
                if mine is None:
                    refused += 1
                    assert str(argument.type).rstrip("?") in NOT_CARRIED, (name, argument)
                    continue
                try:
                    expected = et_cpp.argument_type(argument, binds="x").cpp_type()
                except (AssertionError, KeyError):
                    # It knows no Layout, no Device, no bool[] of unknown size.
                    assert str(argument.type).rstrip("?") in {"Layout", "Device", "SymBool"}
                    continue
                if argument.is_write and str(argument.type) == "Tensor?":
                    expected = "const std::optional<Tensor>&"
                assert plain(mine.parameter) == plain(expected), (name, argument)
                compared += 1
        if theirs.arguments.out and return_type(ours) is not None:
            with local.parametrize(
                use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False
            ):
                assert plain(return_type(ours) or "") == plain(
                    et_cpp.returns_type(theirs.returns).cpp_type()
                ), name
    assert compared > 10000
    assert refused < 500


NOT_CARRIED = {
    *("Generator", "Storage", "Stream", "QScheme", "Dimname", "Dimname[]", "Dimname[1]"),
    *("Scalar[]", "DeviceIndex", "ScalarType[]", "str[]"),
}
