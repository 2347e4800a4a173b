"""What the fast paths of several CORE-V kernels ask of a call, as kernels/corev asks it.

A condition yields what is wrong, in a few words; a call takes a path when its conditions yield
nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .call_values import Arguments, integer, strides, tensor
from .constants import Constants
from .program import Tensor

PORTABLE = "portable"
"""The way of calls that no fast path takes."""

BYTE = range(-128, 128)
SUM = 1 << 28
"""The bound of a bias, and of the rest of a sum."""


class Way(NamedTuple):
    """A way through a kernel and the reason for it, in a few words."""

    name: str
    reason: str


Problems = Iterator[str]
"""What keeps a call from a fast path, worst first; none: it takes it."""


def choose(problems: Problems, name: str, reason: str) -> Way:
    """The way `name` for that reason, or the portable one when there is a problem."""
    problem = next(problems, None)
    return Way(name, reason) if problem is None else Way(PORTABLE, problem)


def need(arguments: Arguments, index: int) -> Tensor:
    """Argument `index`, a tensor. Raises ValueError when it is none."""
    found = tensor(arguments, index)
    if found is None:
        raise ValueError("not a tensor")
    return found


def table(value: Tensor | None, constants: Constants) -> Sequence[int]:
    """The values of a constant; empty when they are not known."""
    return constants.get(value.data_index, ()) if value is not None and value.is_constant else ()


def _is_dense(image: Tensor, channel: int) -> bool:
    """Whether the pixels of an image follow each other, channels innermost."""
    rows, columns = (i for i in range(1, 4) if i != channel)
    size, stride = image.sizes, strides(image)
    pitch = size[columns] * size[channel]
    return (
        (stride[channel] == 1 or size[channel] == 1)
        and (stride[columns] == size[channel] or size[columns] == 1)
        and (stride[rows] == pitch or size[rows] == 1)
        and (stride[0] == size[rows] * pitch or size[0] == 1)
    )


def layout_problems(arguments: Arguments, channel: int) -> Problems:
    """The first and the last argument must be images with their channels innermost."""
    if not _is_dense(need(arguments, 0), channel):
        yield "the input's channels are not innermost"
    if not _is_dense(need(arguments, -1), channel):
        yield "the output's channels are not innermost"


def rescale_problems(multiplier: int, shift: int, zero: int) -> Problems:
    """Whether the product's high half rounds as the portable rescale does."""
    least = -26 if zero == 0 else -20
    if multiplier < 0:
        yield "a multiplier is negative"
    if not least <= shift <= -1:
        yield f"a shift of {shift}, not in {least} ... -1"
    if zero not in BYTE:
        yield f"an output zero point of {zero}, beyond int8"


def channel_problems(
    arguments: Arguments, constants: Constants, first: int, channels: int, taps: int
) -> Problems:
    """All output channels of a convolution; argument `first` is its input offset."""
    offset, zero = integer(arguments, first), integer(arguments, first + 1)
    if not -127 <= offset <= 128 or taps > SUM // (255 * 128):
        yield f"{taps} products a sum, or an input offset of {offset}: sums may pass 2^28"
    bias, multipliers, shifts = (
        table(tensor(arguments, index), constants) for index in (2, first + 2, first + 3)
    )
    cut = is_cut(zero, integer(arguments, first + 4), integer(arguments, first + 5))
    bounded = False
    for o in range(channels):
        multiplier = multipliers[o] if o < len(multipliers) else 1 << 30
        shift = shifts[o] if o < len(shifts) else -1
        yield from rescale_problems(multiplier, shift, zero)
        bounded = bounded or is_long(cut, multiplier, shift, -9)
    if bounded:
        yield from bias_problems(bias[:channels])


def is_cut(zero: int, low: int, high: int) -> bool:
    """Whether results below the zero point are cut, as behind a ReLU."""
    return low == zero and -128 <= low <= high <= 127


def is_long(cut: bool, multiplier: int, shift: int, least: int) -> bool:
    """Whether sums need a bound: they are not cut before a rescale of shifts from `least` on."""
    return not cut or multiplier < 1 << 30 or shift < least


def bias_problems(bias: Sequence[int]) -> Problems:
    """Biases must leave sums in their bounds."""
    yield from (f"a bias of {value}" for value in bias if abs(value) >= SUM)


def float_field(value: float) -> int:
    """Sign and exponent of a number rounded to single precision."""
    try:
        return int(struct.unpack("<I", struct.pack("<f", value))[0] >> 23)
    except OverflowError:
        return 0xFF if value > 0 else 0x1FF


def scale_problems(scale: float, zero: int) -> Problems:
    """A scale must be within 2^64 of 1, a zero point an int8."""
    if not 127 - 64 <= float_field(scale) <= 127 + 64:
        yield f"a scale that far from 1: {scale}"
    if zero not in BYTE:
        yield f"a zero point of {zero}, beyond int8"
