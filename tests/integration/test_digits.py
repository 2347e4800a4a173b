"""The digits example: accuracy, and agreement with PyTorch's int8 model image by image."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ..support.models import TREE
from ..support.run import missing_tools

DIGITS = TREE / "examples" / "digits"
CLASSES = 10


def build(folder: Path, target: str, *variables: str) -> Path:
    """Builds the example with its own Makefile, the way its README says."""
    environment = dict(os.environ)
    environment["PATH"] = sysconfig.get_path("scripts") + os.pathsep + environment["PATH"]
    environment.pop("MAKEFLAGS", None)
    command = ["make", "-s", "-C", str(DIGITS), f"TARGET={target}", f"BUILD={folder}", *variables]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "digits.elf"


def words(output: str, first: str) -> list[list[str]]:
    return [line.split() for line in output.splitlines() if line.startswith(first + " ")]


@pytest.mark.slow
def test_every_image_agrees_with_pytorch_int8(tmp_path: Path) -> None:
    """All 3,600 outputs bit by bit; the accuracy follows."""
    elf = build(tmp_path, "host", "DEFINES=-DDIGITS_PRINT_SCORES")
    output = subprocess.run([elf], capture_output=True, text=True, check=True).stdout
    labels = (DIGITS / "labels.bin").read_bytes()
    raw = (DIGITS / "outputs.bin").read_bytes()
    expected = struct.unpack(f"<{len(raw) // 4}I", raw)

    scores = words(output, "score")
    assert len(scores) == len(labels) * CLASSES
    for _, image, index, bits in scores:
        assert int(bits, 16) == expected[int(image) * CLASSES + int(index)], (image, index)

    right = sum(int(line[3]) == labels[int(line[1])] for line in words(output, "image"))
    report = json.loads((DIGITS / "report.json").read_text())
    assert round(right / len(labels), 4) == report["accuracy_int8"]


@pytest.mark.slow
@pytest.mark.cross
@pytest.mark.parametrize("on", ["qemu", pytest.param("rtl", marks=pytest.mark.rtl)])
def test_the_demo_runs_on_the_core(on: str, tmp_path: Path) -> None:
    if reason := missing_tools(on):
        pytest.skip(reason)
    command = [sys.executable, str(DIGITS / "demo.py"), "--on", on, "--images", "2"]
    command += ["--build", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 right" in done.stdout
    assert "cycles" in done.stdout and "flash" in done.stdout
