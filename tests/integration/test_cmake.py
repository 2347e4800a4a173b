"""The CMake package: what rebuilds when what changes, with Ninja and with Makefiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..support.models import MODELS, TREE, load_model
from ..support.run import RUN, missing_tools

pytestmark = pytest.mark.slow

GENERATORS = ["Ninja", "Unix Makefiles"]
PACKAGE_FOLDERS = (
    "bazel",
    "cmake",
    "codegen",
    "functions",
    "kernels",
    "platform",
    "runtime",
    "selective",
    "templates",
)

PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(two LANGUAGES CXX)
find_package(gen_kernels CONFIG REQUIRED)
gen_kernels_library(first MODELS "models/first model.pte")
gen_kernels_library(second MODELS models/second.pte OPS_FILES operators.txt)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE first second)
"""

# Registers both libraries and looks operators up.
MAIN = """
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstdio>

#define GEN_KERNELS_NO_REGISTER_ALL
#include <first/RegisterKernels.h>
#include <second/RegisterKernels.h>

int main(int argc, char** argv) {
  using executorch::runtime::Error;
  if (gen_kernels::register_first_kernels() != Error::Ok) return 100;
  if (gen_kernels::register_second_kernels() != Error::Ok) return 101;
  int found = 0;
  for (int i = 1; i < argc; ++i) {
    found += executorch::runtime::registry_has_op_function(argv[i]) ? 1 : 0;
  }
  return found;
}
"""


def require(*tools: str) -> None:
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed")


def tool_on_path() -> Path:
    return Path(sys.executable).with_name("gen-kernels")


