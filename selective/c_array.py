"""Models linked as arrays in C source: `xxd -i`, pte_to_header and the like.

Only the bytes of the program are converted; the elements behind it are counted.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

_ARRAY = re.compile(rb"(\w+)\s*\[[^\]\n]*\][^;={]*=\s*\{")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_CHUNK = 1 << 16
_HEAD = 64  # elements that tell what an array holds, and how long its program is


class ArrayError(ValueError):
    """The source holds no model that can be read; `line` counts from 1 (0: the whole file)."""

    def __init__(self, message: str, line: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.hint = hint


def looks_like_source(head: bytes) -> bool:
    """Whether a file that begins with `head` is C source: text with its punctuation."""
    marks = (b"{", b"#", b"//", b"/*", b"char")
    return not _CONTROL.search(head) and any(mark in head for mark in marks)


class ProgramArray(NamedTuple):
    """An array that holds a program: its name, the program's bytes, and its elements in all.

    Bytes behind the program may be left out.
    """

    name: str
    data: bytes
    size: int


def read(source: bytes | mmap) -> tuple[ProgramArray, ...]:
    """The programs in C source, in its order.

    Raises ArrayError when there is no array that begins like a program, or one cannot be read.
    """
    if source.find(b"/*") >= 0 or source.find(b"//") >= 0:
        source = _COMMENT.sub(lambda comment: b"\n" * comment[0].count(b"\n"), source)
    found = []
    for match in _ARRAY.finditer(source):
        array = _Array(source, match)
        if array.is_program:
            found.append(array)
    if not found:
        raise ArrayError(
            "no array begins like a .pte program",
            hint="expected: unsigned char model_pte[] = {0x18, 0x00, ...}, as xxd -i writes",
        )
    return tuple(ProgramArray(array.name, *array.program()) for array in found)


class _Array:
    """One array with an initialiser; `match` is its head, up to the opening brace."""

    def __init__(self, source: bytes | mmap, match: re.Match[bytes]) -> None:
        self.source = source
        self.start = match.end()
        self.name = match[1].decode()

    @property
    def is_program(self) -> bool:
        try:
            head = next(self._pieces(self.start, self.start + 12 * _HEAD), b"")
        except ArrayError:
            return False
        return head[4:8] in (b"ET12", b"BP08")

    def program(self) -> tuple[bytes, int]:
        end = self._end()
        data = bytearray()
        pieces = self._pieces(self.start, end)
        for piece in pieces:
            data += piece
            if data[8:12] == b"eh00" and len(data) >= _HEAD:
                wanted: int = struct.unpack_from("<Q", data, 16)[0]
                if len(data) >= wanted:
                    break
        return bytes(data), len(data) + sum(map(len, pieces))

    def _end(self) -> int:
        end = self.source.find(b"}", self.start)
        if end >= 0:
            return end
        raise ArrayError(f"array '{self.name}' has no end: the file is cut", self._line(self.start))

    def _line(self, position: int) -> int:
        return self.source[:position].count(b"\n") + 1

    def _pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The elements between two positions of the source, converted chunk by chunk."""
        while start < end:
            stop = min(start + _CHUNK, end)
            if stop < end:
                stop = self.source.rfind(b",", start, stop) + 1
                if stop == 0:
                    raise ArrayError(f"array '{self.name}': no commas", self._line(start))
            items = self.source[start:stop].split(b",")
            try:
                yield bytes([int(item, 0) & 255 for item in items if item.strip()])
            except ValueError:
                raise ArrayError(
                    f"array '{self.name}' has elements that are not numbers", self._line(start)
                ) from None
            start = stop
