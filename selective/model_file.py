"""Opening model files: what kind a file is, where its program lies, what is wrong with it.

A program comes as a `.pte`, inside a bundled program (`.bpte`: test cases around a `.pte`) or as
an array in C source (`xxd -i`, pte_to_header). Files are mapped into memory, so that only the
pages that are looked at are read: a program's weights never are.
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

from ..codegen.diagnostics import Diagnostic, Location
from . import c_array
from .flatbuffer import Buffer, Bytes, FormatError, Layout

_BUNDLED = Layout("BundledProgram", "version method_test_suites program")

STANDARD_INPUT = "-"
_BUNDLE_MAGIC = b"BP08"
_MAGICS = (b"ET12", _BUNDLE_MAGIC)
_SNIFF = 4096  # bytes that tell source text from binary data

Parsed = TypeVar("Parsed")
Read = tuple[Parsed | None, tuple[Diagnostic, ...]]
"""What was read, or None, and what is wrong."""

_LFS = b"version https://git-lfs"
_FOREIGN = (
    (4, b"FT01", "tensor data (.ptd)", "give the .pte that uses it"),
    (4, b"TFL3", "a TensorFlow Lite model", ""),
    (0, b"PK\x03\x04", "a zip archive, perhaps a torch.save or torch.export file", ""),
    (0, b"\x80", "a Python pickle", ""),
    (0, b"\x7fELF", "an ELF object or program", ""),
    (0, b"!<arch>", "a static library", ""),
    (0, b"\x1f\x8b", "a gzip file", "unpack it first"),
    (0, _LFS, "a Git LFS pointer, not the file itself", "git lfs pull"),
)
_EXPORT_HINT = "a .pte comes from executorch.exir: to_edge(...).to_executorch().buffer"


def open_models(
    path: Path, display: str, parse: Callable[[Bytes, int], Parsed]
) -> tuple[tuple[tuple[str, Parsed], ...], tuple[Diagnostic, ...]]:
    """Map the file at `path`, find the programs in it, hand `parse` their bytes and number.

    `parse` raises FormatError on damaged bytes. Each result has the name that messages use:
    `display` or, when C source holds several programs, that and the array: "models.h[digits]".
    """
    found, diagnostics = _map(
        path, display, lambda data, size: (_parse_all(data, size, display, parse), ())
    )
    results = found or ()
    problems = [d for _, (_, problems) in results for d in problems]
    return (
        tuple((name, program) for name, (program, _) in results if program is not None),
        (*diagnostics, *problems),
    )


def open_model(path: Path, display: str, parse: Callable[[Bytes, int], Parsed]) -> Read[Parsed]:
    """`open_models` for one program. The result is None when there is an error."""
    return _map(path, display, lambda data, size: parse_bytes(data, size, display, parse))


def open_file(path: Path, display: str, parse: Callable[[Bytes, int], Parsed]) -> Read[Parsed]:
    """Map the file at `path`, whatever it is, and hand `parse` its bytes and their number."""

    def guarded(data: mmap.mmap, size: int) -> Read[Parsed]:
        try:
            return parse(data, size), ()
        except FormatError as error:
            return None, (_damage(error, 0, display),)

    return _map(path, display, guarded)


def _map(path: Path, display: str, read: Callable[[mmap.mmap, int], Read[Parsed]]) -> Read[Parsed]:
    try:
        with _open(display, path) as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                return None, (problem("GK201", "the file is empty", display, 0),)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return read(data, size)
    except OSError as error:
        reason = error.strerror or str(error)
        return None, (problem("GK200", f"cannot read the model: {reason}", display),)
    except ValueError as error:  # a NUL in the path
        return None, (problem("GK200", f"cannot read the model: {error}", display),)


def _open(display: str, path: Path) -> BinaryIO:
    """The file, as one that can be mapped: what comes through a pipe goes to a temporary file."""
    file: BinaryIO = sys.stdin.buffer if display == STANDARD_INPUT else path.open("rb")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    import shutil
    import tempfile

    spool: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    with file as pipe:
        head = pipe.read(_SNIFF)
        spool.write(head)
        if head[4:8] in _MAGICS or c_array.looks_like_source(head):  # else: perhaps without end
            shutil.copyfileobj(pipe, spool)
    spool.flush()
    return spool


def is_bundled(path: Path) -> bool:
    """Whether a file says that it is a bundled program (.bpte). OSError: it cannot be read."""
    with path.open("rb") as file:
        return file.read(8)[4:] == _BUNDLE_MAGIC


def parse_bytes(
    data: bytes | mmap.mmap, size: int, display: str, parse: Callable[[Bytes, int], Parsed]
) -> Read[Parsed]:
    """`open_model` for the bytes of a file that messages call `display`."""
    results = _parse_all(data, size, display, parse)
    if len(results) == 1:
        return results[0][1]
    names = ", ".join(name for name, _ in results)
    message = f"{len(results)} programs in one file ({names})"
    return None, (problem("GK206", message, display, hint="one program a file here"),)


def _parse_all(
    data: bytes | mmap.mmap, size: int, display: str, parse: Callable[[Bytes, int], Parsed]
) -> tuple[tuple[str, Read[Parsed]], ...]:
    """What was read of each program in the file, and what messages call the program."""
    if not c_array.looks_like_source(bytes(data[:_SNIFF])) or _is_lfs(data):
        return ((display, _parse_one(data, size, display, parse)),)
    try:
        arrays = c_array.read(data)
    except c_array.ArrayError as error:
        wrong = problem("GK206", str(error), display, line=error.line, hint=error.hint)
        return ((display, (None, (wrong,))),)
    names = [display if len(arrays) == 1 else f"{display}[{array.name}]" for array in arrays]
    return tuple(
        (name, _parse_one(array.data, array.size, name, parse))
        for name, array in zip(names, arrays, strict=True)
    )


def _parse_one(
    data: bytes | mmap.mmap, size: int, display: str, parse: Callable[[Bytes, int], Parsed]
) -> Read[Parsed]:
    base = 0
    try:
        if _is_lfs(data):
            return None, (_foreign(_LFS, size, display),)
        if bytes(data[4:8]) == _BUNDLE_MAGIC:
            base, size = Buffer(data, size).root(_BUNDLED).blob("program")
            if size == 0:
                message = "a bundled program (.bpte) without a program in it"
                return None, (problem("GK202", message, display, 0),)
            with memoryview(data) as whole, whole[base : base + size] as inner:
                return _parse(inner, size, display, parse)
        return _parse(data, size, display, parse)
    except FormatError as error:
        return None, (_damage(error, base, display),)
    except (MemoryError, RecursionError):
        return None, (problem("GK203", "damaged: it has no end", display, base),)


def _is_lfs(data: bytes | mmap.mmap) -> bool:
    return bytes(data[: len(_LFS)]) == _LFS


def _parse(
    data: Bytes, size: int, display: str, parse: Callable[[Bytes, int], Parsed]
) -> Read[Parsed]:
    if bytes(data[4:8]) != b"ET12":
        return None, (_foreign(bytes(data[:64]), size, display),)
    return parse(data, size), ()


def problem(
    code: str, message: str, display: str, offset: int = -1, *, line: int = 0, hint: str = ""
) -> Diagnostic:
    """An error about the file called `display`."""
    return Diagnostic(code, message, Location(display, line=line, offset=offset), hint=hint)


def _damage(error: FormatError, base: int, display: str) -> Diagnostic:
    offset = base + error.offset
    places = "".join(f", {place}" for place in error.places)
    message = f"damaged at byte {offset} ({error.where}{places}): {error.message}"
    return problem("GK203", message, display, offset)


def _foreign(head: bytes, size: int, display: str) -> Diagnostic:
    for offset, magic, kind, hint in _FOREIGN:
        if head[offset : offset + len(magic)] == magic:
            return problem("GK202", f"this is {kind}, not a .pte program", display, 0, hint=hint)
    if head[4:6] == b"ET" and head[6:8].isdigit():
        return problem(
            "GK204",
            f"format '{head[4:8].decode()}'; this version reads 'ET12'",
            display,
            4,
        )
    if size < 8:
        return problem("GK202", f"not a .pte program: only {size} bytes", display, 0)
    return problem(
        "GK202",
        f"not a .pte program: bytes 4 to 7 are {head[4:8]!r}, not b'ET12'",
        display,
        4,
        hint=_EXPORT_HINT,
    )
