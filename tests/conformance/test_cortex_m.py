"""The 23 cortex_m operators against ExecuTorch's own Python definitions of them, exactly."""

from __future__ import annotations

import random

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")
# Importing the passes first resolves their circular import with the operators.
pytest.importorskip("executorch.backends.cortex_m.passes")

from . import int8 as cases  # noqa: E402
from .harness import library  # noqa: E402
from .harness.caller import Library  # noqa: E402

pytestmark = pytest.mark.conformance

COUNT = 300  # random calls an operator; benchmarks raise it by hand


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("executorch", strict=False), isolated=True)


@pytest.fixture(autouse=True)
def dilated_integer_convolution(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch has no dilated convolution of integers: in double it is exact for these sizes."""
    plain = torch.nn.functional.conv2d

    def conv2d(
        x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, **kwargs: object
    ) -> torch.Tensor:
        if x.dtype is not torch.int32 or kwargs["dilation"] == (1, 1):
            return plain(x, weight, bias, **kwargs)
        return plain(x.double(), weight.double(), bias.double(), **kwargs).to(torch.int32)

    monkeypatch.setattr(torch.nn.functional, "conv2d", conv2d)


def shape(rng: random.Random, rank: int, most: int = 6) -> list[int]:
    return [rng.randint(1, most) for _ in range(rank)]


def scratch() -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8)


def shuffled(rng: random.Random, t: torch.Tensor) -> torch.Tensor:
    """The same values in another memory layout, sometimes."""
    if t.dim() != 4 or rng.random() < 0.5:
        return t
    return t.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("seed", range(3))
def test_quantize(lib: Library, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(COUNT // 3):
        scale = rng.choice((1.0, 0.5, 2.0**-20, 10 ** rng.uniform(-6, 3), rng.uniform(0.001, 0.1)))
        sizes = shape(rng, rng.randint(0, 4))
        x = torch.randn(sizes) * 10 ** rng.uniform(-2, 2) * scale * 20
        if rng.random() < 0.3:  # halves: ties of the rounding
            x = (torch.randint(-300, 300, sizes) / 2 * scale).float()
        if rng.random() < 0.1:
            x = x.masked_fill(
                torch.rand(sizes) < 0.3, rng.choice((float("inf"), -float("inf"), 0.0))
            )
        low = rng.randint(-128, 0)
        args = [
            shuffled(rng, x),
            scale,
            cases.zero_point(rng),
            low,
            rng.randint(low, 127),
            torch.int8,
        ]
        cases.check(lib, "cortex_m::quantize_per_tensor", args)


def test_dequantize(lib: Library) -> None:
    rng = random.Random(1)
    for _ in range(COUNT):
        scale = rng.choice((1.0, 10 ** rng.uniform(-6, 3), rng.uniform(0.001, 0.1)))
        x = shuffled(rng, cases.int8(rng, *shape(rng, rng.randint(0, 4))))
        args = [x, scale, cases.zero_point(rng), -128, 127, torch.int8]
        cases.check(lib, "cortex_m::dequantize_per_tensor", args)


def broadcast_pair(rng: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    if rng.random() < 0.6:
        sizes = shape(rng, rng.randint(1, 4))
        a = shuffled(rng, cases.int8(rng, *sizes))
        b = cases.int8(rng, *sizes)
        return a, (b.to(memory_format=torch.channels_last) if not a.is_contiguous() else b)
    n, c, h, w = shape(rng, 4)
    a = cases.int8(rng, n, c, h, w).to(memory_format=torch.channels_last)
    b = cases.int8(rng, 1, c, 1, 1).to(memory_format=torch.channels_last)
    return (a, b) if rng.random() < 0.5 else (b, a)


def test_add(lib: Library) -> None:
    rng = random.Random(2)
    for _ in range(COUNT):
        a, b = broadcast_pair(rng)
        low, high = cases.activation(rng)
        operand = lambda: [cases.zero_point(rng), cases.multiplier(rng), rng.randint(-6, 1)]  # noqa: E731
        args = [a, *operand(), b, *operand(), cases.zero_point(rng), cases.multiplier(rng)]
        cases.check(lib, "cortex_m::quantized_add", [*args, rng.randint(-24, -14), low, high])


def test_mul(lib: Library) -> None:
    rng = random.Random(3)
    for _ in range(COUNT):
        a, b = broadcast_pair(rng)
        args = [a, cases.zero_point(rng), b, cases.zero_point(rng), cases.zero_point(rng)]
        args += [cases.multiplier(rng), rng.randint(-12, 2)]
        cases.check(lib, "cortex_m::quantized_mul", args)


def test_div(lib: Library) -> None:
    rng = random.Random(4)
    for i in range(COUNT):
        dtype = torch.int16 if i % 3 == 0 else torch.int8
        sizes = shape(rng, rng.randint(1, 4))
        a, b = (
            cases.int8(rng, *sizes).to(dtype) * (1 if dtype is torch.int8 else rng.randint(1, 255))
            for _ in "ab"
        )
        args = [
            a,
            cases.zero_point(rng),
            b,
            cases.zero_point(rng),
            cases.zero_point(rng),
            10 ** rng.uniform(-2, 3),
        ]
        cases.check(lib, "cortex_m::quantized_div", args)


def test_activation_minimum_maximum(lib: Library) -> None:
    rng = random.Random(5)
    for _ in range(COUNT):
        x = shuffled(rng, cases.int8(rng, *shape(rng, rng.randint(1, 4))))
        cases.check(lib, "cortex_m::quantized_activation", [x, cases.int8(rng, 256)])
        a, b = broadcast_pair(rng)
        cases.check(lib, "cortex_m::minimum", [a, b])
        cases.check(lib, "cortex_m::maximum", [a, b])


def test_linear(lib: Library) -> None:
    rng = random.Random(6)
    for _ in range(COUNT):
        lead = shape(rng, rng.randint(0, 2), 4)
        k, n = rng.randint(1, 70), rng.randint(1, 20)
        x, w = cases.int8(rng, *lead, k), cases.int8(rng, n, k)
        values = torch.randint(-20000, 20000, (n,), dtype=torch.int32)
        kind = rng.choice(("bias", "sum", "none"))
        low, high = cases.activation(rng)
        args = [x, w, values if kind == "bias" else None, values[None] if kind == "sum" else None]
        args += [-cases.zero_point(rng), rng.choice((0, 0, rng.randint(-128, 127)))]
        args += [cases.zero_point(rng), [cases.multiplier(rng)], [rng.randint(-12, 0)], high, low]
        cases.check(lib, "cortex_m::quantized_linear", args)


def test_batch_matmul(lib: Library) -> None:
    rng = random.Random(7)
    for _ in range(COUNT):
        b, m, n, k = [*shape(rng, 3, 5), rng.randint(1, 80)]
        # The reference sums in float: products stay below 2^24, where that is exact.
        args = [
            cases.int8(rng, b, m, k),
            -cases.zero_point(rng),
            cases.int8(rng, b, n, k),
            -cases.zero_point(rng),
        ]
        args += [cases.zero_point(rng), cases.multiplier(rng), rng.randint(-14, 0), scratch()]
        cases.check(lib, "cortex_m::quantized_batch_matmul", args)


def near_tie(x: torch.Tensor, dim: int, scale: float) -> torch.Tensor:
    """Where 256 * softmax lies so near a half that single precision may fall on either side."""
    p = 256 * torch.softmax(x.double() * scale, dim)
    return ((p - p.floor() - 0.5).abs() < 2e-4 + p * 4e-6).to(torch.int8)


def test_softmax(lib: Library) -> None:
    rng = random.Random(8)
    ties = total = 0
    for _ in range(COUNT):
        x = shuffled(rng, cases.int8(rng, *shape(rng, rng.randint(1, 4), 8)))
        dim = rng.randint(-x.dim(), x.dim() - 1)
        scale = rng.choice((rng.uniform(0.001, 0.3), 2.0 ** rng.randint(-8, 0)))
        mantissa, exponent = torch.frexp(torch.tensor(scale * 2.0**26, dtype=torch.float64))
        multiplier = min(round(float(mantissa) * 2**31), 2**31 - 1)
        exact = multiplier * 2.0 ** (int(exponent) - 31 - 26)
        allowed = near_tie(x, dim, exact)
        ties += int(allowed.sum())
        total += x.numel()
        cases.check(
            lib,
            "cortex_m::softmax",
            [x, dim, cases.zero_point(rng), -128, multiplier, int(exponent), -15872],
            equal=lambda a, b, allowed=allowed: bool(((a.int() - b.int()).abs() <= allowed).all()),
        )
    assert ties < total / 100


def test_transpose(lib: Library) -> None:
    rng = random.Random(9)
    for _ in range(COUNT):
        rank = rng.randint(1, 5)
        x = shuffled(rng, cases.int8(rng, *shape(rng, rank)))
        dtype = rng.choice(
            (torch.int8, torch.int8, torch.int16, torch.int32, torch.float32, torch.float64)
        )
        perm = rng.sample(range(rank), rank)
        cases.check(lib, "cortex_m::transpose", [x.to(dtype), perm], grow=rng.randint(0, 1))


def test_pad(lib: Library) -> None:
    rng = random.Random(10)
    for _ in range(COUNT):
        rank = rng.randint(1, 4)
        x = shuffled(rng, cases.int8(rng, *shape(rng, rank)))
        pads = [[0] * (4 - rank) + [rng.choice((0, 1, 2, 3)) for _ in range(rank)] for _ in "ab"]
        cases.check(lib, "cortex_m::pad", [x, *pads, rng.randint(-128, 127)])


def convolution(rng: random.Random, depthwise: bool) -> list[object] | None:
    kh, kw = rng.choice(((1, 1), (3, 3), (rng.randint(1, 4), rng.randint(1, 5))))
    h, w = rng.randint(1, 9), rng.randint(1, 9)
    stride, padding, dilation = (
        [rng.randint(a, b), rng.randint(a, b)] for a, b in ((1, 3), (0, 2), (1, 2))
    )
    if (
        dilation[0] * (kh - 1) + 1 > h + 2 * padding[0]
        or dilation[1] * (kw - 1) + 1 > w + 2 * padding[1]
    ):
        return None
    groups = rng.choice((1, 1, 2, 3))
    inner = rng.randint(1, 20)
    outputs = groups * rng.randint(1, 8)
    channels = groups * inner
    if depthwise:
        channels = rng.randint(1, 12)
        outputs = channels * rng.choice((1, 1, 2, 3))
    x = cases.image(rng, rng.randint(1, 2), channels, h, w)
    weight = (
        cases.int8(rng, 1, kh, kw, outputs)
        if depthwise
        else cases.int8(rng, outputs, kh, kw, inner)
    )
    bias = torch.randint(-(1 << 14), 1 << 14, (outputs,), dtype=torch.int32)
    multipliers = torch.tensor([cases.multiplier(rng) for _ in range(outputs)], dtype=torch.int32)
    shifts = torch.tensor([rng.randint(-11, -3) for _ in range(outputs)], dtype=torch.int32)
    if rng.random() < 0.1:
        shifts = torch.tensor([rng.randint(-20, 4) for _ in range(outputs)], dtype=torch.int32)
    low, high = cases.activation(rng)
    args: list[object] = [
        x,
        weight,
        bias if rng.random() < 0.8 else None,
        stride,
        padding,
        dilation,
    ]
    args += [outputs // channels] if depthwise else []
    return [
        *args,
        -cases.zero_point(rng),
        cases.zero_point(rng),
        multipliers,
        shifts,
        low,
        high,
        scratch(),
    ]


def nhwc(args: list[object]) -> list[object]:
    x = args[0]
    assert isinstance(x, torch.Tensor)
    return [x.permute(0, 2, 3, 1).contiguous(), *args[1:]]


@pytest.mark.parametrize("kind", ["conv2d", "depthwise_conv2d"])
def test_convolution(lib: Library, kind: str) -> None:
    rng = random.Random(11)
    done = 0
    while done < COUNT:
        args = convolution(rng, kind == "depthwise_conv2d")
        if args is not None:
            cases.check(lib, f"cortex_m::quantized_{kind}", args)
            cases.check(lib, f"cortex_m::quantized_{kind}_nhwc", nhwc(args))
            done += 1


def test_transpose_convolution(lib: Library) -> None:
    rng = random.Random(12)
    done = 0
    while done < COUNT:
        kh, kw, h, w = (rng.randint(1, 4) for _ in range(4))
        stride, dilation = ([rng.randint(1, 3), rng.randint(1, 2)] for _ in "sd")
        padding = [rng.randint(0, 2), rng.randint(0, 2)]
        extra = [rng.randrange(max(s, d)) for s, d in zip(stride, dilation, strict=True)]
        numbers = zip((h, w), stride, padding, dilation, (kh, kw), extra, strict=True)
        sizes = [(i - 1) * s - 2 * p + d * (k - 1) + e + 1 for i, s, p, d, k, e in numbers]
        if min(sizes) < 1:
            continue
        done += 1
        channels, outputs = rng.randint(1, 12), rng.randint(1, 6)
        args = [
            cases.image(rng, rng.randint(1, 2), channels, h, w),
            cases.int8(rng, outputs, kh, kw, channels),
        ]
        bias = torch.randint(-5000, 5000, (outputs,), dtype=torch.int32)
        low, high = cases.activation(rng)
        args += [bias if rng.random() < 0.8 else None, stride, padding, extra, dilation]
        args += [-cases.zero_point(rng), cases.zero_point(rng)]
        args += [torch.tensor([cases.multiplier(rng) for _ in range(outputs)], dtype=torch.int32)]
        args += [torch.tensor([rng.randint(-11, -3) for _ in range(outputs)], dtype=torch.int32)]
        args += [low, high, scratch(), scratch()]
        cases.check(lib, "cortex_m::quantized_transpose_conv2d", args)
        cases.check(lib, "cortex_m::quantized_transpose_conv2d_nhwc", nhwc(args))


def window(rng: random.Random) -> tuple[list[int], list[int], list[int]]:
    kernel = [rng.randint(1, 5), rng.randint(1, 5)]
    return kernel, [rng.randint(1, 3), rng.randint(1, 3)], [rng.randint(0, k // 2) for k in kernel]


def test_average_pool(lib: Library) -> None:
    rng = random.Random(13)
    for i in range(COUNT):
        kernel, stride, padding = window(rng)
        h, w = (k + rng.randint(0, 5) for k in kernel)
        if i % 10 == 0:  # global pooling, up to where rounding errors of the reference show
            h, w = rng.randint(2, 30), rng.randint(2, 12)
            kernel, padding = [h, w], [0, 0]
        x = cases.image(rng, rng.randint(1, 2), rng.randint(1, 9), h, w)
        args = [x, kernel, stride, padding, rng.random() < 0.3, cases.zero_point(rng)]
        args += [cases.multiplier(rng), rng.randint(-10, 1), scratch()]
        cases.check(lib, "cortex_m::quantized_avg_pool2d", args)
        cases.check(lib, "cortex_m::quantized_avg_pool2d_nhwc", nhwc(args))


def test_max_pool(lib: Library) -> None:
    rng = random.Random(14)
    for _ in range(COUNT):
        kernel, stride, padding = window(rng)
        h, w = (k + rng.randint(0, 5) for k in kernel)
        x = cases.image(rng, rng.randint(1, 2), rng.randint(1, 9), h, w)
        zero = cases.zero_point(rng)
        args = [x, kernel, stride, padding, [1, 1], False, zero, zero, *cases.activation(rng)]
        cases.check(lib, "cortex_m::quantized_max_pool2d", args)
        cases.check(lib, "cortex_m::quantized_max_pool2d_nhwc", nhwc(args))


def test_bad_arguments_are_refused(lib: Library) -> None:
    x = torch.zeros(1, 2, 4, 4, dtype=torch.int8)
    weight = torch.zeros(2, 3, 3, 2, dtype=torch.int8)
    table = torch.ones(2, dtype=torch.int32)
    rest = [[1, 1], [1, 1], [1, 1], 0, 0, table, table, -128, 127, scratch()]
    refuse = lambda op, args: cases.refused(lib, f"cortex_m::{op}", args, x)  # noqa: E731
    refuse("quantized_conv2d", [x.float(), weight, None, *rest])
    refuse("quantized_conv2d", [x[:, :1], weight, None, *rest])
    refuse("quantized_conv2d", [x, weight, table[:1], *rest])
    refuse("quantized_conv2d", [x, weight, None, [0, 1], *rest[1:]])
    refuse("quantized_conv2d", [x, weight, None, [1, 1, 1], *rest[1:]])
    refuse("quantized_max_pool2d", [x, [2, 2], [1, 1], [0, 0], [1, 1], False, 1, 2, -128, 127])
    refuse("quantized_max_pool2d", [x, [2, 2], [1, 1], [0, 0], [2, 2], False, 0, 0, -128, 127])
    refuse("quantized_avg_pool2d", [x, [2, 2], [1, 1], [2, 2], False, 0, 1 << 30, 0, scratch()])
    refuse("transpose", [x, [0, 1, 1, 2]])
    refuse("transpose", [x, [0, 1, 2]])
    refuse("pad", [x, [0, 0, 0, 0], [0, 0, 0, -9], 0])
    refuse("quantized_activation", [x, torch.zeros(255, dtype=torch.int8)])
    refuse("minimum", [x, torch.zeros(3, dtype=torch.int8)])
    refuse("softmax", [x, 4, 0, -128, 1 << 30, 0, 0])
    refuse("quantize_per_tensor", [x.float(), 1.0, 0, -129, 127, torch.int8])
