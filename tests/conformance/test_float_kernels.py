"""Portable kernels that torch's OpInfo samples reach rarely or not at all, against eager PyTorch.

Gradients, batch norm in training, resampling by scale, sorting, other dim orders, random numbers,
and calls that must be refused.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402

pytestmark = pytest.mark.conformance

aten = torch.ops.aten
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
CL = torch.channels_last


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("executorch", strict=False), isolated=True)


def schema_of(operator: str) -> torch.FunctionSchema:
    base, _, overload = operator.removeprefix("aten::").partition(".")
    return getattr(getattr(aten, base), overload)._schema


def call(
    lib: Library, operator: str, values: Sequence[Any], like: Sequence[torch.Tensor], grow: int = 0
) -> list[torch.Tensor]:
    """The kernel's results, in buffers for tensors `like` these."""
    outs = [Out.like(t, grow) for t in like]
    return lib.call(operator, schema_of(operator), values, outs)


def in_float(value: Any) -> Any:
    low = (torch.float16, torch.bfloat16)
    if isinstance(value, torch.Tensor) and value.dtype in low:
        return value.float()
    return value


def in_double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) else value


def check(
    lib: Library, operator: str, values: Sequence[Any], grow: int = 0, wide: bool = False
) -> None:
    """The out variant against the functional operator; Half and BFloat16 computed in Float.

    `wide`: computed in double, where eager's own sums in float are no reference.
    """
    base = operator.removeprefix("aten::").partition(".")[0]
    functional = FUNCTIONAL.get(operator, getattr(aten, base).default)
    names = [a.name for a in functional._schema.arguments]
    arguments = dict(zip(names, map(in_double if wide else in_float, values), strict=True))
    expected = functional(**arguments)
    expected = expected if isinstance(expected, (tuple, list)) else (expected,)
    first = next(v for v in values if isinstance(v, torch.Tensor))
    expected = [e.to(first.dtype) if e.is_floating_point() else e for e in expected]
    got = call(lib, operator, values, expected, grow)
    for g, e in zip(got, expected, strict=True):
        torch.testing.assert_close(g, e, equal_nan=True, check_stride=False)


FUNCTIONAL = {
    "aten::_native_batch_norm_legit.no_stats_out": aten._native_batch_norm_legit.no_stats,
    "aten::upsample_nearest2d.vec_out": aten.upsample_nearest2d.vec,
    "aten::upsample_bilinear2d.vec_out": aten.upsample_bilinear2d.vec,
    "aten::var.out": aten.var.dim,
    "aten::any.out": aten.any.dim,
    "aten::max.dim_max": aten.max.dim,
    "aten::mean.out": aten.mean.dim,
    "aten::sum.IntList_out": aten.sum.dim_IntList,
}


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64).to(dtype)


