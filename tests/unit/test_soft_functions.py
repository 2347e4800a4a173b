"""exp, log, sqrt, tanh and sigmoid by integers (kernels/util/fmath.h) over the whole range."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
# In units of the last place; every float was tried once (docs/soft-float.md).
MOST = {"exp": 0.70, "log": 0.57, "sqrt": 0.5, "tanh": 0.55, "sigmoid": 0.70}


@pytest.mark.slow
def test_errors_over_the_whole_range(tmp_path: Path) -> None:
    """One float in 37, of all signs and exponents: 100 million calls."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path / "check"
    command = [compiler, "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror"]
    command += ["-DGEN_KERNELS_SOFT_FLOAT=1", f"-I{TREE / 'kernels'}"]
    command += [str(TREE / "tests/unit/cpp/soft_functions_check.cpp"), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program), "37"], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert {row[0] for row in rows} == set(MOST)
    for name, error, at, count in rows:
        assert float(error) <= MOST[name], (name, at)
        assert int(count) > 10_000_000, name
