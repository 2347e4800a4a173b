"""The 19 quantized_decomposed operators against PyTorch's definitions of them.

mixed_mm, mixed_linear and add have none: they are held against their formulas in double.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")
pytest.importorskip("executorch.exir.passes._quant_patterns_and_replacements")
pytest.importorskip("torch.ao.quantization.fx._decomposed")

from .harness import library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402

pytestmark = pytest.mark.conformance

COUNT = 300
OPS = torch.ops.quantized_decomposed
RANGES = {
    torch.uint8: (0, 255),
    torch.int8: (-128, 127),
    torch.uint16: (0, 65535),
    torch.int16: (-32768, 32767),
    torch.int32: (-(2**31), 2**31 - 1),
}
INPUTS = (torch.float32, torch.float32, torch.float16, torch.bfloat16)


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("executorch", strict=False), isolated=True)


def schema_of(operator: str) -> torch.FunctionSchema:
    """The out variant's schema; ExecuTorch defines those that PyTorch lacks in its library."""
    return torch._C.parse_schema(SCHEMAS[operator])


_Q = "int quant_min, int quant_max, ScalarType dtype"
_E = "Tensor w, Tensor scales, Tensor? zero_points, int quant_min, int quant_max, Tensor indices"
_O = "Tensor(a!) out) -> Tensor(a!)"
_TWO = "Tensor(a!) s, Tensor(b!) z) -> (Tensor(a!), Tensor(b!))"
_D = f"{_Q}, *, ScalarType? o=None, {_O}"
SCHEMAS = {
    "quantize_per_tensor.out": f"q(Tensor i, float s, int z, {_Q}, *, {_O}",
    "quantize_per_tensor.Tensor_out": f"q(Tensor i, Tensor s, Tensor z, {_Q}, *, {_O}",
    "quantize_per_channel.out": f"q(Tensor i, Tensor s, Tensor z, int axis, {_Q}, *, {_O}",
    "quantize_per_token.out": f"q(Tensor i, Tensor s, Tensor z, {_Q}, *, {_O}",
    "dequantize_per_tensor.out": f"q(Tensor i, float s, int z, {_D}",
    "dequantize_per_tensor.Tensor_out": f"q(Tensor i, Tensor s, Tensor z, {_D}",
    "dequantize_per_channel.out": f"q(Tensor i, Tensor s, Tensor? z, int axis, {_D}",
    "dequantize_per_token.out": f"q(Tensor i, Tensor s, Tensor z, {_Q}, ScalarType o, *, {_O}",
    "choose_qparams.Tensor_out": f"q(Tensor i, int l, int h, float eps, ScalarType d, *, {_TWO}",
    "choose_qparams_per_token_asymmetric.out": f"q(Tensor i, ScalarType d, *, {_TWO}",
    "mixed_mm.out": f"q(Tensor i, Tensor w, Tensor s, Tensor? z, *, {_O}",
    "mixed_linear.out": f"q(Tensor i, Tensor w, Tensor s, Tensor? z, ScalarType? t=None, *, {_O}",
    "add.out": "q(Tensor a, float sa, int za, int la, int ha, "
    f"Tensor b, float sb, int zb, int lb, int hb, float so, int zo, int lo, int ho, *, {_O}",
    **{f"embedding_{k}.out": f"q({_E}, *, {_O}" for k in ("byte", "2bit", "4bit")},
    **{
        f"embedding_{k}.dtype_out": f"q({_E}, *, ScalarType? dtype=None, {_O}"
        for k in ("byte", "2bit", "4bit")
    },
}


def run(
    lib: Library, operator: str, values: list[Any], *expected: torch.Tensor
) -> list[torch.Tensor]:
    outs = [Out.like(e) for e in expected]
    return lib.call(f"quantized_decomposed::{operator}", schema_of(operator), values, outs)


def check(lib: Library, operator: str, values: list[Any], expected: torch.Tensor) -> None:
    (got,) = run(lib, operator, values, expected)
    assert got.shape == expected.shape
    same = (got == expected) | (got.isnan() & expected.isnan())
    described = [(v.dtype, tuple(v.shape)) if isinstance(v, torch.Tensor) else v for v in values]
    wrong = f"{got[~same][:5].tolist()} for {expected[~same][:5].tolist()}"
    assert bool(same.all()), f"{operator}{described}: {wrong}"


