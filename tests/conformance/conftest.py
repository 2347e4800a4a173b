"""Logs the calls of operators into the file that GEN_KERNELS_CASES names.

Each worker appends its own when its session ends: what is left to its exit may be lost, since the
controller does not wait for that.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

_FAILED: set[str] = set()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Begin a new log, before there are workers."""
    log = os.environ.get("GEN_KERNELS_CASES")
    if log and not hasattr(session.config, "workerinput"):
        Path(log).unlink(missing_ok=True)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Note a failure where the test ran: in the worker, whose calls are logged."""
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        _FAILED.add(item.nodeid)


def pytest_sessionfinish() -> None:
    """Write the log."""
    harness = sys.modules.get("tests.conformance.harness.caller")
    log = os.environ.get("GEN_KERNELS_CASES")
    if log and harness is not None:
        harness.log_calls(Path(log), _FAILED)
