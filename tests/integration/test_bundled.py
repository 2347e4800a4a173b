"""Bundled programs (.bpte): the test cases inside run, and their outputs are the expected ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.cpp import RUNTIME, SOURCES, run
from ..support.models import MODELS
from ..support.run import build_library

pytestmark = pytest.mark.slow


def test_cases_of_a_bundled_program(tmp_path: Path) -> None:
    """PyTorch's outputs, which the exporter put beside the inputs, come out of our kernels."""
    model = MODELS / "bundled_mlp.bpte"
    library = build_library("host", tmp_path / "build", "--model", str(model))
    out = tmp_path / "run"
    command = ["c++", "-std=c++17", "-I", str(RUNTIME / "include"), "-I", str(library)]
    command += [str(SOURCES / "run_bundled.cpp"), str(library / "libgen_kernels.a")]
    command += [str(library / "libgen_kernels_runtime.a"), "-o", str(out)]
    built = run(command)
    assert built.returncode == 0, built.stderr
    lines = run([str(out), str(model)]).stdout.splitlines()
    assert lines[:4] == ["is bundled 1", "cut 0x23", "load 0x00", "load_method 0x00"]
    cases = [lines[i : i + 4] for i in range(4, len(lines) - 1, 4)]
    assert cases
    for number, case in enumerate(cases):
        done = [f"input {number} 0x00", "execute 0x00", "outputs 0x00", "spoilt 0x20"]
        assert case == done
    assert lines[-1] == f"input {len(cases)} 0x12"
