"""Finding and loading models: files, folders, patterns, standard input."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..codegen.diagnostics import Diagnostic
from .model_file import STANDARD_INPUT, problem
from .program import Program
from .pte import read_programs

SUFFIXES = (".pte", ".bpte")
"""What is taken from a folder. Other kinds of file must be named."""


class Model(NamedTuple):
    """A loaded model; `display` is its path as the user wrote it (below a folder given: joined).

    A program of C source that holds several has its array's name too: "models.h[digits]"; `file`
    is then the path alone.
    """

    display: str
    program: Program
    file: str = ""

    @property
    def input(self) -> str:
        """The file that the model was read from."""
        return self.file or self.display


def load_models(names: Sequence[str]) -> tuple[tuple[Model, ...], tuple[Diagnostic, ...]]:
    """Load every model that `names` mean, sorted by path, each once.

    A name is a file, a folder (its .pte and .bpte files, searched to any depth), a pattern with
    `*`, `?`, `[...]` or `**`, or `-` for standard input.
    """
    found: set[str] = set()
    diagnostics: list[Diagnostic] = []
    for name in names:
        try:
            paths, errors = _expand(name)
        except OSError:  # a path that cannot even be asked about: opening it says why
            paths, errors = [name], ()
        found.update(paths)
        diagnostics.extend(errors)
    models: list[Model] = []
    for display in sorted(found):
        programs, errors = read_programs(Path(display), display)
        diagnostics.extend(errors)
        models.extend(Model(name, program, display) for name, program in programs)
    return tuple(models), tuple(diagnostics)


def _expand(name: str) -> tuple[list[str], tuple[Diagnostic, ...]]:
    """The files that one name means."""
    if name == STANDARD_INPUT:
        return [name], ()
    if not name:
        return [], (problem("GK205", "a model's name is empty", name),)
    path = Path(name)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file()]
        if not files:
            message = "no .pte or .bpte file in this folder"
            return [], (problem("GK205", message, name),)
        return [file.as_posix() for file in files], ()
    if not path.exists() and glob.has_magic(name):
        found = glob.iglob(name, recursive=True)  # noqa: PTH207
        matches = [match for match in found if Path(match).is_file()]
        if not matches:
            return [], (problem("GK205", "no file matches this pattern", name),)
        return [Path(match).as_posix() for match in matches], ()
    return [path.as_posix()], ()
