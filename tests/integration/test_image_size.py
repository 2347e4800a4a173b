"""Firmware by CMake and by Bazel is as small as what `gen-kernels build` makes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from gen_kernels.codegen.image_size import section_sizes

from ..support.bazel import workspace_of
from ..support.models import TREE, load_model
from ..support.run import build_library, link_program, missing_tools
from .test_cmake import Project, require

pytestmark = [pytest.mark.slow, pytest.mark.cross]

COMMON = TREE / "platform" / "common"
DEFINES = ("-DRUNNER_SMALL", "-DNDEBUG")
# The three differ in the order of their objects alone: branches may become a little longer.
MARGIN = 64

LISTING = """
cmake_minimum_required(VERSION 3.20)
project(size LANGUAGES C CXX ASM)
find_package(gen_kernels CONFIG REQUIRED)
gen_kernels_library(kernels MODELS "@MODEL@")
add_executable(image "@COMMON@/runner.cpp" "@DATA@/runner_data.S")
target_include_directories(image PRIVATE "@DATA@" "@MODELS@")
target_compile_options(image PRIVATE -DRUNNER_SMALL -DNDEBUG)
target_link_libraries(image PRIVATE kernels)
gen_kernels_firmware(image)
"""


def code(image: Path) -> int:
    """Bytes of code and constants; model and inputs are the same in all."""
    sizes = section_sizes(image.read_bytes())
    return sizes[".text"] + sizes[".rodata"] + sizes.get(".data", 0)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image of the model `add` with the library of `gen-kernels build`."""
    if reason := missing_tools("qemu"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("reference")
    model = load_model("add")
    library = build_library("qemu", folder / "build", "--model", str(model.path))
    cases = [model.cases[0].case]
    return link_program("qemu", library, model.path, cases, out=folder / "image", defines=DEFINES)


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_cmake(reference: Path, generator: str, tmp_path: Path) -> None:
    require("cmake", {"Ninja": "ninja"}.get(generator, "make"))
    model = load_model("add").path
    places = {"MODEL": model, "MODELS": model.parent, "COMMON": COMMON}
    listing = LISTING.replace("@DATA@", str(reference.with_name("image.d")))
    for name, place in places.items():
        listing = listing.replace(f"@{name}@", str(place))
    project = Project(tmp_path / "source", tmp_path / "build", generator)
    project.source.mkdir()
    (project.source / "CMakeLists.txt").write_text(listing)
    toolchain = TREE / "platform" / "cv32e40p" / "toolchain.cmake"
    done = project.configure(f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", "-DGEN_KERNELS_TARGET=rv32imc")
    assert done.returncode == 0, done.stderr
    done = project.make()
    assert done.returncode == 0, done.stdout + done.stderr
    print(code(project.build / "image"), code(reference))
    assert abs(code(project.build / "image") - code(reference)) <= MARGIN


BUILD = """
load("@gen_kernels//bazel:defs.bzl", "gen_kernels_library")
load("@rules_cc//cc:defs.bzl", "cc_binary")

gen_kernels_library(name = "kernels", models = ["add.pte"])
cc_binary(
    name = "image",
    srcs = ["runner.cpp", "runner.h", "runner_cases.h", "runner_data.S"],
    copts = ["-std=c++17"],
    deps = [":kernels", "@gen_kernels//:platform"],
)
"""


@pytest.mark.xdist_group("bazel")
def test_bazel(reference: Path, tmp_path: Path) -> None:
    folder, data = tmp_path / "image", reference.with_name("image.d")
    folder.mkdir()
    (folder / "BUILD.bazel").write_text(BUILD)
    model = load_model("add").path
    example = TREE / "examples" / "bazel"
    for file in (
        *(example / "WORKSPACE", example / ".bazelrc", model),
        *(COMMON / "runner.cpp", COMMON / "runner.h", data / "runner_cases.h"),
    ):
        shutil.copy(file, folder)

    # A sandbox has declared files alone: the assembler gets the bytes themselves.
    def embedded(match: re.Match[str]) -> str:
        name = match[1]
        content = model.read_bytes() if name == model.name else (data / name).read_bytes()
        return ".byte " + ", ".join(map(str, content))

    text = re.sub(r'\.incbin "(.*)"', embedded, (data / "runner_data.S").read_text())
    (folder / "runner_data.S").write_text(text)
    with workspace_of(folder, tmp_path / "out") as workspace:
        workspace.build("//:image", "--config=rv32imc", *(f"--copt={flag}" for flag in DEFINES))
        image = folder / "bazel-bin" / "image"
        print(code(image), code(reference))
        assert abs(code(image) - code(reference)) <= MARGIN
