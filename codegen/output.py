"""Output: one dictionary of files to write, check, diff, list, or name in a depfile."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from .diagnostics import Diagnostic, Location


def write_files(
    files: Mapping[str, str], folder: Path
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Write `files` (name below `folder` -> text) and return the names of those that changed.

    A file whose text is already there keeps its time stamp. Every new text is on disk under a
    temporary name before the first one takes its place, so that a failure leaves the folder as it
    was; runs that share a folder take turns.
    """
    changed: list[str] = []
    temporary: list[tuple[Path, Path]] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            try:
                for name in sorted(files):
                    path = folder / name
                    data = files[name].encode()
                    if _read(path) == data:
                        continue
                    path.parent.mkdir(parents=True, exist_ok=True)
                    new = path.with_name(f".{path.name}.{os.getpid()}.tmp")
                    temporary.append((new, path))
                    new.write_bytes(data)
                    changed.append(name)
                for new, path in temporary:
                    new.replace(path)
            finally:
                for new, _ in temporary:
                    new.unlink(missing_ok=True)
    except OSError as error:
        return (), (_io_error(error, folder),)
    return tuple(changed), ()


def _io_error(error: OSError, folder: Path) -> Diagnostic:
    name = os.fspath(error.filename) if error.filename is not None else str(folder)
    reason = error.strerror or str(error)
    return Diagnostic("GK010", f"cannot write: {reason}", Location(name))


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold the folder against other runs; where the system has no such lock, do without."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def check_files(files: Mapping[str, str], folder: Path) -> tuple[Diagnostic, ...]:
    """Say which of `files` are missing from `folder` or have another text there."""
    stale = []
    for name in sorted(files):
        found = _read_if_file(folder / name)
        if found != files[name].encode():
            state = "missing" if found is None else "out of date"
            stale.append(
                Diagnostic(
                    "GK011",
                    f"{name} is {state}",
                    Location(str(folder / name)),
                    hint="run the same command without --check",
                )
            )
    return tuple(stale)


def _read_if_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def diff_files(files: Mapping[str, str], folder: Path) -> str:
    """Return a unified diff from what is in `folder` to `files`; "" when nothing differs."""
    import difflib

    parts: list[str] = []
    for name in sorted(files):
        found = _read_if_file(folder / name)
        old = (found or b"").decode(errors="replace").splitlines(keepends=True)
        new = files[name].splitlines(keepends=True)
        before = f"a/{name}" if found is not None else "/dev/null"
        for line in difflib.unified_diff(old, new, before, f"b/{name}"):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def depfile_text(targets: Iterable[str], inputs: Iterable[str]) -> str:
    """Return a Make depfile: `targets` depend on `inputs`, none of which has to exist."""
    prerequisites = sorted(set(inputs))
    lines = [" \\\n  ".join([" ".join(map(_escape, targets)) + ":", *map(_escape, prerequisites)])]
    # The space: CMake before 3.23 takes the file for broken without.
    lines += [f"{_escape(path)}: " for path in prerequisites]
    return "\n\n".join(lines) + "\n"


def _escape(path: str) -> str:
    for character in ("\\", " ", "#", ":"):
        path = path.replace(character, "\\" + character)
    return path.replace("$", "$$")
