"""The cost of a scan does not grow with the weights: a 2 GB model against one of 1 kB."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import pte_builder as build
from tests.support.models import MODELS

GIGABYTES = 2
SCAN = (
    "import re, sys\n"
    "from gen_kernels.selective.models import load_models\n"
    "models, diagnostics = load_models(sys.argv[1:])\n"
    "assert models and not diagnostics, diagnostics\n"
    "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """add.pte's program with a segment of 2 GB behind it, which takes no room on the disk."""
    size = GIGABYTES << 30
    root = build.add_program()
    root[4] = [{0: build.Num("Q", 0), 1: build.Num("Q", size)}]
    data = bytearray(build.with_header(build.serialise(root), b"x" * 16))
    (base,) = struct.unpack_from("<Q", data, 24)
    struct.pack_into("<Q", data, 32, size)
    path = tmp_path_factory.mktemp("sparse") / "large.pte"
    with path.open("wb") as file:
        file.write(data[:base])
        file.truncate(base + size)
    assert path.stat().st_blocks * 512 < 1 << 20
    return path


def scan(path: Path) -> tuple[float, int]:
    """CPU seconds of the whole process, and its memory in bytes."""
    started = time.perf_counter(), os.times()
    result = subprocess.run(
        [sys.executable, "-c", SCAN, str(path)], capture_output=True, text=True, check=True
    )
    ended = os.times()
    cpu = ended.children_user - started[1].children_user
    cpu += ended.children_system - started[1].children_system
    return cpu, int(result.stdout) * 1024


@pytest.mark.slow
def test_two_gigabytes_cost_what_a_kilobyte_costs(sparse: Path) -> None:
    small, large = [], []
    for _ in range(12):  # in turn, so that a busy machine is busy for both
        small.append(scan(MODELS / "add.pte"))
        large.append(scan(sparse))
    times = [min(cpu for cpu, _ in runs) for runs in (small, large)]
    assert times[1] <= 1.2 * times[0] + 0.01, times  # the clock ticks in steps of 10 ms
    assert max(memory for _, memory in large) < 25 << 20
