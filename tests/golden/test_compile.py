"""Every golden output compiles without a warning, for the host and for rv32imc.

A golden with a `check.cpp` is also linked and run: there the kernels are defined, and called
through the registry with boxed arguments.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main

from .test_generate import CASES, FOLDER

TREE = Path(__file__).resolve().parent.parent.parent
INCLUDE = TREE / "runtime" / "include"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Older than our headers' API, or for PyTorch's tensors: compiled in tests/conformance.
OTHER_HEADERS = {"nothing_stack", "stack_api", "aten", "aten_static", "nothing_aten"}
COMPILED = [case for case in CASES if case not in OTHER_HEADERS]
CHECKED = sorted(path.parent.name for path in FOLDER.glob("*/check.cpp"))

need_host = pytest.mark.skipif(shutil.which("c++") is None, reason="no host compiler")


def run(*command: str | Path) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def all_headers(folder: Path) -> str:
    """A source that includes every generated header, twice, and uses the dtype selection."""
    headers = sorted(path.name for path in folder.glob("*.h") if "CustomOps" not in path.name)
    return "".join(f'#include "{name}"\n' for name in headers * 2) + (
        "int use_all() { return "
        'should_include_kernel_dtype("add.out", ::executorch::aten::ScalarType::Float); }\n'
    )


def registration_in(folder: Path) -> Path:
    """The generated registration, whatever its name."""
    (source,) = folder.glob("RegisterCodegenUnboxedKernels*.cpp")
    return source


def flags_of(case: str) -> tuple[str, ...]:
    return ("-fexceptions",) if "exception" in case else ("-fno-exceptions",)


@pytest.mark.slow
@need_host
@pytest.mark.parametrize("case", COMPILED)
def test_host(case: str, tmp_path: Path) -> None:
    folder = FOLDER / case / "expected"
    (tmp_path / "headers.cpp").write_text(all_headers(folder))
    command = ("c++", "-std=c++17", *WARNINGS, *flags_of(case), f"-I{INCLUDE}", f"-I{folder}")
    for source in (registration_in(folder), tmp_path / "headers.cpp"):
        run(*command, "-c", source, "-o", tmp_path / "out.o")


@pytest.mark.cross
@pytest.mark.parametrize("case", COMPILED)
def test_rv32imc(case: str, tmp_path: Path) -> None:
    from gen_kernels.codegen.toolchain import find_toolchain

    toolchain, problems = find_toolchain("rv32imc")
    if toolchain is None:
        pytest.skip(problems[0].message)
    folder = FOLDER / case / "expected"
    command = (*toolchain.cxx, *toolchain.compile_flags, "-Os", *WARNINGS, *flags_of(case))
    source = registration_in(folder)
    target = tmp_path / "out.o"
    run(*command, f"-I{INCLUDE}", f"-I{folder}", "-c", source, "-o", target)
    sections = subprocess.run(
        ["riscv64-unknown-elf-size", "-A", target], capture_output=True, text=True, check=True
    ).stdout
    sizes = {line.split()[0]: int(line.split()[1]) for line in sections.splitlines()[2:-2] if line}
    data = [n for n, size in sizes.items() if size and n.startswith((".data", ".sdata"))]
    assert bool(data) == (case == "exception_boundary")  # the type_info of the caught class
    start_up = [name for name in sizes if name.startswith((".init_array", ".ctors"))]
    assert bool(start_up) == (case == "static_registration")


@pytest.fixture(scope="module")
def runtime_objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The runtime's sources, compiled once."""
    folder = tmp_path_factory.mktemp("runtime")
    objects = []
    for source in sorted((TREE / "runtime" / "src").glob("*.cpp")):
        objects.append(folder / f"{source.stem}.o")
        run("c++", "-std=c++17", *SANITIZE, f"-I{INCLUDE}", "-c", source, "-o", objects[-1])
    return objects


@pytest.mark.slow
@need_host
@pytest.mark.parametrize("case", CHECKED)
def test_calls(case: str, runtime_objects: list[Path], tmp_path: Path) -> None:
    folder = FOLDER / case / "expected"
    sources = (FOLDER / case / "check.cpp", registration_in(folder))
    command = ("c++", "-std=c++17", *SANITIZE, *WARNINGS, *flags_of(case))
    include = (f"-I{INCLUDE}", f"-I{folder}", f"-I{FOLDER.parent}")
    run(*command, *include, *sources, *runtime_objects, "-o", tmp_path / "check")
    run(tmp_path / "check")


TWO_LIBRARIES = """
#define GEN_KERNELS_NO_REGISTER_ALL
#include "one/RegisterKernels.h"
#include "two/RegisterKernels.h"

#include "boxed.h"

static Data a, b, result;

#define KERNEL(name, ...)                                        \\
  Tensor& my::native::name(KernelRuntimeContext&, __VA_ARGS__, Tensor& out) { \\
    called = #name;                                              \\
    return out;                                                  \\
  }
#include "one/NativeFunctions.h"
#include "two/NativeFunctions.h"
KERNEL(add_out, const Tensor&, const Tensor&)
KERNEL(abs_out, const Tensor&)

int main() {
  executorch::runtime::runtime_init();
  CHECK(gen_kernels::register_one_kernels() == Error::Ok);
  EValue x(a.tensor), y(b.tensor), out(result.tensor);
  EValue* binary[] = {&x, &y, &out, &out};
  EValue* unary[] = {&x, &out, &out};
  CHECK(call("my::add.out", binary) == Error::Ok && was_called("add_out"));
  CHECK(call("my::abs.out", unary) == Error::OperatorMissing);
  CHECK(gen_kernels::register_two_kernels() == Error::Ok);
  CHECK(gen_kernels::register_one_kernels() == Error::Ok);
  CHECK(call("my::add.out", binary) == Error::Ok && was_called("add_out"));
  CHECK(call("my::abs.out", unary) == Error::Ok && was_called("abs_out"));
}
"""


@pytest.mark.slow
@need_host
def test_two_libraries_in_one_program(runtime_objects: list[Path], tmp_path: Path) -> None:
    sources = []
    for name, operator in (("one", "my::add.out"), ("two", "my::abs.out")):
        out = tmp_path / name
        functions = FOLDER / "shared_signatures" / "ops.yaml"
        arguments = ["--functions", str(functions), "--op", operator, "--library", name]
        assert main([*arguments, "--out", str(out), "--quiet"]) == 0
        sources.append(registration_in(out))
    (tmp_path / "main.cpp").write_text(TWO_LIBRARIES)
    # boxed.h includes a RegisterKernels.h by itself: any will do.
    include = (f"-I{INCLUDE}", f"-I{tmp_path}", f"-I{tmp_path / 'one'}", f"-I{FOLDER.parent}")
    command = ("c++", "-std=c++17", *SANITIZE, *WARNINGS, *include)
    program = tmp_path / "program"
    run(*command, tmp_path / "main.cpp", *sources, *runtime_objects, "-o", program)
    run(program)
