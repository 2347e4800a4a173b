"""What an entry of the zoo is, and short ways to write one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Entry(NamedTuple):
    """A module, the inputs it is exported with, more inputs to call it with, dynamic shapes."""

    module: nn.Module
    inputs: tuple[Any, ...]
    more: tuple[tuple[Any, ...], ...] = ()
    dynamic: Any = None


class Wrapped(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        """Call the function."""
        return self.function(*inputs)


def f(function: Callable[..., Any], *inputs: Any) -> Entry:
    """An entry of a function."""
    return Entry(Wrapped(function), inputs)


def m(module: nn.Module, *inputs: Any) -> Entry:
    """An entry of a module."""
    return Entry(module.eval(), inputs)


def r(*sizes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Random numbers."""
    return torch.randn(*sizes).to(dtype)


def i(*sizes: int, low: int = -9, high: int = 9, dtype: torch.dtype = torch.int64) -> Tensor:
    """Random integers."""
    return torch.randint(low, high, sizes).to(dtype)
