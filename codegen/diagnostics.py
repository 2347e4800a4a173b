"""Diagnostics: what is wrong, where, and what to do about it.

Stages never raise for a user's mistake: they return diagnostics beside their result. The command
line collects them, sorts them, prints them together and writes nothing when one is an error.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import NamedTuple

_WIDTH = 100  # characters of a source line that are shown


class Severity(enum.IntEnum):
    """How grave a diagnostic is; only an error stops the run."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


class Location(NamedTuple):
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


class Diagnostic(NamedTuple):
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

    def to_json(self) -> dict[str, object]:
        """Return the diagnostic as plain values, for `--format json`."""
        return {
            "code": self.code,
            "severity": self.severity.name.lower(),
            "message": self.message,
            "file": self.location.file,
            "line": self.location.line,
            "column": self.location.column,
            "length": self.location.length,
            "offset": self.location.offset,
            "hint": self.hint,
            "notes": list(self.notes),
            "source_line": self.source_line,
        }


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the distinct diagnostics in the order of their places."""
    return tuple(sorted(set(diagnostics), key=lambda d: (d.location, d.code, d.message, d.notes)))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether one of them stops the run."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def format_diagnostic(diagnostic: Diagnostic) -> str:
    """Return the diagnostic as text, compiler style, with the source line and a caret.

    Characters that a terminal would act on are shown as escapes: inputs may be hostile.
    """
    location = diagnostic.location
    place = location.file
    if location.line:
        place += f":{location.line}" + (f":{location.column}" if location.column else "")
    elif location.offset >= 0:
        place += f":0x{location.offset:x}"
    severity = diagnostic.severity.name.lower()
    lines = [f"{place}: {severity}: {diagnostic.message} [{diagnostic.code}]"]
    if diagnostic.source_line and location.line:
        lines.extend(_caret(diagnostic.source_line, location))
    lines.extend(f"  note: {note}" for note in diagnostic.notes)
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    return "\n".join(_printable(line) for line in lines)


def _caret(source_line: str, location: Location) -> list[str]:
    """The source line, cut to a window around the column, and the mark under it."""
    text = source_line.rstrip("\r\n").replace("\t", " ")
    column = max(location.column, 1) - 1
    start = max(0, column - 60) if len(text) > _WIDTH else 0
    shown = text[start : start + _WIDTH]
    gutter = f"{location.line:5} | "
    lines = [gutter + shown]
    if location.column:
        width = max(1, min(location.length, len(shown) - (column - start)))
        lines.append(" " * 5 + " | " + " " * (column - start) + "^" + "~" * (width - 1))
    return lines


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