@dataclass
class Project:
    """A project and its build folder, both with spaces in their paths."""

    source: Path
    build: Path
    generator: str
    package: Path = TREE
    tool: Path | None = None

    def configure(self, *options: str) -> subprocess.CompletedProcess[str]:
        tool = self.tool or tool_on_path()
        return subprocess.run(
            [
                *("cmake", "-G", self.generator, "-S", str(self.source), "-B", str(self.build)),
                f"-Dgen_kernels_DIR={self.package / 'cmake'}",
                f"-DGEN_KERNELS_EXECUTABLE={tool}",
                *options,
            ],
            capture_output=True,
            text=True,
            check=False,
        )

    def make(self, *options: str) -> subprocess.CompletedProcess[str]:
        command = ["cmake", "--build", str(self.build), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def rebuilt(self, change: Callable[[], object], *options: str) -> set[str]:
        """Objects, archives and programs that the build after `change` makes again."""
        before = self._products()
        change()
        done = self.make(*options)
        assert done.returncode == 0, done.stdout + done.stderr
        after = self._products()
        return {name for name in after if before.get(name) != after[name]}

    def _products(self) -> dict[str, int]:
        files = (p for p in self.build.rglob("*") if p.suffix in (".o", ".a") or p.name == "app")
        return {str(p.relative_to(self.build)): p.stat().st_mtime_ns for p in files if p.is_file()}


def touch(path: Path) -> None:
    """A new time stamp, later than everything that was built."""
    now = path.stat().st_mtime_ns + 5_000_000_000
    newest = max(now, *(p.stat().st_mtime_ns for p in path.parent.glob("*")))
    os.utime(path, ns=(newest, newest))


def replace_model(path: Path, name: str) -> None:
    path.write_bytes((MODELS / f"{name}.pte").read_bytes())


@pytest.fixture(params=GENERATORS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    require("cmake", "c++", {"Ninja": "ninja"}.get(request.param, "make"))
    source = tmp_path / "my project"
    (source / "models").mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(PROJECT)
    (source / "main.cpp").write_text(MAIN)
    (source / "operators.txt").write_text("aten::mul.out\n")
    replace_model(source / "models" / "first model.pte", "add")
    replace_model(source / "models" / "second.pte", "mlp")
    return Project(source, tmp_path / "the build", request.param)


def of_library(names: set[str], library: str) -> set[str]:
    return {name for name in names if f"{library}.dir" in name or name == f"lib{library}.a"}


def test_incremental(project: Project) -> None:
    done = project.configure()
    assert done.returncode == 0, done.stderr
    done = project.make("-j16")
    assert done.returncode == 0, done.stdout + done.stderr
    kernels = ["aten::add.out", "aten::mul.out", *load_model("mlp").operators]
    found = subprocess.run([project.build / "app", *kernels, "aten::sub.out"], check=False)
    assert found.returncode == len(kernels)
    assert not list(project.source.rglob("*.h"))  # nothing is written to the source tree

    first = project.source / "models" / "first model.pte"
    assert project.rebuilt(lambda: None) == set()
    assert project.rebuilt(lambda: touch(first)) == set()

    # Another model: its library and the program are made again, the other library is not.
    changed = project.rebuilt(lambda: (replace_model(first, "half"), touch(first)), "-j16")
    assert any("RegisterCodegenUnboxedKernels" in name for name in of_library(changed, "first"))
    assert "libfirst.a" in changed
    assert "app" in changed
    assert of_library(changed, "second") == set()

    # The list of operators is an input too.
    operators = project.source / "operators.txt"
    changed = project.rebuilt(lambda: (operators.write_text("aten::sub.out\n"), touch(operators)))
    assert of_library(changed, "second")
    assert of_library(changed, "first") == set()

    # A deleted output comes back with the same text, and what depends on it is made again.
    generated = project.build / "gen_kernels" / "second" / "RegisterCodegenUnboxedKernels.cpp"
    text = generated.read_text()
    project.rebuilt(generated.unlink)
    assert generated.read_text() == text
    assert project.rebuilt(lambda: None) == set()


def test_tool_and_templates_are_inputs(project: Project, tmp_path: Path) -> None:
    """Editing a template, or any other change of the tool, regenerates."""
    package = tmp_path / "package copy"
    for folder in PACKAGE_FOLDERS:
        shutil.copytree(TREE / folder, package / folder)
    tool = tmp_path / "gen-kernels"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{package}/bazel/tool.py" "$@"\n')
    tool.chmod(0o755)
    project.package, project.tool = package, tool
    assert project.configure().returncode == 0
    done = project.make()
    assert done.returncode == 0, done.stdout + done.stderr
    assert project.rebuilt(lambda: None) == set()
    template = package / "templates" / "RegisterKernels.h.j2"
    changed = project.rebuilt(
        lambda: (template.write_text(template.read_text() + "// Edited.\n"), touch(template))
    )
    assert of_library(changed, "first")
    assert of_library(changed, "second")
    header = project.build / "gen_kernels" / "first" / "RegisterKernels.h"
    assert header.read_text().endswith("// Edited.\n")
    source = package / "codegen" / "cpp.py"
    assert project.rebuilt(lambda: touch(source)) == set()  # same text, same output


def test_errors_stop_the_configuration(project: Project) -> None:
    model = project.source / "models" / "second.pte"
    model.write_bytes(model.read_bytes()[:100])
    done = project.configure()
    assert done.returncode != 0
    assert "second.pte" in done.stderr
    assert "[GK2" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("OPS_FILES", "OPERATORS", "no such file"),
        ("models/second.pte", "models/third.pte", "no such file"),
        ("first MODELS", "first SOURCE MODELS", "unknown arguments for first: SOURCE"),
    ],
)
def test_mistakes_in_the_call(project: Project, old: str, new: str, message: str) -> None:
    listing = project.source / "CMakeLists.txt"
    listing.write_text(PROJECT.replace(old, new))
    done = project.configure()
    assert done.returncode != 0
    assert message in done.stderr


def test_model_made_by_the_build(project: Project) -> None:
    """A model that does not exist before the build: the library has what it needs all the same."""
    listing = project.source / "CMakeLists.txt"
    maker = """
add_custom_command(OUTPUT made.pte DEPENDS models/second.pte
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/models/second.pte made.pte)
gen_kernels_library(second MODELS ${CMAKE_CURRENT_BINARY_DIR}/made.pte)
"""
    lines = [line for line in PROJECT.splitlines() if "second MODELS" not in line]
    lines.insert(lines.index("add_executable(app main.cpp)"), maker)
    listing.write_text("\n".join(lines))
    done = project.configure()
    assert done.returncode == 0, done.stderr
    assert "compiling every kernel, since the build makes" in done.stdout
    done = project.make("--target", "second_generate")
    assert done.returncode == 0, done.stdout + done.stderr
    registration = project.build / "gen_kernels" / "second" / "RegisterCodegenUnboxedKernels.cpp"
    assert "aten::addmm.out" in registration.read_text()


