"""quantized_avg_pool2d by whole numbers against the float steps that define it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_every_count_and_sum(tmp_path: Path) -> None:
    """All 8.4 million sums of 1 to 256 values; eight windows where the mean is half-way."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program = tmp_path / "check"
    command = [compiler, "-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{TREE / 'kernels'}", f"-I{TREE / 'runtime' / 'include'}"]
    command += [str(TREE / "tests/unit/cpp/average_check.cpp"), "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    words = done.stdout.split()
    assert int(words[1]) > 8_000_000 and int(words[3]) == 8 * 128 * 255
