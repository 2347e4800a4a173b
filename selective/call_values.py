"""The arguments of a kernel call, by their place in the operator's schema."""

from __future__ import annotations

from .program import Method, Tensor, ValueKind

Arguments = tuple[Method, tuple[int, ...]]
"""A method and the values of a call in it."""


def tensor(arguments: Arguments, index: int) -> Tensor | None:
    """Argument `index` when it is a tensor; negative: counted from the last, the output."""
    method, args = arguments
    inside = -len(args) <= index < len(args)
    return method.values[args[index]].tensor if inside else None


def integers(arguments: Arguments, index: int) -> tuple[int, ...]:
    """A list of integers; those that a run computes count as 1."""
    method, args = arguments
    payloads = (method.values[i].payload for i in method.values[args[index]].indices)
    return tuple(payload if isinstance(payload, int) else 1 for payload in payloads)


def pair(arguments: Arguments, index: int) -> tuple[int, int]:
    """A list of one or two integers as (height, width); an empty one is (1, 1)."""
    found = integers(arguments, index)
    return (found[0], found[-1]) if found else (1, 1)


def integer(arguments: Arguments, index: int) -> int:
    """An integer; 0 when it is none."""
    method, args = arguments
    value = method.values[args[index]]
    return value.payload if value.kind == ValueKind.INT and isinstance(value.payload, int) else 0


def number(arguments: Arguments, index: int) -> float:
    """A floating-point number; 0 when it is none."""
    method, args = arguments
    payload = method.values[args[index]].payload
    return float(payload) if isinstance(payload, (int, float)) else 0.0


def strides(value: Tensor) -> tuple[int, ...]:
    """Elements from an index to the next along each dimension."""
    found = [0] * len(value.sizes)
    step = 1
    for dim in reversed(value.dim_order):
        found[dim] = step
        step *= max(1, value.sizes[dim])
    return tuple(found)
