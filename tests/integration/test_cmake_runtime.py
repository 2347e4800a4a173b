"""The runtime that CMake compiles for libraries of models: with what they need, and never two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ..support.models import MODELS
from .test_cmake import GENERATORS, Project, replace_model, require, touch

pytestmark = pytest.mark.slow

# `add` needs no part of the runtime that can be left out, `cond` control flow, `scalar_inputs`
# inputs that are numbers.
LISTING = """
cmake_minimum_required(VERSION 3.20)
project(programs LANGUAGES CXX)
find_package(gen_kernels CONFIG REQUIRED)
gen_kernels_library(one MODELS one.pte)
add_subdirectory(below)
gen_kernels_library(alone MODELS "@MODELS@/add.pte" RUNTIME own)
gen_kernels_library(open MODELS "@MODELS@/add.pte" RUNTIME own OPTIONS --whole-runtime)
add_executable(app main.cpp)
target_link_libraries(app PRIVATE one two)
foreach(name alone open)
  add_executable(${name}_app main.cpp)
  target_link_libraries(${name}_app PRIVATE ${name})
endforeach()
"""
BELOW = 'gen_kernels_library(two MODELS "@MODELS@/cond.pte")\n'

# Loads each file's first method; prints 0 or the error's number.
MAIN = """
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/program.h>

#include <cstdio>

alignas(16) static unsigned char data[1 << 16];

static int load(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return -1;
  const size_t size = std::fread(data, 1, sizeof(data), file);
  std::fclose(file);
  executorch::extension::BufferDataLoader loader(data, size);
  return static_cast<int>(executorch::runtime::Program::load(&loader).error());
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::printf("%d\\n", load(argv[i]));
}
"""
OK, NOT_SUPPORTED = 0, 0x10


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    generator = getattr(request, "param", "Ninja")
    require("cmake", "c++", {"Ninja": "ninja"}.get(generator, "make"))
    source = tmp_path / "the source"
    (source / "below").mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(LISTING.replace("@MODELS@", str(MODELS)))
    (source / "below" / "CMakeLists.txt").write_text(BELOW.replace("@MODELS@", str(MODELS)))
    (source / "main.cpp").write_text(MAIN)
    replace_model(source / "one.pte", "add")
    return Project(source, tmp_path / "the build", generator)


def loads(project: Project, program: str, *models: str) -> list[int]:
    command = [project.build / program, *(MODELS / f"{name}.pte" for name in models)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize("project", GENERATORS, indirect=True)
def test_one_runtime_for_the_project(project: Project) -> None:
    """It has what any library needs, also one of another folder; one of their own is smaller."""
    done = project.configure()
    assert done.returncode == 0, done.stderr
    done = project.make("-j2")
    assert done.returncode == 0, done.stdout + done.stderr
    models = ("add", "cond", "args_many")
    assert loads(project, "app", *models) == [OK, OK, NOT_SUPPORTED]
    assert loads(project, "alone_app", *models) == [OK, NOT_SUPPORTED, NOT_SUPPORTED]
    assert loads(project, "open_app", *models) == [OK, OK, OK]

    # Another model with the same needs leaves the runtime alone, one with others does not.
    model = project.source / "one.pte"
    changed = project.rebuilt(lambda: (replace_model(model, "cortexm_add"), touch(model)), "-j2")
    assert "libone.a" in changed
    assert "libgen_kernels_runtime.a" not in changed
    changed = project.rebuilt(lambda: (replace_model(model, "args_many"), touch(model)), "-j2")
    assert "libgen_kernels_runtime.a" in changed
    assert "libalone_runtime.a" not in changed
    assert loads(project, "app", *models) == [OK, OK, OK]


def test_two_runtimes_in_a_program_are_refused(project: Project) -> None:
    listing = project.source / "CMakeLists.txt"
    listing.write_text(listing.read_text().replace("one two", "one alone"))
    done = project.configure()
    assert done.returncode != 0
    message = " ".join(done.stderr.split())
    assert 'INTERFACE_GEN_KERNELS_RUNTIME property of "alone_runtime" does not agree' in message
    assert '"app"' in message
