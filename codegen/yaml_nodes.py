"""YAML as nodes with exact places, for catalogues whose every mistake must point at its line.

Built from the parser's events, not from yaml.compose: no recursion, so a hostile file cannot
exhaust the call stack, and no tag or type guessing, so `no` and `1e-05` stay what was written.
libyaml does the scanning where PyYAML was built with it (ten times faster). PyYAML is imported when
a text is read: most runs read only bundled catalogues, whose form needs no YAML (bundled_item.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import yaml

MAX_DEPTH = 16
"""Deepest nesting of sequences and mappings; a catalogue needs six."""

_RETELL_LIMIT = 1 << 18  # characters of a broken file that the slow parser may read again


class YamlError(ValueError):
    """Text that is not YAML, or nested too deeply. Line and column count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Scalar(NamedTuple):
    """A string as written. `plain` is false inside quotes and blocks. Line, column from 1."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def is_null(self) -> bool:
        """Whether the text means null: empty, `~` or `null` without quotes."""
        return self.plain and self.text in ("", "~", "null", "Null", "NULL")


class Sequence(NamedTuple):
    """A list. `items` is filled while the text is read, and never changed after."""

    line: int
    column: int
    items: list[Node]


class Mapping(NamedTuple):
    """Pairs in the order written, duplicates included; filled while the text is read."""

    line: int
    column: int
    pairs: list[tuple[Node, Node]]


Node = Scalar | Sequence | Mapping


def parse_yaml(text: str, line_offset: int = 0) -> Node | None:
    """The document in `text` (None: empty). `line_offset` is added to every line number.

    Raises YamlError for bad syntax, several documents, aliases, or nesting beyond MAX_DEPTH.
    """
    import yaml

    try:
        return _build(text, line_offset, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _retold(text, line_offset, error) from None


def _build(text: str, line_offset: int, loader: type[Any]) -> Node | None:
    import yaml

    root: Node | None = None
    documents = 0
    stack: list[Sequence | Mapping] = []
    keys: list[Node | None] = []  # for each mapping on the stack, its key that awaits a value
    events: Iterable[Any] = yaml.parse(text, Loader=loader)
    for event in events:
        kind = type(event)
        if kind in (yaml.SequenceEndEvent, yaml.MappingEndEvent):
            stack.pop()
            keys.pop()
            continue
        mark = event.start_mark
        line, column = mark.line + 1 + line_offset, mark.column + 1
        node: Node
        if kind is yaml.ScalarEvent:
            node = Scalar(event.value, not event.style, line, column)
        elif kind is yaml.SequenceStartEvent:
            node = Sequence(line, column, [])
        elif kind is yaml.MappingStartEvent:
            node = Mapping(line, column, [])
        elif kind is yaml.AliasEvent:
            message = f"'*{event.anchor}': references are not supported here"
            raise YamlError(message, line, column)
        else:
            documents += kind is yaml.DocumentStartEvent
            if documents > 1:
                raise YamlError("a second document in one file", line, column)
            continue
        if not stack:
            root = node
        else:
            parent = stack[-1]
            if isinstance(parent, Sequence):
                parent.items.append(node)
            elif (key := keys[-1]) is None:
                keys[-1] = node
            else:
                parent.pairs.append((key, node))
                keys[-1] = None
        if not isinstance(node, Scalar):
            if len(stack) == MAX_DEPTH:
                raise YamlError(f"nested more than {MAX_DEPTH} deep", line, column)
            stack.append(node)
            keys.append(None)
    return root


def _retold(text: str, line_offset: int, error: yaml.YAMLError) -> YamlError:
    """The error in the words of PyYAML's own parser, so that it reads the same everywhere."""
    import yaml

    if len(text) <= _RETELL_LIMIT:
        try:
            for _ in yaml.parse(text, Loader=yaml.SafeLoader):
                pass
        except yaml.YAMLError as own:
            error = own
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark, message = error.problem_mark, str(error.problem)
        if "stream end" in message or "end of stream" in message:
            mark = error.context_mark or mark  # where it began says more than where it ended
        if error.context:
            message += f" ({error.context})"
        return YamlError(message, mark.line + 1 + line_offset, mark.column + 1)
    position = getattr(error, "position", None)
    if isinstance(position, int) and position <= len(text):
        before = text[:position]
        line = before.count("\n") + 1
        message = f"character U+{ord(text[position]):04X} is not allowed in YAML"
        return YamlError(message, line + line_offset, position - before.rfind("\n"))
    return YamlError(str(error).splitlines()[0], 1 + line_offset, 1)
