"""Temporary memory that our kernels ask of the context, computed from a program's calls.

Portable kernels take none. The CORE-V kernels take tables and rearranged operands: the formulas
here are those of kernels/corev/*.cpp for shapes that take the fast path; for others the result is
an upper bound. A kernel that gets less falls back on the portable one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from .call_values import Arguments, integer, pair, tensor
from .program import KernelCall, Method, Tensor

ALIGNMENT = 16
"""What a kernel's temporary memory begins at, in a pool of its own."""

_BIAS = 4  # an output channel's bias with the input offset's share
_FOUR = 68  # sizeof(Four): what four output channels need after their sums
_WORD = 4
_TURNED = 32  # output channels whose weights are turned at a time
_ROWS = 4  # rows of inputs that are multiplied at a time; twice as many short ones
_SHORT = 64
_WIDE = 16  # columns of a row that are multiplied at a time
_FEW = 4  # channels of an image that is copied with its padding


def temporary_bytes(method: Method, kernels: Mapping[str, str]) -> int:
    """The most that any call of a method takes.

    `kernels`: operator name -> C++ symbol of the kernel that serves it. Calls follow each other, so
    that their memory is shared.
    """
    most = 0
    for chain in method.chains:
        for item in chain.instructions:
            if isinstance(item, KernelCall):
                symbol = kernels.get(method.operators[item.operator], "")
                most = max(most, call_bytes(symbol, method, item.args))
    return -(-most // ALIGNMENT) * ALIGNMENT


def call_bytes(symbol: str, method: Method, args: tuple[int, ...]) -> int:
    """What a call of the kernel `symbol` takes, on a fast path.

    Nothing when it does not fit its schema, which call_check.py reports.
    """
    size = _SIZES.get(symbol)
    try:
        return size((method, args)) if size else 0
    except (LookupError, ValueError, ArithmeticError):
        return 0


def _words(size: int) -> int:
    return -(-size // 4) * 4


def _dense(outputs: int, groups: int, taps: int, turned: bool, direct: bool, image: int) -> int:
    inner = _words(taps)
    turned = turned or inner != taps
    channels = outputs // groups  # at a time
    if turned:
        channels = min(channels, _TURNED)
    table = channels * _BIAS + -(-channels // 4) * _FOUR
    weights = channels * inner if turned else 0
    rows = 0 if direct and not turned else _ROWS * inner * (2 if inner <= _SHORT else 1)
    return table + weights + rows + image


def _image(source: Tensor, channel_axis: int, padding: tuple[int, int]) -> int:
    """A padded copy of an image of few channels."""
    batch, channels = source.sizes[0], source.sizes[channel_axis]
    if channels > _FEW or padding == (0, 0):
        return 0
    height, width = (source.sizes[i] for i in range(1, 4) if i != channel_axis)
    return _words(batch * channels * (height + 2 * padding[0]) * (width + 2 * padding[1]))


def _conv(channel_axis: int) -> Callable[[Arguments], int]:
    def size(arguments: Arguments) -> int:
        source, weight = tensor(arguments, 0), tensor(arguments, 1)
        if source is None or weight is None or len(weight.sizes) != 4 or len(source.sizes) != 4:
            return 0
        outputs, height, width, channels = weight.sizes
        padding = pair(arguments, 4)
        direct = height == width == 1 and pair(arguments, 3) == (1, 1) and padding == (0, 0)
        direct = direct and channels == source.sizes[channel_axis]
        groups = max(1, source.sizes[channel_axis] // channels) if channels else 1
        image = _image(source, channel_axis, padding)
        return _dense(outputs, groups, height * width * channels, False, direct, image)

    return size


def _depthwise(channel_axis: int) -> Callable[[Arguments], int]:
    def size(arguments: Arguments) -> int:
        source, weight = tensor(arguments, 0), tensor(arguments, 1)
        out = tensor(arguments, len(arguments[1]) - 1)
        if source is None or weight is None or out is None or len(source.sizes) != 4:
            return 0
        _, height, width, outputs = weight.sizes
        if source.sizes[channel_axis] == 1 and outputs >= 4:
            image = _image(source, channel_axis, pair(arguments, 4))
            return _dense(outputs, 1, height * width, True, False, image)
        spatial = [i for i in range(1, 4) if i != channel_axis]
        out_height, out_width = (out.sizes[i] for i in spatial)
        step_height, step_width = pair(arguments, 3)
        dilation, _ = pair(arguments, 5)
        row = _words((out_width - 1) * step_width + 4)
        return 4 * row * ((out_height - 1) * step_height + (height - 1) * dilation + 1)

    return size


def _product(rows: int, columns: int, inner: int, offsets: tuple[int, int], has_bias: bool) -> int:
    padded = _words(inner)
    right = columns * padded if padded != inner else 0
    unsigned = offsets == (128, 0) and rows < _ROWS
    left = rows * padded if padded != inner or unsigned else 0
    if unsigned and rows == 1 and has_bias and padded == inner and columns < _WIDE:
        return 0
    plain = has_bias and offsets[1] == 0 and (unsigned or offsets[0] == 0)
    return (0 if plain else columns * _BIAS) + right + left


def _linear(arguments: Arguments) -> int:
    source, weight = tensor(arguments, 0), tensor(arguments, 1)
    if source is None or weight is None or len(weight.sizes) != 2:
        return 0
    columns, inner = weight.sizes
    rows = source.nbytes // inner if inner else 0
    has_sum = tensor(arguments, 3) is not None
    has_bias = has_sum or tensor(arguments, 2) is not None
    offsets = (0 if has_sum else integer(arguments, 4), integer(arguments, 5))
    return _product(rows, columns, inner, offsets, has_bias)


def _batch_matmul(arguments: Arguments) -> int:
    left, right = tensor(arguments, 0), tensor(arguments, 2)
    if left is None or right is None or len(left.sizes) != 3 or len(right.sizes) != 3:
        return 0
    offsets = (integer(arguments, 1), integer(arguments, 3))
    return _product(left.sizes[1], right.sizes[1], left.sizes[2], offsets, False)


def _most_taps(dilation: int, stride: int, kernel: int) -> int:
    """The most taps along one axis that output pixels a stride apart see."""
    return -(-kernel * math.gcd(stride, dilation) // max(1, abs(stride)))


def _transpose_conv(arguments: Arguments) -> int:
    weight = tensor(arguments, 1)
    if weight is None or len(weight.sizes) != 4:
        return 0
    outputs, *kernel, channels = weight.sizes
    stride, dilation = pair(arguments, 3), pair(arguments, 6)
    inner = channels
    for axis in range(2):
        inner *= _most_taps(dilation[axis], stride[axis], kernel[axis])
    inner = max(4, _words(inner))
    return outputs * (_BIAS + inner) + -(-outputs // 4) * _FOUR + _ROWS * inner


def _softmax(arguments: Arguments) -> int:
    source = tensor(arguments, 0)
    if source is None:
        return 0
    dim = integer(arguments, 1)
    length = source.sizes[dim] if source.sizes else 1
    return length * _WORD


_NAMESPACE = "gen_kernels::corev::native::"
_SIZES: dict[str, Callable[[Arguments], int]] = {
    f"{_NAMESPACE}quantized_conv2d_out": _conv(1),
    f"{_NAMESPACE}quantized_conv2d_nhwc_out": _conv(3),
    f"{_NAMESPACE}quantized_depthwise_conv2d_out": _depthwise(1),
    f"{_NAMESPACE}quantized_depthwise_conv2d_nhwc_out": _depthwise(3),
    f"{_NAMESPACE}quantized_linear_out": _linear,
    f"{_NAMESPACE}quantized_batch_matmul_out": _batch_matmul,
    f"{_NAMESPACE}quantized_transpose_conv2d_out": _transpose_conv,
    f"{_NAMESPACE}quantized_transpose_conv2d_nhwc_out": _transpose_conv,
    f"{_NAMESPACE}softmax_out": _softmax,
}