def shape(rng: random.Random, least: int = 0) -> list[int]:
    return [rng.randint(1, 6) for _ in range(rng.randint(least, 4))]


def layout(rng: random.Random, t: torch.Tensor) -> torch.Tensor:
    return t.to(memory_format=torch.channels_last) if t.dim() == 4 and rng.random() < 0.4 else t


def bounds(rng: random.Random, dtype: torch.dtype) -> tuple[int, int]:
    """A range inside the dtype's; int32's own ends are no floats, so PyTorch wraps there."""
    low, high = RANGES[dtype]
    if dtype is torch.int32:
        return -(2**30), 2**30
    return (
        (low, high) if rng.random() < 0.6 else (low + rng.randint(0, 10), high - rng.randint(0, 10))
    )


def values(rng: random.Random, sizes: list[int], scale: float, dtype: torch.dtype) -> torch.Tensor:
    x = torch.randn(sizes) * scale * 10 ** rng.uniform(0, 2.5)
    if rng.random() < 0.3:
        x = (torch.randint(-300, 300, sizes) / 2 * scale).float()
    return layout(rng, x.to(dtype))


def codes(rng: random.Random, sizes: list[int], dtype: torch.dtype) -> torch.Tensor:
    low, high = RANGES[dtype]
    return layout(rng, torch.randint(low, high + 1, sizes, dtype=torch.int64).to(dtype))


def test_quantize_per_tensor(lib: Library) -> None:
    rng = random.Random(1)
    for _ in range(COUNT):
        dtype = rng.choice(tuple(RANGES))
        low, high = bounds(rng, dtype)
        scale = rng.choice((0.5, 2.0**-7, 10 ** rng.uniform(-4, 1)))
        zero = rng.randint(max(low, -1000), min(high, 1000))
        x = values(rng, shape(rng), scale, rng.choice(INPUTS))
        expected = OPS.quantize_per_tensor.default(x, scale, zero, low, high, dtype)
        check(lib, "quantize_per_tensor.out", [x, scale, zero, low, high, dtype], expected)
        kind = rng.choice((torch.float32, torch.float64))
        tensors = [
            torch.tensor([scale], dtype=kind),
            torch.tensor([zero], dtype=rng.choice((torch.int32, torch.int64))),
        ]
        expected = OPS.quantize_per_tensor.tensor(x, *tensors, low, high, dtype)
        check(lib, "quantize_per_tensor.Tensor_out", [x, *tensors, low, high, dtype], expected)


def test_dequantize_per_tensor(lib: Library) -> None:
    rng = random.Random(2)
    for _ in range(COUNT):
        dtype = rng.choice(tuple(RANGES))
        low, high = RANGES[dtype]
        x = codes(rng, shape(rng), dtype)
        scale, zero = 10 ** rng.uniform(-5, 1), rng.randint(max(low, -1000), min(high, 1000))
        out = rng.choice((None, torch.float32, torch.float64, torch.bfloat16, torch.float16))
        if out is torch.float16 and dtype not in (torch.uint8, torch.int8):
            continue  # beyond Half's range
        expected = OPS.dequantize_per_tensor.default(
            x, scale, zero, low, high, dtype, out_dtype=out
        )
        check(lib, "dequantize_per_tensor.out", [x, scale, zero, low, high, dtype, out], expected)
        tensors = [
            torch.tensor([scale], dtype=rng.choice((torch.float32, torch.float64))),
            torch.tensor([zero]),
        ]
        expected = OPS.dequantize_per_tensor.tensor(x, *tensors, low, high, dtype, out_dtype=out)
        check(
            lib, "dequantize_per_tensor.Tensor_out", [x, *tensors, low, high, dtype, out], expected
        )


