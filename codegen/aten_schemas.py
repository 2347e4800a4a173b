"""The schemas of PyTorch's own operators, bundled: what an `op:` entry of a catalogue refers to.

functions/aten_schemas.yaml holds one line an operator, `- func: <schema>`, in PyTorch's order
(overloads of one operator together). It is searched as text and never parsed as a whole: a lookup
costs microseconds. `gen-kernels catalogue import` refreshes it.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

_PREFIX = "\n- func: "
SCHEMAS_FILE = Path(__file__).resolve().parent.parent / "functions" / "aten_schemas.yaml"
"""Where the schemas are, in the source tree and in an installed package alike."""


@functools.cache
def schemas_text(path: Path = SCHEMAS_FILE) -> str:
    """The whole file. Raises OSError when the installation is damaged."""
    return path.read_text(encoding="utf-8")


def aten_schema(name: str) -> str | None:
    """The schema of "add.out" (a leading "aten::" is allowed), or None when ATen has none."""
    name = name.removeprefix("aten::")
    text = schemas_text()
    start = text.find(f"{_PREFIX}{name}(")
    if start < 0:
        return None
    start += len(_PREFIX)
    return text[start : text.index("\n", start)]


def aten_overloads(base: str) -> tuple[str, ...]:
    """The schemas of all overloads of an operator ("add"), in PyTorch's order."""
    pattern = rf"^- func: ({re.escape(base)}(?:\.\w+)?\(.*)$"
    return tuple(re.findall(pattern, schemas_text(), re.MULTILINE))


@functools.cache
def aten_names() -> tuple[str, ...]:
    """The names of all ATen operators with their overloads, without namespace."""
    return tuple(re.findall(r"^- func: ([^(]+)\(", schemas_text(), re.MULTILINE))
