"""What templates/memory_plan.h.j2 prints: the pools of every method of the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from .kernel_memory import temporary_bytes
from .memory_plan import Pools, planned_sizes, planned_total, pools
from .models import Model

STACK_BYTES = 6144
"""Stack for loading and running a method on 32-bit RISC-V, an estimate: docs/memory.md."""


class MethodRow(NamedTuple):
    """One method of one model; `narrow` and `wide` are for pointers of 4 and 8 bytes.

    `model` and `method` are C string literals. `temp`: temporary memory of the kernels.
    """

    model: str
    method: str
    planned: tuple[int, ...]
    planned_total: int
    narrow: Pools
    wide: Pools
    temp: int = 0


class MemoryTable(NamedTuple):
    """All methods, and the most that any of them needs."""

    rows: tuple[MethodRow, ...]
    planned_total: int
    narrow: Pools
    wide: Pools
    stack: int
    temp: int = 0


def memory_table(models: Sequence[Model], kernels: Mapping[str, str] | None = None) -> MemoryTable:
    """The pools of the models' methods, in the order given. Models are called by file name.

    `kernels`: operator -> C++ symbol of its kernel, for the temporary memory that some take.
    """
    rows = tuple(
        MethodRow(
            c_string(PurePath(model.display).name),
            c_string(method.name),
            planned_sizes(method),
            planned_total(method),
            pools(method, 4),
            pools(method, 8),
            temporary_bytes(method, kernels or {}),
        )
        for model in models
        for method in model.program.methods
    )
    return MemoryTable(
        rows,
        max((row.planned_total for row in rows), default=0),
        _most([row.narrow for row in rows]),
        _most([row.wide for row in rows]),
        STACK_BYTES,
        max((row.temp for row in rows), default=0),
    )


def c_string(text: str) -> str:
    """The text as a C string literal; what is not plain ASCII as octal escapes."""
    plain = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{"".join(plain)}"'


def _most(found: Sequence[Pools]) -> Pools:
    return (
        Pools(*(max(column) for column in zip(*found, strict=True))) if found else Pools(0, 0, 0, 0)
    )
