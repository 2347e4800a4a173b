"""Random calls of the int8 operators, and the reference to hold results against.

A case is the operator's functional form applied by PyTorch (the reference definitions in the
executorch and torch wheels) and our kernel's result for the same arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .harness.caller import KernelError, Library, Out

INT8_MIN, INT8_MAX = -128, 127
_CORNERS = (INT8_MIN, INT8_MAX, -1, 0, 1)


def int8(rng: random.Random, *shape: int) -> torch.Tensor:
    """A random int8 tensor; sometimes constant at a corner, sometimes full of extremes."""
    generator = torch.Generator().manual_seed(rng.getrandbits(32))
    kind = rng.random()
    if kind < 0.08:
        return torch.full(shape, rng.choice(_CORNERS), dtype=torch.int8)
    if kind < 0.2:
        picks = torch.tensor((INT8_MIN, INT8_MAX), dtype=torch.int8)
        return picks[torch.randint(0, 2, shape, generator=generator)]
    return torch.randint(-128, 128, shape, dtype=torch.int8, generator=generator)


def zero_point(rng: random.Random) -> int:
    return rng.choice((INT8_MIN, INT8_MAX, 0, rng.randint(INT8_MIN, INT8_MAX)))


def multiplier(rng: random.Random) -> int:
    """A normalised 31-bit multiplier; the ends of its range come up often."""
    return rng.choice(
        (1 << 30, (1 << 31) - 1, *(rng.randrange(1 << 30, 1 << 31) for _ in range(4)))
    )


def image(rng: random.Random, n: int, c: int, h: int, w: int) -> torch.Tensor:
    """An (N, C, H, W) int8 image, mostly channels-last."""
    t = int8(rng, n, c, h, w)
    return t if rng.random() < 0.15 else t.to(memory_format=torch.channels_last)


def activation(rng: random.Random) -> tuple[int, int]:
    if rng.random() < 0.6:
        return INT8_MIN, INT8_MAX
    low = rng.randint(INT8_MIN, INT8_MAX)
    return low, rng.randint(low, INT8_MAX)


def check(
    lib: Library,
    operator: str,
    values: Sequence[Any],
    *,
    equal: Callable[[torch.Tensor, torch.Tensor], bool] = torch.equal,
    grow: int = 0,
) -> None:
    """Fails unless our kernel gives what PyTorch's definition of `operator` (ns::name) gives."""
    namespace, _, name = operator.partition("::")
    packet = getattr(getattr(torch.ops, namespace), name)
    expected = packet.default(*values)
    schema = packet.out._schema
    (got,) = lib.call(f"{operator}.out", schema, values, [Out.like(expected, grow)])
    assert got.shape == expected.shape, f"{operator}: shape {got.shape}, not {expected.shape}"
    assert equal(got, expected), (
        f"{operator}{[v if not isinstance(v, torch.Tensor) else tuple(v.shape) for v in values]}: "
        f"{int((got != expected).sum())} of {got.numel()} differ, e.g. "
        f"{got[got != expected][:5].tolist()} for {expected[got != expected][:5].tolist()}"
    )


def refused(lib: Library, operator: str, values: Sequence[Any], out: torch.Tensor) -> None:
    """Fails unless the kernel refuses the call through its context."""
    namespace, _, name = operator.partition("::")
    schema = getattr(getattr(torch.ops, namespace), name).out._schema
    try:
        lib.call(f"{operator}.out", schema, values, [Out.like(out)])
    except KernelError as error:
        assert error.code == 0x12, hex(error.code)
        return
    raise AssertionError(f"{operator} accepted {values}")
