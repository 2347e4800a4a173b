"""Random arguments of operators, and whether a kernel does with them as eager PyTorch does."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import torch

from .harness.caller import KernelError, Library, Out
from .harness.cases import brief, find_overload

CASES = 60  # an operator
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0)
CL = torch.channels_last


class Draws:
    """Random choices and shapes for one operator, from a seed."""

    EMPTY = 0.1  # the share of shapes with a 0 in them

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        torch.manual_seed(self.random.randrange(2**31))
        self.pick = self.random.choice

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def shape(self, ranks: Sequence[int] = (0, 1, 2, 3, 4, 4)) -> list[int]:
        shape = [self.pick((1, 2, 3, 4)) for _ in range(self.pick(ranks))]
        if shape and self.chance(self.EMPTY):
            shape[self.random.randrange(len(shape))] = 0
        return shape


class Maker(Draws):
    """Random arguments of one operator, from a seed."""

    def tensor(self, dtype: Any, shape: Sequence[int] | None = None) -> Any:
        shape = self.shape() if shape is None else shape
        if dtype == torch.bool:
            t = torch.randint(0, 2, shape).bool()
        elif dtype.is_floating_point or dtype.is_complex:
            t = (torch.randn(shape) * 3).to(dtype)
            if t.numel() and not dtype.is_complex and self.chance(0.3):
                t.view(-1)[self.random.randrange(t.numel())] = self.pick(SPECIAL)
        else:
            t = torch.randint(0, 100, shape).to(dtype)
        return t.contiguous(memory_format=CL) if t.dim() == 4 and self.chance(0.3) else t


def schema_of(operator: str) -> Any:
    overload = find_overload(operator)
    assert overload is not None, operator
    return overload._schema


def eager_out(operator: str, values: Sequence[Any], likes: Sequence[Any]) -> Any:
    """What eager's own out variant writes into tensors of the dtypes of `likes`; None: refused."""
    overload = find_overload(operator)
    arguments = overload._schema.arguments
    outs = {a.name: torch.empty(0, dtype=t.dtype) for a, t in zip(
        (a for a in arguments if a.is_out), likes, strict=True)}  # fmt: skip
    plain = [a for a in arguments if not a.is_out]
    positional = [v for v, a in zip(values, plain, strict=True) if not a.kwarg_only]
    named = {a.name: v for v, a in zip(values, plain, strict=True) if a.kwarg_only}
    try:
        overload(*positional, **named, **outs)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None
    return tuple(outs.values())


def agree(
    lib: Library,
    operator: str,
    values: Sequence[Any],
    expected: Sequence[Any] | None,
    likes: Sequence[Any],
    number: int,
    **tolerance: float,
) -> str:
    """Empty when the kernel does as expected, else what is wrong."""
    schema = schema_of(operator)
    outs = [Out.like(t, number % 2) for t in (expected or likes)]
    text = f"{operator}({', '.join(map(brief, values))}) -> {outs[0].dtype}"
    try:
        actual = lib.call(operator, schema, values, outs)
    except KernelError as error:
        return "" if expected is None else f"{text}: {error}"
    if expected is None:
        return f"{text}: eager refuses it"
    try:
        for got, wanted in zip(actual, expected, strict=True):
            torch.testing.assert_close(got, wanted, equal_nan=True, check_stride=False, **tolerance)
    except AssertionError as error:
        return f"{text}: {' '.join(str(error).split())[:200]}"
    return ""
