"""Compiling the static library: what is compiled, and what is not compiled again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen import build
from gen_kernels.codegen.build import LIBRARY, build_library
from gen_kernels.codegen.cli import main
from gen_kernels.codegen.options import REGISTRATION
from gen_kernels.codegen.toolchain import Toolchain, find_toolchain

ADD = str(Path(__file__).resolve().parent.parent / "models" / "add.pte")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("c++") is None, reason="no host compiler"),
]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A generated folder and kernels of the test's own, small ones."""
    (tmp_path / "kernels" / "a").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / REGISTRATION).write_text("int registration() { return 0; }\n")
    (tmp_path / "kernels" / "shared.h").write_text("#define VALUE 1\n")
    for name in ("one", "two"):
        text = f'#include "shared.h"\nint {name}() {{ return VALUE; }}\n'
        (tmp_path / "kernels" / "a" / f"{name}.cpp").write_text(text)
    monkeypatch.setattr(build, "KERNELS", tmp_path / "kernels")
    return tmp_path


@pytest.fixture(scope="module")
def host() -> Toolchain:
    toolchain, problems = find_toolchain("host")
    assert toolchain is not None, problems
    return toolchain


SOURCES = ["a/one.cpp", "a/two.cpp"]


def members(archive: Path) -> list[str]:
    return subprocess.run(
        ["ar", "t", archive], capture_output=True, text=True, check=True
    ).stdout.split()


def built(tree: Path, host: Toolchain, sources: list[str]) -> dict[str, int]:
    """Build, and return the time stamps of objects and archive."""
    archives, problems = build_library(tree / "out", sources, host, jobs=1, runtime=False)
    assert problems == ()
    assert archives == (tree / "out" / LIBRARY,)
    paths = [*(tree / "out" / "obj").glob("*.o"), *archives]
    return {path.name: path.stat().st_mtime_ns for path in paths}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name, time in after.items() if before.get(name) != time}


def test_archive_holds_registration_and_kernels(tree: Path, host: Toolchain) -> None:
    built(tree, host, SOURCES)
    assert members(tree / "out" / LIBRARY) == ["registration.o", "a_one.o", "a_two.o"]


def test_only_what_changed_is_compiled(tree: Path, host: Toolchain) -> None:
    first = built(tree, host, SOURCES)
    assert changed(first, built(tree, host, SOURCES)) == set()
    (tree / "kernels" / "a" / "one.cpp").write_text("int one() { return 3; }\n")
    second = built(tree, host, SOURCES)
    assert changed(first, second) == {"a_one.o", LIBRARY}
    (tree / "kernels" / "shared.h").write_text("#define VALUE 2\n")
    third = built(tree, host, SOURCES)
    assert changed(second, third) == {"a_two.o", LIBRARY}  # one.cpp does not include it any more


def test_another_command_compiles_everything(tree: Path, host: Toolchain) -> None:
    first = built(tree, host, SOURCES)
    toolchain, _ = find_toolchain("host", cflags="-DOTHER")
    assert toolchain is not None
    assert changed(first, built(tree, toolchain, SOURCES)) == set(first)


def test_a_source_that_is_not_needed_leaves_the_archive(tree: Path, host: Toolchain) -> None:
    built(tree, host, SOURCES)
    built(tree, host, SOURCES[:1])
    assert members(tree / "out" / LIBRARY) == ["registration.o", "a_one.o"]


def test_the_archive_has_no_time_stamps(tree: Path, host: Toolchain) -> None:
    built(tree, host, SOURCES)
    first = (tree / "out" / LIBRARY).read_bytes()
    shutil.rmtree(tree / "out" / "obj")
    os.utime(tree / "kernels" / "a" / "one.cpp")
    built(tree, host, SOURCES)
    assert (tree / "out" / LIBRARY).read_bytes() == first


def test_a_source_that_does_not_compile(tree: Path, host: Toolchain) -> None:
    built(tree, host, SOURCES)
    (tree / "kernels" / "a" / "two.cpp").write_text("int two() { return nonsense; }\n")
    archives, problems = build_library(tree / "out", SOURCES, host, runtime=False)
    assert archives == ()
    assert [(d.code, d.location.file) for d in problems] == [("GK403", "kernels/a/two.cpp")]
    assert any("nonsense" in note for note in problems[0].notes)
    # It is not taken for current the next time.
    _, problems = build_library(tree / "out", SOURCES, host, runtime=False)
    assert len(problems) == 1