def test_per_channel(lib: Library) -> None:
    rng = random.Random(3)
    for _ in range(COUNT):
        sizes = shape(rng, 1)
        axis = rng.randrange(len(sizes))
        dtype = rng.choice((torch.uint8, torch.int8, torch.int16, torch.int32))
        low, high = bounds(rng, dtype)
        kind = rng.choice((torch.float32, torch.float64))
        scales = (10 ** (torch.rand(sizes[axis], dtype=torch.float64) * 4 - 3)).to(kind)
        zeros = torch.randint(
            max(low, -100),
            min(high, 100) + 1,
            (sizes[axis],),
            dtype=rng.choice((torch.int32, torch.int64)),
        )
        x = values(rng, sizes, 0.05, rng.choice(INPUTS))
        expected = OPS.quantize_per_channel.default(x, scales, zeros, axis, low, high, dtype)
        check(lib, "quantize_per_channel.out", [x, scales, zeros, axis, low, high, dtype], expected)
        q = codes(rng, sizes, dtype)
        low, high = RANGES[dtype]
        zeros = zeros.long() if rng.random() < 0.8 else None
        out = rng.choice((None, torch.float32, torch.bfloat16, torch.float64))
        expected = OPS.dequantize_per_channel.default(
            q, scales, zeros, axis, low, high, dtype, out_dtype=out
        )
        check(
            lib,
            "dequantize_per_channel.out",
            [q, scales, zeros, axis, low, high, dtype, out],
            expected,
        )


def test_per_token(lib: Library) -> None:
    rng = random.Random(4)
    for _ in range(COUNT):
        sizes = shape(rng, 1)
        dtype = rng.choice((torch.uint8, torch.int8, torch.int16))
        low, high = bounds(rng, dtype)
        kind = rng.choice((torch.float32, torch.float64))
        lead = [*sizes[:-1], 1]
        scales = (10 ** (torch.rand(lead, dtype=torch.float64) * 4 - 3)).to(kind)
        zeros = torch.randint(max(low, -100), min(high, 100) + 1, lead)
        x = values(rng, sizes, 0.05, torch.float32).contiguous()
        expected = OPS.quantize_per_token.default(x, scales, zeros, low, high, dtype)
        check(lib, "quantize_per_token.out", [x, scales, zeros, low, high, dtype], expected)
        q = codes(rng, sizes, dtype).contiguous()
        out = rng.choice((torch.float32, torch.bfloat16))
        expected = OPS.dequantize_per_token.default(q, scales, zeros, low, high, dtype, out)
        check(lib, "dequantize_per_token.out", [q, scales, zeros, low, high, dtype, out], expected)


def test_choose_qparams(lib: Library) -> None:
    rng = random.Random(5)
    for _ in range(COUNT):
        x = values(rng, shape(rng, 1), 0.1, rng.choice(INPUTS))
        if rng.random() < 0.2:
            x = x.abs() if rng.random() < 0.5 else torch.zeros_like(x)
        dtype = rng.choice((torch.uint8, torch.int8, torch.int16))
        low, high = RANGES[dtype]
        expected = OPS.choose_qparams.tensor(x, low, high, 1e-7, dtype)
        got = run(lib, "choose_qparams.Tensor_out", [x, low, high, 1e-7, dtype], *expected)
        assert all(torch.equal(g, e) for g, e in zip(got, expected, strict=True)), (
            x,
            got,
            expected,
        )
        x = x.contiguous()
        expected = OPS.choose_qparams_per_token_asymmetric.default(x, torch.int8)
        got = run(lib, "choose_qparams_per_token_asymmetric.out", [x, torch.int8], *expected)
        assert all(torch.equal(g, e) for g, e in zip(got, expected, strict=True)), (
            x,
            got,
            expected,
        )


@pytest.mark.parametrize(("kind", "bits"), [("byte", 8), ("4bit", 4), ("2bit", 2)])
def test_embedding(lib: Library, kind: str, bits: int) -> None:
    rng = random.Random(bits)
    for _ in range(COUNT):
        rows, groups = rng.randint(1, 9), rng.choice((1, 1, 2, 4))
        packed = groups * rng.randint(1, 3) * 2
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        weight_type = rng.choice((torch.int8, torch.uint8)) if bits == 8 else torch.uint8
        weight = codes(rng, [rows, packed], weight_type)
        scale_type = rng.choice((torch.float32, torch.float16, torch.bfloat16))
        sizes = [rows, groups] if groups > 1 or rng.random() < 0.5 else [rows]
        scales = (torch.rand(sizes) * 0.1).to(scale_type)
        zeros = torch.randint(-4, 5, sizes).to(scale_type) if rng.random() < 0.5 else None
        if zeros is None and weight_type is torch.uint8 and bits == 8:
            zeros = torch.zeros(
                sizes, dtype=scale_type
            )  # PyTorch subtracts an int32 from it, which widens
        indices = torch.randint(
            0, rows, shape(rng, 1)[:2], dtype=rng.choice((torch.int32, torch.int64))
        )
        op = getattr(OPS, f"embedding_{kind}")
        args = [weight, scales, zeros, low, high, indices]
        check(lib, f"embedding_{kind}.out", args, op.default(*args))
        dtype = rng.choice((torch.float32, torch.float16))
        check(lib, f"embedding_{kind}.dtype_out", [*args, dtype], op.dtype(*args, dtype=dtype))


