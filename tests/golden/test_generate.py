"""Generated output: one folder a feature, with the command, its inputs and what it must write.

`python -m tests.golden.test_generate` renews every `expected` folder (read the difference!).
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import tempfile
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main

FOLDER = Path(__file__).resolve().parent / "generate"
MEMORY_CASES = {"model", "nothing", "prim_operators"}
MODEL_FILES = {"memory_plan.h", "runtime_features.h"}
CASES = sorted(path.parent.name for path in FOLDER.glob("*/command"))


def generate(case: str, out: Path) -> tuple[int, str, str]:
    """Run a case's command in its folder; exit status, standard output, standard error."""
    arguments = shlex.split((FOLDER / case / "command").read_text())
    stdout, stderr = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(FOLDER / case)
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            status = main([*arguments, "--out", str(out)])
    finally:
        os.chdir(before)
    return status, stdout.getvalue(), stderr.getvalue()


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def held(case: str, files: dict[str, str]) -> dict[str, str]:
    """The files that a case holds: those about the models' needs are a feature of their own."""
    return {n: t for n, t in files.items() if n not in MODEL_FILES or case in MEMORY_CASES}


@pytest.mark.parametrize("case", CASES)
def test_output(case: str, tmp_path: Path) -> None:
    status, stdout, stderr = generate(case, tmp_path / "out")
    assert (status, stderr) == (0, "")
    expected = contents(FOLDER / case / "expected")
    summary = expected.pop("summary.txt")
    assert held(case, contents(tmp_path / "out")) == expected
    assert stdout == summary


def test_there_are_cases() -> None:
    assert len(CASES) >= 30


def renew() -> None:
    """Write what is generated now as what is expected."""
    for case in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch) / "out"
            status, stdout, stderr = generate(case, out)
            assert (status, stderr) == (0, ""), f"{case}: {stderr}"
            expected = FOLDER / case / "expected"
            shutil.rmtree(expected, ignore_errors=True)
            expected.mkdir()
            for name, text in held(case, contents(out)).items():
                (expected / name).write_text(text)
            (expected / "summary.txt").write_text(stdout)


if __name__ == "__main__":
    renew()
