"""Reading YAML nodes with diagnostics: the part that knows nothing of operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .diagnostics import Diagnostic, Location, Severity
from .schema import Span
from .yaml_nodes import Mapping, Node, Scalar
from .yaml_nodes import Sequence as SequenceNode

MAX_MISTAKES = 100
"""Most diagnostics of one file: who makes more has given the wrong file."""


class TooManyMistakes(Exception):  # noqa: N818 (it ends the reading, and is no error of ours)
    """MAX_MISTAKES are reached; the rest of the file is not looked at."""


class NodeReader:
    """Turns nodes of one YAML file into values and collects what is wrong with them.

    `display` is the file's name as the user wrote it, `lines` are the lines of the whole file.
    """

    def __init__(self, display: str, lines: Sequence[str]) -> None:
        self.display = display
        self.lines = lines
        self.diagnostics: list[Diagnostic] = []

    def report(
        self,
        code: str,
        message: str,
        where: Node | Location,
        hint: str = "",
        *,
        notes: tuple[str, ...] = (),
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Collect a diagnostic at a node or place. Raises TooManyMistakes after too many."""
        if len(self.diagnostics) == MAX_MISTAKES:
            raise TooManyMistakes
        location = where if isinstance(where, Location) else self.place(where)
        line = self.source_line(location.line)
        self.diagnostics.append(
            Diagnostic(code, message, location, hint, notes, line, severity=severity)
        )

    def failed_since(self, count: int) -> bool:
        """Whether an error was reported after the first `count` diagnostics."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics[count:])

    # Places

    def source_line(self, line: int) -> str:
        """The text of a line, counted from 1; empty outside the file."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else ""

    def place(self, node: Node) -> Location:
        """Where a node stands."""
        length = len(node.text) + (0 if node.plain else 2) if isinstance(node, Scalar) else 1
        return self.location(node.line, node.column, length)

    def location(self, line: int, column: int, length: int) -> Location:
        """A place of this file, its length kept within the line."""
        rest = len(self.source_line(line)) - column + 1
        return Location(self.display, line, column, max(1, min(length, rest)))

    def inside(self, node: Scalar, span: Span) -> Location:
        """The place of a span of a scalar's text, which YAML may have folded over lines.

        The whole scalar's place when its text stands otherwise in the file (escapes).
        """
        line, column = node.line, node.column + (0 if node.plain else 1)
        if not node.plain and self.source_line(line)[column - 2 : column - 1] in ("|", ">"):
            line, column = self._line_after(line)
        for character in node.text[: span.start]:
            source = self.source_line(line)
            if character in " \n" and not source[column - 1 :].strip():
                line, column = self._line_after(line)  # a line end became this character
            elif source[column - 1 : column] == character:
                column += 1
            else:
                return self.place(node)
        if span.start < len(node.text) and not self.source_line(line)[column - 1 :].strip():
            return self.place(node)
        return self.location(line, column, span.end - span.start)

    def _line_after(self, line: int) -> tuple[int, int]:
        """The next line with text, and the column where it begins."""
        line += 1
        while line <= len(self.lines) and not self.source_line(line).strip():
            line += 1
        text = self.source_line(line)
        return line, len(text) - len(text.lstrip()) + 1

    # Values

    def keys(self, node: Node, known: Sequence[str], what: str) -> dict[str, Node] | None:
        """The pairs of a mapping, without those that are reported: unknown or repeated keys.

        `known` empty: any key is allowed. None when `node` is no mapping (reported too).
        """
        if not isinstance(node, Mapping):
            self.report("GK152", f"{what} is a mapping of keys to values", node)
            return None
        places: dict[str, Scalar] = {}
        values: dict[str, Node] = {}
        for key, value in node.pairs:
            if not isinstance(key, Scalar):
                self.report("GK152", f"a key of {what} is a word", key)
            elif (first := places.get(key.text)) is not None:
                note = f"the first is at {self.display}:{first.line}:{first.column}"
                self.report("GK154", f"a second '{key.text}' in {what}", key, notes=(note,))
            elif known and key.text not in known:
                hint = did_you_mean(key.text, known)
                self.report("GK153", f"unknown key '{key.text}' in {what}", key, hint)
            else:
                places[key.text] = key
                values[key.text] = value
        return values

    def flag(self, node: Node | None, key: str) -> bool:
        """A YAML boolean; false when absent."""
        if node is None:
            return False
        text = node.text.lower() if isinstance(node, Scalar) and node.plain else ""
        if text not in ("true", "false"):
            self.report("GK168", f"'{key}' is true or false", node)
        return text == "true"

    def words(self, node: Node | None, key: str, allowed: Sequence[str] = ()) -> tuple[str, ...]:
        """A list of words, or one string of words between commas; `allowed` empty: any."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return ()
        words: list[str] = []
        for item in node.items if isinstance(node, SequenceNode) else [node]:
            if not isinstance(item, Scalar):
                self.report("GK168", f"'{key}' is a list of words", item)
                continue
            for word in (part.strip() for part in item.text.split(",")):
                if allowed and word not in allowed:
                    hint = did_you_mean(word, allowed)
                    self.report("GK168", f"'{key}' has no '{word}'", item, hint)
                words.append(word)
        return tuple(words)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Up to five known words that are much like `word`, the most alike first."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in sorted(known)}
    return [by_lower[near] for near in get_close_matches(word[:100].lower(), by_lower, 5, 0.6)]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known word; all of them when they are few; "" otherwise."""
    names = list(known)
    if near := nearest(word, names):
        return f"did you mean {near[0]}?"
    if 0 < len(names) <= 4:
        return f"possible here: {', '.join(names)}"
    return ""