def random_convolution(rng: random.Random, spatial: int, transposed: bool) -> tuple[Any, ...]:
    """Input, weight, bias and the parameters of a convolution that is valid."""
    while True:
        groups = rng.choice([1, 1, 2, 3])
        channels_in, channels_out = groups * rng.randint(1, 3), groups * rng.randint(1, 3)
        kernel = [rng.randint(1, 4) for _ in range(spatial)]
        stride = [rng.randint(1, 3) for _ in range(spatial)]
        padding = [rng.randint(0, 3) for _ in range(spatial)]
        dilation = [rng.randint(1, 3) for _ in range(spatial)]
        extra = [rng.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
        size = [rng.randint(1, 8) for _ in range(spatial)]
        rows, columns = (channels_in, channels_out) if transposed else (channels_out, channels_in)
        x = randn(rng.randint(1, 2), channels_in, *size)
        w = randn(rows, columns // groups, *kernel)
        bias = randn(channels_out) if rng.random() < 0.5 else None
        output_padding = extra if transposed else [0] * spatial
        parameters = (stride, padding, dilation, transposed, output_padding, groups)
        try:
            result = aten.convolution(x, w, bias, *parameters)
        except RuntimeError:
            continue
        if result.numel() > 0:  # Some of PyTorch's back ends give empty results, some refuse.
            return (x, w, bias, *parameters)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_convolution(lib: Library, spatial: int, transposed: bool) -> None:
    rng = random.Random(f"convolution {spatial} {transposed}")
    torch.manual_seed(1)
    for i in range(60):
        x, w, bias, *parameters = random_convolution(rng, spatial, transposed)
        if spatial == 2 and i % 3 == 0:
            x, w = x.contiguous(memory_format=CL), w.contiguous(memory_format=CL)
        values = (x, w, bias, *parameters)
        check(lib, "aten::convolution.out", values, grow=i % 2)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_convolution_backward(lib: Library, spatial: int, transposed: bool) -> None:
    rng = random.Random(f"backward {spatial} {transposed}")
    torch.manual_seed(2)
    for _ in range(40):
        x, w, bias, *parameters = random_convolution(rng, spatial, transposed)
        gradient = randn(*aten.convolution(x, w, bias, *parameters).shape)
        sizes = [gradient.size(1)]
        values = (gradient, x, w, sizes, *parameters, [True, True, True])
        check(lib, "aten::convolution_backward.out", values, wide=True)


def test_convolution_backward_of_some(lib: Library) -> None:
    """Gradients that are not wanted stay untouched."""
    x, w = randn(1, 2, 5, 5), randn(3, 2, 3, 3)
    gradient = randn(1, 3, 3, 3)
    parameters = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    expected = aten.convolution_backward(gradient, x, w, [3], *parameters, [False, True, False])
    likes = [x, w, torch.empty(3)]
    values = (gradient, x, w, [3], *parameters, [False, True, False])
    got = call(lib, "aten::convolution_backward.out", values, likes)
    torch.testing.assert_close(got[1], expected[1])
    for untouched in (got[0], got[2]):
        assert bool((untouched.contiguous().view(torch.uint8) == 0xA5).all())


@pytest.mark.parametrize("dtype", FLOATS)
def test_pools_of_channels_last(lib: Library, dtype: torch.dtype) -> None:
    rng = random.Random(f"pools {dtype}")
    torch.manual_seed(3)
    for i in range(60):
        x = randn(rng.randint(1, 2), rng.randint(1, 4), 9, 7, dtype=dtype)
        if i % 2:
            x = x.contiguous(memory_format=CL)
        kernel = [rng.randint(1, 4), rng.randint(1, 4)]
        stride = [rng.randint(1, 3), rng.randint(1, 3)] if i % 3 else []
        padding = [rng.randint(0, kernel[0] // 2), rng.randint(0, kernel[1] // 2)]
        ceil = rng.random() < 0.5
        dilation = [rng.randint(1, 2), rng.randint(1, 2)]
        values = (x, kernel, stride, padding, dilation, ceil)
        check(lib, "aten::max_pool2d_with_indices.out", values)
        divisor = rng.choice([None, 3])
        values = (x, kernel, stride, padding, ceil, rng.random() < 0.5, divisor)
        check(lib, "aten::avg_pool2d.out", values)


def test_max_pool_of_specials(lib: Library) -> None:
    x = torch.full((1, 1, 4, 4), -math.inf)
    x[0, 0, 2, 1] = math.nan
    x[0, 0, 3, 0] = 1
    check(lib, "aten::max_pool2d_with_indices.out", (x, [2, 2], [], [0, 0], [1, 1], False))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [False, True])
def test_batch_norm(lib: Library, dtype: torch.dtype, affine: bool) -> None:
    torch.manual_seed(4)
    for shape in ((3, 4), (2, 3, 5), (2, 3, 4, 5), (2, 2, 3, 2, 2)):
        x = randn(*shape, dtype=dtype)
        channels = shape[1]
        weight = randn(channels, dtype=dtype) if affine else None
        bias = randn(channels, dtype=dtype) if affine else None
        mean, var = randn(channels, dtype=dtype), randn(channels, dtype=dtype).abs()
        values = (x, weight, bias, mean, var, 0.1, 1e-5)
        check(lib, "aten::_native_batch_norm_legit_no_training.out", values)
        values = (x, weight, bias, True, 0.1, 1e-5)
        check(lib, "aten::_native_batch_norm_legit.no_stats_out", values)


def test_batch_norm_updates_running_statistics(lib: Library) -> None:
    torch.manual_seed(5)
    x, weight, bias = randn(4, 3, 2, 2), randn(3), randn(3)
    mean, var = torch.zeros(3), torch.ones(3)
    ours_mean, ours_var = mean.clone(), var.clone()
    expected = aten._native_batch_norm_legit(x, weight, bias, mean, var, True, 0.3, 1e-5)
    values = (x, weight, bias, ours_mean, ours_var, True, 0.3, 1e-5)
    got = call(lib, "aten::_native_batch_norm_legit.out", values, expected)
    for g, e in zip([*got, ours_mean, ours_var], [*expected, mean, var], strict=True):
        torch.testing.assert_close(g, e)


def test_norms_of_channels_last(lib: Library) -> None:
    torch.manual_seed(6)
    x = randn(2, 6, 3, 4).contiguous(memory_format=CL)
    weight, bias = randn(6), randn(6)
    values = (x, weight, bias, 2, 6, 12, 3, 1e-5)
    check(lib, "aten::native_group_norm.out", values)
    check(lib, "aten::native_layer_norm.out", (x, [3, 4], randn(3, 4), None, 1e-5))


@pytest.mark.parametrize("align", [False, True])
def test_resampling_by_scale(lib: Library, align: bool) -> None:
    rng = random.Random(7)
    torch.manual_seed(7)
    for i in range(60):
        x = randn(1, 2, rng.randint(1, 9), rng.randint(1, 9))
        if i % 2:
            x = x.contiguous(memory_format=CL)
        size, scales = None, None
        if i % 3:
            size = [rng.randint(1, 20), rng.randint(1, 20)]
        else:
            scales = [rng.uniform(1.0, 3.0), rng.choice([0.5, 2.0, 1.7, 1.0])]
            scales[1] = max(scales[1], 1 / x.size(3))
        check(lib, "aten::upsample_bilinear2d.vec_out", (x, size, align, scales), grow=i % 2)
        check(lib, "aten::upsample_nearest2d.vec_out", (x, size, scales), grow=i % 2)


def sorted_indices(x: torch.Tensor, dim: int, descending: bool) -> tuple[torch.Tensor, ...]:
    return torch.sort(x, dim=dim, descending=descending, stable=True)


@pytest.mark.parametrize(
    "dtype", [*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
)
def test_sort(lib: Library, dtype: torch.dtype) -> None:
    rng = random.Random(8)
    torch.manual_seed(8)
    schema = aten.sort.values._schema
    if "aten::sort.values" not in lib.operators:
        pytest.skip("the harness registers the official signatures only")
    for _ in range(40):
        shape = [rng.randint(1, 6) for _ in range(rng.randint(0, 3))]
        x = (torch.randint(0, 4, shape) if not dtype.is_floating_point else randn(*shape)).to(dtype)
        if dtype.is_floating_point and x.numel() > 2:
            x.view(-1)[:: max(x.numel() // 2, 1)] = math.nan
        dim = rng.randint(-max(len(shape), 1), max(len(shape), 1) - 1)
        descending = rng.random() < 0.5
        expected = sorted_indices(x, dim, descending)
        got = lib.call(
            "aten::sort.values", schema, (x, dim, descending), list(map(Out.like, expected))
        )
        for g, e in zip(got, expected, strict=True):
            torch.testing.assert_close(g, e, equal_nan=True)


def test_topk_takes_the_first_of_equals(lib: Library) -> None:
    x = torch.tensor([[3.0, math.nan, 3.0, -1.0, math.inf, math.nan]])
    expected = (torch.tensor([[math.nan, math.nan, math.inf, 3.0]]), torch.tensor([[1, 5, 4, 0]]))
    got = call(lib, "aten::topk.values", (x, 4, 1, True, True), expected)
    torch.testing.assert_close(got[0], expected[0], equal_nan=True)
    assert got[1].tolist() == expected[1].tolist()
    least = call(lib, "aten::topk.values", (x, 2, -1, False, True), [x[:, :2], expected[1][:, :2]])
    assert least[0].tolist() == [[-1.0, 3.0]]
    assert least[1].tolist() == [[3, 0]]


@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions_of_other_layouts(lib: Library, keepdim: bool) -> None:
    """Inputs of any dim order, dims from the back, 0-d inputs, nothing to reduce."""
    torch.manual_seed(9)
    x = randn(2, 3, 4, 5)
    inputs = [x, x.contiguous(memory_format=CL), x.permute(3, 1, 0, 2), randn(), randn(0, 3)]
    for t in inputs:
        for dims in ([-1], [0], [0, -1], []):
            if t.dim() < 2 and len(dims) > 1:
                continue
            check(lib, "aten::sum.IntList_out", (t, dims, keepdim, None))
            check(lib, "aten::mean.out", (t, dims, keepdim, None))
            check(lib, "aten::var.out", (t, dims, True, keepdim))
        if t.numel():
            check(lib, "aten::max.dim_max", (t, -1, keepdim))
            check(lib, "aten::amax.out", (t, [-1], keepdim))
        check(lib, "aten::any.out", (t, -1, keepdim))


def test_long_sums_stay_accurate(lib: Library) -> None:
    torch.manual_seed(10)
    x = torch.rand(1 << 20)
    (total,) = call(lib, "aten::sum.IntList_out", (x, None, False, None), [x.sum()])
    assert abs(float(total) - float(x.double().sum())) < 1e-5 * float(total)


@pytest.mark.parametrize("dtype", FLOATS)
def test_random_numbers(lib: Library, dtype: torch.dtype) -> None:
    like = torch.empty(100, 200, dtype=dtype)
    (uniform,) = call(lib, "aten::rand.out", ([100, 200],), [like])
    assert float(uniform.min()) >= 0
    assert float(uniform.max()) < 1
    # Six standard deviations of the mean of 20,000.
    assert abs(float(uniform.double().mean()) - 0.5) < 0.0123
    (normal,) = call(lib, "aten::randn.out", ([100, 200],), [like])
    assert abs(float(normal.double().mean())) < 0.0425
    assert abs(float(normal.double().var()) - 1) < 0.06
    x = torch.ones(100, 200, dtype=dtype)
    out, mask = call(lib, "aten::native_dropout.out", (x, 0.25, True), [x, x.bool()])
    assert abs(float(mask.double().mean()) - 0.75) < 0.0184
    torch.testing.assert_close(out, mask.to(dtype) / 0.75)
    out, mask = call(lib, "aten::native_dropout.out", (x, 0.25, False), [x, x.bool()])
    assert bool(mask.all())
    assert torch.equal(out, x)


F32, I64 = torch.empty(2, 3), torch.empty(2, 3, dtype=torch.int64)
IMAGE = torch.empty(1, 2, 4, 4)
CONV = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
REFUSED = [
    ("aten::convolution.out", (IMAGE, torch.empty(2, 3, 1, 1), None, *CONV), [IMAGE]),
    ("aten::convolution.out", (IMAGE, torch.empty(2, 2, 5, 5), None, *CONV), [IMAGE]),
    ("aten::convolution.out", (IMAGE, torch.empty(2, 2, 1, 1), torch.empty(3), *CONV), [IMAGE]),
    ("aten::convolution.out", (IMAGE, torch.empty(2, 2, 1, 1).double(), None, *CONV), [IMAGE]),
    (
        "aten::convolution.out",
        (IMAGE, torch.empty(2, 2, 1, 1), None, [0, 1], [0, 0], [1, 1], False, [0, 0], 1),
        [IMAGE],
    ),
    (
        "aten::convolution.out",
        (IMAGE, torch.empty(2, 2, 1, 1), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 0),
        [IMAGE],
    ),
    (
        "aten::convolution.out",
        (IMAGE, torch.empty(2, 2, 1, 1), None, [1, 1], [2**40, 0], [1, 1], False, [0, 0], 1),
        [IMAGE],
    ),
    (
        "aten::convolution.out",
        (IMAGE, torch.empty(2, 2, 1, 1), None, [1, 1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        [IMAGE],
    ),
    ("aten::avg_pool2d.out", (IMAGE, [2, 2, 2], [], [0, 0], False, True, None), [IMAGE]),
    ("aten::mm.out", (F32, F32), [torch.empty(2, 2)]),
    ("aten::mm.out", (F32, I64.t().contiguous()), [torch.empty(2, 2)]),
    ("aten::bmm.out", (F32, F32), [torch.empty(2, 2)]),
    ("aten::addmm.out", (torch.empty(3), F32, torch.empty(3, 2), 1, 1), [torch.empty(2, 2)]),
    ("aten::max_pool2d_with_indices.out", (IMAGE, [2, 2], [], [2, 0], [1, 1], False), [IMAGE] * 2),
    ("aten::avg_pool2d.out", (IMAGE, [2, 2], [], [0, 0], False, True, 0), [IMAGE]),
    ("aten::avg_pool2d.out", (IMAGE, [5, 5], [], [0, 0], False, True, None), [IMAGE]),
    ("aten::sum.IntList_out", (F32, [0, 0], False, None), [torch.empty(3)]),
    ("aten::sum.IntList_out", (F32, [2], False, None), [torch.empty(2)]),
    ("aten::mean.out", (I64, [0], False, None), [torch.empty(3, dtype=torch.int64)]),
    ("aten::amax.out", (torch.empty(0, 3), [0], False), [torch.empty(3)]),
    ("aten::argmax.out", (F32, 0, False), [torch.empty(3)]),
    ("aten::_softmax.out", (F32, 2, False), [F32]),
    ("aten::_softmax.out", (F32, 1, True), [F32]),
    ("aten::topk.values", (F32, 4, 1, True, True), [F32, I64]),
    (
        "aten::native_layer_norm.out",
        (F32, [4], None, None, 1e-5),
        [F32, torch.empty(2, 1), torch.empty(2, 1)],
    ),
    ("aten::pixel_shuffle.out", (IMAGE, 2), [IMAGE]),
    ("aten::upsample_nearest2d.vec_out", (IMAGE, None, None), [IMAGE]),
    ("aten::upsample_nearest2d.vec_out", (IMAGE, [3, 3], [1.0, 1.0]), [IMAGE]),
    ("aten::upsample_bilinear2d.vec_out", (IMAGE, None, False, [math.nan, 1.0]), [IMAGE]),
    ("aten::grid_sampler_2d.out", (IMAGE, torch.empty(1, 2, 2, 3), 0, 0, False), [IMAGE]),
    ("aten::_cdist_forward.out", (F32, torch.empty(2, 4), 2.0, None), [torch.empty(2, 2)]),
    ("aten::_cdist_forward.out", (F32, F32, -1.0, None), [torch.empty(2, 2)]),
    ("aten::native_dropout.out", (F32, 1.5, True), [F32, F32.bool()]),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_bad_arguments_are_refused(lib: Library, case: int) -> None:
    """The call fails, and nothing is written beside the results."""
    operator, values, likes = REFUSED[case]
    with pytest.raises(KernelError):
        call(lib, operator, values, likes)


def test_max_pool_backward_refuses_indices_outside(lib: Library) -> None:
    gradient, indices = torch.ones(1, 2, 2, 2), torch.full((1, 2, 2, 2), 16)
    values = (gradient, IMAGE, [2, 2], [], [0, 0], [1, 1], False, indices)
    with pytest.raises(KernelError):
        call(lib, "aten::max_pool2d_with_indices_backward.grad_input", values, [IMAGE])
