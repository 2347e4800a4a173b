"""What a user is told about a wrong catalogue: one folder a case, the input and the messages.

`python -m tests.golden.test_diagnostics` renews the messages (read the difference!).
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main

FOLDER = Path(__file__).resolve().parent / "diagnostics"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/catalogue.yaml"))
ONLY_WARNINGS = {"warnings"}


def messages(case: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of lint, run in the case's folder."""
    out, err = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(FOLDER / case)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(["catalogue", "lint", "catalogue.yaml"])
    finally:
        os.chdir(before)
    return status, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("case", CASES)
def test_messages(case: str) -> None:
    status, out, err = messages(case)
    assert err == (FOLDER / case / "expected.txt").read_text(encoding="utf-8")
    if case in ONLY_WARNINGS:
        assert status == 0
        assert out
    else:
        assert status == 1
        assert out == ""


@pytest.mark.parametrize("case", CASES)
def test_messages_without_libyaml(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("yaml.CSafeLoader", raising=False)
    assert messages(case)[2] == (FOLDER / case / "expected.txt").read_text(encoding="utf-8")


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60


def renew() -> None:
    """Write the messages of today as the expected ones."""
    for name in CASES:
        _, _, text = messages(name)
        (FOLDER / name / "expected.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    renew()
