"""What the runtime costs on the target, held against the limits that were set for it."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from tests.support.models import TREE
from tests.support.run import missing_tools, toolchain_for

pytestmark = [pytest.mark.cross, pytest.mark.slow]

# Instructions that ExecuTorch 1.5.1 takes for load_method().
OFFICIAL_LOAD_METHOD = {"add": 6692, "lenet": 77097}


@pytest.mark.parametrize("name", ["add", "lenet"])
def test_limits(name: str, tmp_path: Path) -> None:
    """Sizes in bytes: of the runtime, of the code of a whole image, and of an image with model."""
    if reason := missing_tools("qemu"):
        pytest.skip(reason)
    path = TREE / "benchmarks" / "runtime_cost.py"
    spec = importlib.util.spec_from_file_location("runtime_cost", path)
    assert spec is not None and spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    cost = benchmark.measure(name, tmp_path)
    # The limits, and ExecuTorch's figures, are for gcc 12.2; another may take a little more.
    command = [*toolchain_for("qemu").cxx, "-dumpversion"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    slack = 1.0 if version.startswith("12.") else 1.05
    assert 3 * cost.instructions[2] <= slack * OFFICIAL_LOAD_METHOD[name]
    if name == "add":
        assert cost.runtime <= slack * 6_000
        assert cost.image <= slack * 12_000
    else:
        assert cost.code <= slack * 24_000
        assert cost.instructions[4] <= slack * 60_000_000
