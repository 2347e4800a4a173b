"""What a user is told about a wrong command: one folder a case, the command and the messages.

The commands run in the case's folder; `expected.txt` holds the exit status and standard error.
`python -m tests.golden.test_errors` renews it (read the difference!).
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main

FOLDER = Path(__file__).resolve().parent / "errors"
CASES = sorted(path.parent.name for path in FOLDER.glob("*/command"))


def run(case: str, out: Path) -> str:
    """Run a case; its exit status and messages. Nothing may be written or printed otherwise."""
    arguments = shlex.split((FOLDER / case / "command").read_text())
    stdout, stderr = io.StringIO(), io.StringIO()
    before = Path.cwd()
    os.chdir(FOLDER / case)
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            try:
                status = main([w.replace("OUT", str(out)) for w in arguments])
            except SystemExit as stop:
                status = int(str(stop.code))
    finally:
        os.chdir(before)
    assert stdout.getvalue() == "", case
    assert not out.exists()
    # argparse prints the whole usage; the message is its last line.
    messages = stderr.getvalue()
    if status == 2:
        # Python 3.12 and later do not quote choices.
        message, choices, names = messages.splitlines()[-1].partition("(choose from ")
        messages = message + choices + names.replace("'", "") + "\n"
    return f"exit status {status}\n{messages}".replace(str(out), "OUT")


@pytest.mark.parametrize("case", CASES)
def test_messages(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    said = run(case, tmp_path / "out")
    assert said == (FOLDER / case / "expected.txt").read_text(encoding="utf-8")
    assert "Traceback" not in said
    assert not said.startswith("exit status 0")


def renew() -> None:
    """Write the messages of today as the expected ones."""
    os.environ["COLUMNS"] = "100"
    for case in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            said = run(case, Path(scratch) / "out")
        (FOLDER / case / "expected.txt").write_text(said, encoding="utf-8")


if __name__ == "__main__":
    renew()
