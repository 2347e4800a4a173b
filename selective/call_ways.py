"""Which kernel runs each call of a method, which way through it, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..codegen.model import CatalogueEntry
from .constants import Constants
from .path_conditions import PORTABLE
from .paths import way_of
from .program import Method, calls


class CallWay(NamedTuple):
    """One kernel call.

    `position` is its (chain, instruction). `kernel` is the C++ symbol that is registered, empty
    when no catalogue has one. `path` is the way through that kernel, "portable" when it is plain
    C++ or hands the call to that.
    """

    position: tuple[int, int]
    operator: str
    kernel: str
    path: str
    reason: str


def call_ways(
    method: Method, find: Callable[[str], CatalogueEntry | None], constants: Constants
) -> tuple[CallWay, ...]:
    """The ways of all kernel calls, in their order."""
    found = []
    for call in calls(method):
        entry = find(call.operator)
        kernel = entry.kernels[0] if entry and entry.kernels else None
        if kernel is None or (entry and entry.bundled and kernel.source is None):
            row = ("", "", "no kernel in any catalogue")
        elif (way := way_of(kernel.symbol, method, call.args, constants)) is not None:
            row = (kernel.symbol, *way)
        else:
            reason = f"plain C++: {kernel.source}" if kernel.source else "a kernel of yours"
            row = (kernel.symbol, PORTABLE, reason)
        found.append(CallWay(call.position, call.operator, *row))
    return tuple(found)


def way_rows(ways: tuple[CallWay, ...]) -> list[tuple[str, str, str, str, str]]:
    """The columns of a table: call, operator, kernel, path, reason."""
    return [
        (
            f"{way.position[0]}/{way.position[1]}" if way.position[0] else str(way.position[1]),
            way.operator,
            way.kernel.removesuffix("_out").replace("::native::", "::") or "-",
            way.path or "-",
            way.reason,
        )
        for way in ways
    ]


def ways_lines(ways: tuple[CallWay, ...]) -> list[str]:
    """The ways as lines of text, without a heading."""
    rows = way_rows(ways)
    rows.insert(0, ("call", "operator", "kernel", "path", "reason"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        f"  {row[0]:>{widths[0]}}  "
        + "  ".join(f"{text:{width}}" for text, width in zip(row[1:4], widths[1:], strict=True))
        + f"  {row[4]}"
        for row in rows
    ]


def ways_json(ways: tuple[CallWay, ...]) -> list[dict[str, Any]]:
    """The ways as JSON values."""
    return [
        {
            "chain": way.position[0],
            "instruction": way.position[1],
            "operator": way.operator,
            "kernel": way.kernel,
            "path": way.path,
            "reason": way.reason,
        }
        for way in ways
    ]
