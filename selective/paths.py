"""Which way a call takes through its CORE-V kernel, and why, told from the model alone.

Each kernel of kernels/corev takes the calls that it is made for and hands the others to the
portable code. The conditions here are those of the C++ files, in their order; the names are those
that the kernels report to tests (GEN_KERNELS_PATH). tests/integration/test_paths.py holds both
equal on models and on random calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .call_values import Arguments, integer, integers, number, pair, strides, tensor
from .constants import Constants
from .path_conditions import (
    BYTE,
    PORTABLE,
    SUM,
    Problems,
    Way,
    bias_problems,
    channel_problems,
    choose,
    float_field,
    is_cut,
    is_long,
    layout_problems,
    need,
    rescale_problems,
    scale_problems,
    table,
)
from .program import DTYPES, Method

_NAMESPACE = "gen_kernels::corev::native::"


def way_of(symbol: str, method: Method, args: tuple[int, ...], constants: Constants) -> Way | None:
    """The way of a call of the CORE-V kernel `symbol`; None for other kernels.

    Where `constants` lack a table of the call, its values are taken to be ordinary.
    """
    find = _KERNELS.get(symbol.removeprefix(_NAMESPACE)) if _NAMESPACE in symbol else None
    if find is None:
        return None
    try:
        return find((method, args), constants)
    except (LookupError, ValueError, ArithmeticError, AttributeError, TypeError):
        return Way(PORTABLE, "the arguments do not fit the operator")


# ---- Convolutions ----


def _matrix(
    arguments: Arguments,
    constants: Constants,
    channel: int,
    first: int,
    shape: tuple[int, int, int],
) -> Problems:
    """A convolution as matrix products; `shape`: output channels, groups, products a sum."""
    outputs, groups, taps = shape
    yield from layout_problems(arguments, channel)
    if outputs // groups < 4:
        yield f"{outputs // groups} output channels a group: fewer than 4"
    yield from channel_problems(arguments, constants, first, outputs, taps)


def _conv(channel: int) -> Callable[[Arguments, Constants], Way]:
    def find(arguments: Arguments, constants: Constants) -> Way:
        outputs, height, width, inner = need(arguments, 1).sizes
        groups = need(arguments, 0).sizes[channel] // inner
        taps = height * width * inner
        point = (height, width) == pair(arguments, 3) == (1, 1) and pair(arguments, 4) == (0, 0)
        direct = point and groups == 1 and taps % 4 == 0
        reason = (
            "1 x 1: the image is the matrix" if direct else "matrix products of gathered windows"
        )
        problems = _matrix(arguments, constants, channel, 6, (outputs, groups, taps))
        return choose(problems, "direct" if direct else "gathered", reason)

    return find


def _depthwise(channel: int) -> Callable[[Arguments, Constants], Way]:
    def planes(arguments: Arguments, constants: Constants) -> Problems:
        _, height, width, outputs = need(arguments, 1).sizes
        if width > 4:
            yield f"windows {width} wide: more than 4"
        if height > 8:
            yield f"windows {height} high: more than 8"
        if pair(arguments, 5)[1] != 1:
            yield "windows dilated horizontally"
        yield from layout_problems(arguments, channel)
        yield from channel_problems(arguments, constants, 7, outputs, height * width)

    def find(arguments: Arguments, constants: Constants) -> Way:
        _, height, width, outputs = need(arguments, 1).sizes
        if need(arguments, 0).sizes[channel] == 1:
            problems = _matrix(arguments, constants, channel, 7, (outputs, 1, height * width))
            if next(problems, None) is None:
                return Way("gathered", "one input channel: matrix products of gathered windows")
        reason = "a plane a channel, a window's row a word"
        return choose(planes(arguments, constants), "planes", reason)

    return find


def _transpose_conv(channel: int) -> Callable[[Arguments, Constants], Way]:
    def find(arguments: Arguments, constants: Constants) -> Way:
        outputs, height, width, inner = need(arguments, 1).sizes
        shape = (outputs, 1, height * width * inner)
        problems = _matrix(arguments, constants, channel, 7, shape)
        return choose(problems, "phases", "matrix products for each place in a stride")

    return find


# ---- Matrix products ----


def _product(
    columns: int,
    inner: int,
    offsets: tuple[int, int],
    rescale: tuple[int, int, int],
    bias: Sequence[int] = (),
) -> Way:
    def problems() -> Problems:
        most = SUM // (383 * 383)
        if columns < 4:
            yield f"{columns} columns: fewer than 4"
        if not 4 <= inner <= most:
            yield f"rows of {inner}, not of 4 ... {most}"
        for offset in offsets:
            if abs(offset) > 255:
                yield f"an offset of {offset}"
        yield from rescale_problems(*rescale)
        yield from bias_problems(bias[:columns])

    padded = inner % 4 != 0
    reason = f"rows of {inner}, padded to words" if padded else f"{columns} columns, rows of words"
    return choose(problems(), "padded" if padded else "direct", reason)


def _linear(arguments: Arguments, constants: Constants) -> Way:
    columns, inner = need(arguments, 1).sizes
    sums = tensor(arguments, 3)
    multiplier, shift, zero = (
        integers(arguments, 7)[0],
        integers(arguments, 8)[0],
        integer(arguments, 6),
    )
    cut = is_cut(zero, integer(arguments, 10), integer(arguments, 9))
    bias = table(sums if sums is not None else tensor(arguments, 2), constants)
    return _product(
        columns,
        inner,
        (0 if sums is not None else integer(arguments, 4), integer(arguments, 5)),
        (multiplier, shift, zero),
        bias if is_long(cut, multiplier, shift, -20) else (),
    )


def _batch_matmul(arguments: Arguments, _: Constants) -> Way:
    left, right = need(arguments, 0).sizes, need(arguments, 2).sizes
    return _product(
        right[1],
        left[2],
        (integer(arguments, 1), integer(arguments, 3)),
        (integer(arguments, 5), integer(arguments, 6), integer(arguments, 4)),
    )


# ---- Pools ----


def _words(arguments: Arguments, channel: int) -> Problems:
    image, out = need(arguments, 0), need(arguments, -1)
    if image.sizes[channel] < 4:
        yield f"{image.sizes[channel]} channels: fewer than 4"
    if strides(image)[channel] != 1 or strides(out)[channel] != 1:
        yield "channels are not innermost"


def _average(channel: int) -> Callable[[Arguments, Constants], Way]:
    def problems(arguments: Arguments) -> Problems:
        yield from _words(arguments, channel)
        zero, multiplier, shift = (integer(arguments, index) for index in (5, 6, 7))
        if zero not in BYTE:
            yield f"a zero point of {zero}, beyond int8"
        if multiplier == 0 or not -60 < shift < 60:
            yield "a scale that far from 1"
        height, width = pair(arguments, 1)
        if height * width > 256:
            yield f"windows of {height * width}: more than 256"

    def find(arguments: Arguments, _: Constants) -> Way:
        return choose(problems(arguments), "words", "four channels a word")

    return find


def _maximum(channel: int) -> Callable[[Arguments, Constants], Way]:
    def problems(arguments: Arguments) -> Problems:
        yield from _words(arguments, channel)
        if any(integer(arguments, index) not in BYTE for index in (8, 9)):
            yield "bounds beyond int8"

    def find(arguments: Arguments, _: Constants) -> Way:
        return choose(problems(arguments), "words", "four channels a word")

    return find


# ---- Element-wise, and what moves bytes ----


def _row_steps(arguments: Arguments, *inputs: int) -> tuple[int, ...]:
    """Elements from one to the next along the innermost axis, of the output and of inputs."""
    out = need(arguments, -1)
    for dim in reversed(out.dim_order):
        if out.sizes[dim] > 1:
            steps = [strides(out)[dim]]
            for index in inputs:
                source = need(arguments, index)
                at = dim - (len(out.sizes) - len(source.sizes))
                fixed = at < 0 or source.sizes[at] == 1
                steps.append(0 if fixed else strides(source)[at])
            return tuple(steps)
    return (0,) * (1 + len(inputs))


def _rows(*inputs: int) -> Callable[[Arguments, Constants], Way]:
    def find(arguments: Arguments, _: Constants) -> Way:
        words = set(_row_steps(arguments, *inputs)) == {1}
        reason = "rows that lie together" if words else "the operands' rows lie differently"
        return Way("words" if words else PORTABLE, reason)

    return find


def _rescale_or_none(multiplier: int, shift: int) -> Problems:
    """A rescale of which the zero point is added afterwards; without a shift it rounds once."""
    if shift != 0 or multiplier < 0:
        yield from rescale_problems(multiplier, shift, 0)


def _binary(
    zeros: tuple[int, ...], rescales: tuple[tuple[int, int], ...]
) -> Callable[[Arguments, Constants], Way]:
    def problems(arguments: Arguments) -> Problems:
        for index in zeros:
            if integer(arguments, index) not in BYTE:
                yield f"a zero point of {integer(arguments, index)}, beyond int8"
        for multiplier, shift in rescales:
            yield from _rescale_or_none(integer(arguments, multiplier), integer(arguments, shift))

    def find(arguments: Arguments, _: Constants) -> Way:
        return choose(problems(arguments), "one product", "rescales by one multiplication each")

    return find


def _quantize(arguments: Arguments, _: Constants) -> Way:
    scale = number(arguments, 1)
    inverse = 1 / scale if scale else float("inf")
    return choose(scale_problems(inverse, integer(arguments, 2)), "integers", "the floats' bits")


def _dequantize(arguments: Arguments, _: Constants) -> Way:
    problems = scale_problems(number(arguments, 1), integer(arguments, 2))
    return choose(problems, "integers", "the floats' bits")


def _softmax(arguments: Arguments, _: Constants) -> Way:
    def problems() -> Problems:
        scale = integer(arguments, 4) * 2.0 ** (integer(arguments, 5) - 57)
        if integer(arguments, 2) not in BYTE:
            yield f"a zero point of {integer(arguments, 2)}, beyond int8"
        if not 86 <= float_field(scale) <= 149:
            yield f"a scale of {scale}, not in 2^-41 ... 2^23"

    return choose(problems(), "kept powers", "each power is computed once")


def _transpose(arguments: Arguments, _: Constants) -> Way:
    out = need(arguments, -1)
    size = DTYPES[out.dtype][1]
    words = size == 4 or (size == 1 and _row_steps(arguments) == (1,))
    reason = "bytes by words, words one by one" if words else f"elements of {size} bytes"
    return Way("words" if words else PORTABLE, reason)


def _pad(arguments: Arguments, _: Constants) -> Way:
    source, out = need(arguments, 0), need(arguments, -1)
    shape, rank = source.sizes, len(source.sizes)
    last = rank == 4 and (shape[1] == 1 or shape[2:] == (1, 1) or source.dim_order[:2] == (0, 2))
    before, after = integers(arguments, 1), integers(arguments, 2)
    for dim in reversed(out.dim_order):
        at = (0, 3, 1, 2)[dim] if last else dim + 4 - rank
        copied = shape[dim] + min(0, before[at]) + min(0, after[at])
        if copied <= 0:
            break
        if copied > 1:
            if strides(out)[dim] != 1:
                break
            return Way("words", "bytes by words")
    return Way(PORTABLE, "hardly a byte to copy")


_KERNELS: dict[str, Callable[[Arguments, Constants], Way]] = {
    "quantized_conv2d_out": _conv(1),
    "quantized_conv2d_nhwc_out": _conv(3),
    "quantized_depthwise_conv2d_out": _depthwise(1),
    "quantized_depthwise_conv2d_nhwc_out": _depthwise(3),
    "quantized_transpose_conv2d_out": _transpose_conv(1),
    "quantized_transpose_conv2d_nhwc_out": _transpose_conv(3),
    "quantized_linear_out": _linear,
    "quantized_batch_matmul_out": _batch_matmul,
    "quantized_avg_pool2d_out": _average(1),
    "quantized_avg_pool2d_nhwc_out": _average(3),
    "quantized_max_pool2d_out": _maximum(1),
    "quantized_max_pool2d_nhwc_out": _maximum(3),
    "quantized_add_out": _binary((1, 5), ((2, 3), (6, 7), (9, 10))),
    "quantized_mul_out": _binary((1, 3), ((5, 6),)),
    "minimum_out": _rows(0, 1),
    "maximum_out": _rows(0, 1),
    "quantized_activation_out": _rows(0),
    "quantize_per_tensor_out": _quantize,
    "dequantize_per_tensor_out": _dequantize,
    "softmax_out": _softmax,
    "pad_out": _pad,
    "transpose_out": _transpose,
}
