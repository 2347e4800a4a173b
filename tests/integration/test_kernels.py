"""Kernels without PyTorch: hand-worked values under the sanitizers, and what a kernel weighs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen.toolchain import find_toolchain

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
# The kernels that tests/cpp/pointwise_kernels.cpp and moving_kernels.cpp call.
TESTED = {
    "portable": """add_sub bitwise cat clamp compare copy div fill gather index masked mul pad
    permute pow rearrange relu reshape slice unary unary_math where""",
    "prim": "scalars tensors",
}
FLOAT_ONLY = """#pragma once
constexpr bool should_include_kernel_dtype(const char*, executorch::aten::ScalarType type) {
  return type == executorch::aten::ScalarType::Float;
}
"""
# Bytes of code and constants, libgcc and runtime apart, of a kernel for float alone on rv32imc
# at -Os. The engine and its helpers are in each figure; operators of one library share them.
LIMITS = {
    ("relu", "relu_out"): 320,
    ("mul", "mul_out"): 1250,
    ("add_sub", "add_out"): 1400,
    ("permute", "permute_copy_out"): 1100,
    ("compare", "gt_scalar_out"): 1250,
}


@pytest.mark.slow
def test_values_under_sanitizers(tmp_path: Path) -> None:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    flags = ["-std=c++17", "-O1", *SANITIZE, "-Wall", "-Wextra", "-Werror"]
    flags += [f"-I{ROOT / 'runtime' / 'include'}", f"-I{KERNELS}"]
    sources = [KERNELS / d / f"{name}.cpp" for d, names in TESTED.items() for name in names.split()]
    sources += sorted((ROOT / "runtime" / "src").glob("*.cpp"))
    sources += [ROOT / "tests" / "cpp" / f"{name}_kernels.cpp" for name in ("pointwise", "moving")]
    objects = []
    for source in sources:
        objects.append(tmp_path / f"{source.parent.name}_{source.stem}.o")
        subprocess.run([compiler, *flags, "-c", source, "-o", objects[-1]], check=True)
    program = tmp_path / "test"
    subprocess.run([compiler, *SANITIZE, *objects, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.cross
@pytest.mark.parametrize(("file", "kernel"), LIMITS)
def test_float_only_kernel_is_small(file: str, kernel: str, tmp_path: Path) -> None:
    toolchain, problems = find_toolchain("rv32imc")
    if toolchain is None:
        pytest.skip(str(problems[0]))
    (tmp_path / "selected_op_variants.h").write_text(FLOAT_ONLY)
    own = toolchain.flags_for(f"kernels/portable/{file}.cpp")
    command = [*toolchain.cxx, *toolchain.compile_flags, *own, "-Os", "-DET_LOG_ENABLED=0"]
    command += ["-DEXECUTORCH_SELECTIVE_BUILD_DTYPE", f"-I{tmp_path}", f"-I{KERNELS}"]
    command += [
        f"-I{ROOT / 'runtime' / 'include'}",
        "-c",
        str(KERNELS / "portable" / f"{file}.cpp"),
    ]
    whole, used = tmp_path / "whole.o", tmp_path / "used.o"
    subprocess.run([*command, "-o", whole], check=True)
    binutils = toolchain.ar.removesuffix("ar")
    names = subprocess.run([f"{binutils}nm", whole], capture_output=True, text=True, check=True)
    mangled = f"{len(kernel)}{kernel}E"
    (symbol,) = (w[2] for w in map(str.split, names.stdout.splitlines()) if mangled in w[-1])
    keep = ["-r", "--gc-sections", "-e", symbol, "-u", symbol]
    subprocess.run([f"{binutils}ld", "-m", "elf32lriscv", *keep, whole, "-o", used], check=True)
    size = subprocess.run([f"{binutils}size", used], capture_output=True, text=True, check=True)
    text = int(size.stdout.splitlines()[1].split()[0])
    assert text <= LIMITS[file, kernel], f"{kernel} takes {text} bytes"
