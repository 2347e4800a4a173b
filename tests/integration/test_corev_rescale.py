"""The CORE-V kernels' ways from a sum to a byte, against the definition that rounds twice.

tests/corev/rescale/main.cpp checks both sides of every step of the result for corner and random
multipliers, all shifts, zero points at both ends; where products are short, every sum.
GEN_KERNELS_COREV_MULTIPLIERS sets how many random multipliers (40).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from ..support.models import TREE
from ..support.run import missing_tools

MULTIPLIERS = os.environ.get("GEN_KERNELS_COREV_MULTIPLIERS", "40")
SOURCE = TREE / "tests" / "corev" / "rescale" / "main.cpp"
KINDS = ["narrow", "short", "cut", "signed", "centred", "near"]


def test_rescales_are_exact(tmp_path: Path) -> None:
    if reason := missing_tools("host"):
        pytest.skip(reason)
    program = tmp_path / "rescale"
    command = [
        "c++",
        "-std=c++17",
        "-O2",
        "-fsanitize=undefined",
        "-fno-sanitize-recover=undefined",
    ]
    command += [f"-DMULTIPLIERS={MULTIPLIERS}"]
    command += [f"-I{TREE}/kernels", f"-I{TREE}/runtime/include", str(SOURCE)]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = re.findall(r"^(\w+) channels (\d+) sums (\d+) wrong (\d+)$", done.stdout, re.MULTILINE)
    assert [kind for kind, *_ in found] == KINDS
    assert all(int(n) > 100 and int(sums) > 10_000 for _, n, sums, _ in found)
    assert all(wrong == "0" for *_, wrong in found)
