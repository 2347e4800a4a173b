"""selected_op_variants.h: the right answers, and none of them asked at run time."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from .test_compile import INCLUDE, run
from .test_generate import FOLDER

HEADERS = {
    # add.out:Float,Int  mul.out (every dtype)  sub.out:Half
    "dtypes": """
static_assert(has("add.out", T::Float) && has("aten::add.out", T::Int));
static_assert(!has("add.out", T::Half) && !has("add.out", T::Double));
static_assert(has("mul.out", T::Half) && has("mul.out", T::Bool));
static_assert(has("sub.out", T::Half) && !has("sub.out", T::Int));
// A kernel for Half computes in Float: without it the official header aborts at run time.
static_assert(has("sub.out", T::Float));
static_assert(!has("div.out", T::Float) && !has("add", T::Float) && !has("", T::Float));
""",
    # --all of the catalogues with models: every dtype stays.
    "everything": """
static_assert(has("add.out", T::Half) && has("whatever", T::Bits16));
""",
}

SOURCE = """
#include "selected_op_variants.h"
using T = ::executorch::aten::ScalarType;
constexpr bool has(const char* name, T type) { return should_include_kernel_dtype(name, type); }
"""

# As a kernel of ExecuTorch asks: the name in a variable, in code that is not constant.
KERNEL = """
void used(int);
void kernel(T type) {
  static constexpr auto op_name = "add.out";
  const char* other = "aten::sub.out";
  switch (type) {
    case T::Float:
      if (should_include_kernel_dtype(op_name, T::Float)) used(1);
      break;
    case T::Double:
      if (should_include_kernel_dtype(op_name, T::Double)) used(2);
      break;
    case T::Int:
      if (should_include_kernel_dtype(other, T::Int)) used(3);
      break;
    default:
      break;
  }
}
"""
FOLDED = """
void used(int);
void kernel(T type) {
  if (type == T::Float) used(1);
}
"""


def header(case: str, out: Path) -> Path:
    if case != "everything":
        return FOLDER / case / "expected"
    from gen_kernels.codegen.cli import main

    model = FOLDER.parent.parent / "models" / "add.pte"
    arguments = ["--all", "--model", str(model), "--kernels", "none", "--quiet"]
    assert main([*arguments, "--out", str(out)]) == 0
    return out


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no host compiler")
@pytest.mark.parametrize("case", sorted(HEADERS))
def test_answers(case: str, tmp_path: Path) -> None:
    source = tmp_path / "answers.cpp"
    source.write_text(SOURCE + HEADERS[case])
    folder = header(case, tmp_path)
    run("c++", "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", f"-I{folder}", source)


def code(compiler: Sequence[str], text: str, folder: Path) -> tuple[list[str], int]:
    """Undefined symbols and size of the code that `compiler` makes of `text` at -Os."""
    source, target = folder / "kernel.cpp", folder / "kernel.o"
    source.write_text(SOURCE + text)
    selection = FOLDER / "dtypes" / "expected"
    flags = ("-std=c++17", "-Os", "-fno-asynchronous-unwind-tables", "-g0")
    run(*compiler, *flags, f"-I{INCLUDE}", f"-I{selection}", "-c", source, "-o", target)

    def tool(*command: str) -> str:
        prefix = "riscv64-unknown-elf-" if "riscv" in compiler[0] else ""
        words = [prefix + command[0], *command[1:], str(target)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    undefined = [line.split()[-1] for line in tool("nm", "-uC").splitlines()]
    return undefined, int(tool("size").splitlines()[1].split()[0])


def test_nothing_is_left_for_run_time(tmp_path: Path) -> None:
    """Kernels compile to what they would be without the question, with gcc and clang at -Os."""
    from gen_kernels.codegen.toolchain import find_toolchain

    compilers: list[tuple[str, ...]] = [(c,) for c in ("g++", "clang++") if shutil.which(c)]
    toolchain, _ = find_toolchain("rv32imc")
    if toolchain is not None:
        compilers.append((*toolchain.cxx, *toolchain.compile_flags))
    if not compilers:
        pytest.skip("no compiler")
    for compiler in compilers:
        symbols, size = code(compiler, KERNEL, tmp_path)
        assert symbols == ["used(int)"], compiler
        assert size <= code(compiler, FOLDED, tmp_path)[1] + 8, compiler
