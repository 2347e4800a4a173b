"""Firmware by CMake and by Bazel is as small as what `gen-kernels build` makes."""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path

import pytest
from gen_kernels.codegen.image_size import section_sizes

from ..support.bazel import workspace_of
from ..support.models import TREE, load_model
from ..support.run import LIBRARY_TARGET, build_library, link_program, missing_tools
from .test_cmake import Project, require

pytestmark = [pytest.mark.slow, pytest.mark.cross, pytest.mark.xdist_group("bazel")]

COMMON = TREE / "platform" / "common"
DEFINES = ("-DRUNNER_SMALL", "-DNDEBUG")
# Model -> what it is built for: the second has kernels with CORE-V instructions.
IMAGES = {"add": "qemu", "cortexm_mlp": "rtl"}
# The images differ in the order of their objects alone: a branch may be longer or shorter.
SOURCES = ("runner.cpp", "runner.h", "print.h")
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
BUILD = """
load("@gen_kernels//bazel:defs.bzl", "gen_kernels_library")
load("@rules_cc//cc:defs.bzl", "cc_binary")

gen_kernels_library(name = "kernels", models = ["model.pte"])
cc_binary(
    name = "image",
    srcs = ["print.h", "runner.cpp", "runner.h", "runner_cases.h", "runner_data.S"],
    copts = ["-std=c++17"],
    deps = [":kernels", "@gen_kernels//:platform"],
)
"""


def code(image: Path) -> int:
    """Bytes of code and constants; model and inputs are the same in all."""
    sizes = section_sizes(image.read_bytes())
    return sizes[".text"] + sizes[".rodata"] + sizes.get(".data", 0)


class References:
    """Images with the libraries of `gen-kernels build`; their cases and inputs are beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.image = lru_cache(self._image)

    def _image(self, name: str) -> Path:
        model, target = load_model(name), IMAGES[name]
        library = build_library(target, self.folder / name, "--model", str(model.path))
        cases, out = [model.cases[0].case], self.folder / f"{name}.elf"
        return link_program(target, library, model.path, cases, out=out, defines=DEFINES)

    def data(self, name: str) -> Path:
        """The folder with what the runner includes."""
        return self.image(name).with_name(f"{name}.elf.d")


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> References:
    if reason := missing_tools("qemu"):
        pytest.skip(reason)
    return References(tmp_path_factory.mktemp("references"))


@pytest.mark.parametrize(
    ("name", "generator"),
    [("add", "Unix Makefiles"), ("add", "Ninja"), ("cortexm_mlp", "Ninja")],
)
def test_cmake(references: References, name: str, generator: str, tmp_path: Path) -> None:
    require("cmake", {"Ninja": "ninja"}.get(generator, "make"))
    model, data = load_model(name).path, references.data(name)
    places = {"MODEL": model, "MODELS": model.parent, "COMMON": COMMON, "DATA": data}
    listing = LISTING
    for word, place in places.items():
        listing = listing.replace(f"@{word}@", str(place))
    project = Project(tmp_path / "source", tmp_path / "build", generator)
    project.source.mkdir()
    (project.source / "CMakeLists.txt").write_text(listing)
    toolchain = TREE / "platform" / "cv32e40p" / "toolchain.cmake"
    target = LIBRARY_TARGET[IMAGES[name]]
    done = project.configure(
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", f"-DGEN_KERNELS_TARGET={target}"
    )
    assert done.returncode == 0, done.stderr
    done = project.make()
    assert done.returncode == 0, done.stdout + done.stderr
    assert abs(code(project.build / "image") - code(references.image(name))) <= MARGIN


def test_bazel(references: References, tmp_path: Path) -> None:
    folder, example = tmp_path / "images", TREE / "examples" / "bazel"
    folder.mkdir()
    for file in ("WORKSPACE", ".bazelrc"):
        shutil.copy(example / file, folder)
    for name in IMAGES:
        package, model, data = folder / name, load_model(name).path, references.data(name)
        package.mkdir()
        (package / "BUILD.bazel").write_text(BUILD)
        (package / "model.pte").write_bytes(model.read_bytes())
        for file in (*(COMMON / name for name in SOURCES), data / "runner_cases.h"):
            shutil.copy(file, package)
        text = (data / "runner_data.S").read_text()
        for file in (model, *data.glob("*.bin")):
            # A sandbox has declared files alone: the assembler gets the bytes themselves.
            values = ", ".join(map(str, file.read_bytes()))
            text = text.replace(f'.incbin "{file.name}"', f".byte {values}")
        assert ".incbin" not in text
        (package / "runner_data.S").write_text(text)
    with workspace_of(folder, tmp_path / "out") as workspace:
        for name, on in IMAGES.items():
            options = (f"--config={LIBRARY_TARGET[on]}", *(f"--copt={flag}" for flag in DEFINES))
            workspace.build(f"//{name}:image", *options)
            image = folder / "bazel-bin" / name / "image"
            assert abs(code(image) - code(references.image(name))) <= MARGIN
