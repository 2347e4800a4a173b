"""Diagnostics: what is wrong, where, and what to do about it.

Stages never raise for a user's mistake: they return diagnostics beside their result. The command
line collects them, sorts them, prints them together and writes nothing when one is an error.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.IntEnum):
    """How grave a diagnostic is; only an error stops the run."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


@dataclass(frozen=True, order=True)
class Location:
    """A place in an input. Lines and columns count from 1; 0 means unknown.

    `file` is the path as the user wrote it (never made absolute) or a pseudo-file such as
    `<command line>`. `length` is the number of characters to underline from `column` on.
    For binary inputs `offset` is the byte offset; text locations leave it at -1.
    """

    file: str
    line: int = 0
    column: int = 0
    length: int = 1
    offset: int = -1


@dataclass(frozen=True)
class Diagnostic:
    """One message: `code` ("GK012", see codegen/errors.py), severity, place, text, hints.

    `source_line` is the text of the line at `location`, for the caret display; empty when there
    is none. Each of `notes` is shown on a line of its own under the message.
    """

    code: str
    message: str
    location: Location
    hint: str = ""
    notes: tuple[str, ...] = ()
    source_line: str = ""
    severity: Severity = Severity.ERROR
