"""Operator catalogues: YAML files that say which kernels serve which operators.

The bundled ones (functions/*.yaml) are read lazily: a run needs a dozen operators of three
hundred, so a line index finds an entry's text and only that is parsed. A user's file is read whole,
because each of its mistakes must be reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .bundled_item import plain_item
from .catalogue_entry import EntryReader
from .diagnostics import Diagnostic, Location
from .model import CatalogueEntry
from .node_reader import MAX_MISTAKES, TooManyMistakes
from .yaml_nodes import Scalar, Sequence, YamlError, parse_yaml

MAX_BYTES = 2 << 20
"""Largest catalogue file; PyTorch's own native_functions.yaml has 0.6 MB."""

FUNCTIONS = Path(__file__).resolve().parent.parent / "functions"
"""Where the bundled catalogues are, in the source tree and in an installed package alike."""

_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what YAML counts as one
_PRIORITY = ("corev", "cortex_m", "quantized", "functions", "custom_ops", "extra", "prim_ops")
TARGET_OF = {"corev": "cv32e40p"}
"""Catalogues whose kernels need instructions that only one target has."""

_ITEM = re.compile(r"^- (?:op|func): (?:(\w+)::)?([\w.]+)", re.MULTILINE | re.ASCII)


class Catalogue:
    """One catalogue file. Entries are found by name (`aten::add.out`) and read once.

    `display` is the file's name as messages show it, `name` its short name (the stem).
    """

    def __init__(self, path: Path, display: str, bundled: bool) -> None:
        self.path = path
        self.display = display
        self.bundled = bundled
        self.name = path.stem
        self._reader = EntryReader(display, (), self.name, bundled)
        self._entries: dict[str, CatalogueEntry | None] = {}
        self._items: dict[str, tuple[int, int]] = {}  # name -> extent of the item not yet read
        self._text = self._read(path) or ""
        self._reader.lines = _LINE_END.split(self._text)
        if bundled:
            self._index()
        elif not self._reader.diagnostics:
            self._read_all()

    @property
    def names(self) -> tuple[str, ...]:
        """The operators in the order of the file, namespace included."""
        return tuple(self._entries)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the file, as far as it was read: ask last."""
        return tuple(self._reader.diagnostics)

    def find(self, name: str) -> CatalogueEntry | None:
        """The entry of an operator; None when there is none, or none without mistakes."""
        extent = self._items.pop(name, None)
        if extent is not None:
            start, end = extent
            line = self._text.count("\n", 0, start)
            for entry in self._parse(self._text[start:end], line):
                self._entries[name] = entry
        return self._entries.get(name)

    def entries(self) -> tuple[CatalogueEntry, ...]:
        """All entries without mistakes, in the order of the file."""
        found = [self.find(name) for name in self.names]
        return tuple(entry for entry in found if entry is not None)

    def source_line(self, line: int) -> str:
        """The text of a line, counted from 1."""
        return self._reader.source_line(line)

    def _read(self, path: Path) -> str | None:
        where = Location(self.display)
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            self._reader.report("GK150", f"cannot read the catalogue: {reason}", where)
            return None
        except ValueError:  # a NUL in the path
            self._reader.report("GK150", "cannot read the catalogue: not a file name", where)
            return None
        if len(data) > MAX_BYTES:
            limit = f"larger than {MAX_BYTES >> 20} MiB"
            self._reader.report("GK150", f"not a catalogue: the file is {limit}", where)
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            where = Location(self.display, line, offset=error.start)
            self._reader.report("GK150", "not a catalogue: the text is not UTF-8", where)
            return None

    def _index(self) -> None:
        """Find the items of a bundled file, whose form the tests hold, without parsing it."""
        matches = list(_ITEM.finditer(self._text))
        ends = [match.start() for match in matches[1:]] + [len(self._text)]
        for match, end in zip(matches, ends, strict=True):
            name = f"{match.group(1) or 'aten'}::{match.group(2)}"
            self._items[name] = (match.start(), end)
            self._entries[name] = None

    def _read_all(self) -> None:
        try:
            for entry in self._parse(self._text, 0):
                if entry is not None:
                    self._add(entry)
        except TooManyMistakes:
            message = f"more than {MAX_MISTAKES} mistakes: the rest of the file is not read"
            last = self._reader.diagnostics.pop().location
            self._reader.report("GK169", message, Location(self.display, last.line))

    def _add(self, entry: CatalogueEntry) -> None:
        first = self._entries.setdefault(entry.name, entry)
        if first is None or first is entry:
            return
        place = f"{first.location.file}:{first.location.line}:{first.location.column}"
        self._reader.report(
            "GK167",
            f"a second entry for {entry.name} in one catalogue",
            entry.location,
            "list several kernels in one entry",
            notes=(f"the first is at {place}",),
        )

    def _parse(self, text: str, line_offset: int) -> Iterator[CatalogueEntry | None]:
        try:
            root = plain_item(text, line_offset) if self.bundled else None
            root = root or parse_yaml(text, line_offset)
        except YamlError as error:
            line = min(error.line, len(self._reader.lines) or 1)
            column = error.column
            if line != error.line:  # YAML's end of file: one past the last line
                column = len(self._reader.source_line(line)) + 1
            where = Location(self.display, line, column)
            self._reader.report("GK151", f"not YAML: {error.message}", where)
            return
        if root is None or (isinstance(root, Scalar) and root.is_null):
            return
        if not isinstance(root, Sequence):
            message = "a catalogue is a list of entries"
            self._reader.report("GK152", message, root, "begin each with '- op:' or '- func:'")
            return
        for item in root.items:
            yield self._reader.entry(item)


def open_catalogue(path: Path, display: str, bundled: bool = False) -> Catalogue:
    """Open a catalogue file. A file that cannot be read gives an empty catalogue that says so."""
    return Catalogue(path, display, bundled)


def load_catalogue(
    path: Path, display: str, bundled: bool = False
) -> tuple[tuple[CatalogueEntry, ...], tuple[Diagnostic, ...]]:
    """All entries of a catalogue file, and everything wrong with it."""
    catalogue = Catalogue(path, display, bundled)
    return catalogue.entries(), catalogue.diagnostics


def bundled_catalogues(target: str | None = None) -> tuple[Path, ...]:
    """The catalogues of this package, the one that is asked first first.

    With a `target` (codegen.toolchain.TARGETS, "" for none) those of other targets are left out.
    """
    paths = (FUNCTIONS / f"{name}.yaml" for name in _PRIORITY)
    wanted = (p for p in paths if target is None or TARGET_OF.get(p.stem, target) == target)
    return tuple(path for path in wanted if path.is_file())


def open_catalogues(
    functions: Iterable[str] = (), target: str | None = ""
) -> tuple[tuple[Catalogue, ...], tuple[Diagnostic, ...]]:
    """The user's catalogues and then the bundled ones: the order in which they are asked.

    `functions` are paths as the user wrote them; `target` as for `bundled_catalogues`. The
    diagnostics are those of the user's files, which are read whole.
    """
    own = [open_catalogue(Path(name), name) for name in functions]
    diagnostics = [d for catalogue in own for d in catalogue.diagnostics]
    rest = [open_catalogue(path, path.name, bundled=True) for path in bundled_catalogues(target)]
    return (*own, *rest), tuple(diagnostics)
