"""Arguments that do not fit must fail the call through the context: under the sanitizers, with
guard bytes around the results."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="run by make conformance")

from .harness import library

pytestmark = pytest.mark.conformance

CALLS = 40  # an operator; more by hand: see hostile.py


def test_hostile_arguments() -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++ with its sanitizers")
    command = [sys.executable, "-m", "tests.conformance.hostile", "0", str(CALLS)]
    done = subprocess.run(
        command, cwd=library.ROOT, capture_output=True, text=True, timeout=1500, check=False
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    lines = done.stdout.splitlines()
    counts = [int(line.split()[1]) for line in lines if "::" in line]
    assert len(counts) > 250
    assert sum(counts) > len(counts) * CALLS // 4
