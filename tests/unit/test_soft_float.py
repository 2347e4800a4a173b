"""Float arithmetic by integers (runtime/src/soft_float.cpp, kernels/util) against the host's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


def test_same_bits_as_the_host(tmp_path: Path) -> None:
    """A million operations on corners and random bits, exp and log over all exponents, dots."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path / "check"
    command = [compiler, "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
    command += [f"-I{TREE / 'kernels'}", f"-I{TREE / 'runtime' / 'include'}"]
    command += [str(TREE / "tests/unit/cpp/soft_float_check.cpp"), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
