"""Build files that nothing here can run: parsed, linted, or run with stand-ins for their host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from gen_kernels.codegen.toolchain import (
    EMBEDDED_FLAGS,
    LIBRARY_FLAGS,
    RUNTIME_FLAGS,
    SMALL_FLAGS,
)

from ..support.models import MODELS, TREE

STARLARK = (
    "BUCK",
    "BUILD.bazel",
    "MODULE.bazel",
    "bazel/BUILD.bazel",
    "bazel/defs.bzl",
    "bazel/extensions.bzl",
    "bazel/repository.bzl",
    "bazel/toolchain.bzl",
    "buck/defs.bzl",
    "examples/bazel/BUILD.bazel",
    "examples/bazel/MODULE.bazel",
    "examples/digits/BUILD.bazel",
)


@pytest.mark.parametrize("name", STARLARK)
def test_starlark_parses(name: str) -> None:
    """Starlark's syntax is a subset of Python's."""
    compile((TREE / name).read_text(), name, "exec")


def test_starlark_is_formatted() -> None:
    """@bazel/buildifier from npm, on PATH or where platform/setup puts it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    here = cache / "gen-kernels" / "npm" / "node_modules" / ".bin"
    tool = shutil.which("buildifier") or shutil.which("buildifier", path=str(here))
    if tool is None:
        pytest.skip("buildifier not installed")
    command = [tool, "-mode=check", "-lint=warn", *STARLARK[1:]]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_bazel_requirements_are_pinned() -> None:
    """One release of each package, by content."""
    text = (TREE / "bazel" / "requirements.txt").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pins = dict(line.split()[0].split("==") for line in lines)
    assert set(pins) == {"jinja2", "markupsafe", "pyyaml"}
    for line in lines:
        hashes = line.split()[1:]
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", h) for h in hashes), line


class Recorder:
    """Stands in for the build system's rules: keeps the arguments of each target."""

    def __init__(self) -> None:
        self.targets: dict[str, dict[str, object]] = {}

    def __getattr__(self, rule: str) -> Callable[..., None]:
        def declare(name: str, **arguments: object) -> None:
            assert name not in self.targets
            self.targets[name] = arguments

        return declare

    def references(self) -> set[str]:
        """What the arguments name: target or cell//:target, without the output's name."""
        found = re.findall(r"(?:[\w]+//)?:[\w./]+", str(list(self.targets.values())))
        return {name.removeprefix(":") for name in found}


def starlark(name: str, **known: object) -> dict[str, Any]:
    """The globals of a file: Starlark that Python can run."""
    values: dict[str, Any] = dict(known)
    exec(compile((TREE / name).read_text(), name, "exec"), values)
    return values


def buck_macros(rules: Recorder) -> dict[str, Any]:
    return starlark("buck/defs.bzl", native=rules)


def test_buck_outputs_are_those_of_bazel() -> None:
    text = (TREE / "bazel/defs.bzl").read_text()
    bazel: dict[str, object] = {}
    exec(text[text.index("_HEADERS = [") : text.index("def ")], bazel)
    buck = buck_macros(Recorder())
    for constant in ("_HEADERS", "_REGISTRATION", "_FLAGS"):
        assert bazel[constant] == buck[constant]


def test_buck_targets_name_each_other() -> None:
    """What the macros refer to is there: in the same package, in BUCK, or as a file."""
    ours, theirs = Recorder(), Recorder()
    macros = buck_macros(ours)
    sources = {path.name for path in (TREE / "runtime" / "src").iterdir()}
    assert set(macros["RUNTIME_SOURCES"]) == sources
    names = ("cxx_library", "export_file", "sh_binary")
    starlark(
        "BUCK",
        load=lambda *_: None,
        glob=lambda patterns: [str(p.relative_to(TREE)) for g in patterns for p in TREE.glob(g)],
        RUNTIME_SOURCES=macros["RUNTIME_SOURCES"],
        runtime_library=macros["runtime_library"],
        **{rule: getattr(ours, rule) for rule in names},
    )
    macros = buck_macros(theirs)
    macros["gen_kernels_library"]("one", models=["one.pte"])
    macros["gen_kernels_library"]("two", models=["two.pte"], runtime=":both")
    macros["gen_kernels_runtime"]("both", [":one", ":two"])
    bundled = {f"gen_kernels//:{name}" for name in ours.targets}
    assert ours.references() <= bundled | set(ours.targets)
    assert theirs.references() <= bundled | set(theirs.targets)
    assert "two_runtime" not in theirs.targets
    for name in ("gen_kernels//:runtime/src/method.cpp", "one_generated", "both_features"):
        assert name in theirs.references()
    for name in (name for name in ours.targets if "/" in name):
        assert (TREE / name).is_file()


def test_flags_are_those_of_the_tool() -> None:
    """CMake's and Bazel's libraries are compiled as `gen-kernels build` compiles them."""
    text = (TREE / "bazel/defs.bzl").read_text()
    bazel: dict[str, tuple[str, ...]] = {}
    exec(text[text.index("_HEADERS = [") : text.index("def ")], bazel)
    assert set(bazel["_FLAGS"]) < {*LIBRARY_FLAGS, "-ffp-contract=off"}
    cmake = (TREE / "cmake" / "GenKernels.cmake").read_text()
    for name, flags in (
        ("embedded", EMBEDDED_FLAGS),
        ("small", SMALL_FLAGS),
        ("runtime", tuple(flag for flag in RUNTIME_FLAGS if flag not in SMALL_FLAGS)),
    ):
        assert tuple(bazel[f"_{name.upper()}_FLAGS"]) == flags
        found = re.search(rf"set\(_gen_kernels_{name}_flags\s+([^\n]*?)\s+CACHE", cmake)
        assert found is not None
        assert tuple(found[1].split()) == flags


ZEPHYR_STAND_IN = """
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES CXX)
set(CONFIG_GEN_KERNELS y)
set(CONFIG_RISCV y)
add_library(zephyr_interface INTERFACE)
add_custom_target(zephyr_generated_headers)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/main.cpp" "int main() {}")
add_library(app STATIC "${CMAKE_CURRENT_BINARY_DIR}/main.cpp")
add_subdirectory("@MODULE@/zephyr" gen_kernels)
gen_kernels_zephyr_library(kernels MODELS "@MODEL@")
get_target_property(libraries app LINK_LIBRARIES)
message(STATUS "app links: ${libraries}")
get_target_property(libraries kernels LINK_LIBRARIES)
message(STATUS "kernels link: ${libraries}")
"""


@pytest.mark.slow
def test_zephyr_module(tmp_path: Path) -> None:
    """The module's files name each other, and its CMake runs where Zephyr's targets exist."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake not installed")
    module = TREE / "cmake"
    description = yaml.safe_load((module / "zephyr" / "module.yml").read_text())
    assert (module / description["build"]["cmake"] / "CMakeLists.txt").is_file()
    assert (module / description["build"]["kconfig"]).is_file()
    listing = ZEPHYR_STAND_IN.replace("@MODULE@", str(module))
    listing = listing.replace("@MODEL@", str(MODELS / "add.pte"))
    (tmp_path / "CMakeLists.txt").write_text(listing)
    tool = Path(sys.executable).with_name("gen-kernels")
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build"]
    command += [f"-DGEN_KERNELS_EXECUTABLE={tool}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "app links: kernels" in done.stdout
    assert "kernels link: gen_kernels::runtime;zephyr_interface" in done.stdout
