"""A CMake project with the executorch wheel: our library in place of the portable one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from ..support.models import TREE

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def test_digits_on_executorchs_runtime(tmp_path: Path) -> None:
    """examples/cmake against the headers and libexecutorch.so of the installed package."""
    spec = importlib.util.find_spec("executorch")
    assert spec is not None
    assert spec.submodule_search_locations
    wheel = Path(next(iter(spec.submodule_search_locations)))
    configure = ["cmake", "-S", TREE / "examples" / "cmake", "-B", tmp_path, "-DUSE_EXECUTORCH=ON"]
    configure += [f"-Dgen_kernels_DIR={TREE / 'cmake'}"]
    configure += [f"-Dexecutorch_DIR={wheel / 'lib' / 'cmake' / 'executorch'}"]
    configure += [f"-DGEN_KERNELS_EXECUTABLE={Path(sys.executable).with_name('gen-kernels')}"]
    for command in (configure, ["cmake", "--build", tmp_path]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    needed = subprocess.run(
        ["readelf", "-d", tmp_path / "digits"], check=True, capture_output=True, text=True
    )
    assert "libexecutorch.so" in needed.stdout
    assert "libexecutorch_kernels" not in needed.stdout
    done = subprocess.run([tmp_path / "digits"], check=True, capture_output=True, text=True)
    classes = [int(line.split()[3]) for line in done.stdout.splitlines() if "class" in line]
    labels = (TREE / "examples" / "digits" / "labels.bin").read_bytes()
    right = sum(a == b for a, b in zip(classes, labels, strict=True))
    assert right > 0.9 * len(labels)
