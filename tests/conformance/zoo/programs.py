"""Layouts, state, control flow, dynamic shapes, inputs and outputs of every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from .entry import Entry, Wrapped, f, r
from .layers import Residual


class Counter(nn.Module):
    """A buffer that calls change."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Add."""
        self.total.add_(x)
        self.calls.add_(1)
        return self.total * 2, self.calls + 0


class Cache(nn.Module):
    """A key cache written at a position, as language models do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(8, 4))

    def forward(self, x: Tensor, at: Tensor) -> Tensor:
        """Write a row and read all."""
        self.keys.index_copy_(0, at, x)
        return self.keys.sum(0) + self.keys[0]


def branch(x: Tensor) -> Any:
    """torch.cond."""
    return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))


def mapped(xs: Tensor, y: Tensor) -> Any:
    """A map over the first dimension."""
    from torch._higher_order_ops.map import map as torch_map

    return torch_map(lambda x, y: x * 2 + y, xs, y)


PROGRAMS: dict[str, Callable[[], Entry]] = {
    "channels_last": lambda: Entry(
        Residual().to(memory_format=torch.channels_last).eval(),
        (r(1, 4, 9, 9).to(memory_format=torch.channels_last),),
    ),
    "counter": lambda: Entry(Counter(), (r(3),), more=((r(3),), (r(3),))),
    "cache": lambda: Entry(
        Cache(), (r(1, 4), torch.tensor([2])), more=((r(1, 4), torch.tensor([5])),)
    ),
    "cond": lambda: Entry(Wrapped(branch), (torch.ones(3),), more=((-torch.ones(3),),)),
    "map": lambda: f(mapped, r(3, 4), r(4)),
    "dynamic_batch": lambda: Entry(
        nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).eval(),
        (r(5, 4),),
        more=((r(1, 4),), (r(8, 4),)),
        dynamic=({0: torch.export.Dim("batch", min=1, max=8)},),
    ),
    "dynamic_sequence": lambda: Entry(
        Wrapped(
            lambda x: (x.softmax(1).flatten(1), x.mean(1), x[:, -1], torch.arange(x.shape[1]) + 1)
        ),
        (r(2, 5, 3),),
        more=((r(2, 2, 3),), (r(2, 9, 3),)),
        dynamic=(({1: torch.export.Dim("steps", min=2, max=9)},),),
    ),
    "several_outputs": lambda: f(
        lambda x, y: {"sum": x + y, "rest": [x, (y * 2, x * y)]}, r(2, 2), r(2, 2)
    ),
    "constant_output": lambda: f(lambda x: (x + 0, torch.tensor([1.0, 2.0])), r(2)),
    "aliased": lambda: f(lambda x: (x.view(4), x.view(2, 2), x.view(4) + 1), r(2, 2)),
    "plain_inputs": lambda: f(lambda x, n, y: x * n + y, r(3), 2, 0.5),
}
