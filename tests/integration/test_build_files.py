"""Build files that nothing here can run: parsed, linted, or run with stand-ins for their host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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


def test_buck_outputs_are_those_of_bazel() -> None:
    values: dict[str, dict[str, object]] = {}
    for name in ("bazel/defs.bzl", "buck/defs.bzl"):
        text = (TREE / name).read_text()
        constants = text[text.index("_HEADERS = [") : text.index("def ")]
        values[name] = {}
        exec(constants, values[name])
    for constant in ("_HEADERS", "_REGISTRATION"):
        assert values["bazel/defs.bzl"][constant] == values["buck/defs.bzl"][constant]


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