def test_mixed(lib: Library) -> None:
    rng = random.Random(9)
    for _ in range(COUNT):
        m, k, n = (rng.randint(1, 12) for _ in range(3))
        dtype = rng.choice((torch.float32, torch.float16))
        x, w = torch.randn(m, k).to(dtype), torch.randint(-128, 128, (k, n), dtype=torch.int8)
        scales = (torch.rand(k) * 0.01).to(dtype)
        expected = x.double() @ (w.double() * scales.double()[:, None])
        (got,) = run(lib, "mixed_mm.out", [x, w, scales, None], expected.to(dtype))
        torch.testing.assert_close(got, expected.to(dtype))
        groups = rng.choice([g for g in range(1, k + 1) if k % g == 0])
        scales = (torch.rand(n, groups) * 0.01).to(dtype)
        spread = scales.double().repeat_interleave(k // groups, 1)
        expected = x.double() @ (w.double().T * spread).T
        got_scales = scales[:, 0].contiguous() if groups == 1 and rng.random() < 0.5 else scales
        (got,) = run(
            lib,
            "mixed_linear.out",
            [x, w.T.contiguous(), got_scales, None, None],
            expected.to(dtype),
        )
        torch.testing.assert_close(got, expected.to(dtype))


def test_add(lib: Library) -> None:
    rng = random.Random(10)
    for _ in range(COUNT):
        dtype = rng.choice((torch.uint8, torch.int8, torch.int16))
        low, high = RANGES[dtype]
        sizes = shape(rng, 1)
        a, b = codes(rng, sizes, dtype).contiguous(), codes(rng, sizes, dtype).contiguous()
        scales = [10 ** rng.uniform(-3, 0) for _ in range(3)]
        zeros = [rng.randint(max(low, -128), min(high, 255)) for _ in range(3)]
        total = OPS.dequantize_per_tensor.default(a, scales[0], zeros[0], low, high, dtype)
        total = total + OPS.dequantize_per_tensor.default(b, scales[1], zeros[1], low, high, dtype)
        expected = OPS.quantize_per_tensor.default(total, scales[2], zeros[2], low, high, dtype)
        args = [
            a,
            scales[0],
            zeros[0],
            low,
            high,
            b,
            scales[1],
            zeros[1],
            low,
            high,
            scales[2],
            zeros[2],
            low,
            high,
        ]
        check(lib, "add.out", args, expected)


def test_bad_arguments_are_refused(lib: Library) -> None:
    x, q = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.int8)
    one, zeros = torch.ones(3), torch.zeros(3, dtype=torch.int64)
    weight, scales, index = (
        torch.zeros(4, 8, dtype=torch.uint8),
        torch.ones(4),
        torch.zeros(2, dtype=torch.int64),
    )
    for operator, args, out in (
        ("quantize_per_tensor.out", [x, 1.0, 0, -129, 127, torch.int8], q),
        ("quantize_per_tensor.out", [q, 1.0, 0, -128, 127, torch.int8], q),
        ("quantize_per_channel.out", [x, one, zeros, 2, -128, 127, torch.int8], q),
        ("quantize_per_channel.out", [x, one[:2], zeros, 1, -128, 127, torch.int8], q),
        ("quantize_per_token.out", [x, one, zeros, -128, 127, torch.int8], q),
        ("dequantize_per_tensor.out", [q, 1.0, 0, -128, 127, torch.uint8, None], x),
        ("embedding_4bit.out", [weight, scales, None, -8, 8, index], torch.zeros(2, 16)),
        ("embedding_4bit.out", [weight, scales, None, -8, 7, index + 4], torch.zeros(2, 16)),
        ("embedding_byte.out", [weight, scales, None, 0, 255, index - 1], torch.zeros(2, 8)),
        (
            "mixed_mm.out",
            [
                x,
                q.T.contiguous(),
                one,
                one,
            ],
            torch.zeros(2, 2),
        ),
    ):
        with pytest.raises(KernelError) as error:
            run(lib, operator, args, out)
        assert error.value.code == 0x12