def test_folders_with_spaces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "my build"
    arguments = ["build", "--model", ADD, "--out", str(out), "--target", "host", "--no-runtime"]
    assert main(arguments) == 0
    assert f"{out}/{LIBRARY}: " in capsys.readouterr().out
    before = (out / "obj" / "registration.o").stat().st_mtime_ns
    assert main([*arguments, "--quiet"]) == 0
    assert (out / "obj" / "registration.o").stat().st_mtime_ns == before
    assert capsys.readouterr().out == ""
    assert "portable_add_sub.o" in members(out / LIBRARY)


def test_no_compiler_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["build", "--model", ADD, "--out", str(out), "--target", "host"]
    assert main([*arguments, "--cxx", "no-such-compiler-g++"]) == 1
    captured = capsys.readouterr()
    assert "[GK401]" in captured.err
    assert captured.out == ""
    assert not out.exists()


def test_a_compiler_of_ones_own(tmp_path: Path) -> None:
    """--cxx may be a command with arguments; --cflags are added."""
    out = tmp_path / "out"
    arguments = ["build", "--model", ADD, "--out", str(out), "--target", "host", "--no-runtime"]
    assert main([*arguments, "--quiet", "--cxx", "c++ -DMINE", "--cflags=-DMORE -O1"]) == 0
    assert (out / LIBRARY).is_file()


ISOLATED = """
#define GEN_KERNELS_NO_REGISTER_ALL
#include "one/RegisterKernels.h"
#include "two/RegisterKernels.h"

#include "boxed.h"

// Calls add and sub with tensors of one element.
template <class T>
static Error call_with(const char* name, ScalarType type, T a, T b, T* result) {
  SizesType size = 1;
  DimOrderType order = 0;
  StridesType stride = 1;
  TensorImpl xi(type, 1, &size, &a, &order, &stride), yi(type, 1, &size, &b, &order, &stride);
  TensorImpl oi(type, 1, &size, result, &order, &stride);
  EValue ex{Tensor(&xi)}, ey{Tensor(&yi)}, alpha(int64_t{1}), eo{Tensor(&oi)};
  EValue* stack[] = {&ex, &ey, &alpha, &eo, &eo};
  return call(name, stack);
}

int main() {
  executorch::runtime::runtime_init();
  CHECK(gen_kernels::register_one_kernels() == Error::Ok);
  CHECK(gen_kernels::register_two_kernels() == Error::Ok);
  float f = 0;
  int i = 0;
  CHECK(call_with("aten::add.out", ScalarType::Float, 1.5f, 2.0f, &f) == Error::Ok && f == 3.5f);
  CHECK(call_with("aten::sub.out", ScalarType::Int, 7, 2, &i) == Error::Ok && i == 5);
  // What no model needed is not there.
  CHECK(call_with("aten::add.out", ScalarType::Int, 7, 2, &i) != Error::Ok);
}
"""


def test_isolated_libraries(tmp_path: Path) -> None:
    """Two libraries with kernels of the same source, each for its own operator and dtype."""
    for name, operator in (("one", "add.out:Float"), ("two", "sub.out:Int")):
        arguments = ["build", "--op", operator, "--library", name, "--isolate", "--quiet"]
        assert main([*arguments, "--target", "host", "--out", str(tmp_path / name)]) == 0
    symbols = subprocess.run(
        ["nm", "-gC", "--defined-only", tmp_path / "one" / LIBRARY],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [line.split(" ", 2)[2] for line in symbols.splitlines() if line.count(" ") >= 2]
    assert names == ["gen_kernels::register_one_kernels()"]
    (tmp_path / "main.cpp").write_text(ISOLATED)
    tree = Path(__file__).resolve().parent.parent.parent
    include = [tree / "runtime" / "include", tree / "tests" / "golden", tmp_path, tmp_path / "one"]
    program = tmp_path / "program"
    subprocess.run(
        [
            *("c++", "-std=c++17", *(f"-I{folder}" for folder in include), tmp_path / "main.cpp"),
            *(tmp_path / "one" / LIBRARY, tmp_path / "two" / LIBRARY),
            *(tmp_path / "one" / "libgen_kernels_runtime.a", "-Wl,--gc-sections", "-o", program),
        ],
        check=True,
    )
    subprocess.run([program], check=True)
