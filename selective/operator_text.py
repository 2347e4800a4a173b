"""Operators as users write them: "aten::add.out", "add.out:Float,int32", "aten::add", "prim*"."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase

from .kernel_key import SCALAR_TYPES

DTYPES_BY_ALIAS: dict[str, int] = {
    **{name.lower(): number for name, number in SCALAR_TYPES.items()},
    "uint8": SCALAR_TYPES["Byte"],
    "int8": SCALAR_TYPES["Char"],
    "int16": SCALAR_TYPES["Short"],
    "int32": SCALAR_TYPES["Int"],
    "int64": SCALAR_TYPES["Long"],
    "float16": SCALAR_TYPES["Half"],
    "float32": SCALAR_TYPES["Float"],
    "float64": SCALAR_TYPES["Double"],
}
"""Dtype names in lower case, ExecuTorch's and torch's -> ScalarType number."""

_NAME = re.compile(r"([\w*?]+(::[\w*?]+)*)(\.[\w*?]+)?", re.ASCII)


class OperatorTextError(ValueError):
    """The text names no operator; `hint` says what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def split_operators(text: str) -> tuple[str, ...]:
    """The operators of a list separated by commas or blanks; dtypes stay with their operator."""
    found: list[str] = []
    for part in re.split(r"[,\s]+", text.strip().strip(",")):
        if found and part.lower() in DTYPES_BY_ALIAS and _has_dtypes(found[-1]):
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return tuple(found)


def _has_dtypes(text: str) -> bool:
    return ":" in text.replace("::", "")


def parse_operator(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The operator's name, with its namespace, and its dtypes (None: every dtype).

    The name may hold `*` and `?`, and may lack its overload: see `expand`. Raises
    OperatorTextError.
    """
    name, _, dtypes = text.strip().replace("::", "\0").partition(":")
    name = name.replace("\0", "::")
    if "(" in name or "(" in dtypes:
        raise OperatorTextError(
            f"'{text}' is a schema; only the operator's name is wanted", "as in aten::add.out"
        )
    if not _NAME.fullmatch(name):
        raise OperatorTextError(f"'{text}' is no operator name", "as in aten::add.out")
    if "::" not in name and not name.startswith("*"):
        name = f"aten::{name}"
    if ":" not in text.replace("::", ""):
        return name, None
    numbers: set[int] = set()
    for item in dtypes.split(","):
        number = DTYPES_BY_ALIAS.get(item.strip().lower())
        if number is None:
            from difflib import get_close_matches

            close = get_close_matches(item.strip().lower(), DTYPES_BY_ALIAS, 1)
            hint = f"did you mean {close[0]}?" if close else "as in aten::add.out:Float,Int"
            raise OperatorTextError(f"'{item}' in '{text}' is no dtype", hint)
        numbers.add(number)
    return name, tuple(sorted(numbers))


def expand(name: str, known: Collection[str]) -> tuple[str, ...]:
    """The known operators that a name means, sorted.

    An exact name means itself, a pattern all that match, a name without overload every overload.
    A plain name that means nothing known is returned as it is; a pattern gives ().
    """
    if "*" in name or "?" in name:
        return tuple(sorted(item for item in known if fnmatchcase(item, name)))
    if name in known or "." in name:
        return (name,)
    overloads = sorted(item for item in known if item.partition(".")[0] == name)
    return tuple(overloads) or (name,)
