"""Every kernel against eager torch over OpInfo's samples (see harness/)."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="run by make conformance")

from .harness import library
from .harness.caller import Library
from .harness.cases import opinfo_cases
from .harness.run import run, signatures

pytestmark = pytest.mark.conformance

# An operator and leading dtype get at most so many cases (`harness.run --limit` for more).
LIMIT = 20


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


def test_opinfo_samples(lib: Library, capsys: pytest.CaptureFixture[str]) -> None:
    operators = signatures() & lib.operators
    assert len(operators) > 100
    passed, failed = run(lib, opinfo_cases(operators, limit=LIMIT))
    report = capsys.readouterr().out
    assert not failed, report
    assert sum(passed.values()) > 10_000