def test_isolated_libraries(project: Project) -> None:
    """Two libraries share a kernel's source, each with its own dtypes, in one program."""
    require("nm")
    listing = project.source / "CMakeLists.txt"
    text = PROJECT.replace('MODELS "models/first model.pte"', "OPS aten::add.out:Float ISOLATE")
    text = text.replace("MODELS models/second.pte OPS_FILES operators.txt", "OPS aten::sub.out:Int")
    listing.write_text(text)
    done = project.configure()
    assert done.returncode == 0, done.stderr
    done = project.make()
    assert done.returncode == 0, done.stdout + done.stderr
    command = ["nm", "-C", "--defined-only", "--extern-only", project.build / "libfirst.a"]
    symbols = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    names = [line.split(" ", 2)[2] for line in symbols if len(line.split(" ", 2)) == 3]
    assert names == ["gen_kernels::register_first_kernels()"]
    operators = ["aten::add.out", "aten::sub.out", "aten::mul.out"]
    assert subprocess.run([project.build / "app", *operators], check=False).returncode == 2
    assert project.rebuilt(lambda: None) == set()


def test_outputs_are_those_of_the_tool(tmp_path: Path) -> None:
    """What GenKernels.cmake declares is what gen-kernels says it writes."""
    command = [tool_on_path(), "--model", MODELS / "add.pte", "--out", "x", "--list-outputs"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    text = (TREE / "cmake" / "GenKernels.cmake").read_text()
    for name in done.stdout.split():
        assert Path(name).name in text
    rules = (TREE / "bazel" / "defs.bzl").read_text()
    for name in done.stdout.split():
        assert Path(name).name in rules


def test_version_is_the_tools() -> None:
    done = subprocess.run([tool_on_path(), "--version"], check=True, capture_output=True, text=True)
    version = done.stdout.split()[1]
    assert f'"{version}"' in (TREE / "cmake" / "gen_kernels-config-version.cmake").read_text()
    assert f'version = "{version}"' in (TREE / "MODULE.bazel").read_text()


@pytest.mark.cross
@pytest.mark.parametrize("generator", GENERATORS)
def test_digits_on_the_emulator(generator: str, tmp_path: Path) -> None:
    """examples/cmake with the toolchain file, on QEMU."""
    require("cmake", {"Ninja": "ninja"}.get(generator, "make"))
    if missing_tools("qemu"):
        pytest.skip(missing_tools("qemu"))
    example = Project(TREE / "examples" / "cmake", tmp_path / "build", generator)
    toolchain = TREE / "platform" / "cv32e40p" / "toolchain.cmake"
    done = example.configure(
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
        "-DGEN_KERNELS_TARGET=rv32imc",
        "-DCMAKE_BUILD_TYPE=MinSizeRel",
    )
    assert done.returncode == 0, done.stderr
    done = example.make()
    assert done.returncode == 0, done.stdout + done.stderr
    command = [str(RUN), "--qemu", str(example.build / "digits")]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    labels = (TREE / "examples" / "digits" / "labels.bin").read_bytes()
    classes = [int(line.split()[3]) for line in lines if line.startswith("image ")]
    right = sum(a == b for a, b in zip(classes, labels, strict=True))
    assert right > 0.9 * len(labels)


def own_kernel(example: Project) -> list[str]:
    """The command that runs examples/own_kernel, built."""
    done = example.make()
    assert done.returncode == 0, done.stdout + done.stderr
    return [str(example.build / "own_kernel")]


def outputs_are_pytorchs(command: list[str]) -> None:
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    expected = (TREE / "examples" / "own_kernel" / "expected.txt").read_text().split()
    assert len(lines) == len(expected) == 3
    for line, number in zip(lines, expected, strict=True):
        assert abs(int(line.split()[2]) - 1e6 * float(number)) < 2, line


def test_own_kernel(tmp_path: Path) -> None:
    """examples/own_kernel on the host: the model's custom operator finds the example's kernel."""
    require("cmake", "c++", "ninja")
    example = Project(TREE / "examples" / "own_kernel", tmp_path / "build", "Ninja")
    done = example.configure()
    assert done.returncode == 0, done.stderr
    outputs_are_pytorchs(own_kernel(example))


@pytest.mark.cross
def test_own_kernel_on_the_emulator(tmp_path: Path) -> None:
    require("cmake", "ninja")
    if missing_tools("qemu"):
        pytest.skip(missing_tools("qemu"))
    example = Project(TREE / "examples" / "own_kernel", tmp_path / "build", "Ninja")
    toolchain = TREE / "platform" / "cv32e40p" / "toolchain.cmake"
    options = ("-DGEN_KERNELS_TARGET=rv32imc", "-DCMAKE_BUILD_TYPE=MinSizeRel")
    done = example.configure(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", *options)
    assert done.returncode == 0, done.stderr
    outputs_are_pytorchs([str(RUN), "--qemu", *own_kernel(example)])
