"""Operators and arguments that OpInfo's samples reach rarely or never, against eager PyTorch.

What eager refuses the kernels must refuse, and the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import caller, library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402
from .harness.cases import DTYPES  # noqa: E402
from .random_cases import CASES, CL, Maker, agree, eager_out, schema_of  # noqa: E402

pytestmark = pytest.mark.conformance

COMPLEX = {torch.complex64: 9, torch.complex128: 10}
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
NUMBERS = (0, 1, 2, -1, -3, 7, 100, 300, -129, 70000, 2**40, True, False, 0.5, -1.5, 3.7, 1e10)
NUMBERS = (*NUMBERS, math.inf, -math.inf, math.nan)
aten = torch.ops.aten
EMPTY_DIM_ORDER = torch._C.parse_schema(
    "dim_order_ops::_empty_dim_order.out(int[] size, *, int[]? dim_order, Tensor(a!) out) "
    "-> Tensor(a!)"
)


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


def of_numbers(m: Maker, operator: str) -> tuple[list[Any], Any]:
    """Arguments of an operator that makes a tensor of numbers, and a result of some dtype."""
    like = torch.empty([1] * 4, dtype=m.pick(DTYPES))
    number = m.pick(NUMBERS)
    sizes = m.shape()
    if m.chance(0.05) and 0 not in sizes:  # with a 0 eager takes even that
        sizes = [*sizes, -1]
    makers: dict[str, Callable[[], list[Any]]] = {
        "full.out": lambda: [sizes, number],
        "ones.out": lambda: [sizes],
        "zeros.out": lambda: [sizes],
        "full_like.out": lambda: [m.tensor(like.dtype), number, None],
        "scalar_tensor.out": lambda: [number],
        "fill.Scalar_out": lambda: [m.tensor(like.dtype), number],
        "fill.Tensor_out": lambda: [
            m.tensor(like.dtype), m.tensor(m.pick(DTYPES), m.pick(([], [], [], [1]))),
        ],
    }  # fmt: skip
    return makers[operator](), like


@pytest.mark.parametrize(
    "operator",
    """full.out ones.out zeros.out full_like.out scalar_tensor.out fill.Scalar_out
    fill.Tensor_out""".split(),  # noqa: SIM905
)
def test_tensors_of_numbers(lib: Library, operator: str) -> None:
    m = Maker(operator)
    failures = []
    for i in range(CASES * 2):
        values, like = of_numbers(m, operator)
        expected = eager_out(f"aten::{operator}", values, [like])
        failures.append(agree(lib, f"aten::{operator}", values, expected, [like], i))
    assert not any(failures), "\n".join(filter(None, failures))


def test_empty_has_the_sizes_asked_for(lib: Library) -> None:
    m = Maker("empty")
    for _ in range(CASES):
        like = torch.empty(m.shape(), dtype=m.pick(DTYPES))
        for operator, schema in (
            ("aten::empty.out", schema_of("aten::empty.out")),
            ("dim_order_ops::_empty_dim_order.out", EMPTY_DIM_ORDER),
        ):
            (got,) = lib.call(operator, schema, [list(like.shape), None], [Out.like(like, 1)])
            assert got.shape == like.shape
            with pytest.raises(KernelError):
                lib.call(operator, schema, [[*like.shape, -1], None], [Out.like(like)])


@pytest.mark.parametrize("operator", ["arange.out", "arange.start_out"])
def test_arange(lib: Library, operator: str) -> None:
    m = Maker(operator)
    failures = []
    for i in range(CASES * 4):
        like = torch.empty(1, dtype=m.pick((*FLOATS, *INTEGERS)))
        ends = (0, 1, 5, -4, 12, 2.5, -3.25, 7.0, 0.3, m.random.uniform(-20, 20), math.nan)
        steps = (1, 1, 2, -1, -3, 0, 0.5, -0.25, 0.1, m.random.uniform(-2, 2))
        values = [m.pick(ends)]
        if operator == "arange.start_out":
            values = [m.pick(ends), m.pick(ends), m.pick(steps)]
        expected = eager_out(f"aten::{operator}", values, [like])
        failures.append(agree(lib, f"aten::{operator}", values, expected, [like], i))
    assert not any(failures), "\n".join(filter(None, failures))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(lib: Library, approximate: str) -> None:
    """Eager's vectorised gelu of +inf is NaN or inf by dtype and by the number of elements: that of
    one element, inf, is the rule here."""
    m = Maker(approximate)
    failures = []
    for i in range(CASES):
        dtype = m.pick((*FLOATS, torch.int32, torch.bool)) if i else torch.float32
        x = m.tensor(dtype)
        values = [x, approximate]
        expected = eager_out("aten::gelu.out", values, [x])
        if expected is not None and dtype.is_floating_point:
            one = aten.gelu(torch.tensor(math.inf, dtype=dtype), approximate=approximate)
            expected = (torch.where(x == math.inf, one, expected[0]),)
        failures.append(agree(lib, "aten::gelu.out", values, expected, [x], i))
    assert not any(failures), "\n".join(filter(None, failures))
    with pytest.raises(KernelError):
        x = torch.ones(3)
        lib.call("aten::gelu.out", schema_of("aten::gelu.out"), [x, "erf"], [Out.like(x)])


def test_logit(lib: Library) -> None:
    """In Half and BFloat16 the result is that of Float, rounded once: eager's CPU kernel rounds
    every step, and `eps`, its CUDA kernel and decompositions do not."""
    m = Maker("logit")
    failures = []
    for i in range(CASES):
        dtype = m.pick((*FLOATS, torch.int64, torch.bool))
        x = torch.rand(m.shape()).to(dtype) if dtype.is_floating_point else m.tensor(dtype)
        if x.numel() and dtype.is_floating_point and m.chance(0.5):
            x.view(-1)[0] = m.pick((0.0, 1.0, math.nan, -1.0, 2.0))
        eps = m.pick((None, 0.0, 1e-6, 0.1))
        wide = x.float() if dtype in (torch.float16, torch.bfloat16) else x
        expected = aten.logit(wide, eps)
        expected = expected.to(dtype) if dtype.is_floating_point else expected
        failures.append(agree(lib, "aten::logit.out", [x, eps], [expected], [x], i))
    assert not any(failures), "\n".join(filter(None, failures))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_scattered_elements(lib: Library, dtype: Any) -> None:
    """Many values at one place: they add up in Float for Half and BFloat16, and round once."""
    m = Maker(f"scatter {dtype}")
    failures = []
    for i in range(CASES):
        t = m.tensor(dtype, [m.pick((1, 2, 40, 70)) for _ in range(m.pick((1, 2, 3)))])
        dim = m.random.randrange(t.dim())
        shape = list(t.shape)
        shape[dim] = m.pick((1, 5, 100))
        index = torch.randint(0, t.shape[dim], shape)
        src = torch.randn(shape).to(dtype)
        values = [t, dim - t.dim(), index, src]
        expected = aten.scatter_add(*values)
        failures.append(agree(lib, "aten::scatter_add.out", values, [expected], [t], i))
    assert not any(failures), "\n".join(filter(None, failures))


def test_complex_operators(lib: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    for known, code in COMPLEX.items():
        monkeypatch.setitem(caller.DTYPES, known, code)
    m = Maker("complex")
    failures = []
    for i in range(CASES):
        x = m.tensor(m.pick(tuple(COMPLEX)))
        conjugate = aten._conj_physical(x)
        failures.append(agree(lib, "aten::_conj_physical.out", [x], [conjugate], [x], i))
        parts = torch.view_as_real(x.contiguous()).clone()
        failures.append(
            agree(lib, "aten::view_as_real_copy.out", [x.contiguous()], [parts], [parts], i)
        )
    assert not any(failures), "\n".join(filter(None, failures))


def test_batch_norm_that_updates_its_statistics(lib: Library) -> None:
    m = Maker("batch norm")
    operator = "aten::_native_batch_norm_legit.out"
    for i in range(CASES):
        shape = [
            m.pick((2, 3)),
            m.pick((1, 2, 3)),
            *(m.pick((2, 3)) for _ in range(m.pick((0, 1, 2)))),
        ]
        x = torch.randn(shape, dtype=m.pick((torch.float32, torch.float64)))
        if x.dim() == 4 and m.chance(0.5):
            x = x.contiguous(memory_format=CL)
        weight, bias, mean = (torch.randn(shape[1], dtype=x.dtype) for _ in range(3))
        var = torch.rand(shape[1], dtype=x.dtype) + 0.1
        if m.chance(0.3):
            weight = bias = None
        training = m.chance(0.7)
        rest = (training, m.random.random(), 1e-5)
        ours = [mean.clone(), var.clone()]
        expected = aten._native_batch_norm_legit(x, weight, bias, mean, var, *rest)
        problem = agree(lib, operator, [x, weight, bias, *ours, *rest], expected, expected, i)
        assert not problem
        torch.testing.assert_close(ours, [mean, var])


def test_distances(lib: Library) -> None:
    m = Maker("pdist")
    failures = []
    for i in range(CASES):
        x = m.tensor(
            m.pick((torch.float32, torch.float64)), [m.pick((0, 1, 2, 5)), m.pick((0, 1, 4))]
        )
        values = [x, m.pick((0.0, 1.0, 2.0, 0.5, 3.0, math.inf, -1.0))]
        if values[1] < 0:
            failures.append(agree(lib, "aten::_pdist_forward.out", values, None, [x], i))
            continue
        expected = torch.nn.functional.pdist(*values)
        failures.append(agree(lib, "aten::_pdist_forward.out", values, [expected], [x], i))
    assert not any(failures), "\n".join(filter(None, failures))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64])
@pytest.mark.parametrize("align", [False, True])
def test_resampling(lib: Library, dtype: Any, align: bool) -> None:
    """Bytes are resampled in whole numbers, along the width first, as eager does it.

    Eager errs in images of one column (their strides mislead it): the reference has two, or lies
    on its side.
    """
    m = Maker(f"resample {dtype} {align}")
    antialias, plain = "aten::_upsample_bilinear2d_aa.out", "aten::upsample_bilinear2d.vec_out"
    failures = []
    for i in range(CASES):
        shape = [m.pick((1, 2)), m.pick((1, 3, 5)), m.random.randint(1, 9), m.random.randint(1, 9)]
        bytes_or_floats = (
            torch.randint(0, 256, shape) if dtype == torch.uint8 else torch.rand(shape)
        )
        x = bytes_or_floats.to(dtype)
        x = x.contiguous(memory_format=CL) if m.chance(0.5) else x
        size = [m.random.randint(1, 20), m.random.randint(1, 20)]
        double = x.shape[3] == 1
        reference = torch.cat([x, x], 3) if double else x
        to = [size[0], 2 if double else size[1]]
        expected = [
            aten._upsample_bilinear2d_aa(reference, to, align),
            aten.upsample_bilinear2d(reference, to, align, None),
        ]
        if double:
            expected = [e[..., :1].repeat(1, 1, 1, size[1]) for e in expected]
        elif size[1] == 1 and dtype != torch.uint8:
            lying = aten._upsample_bilinear2d_aa(x.mT.contiguous(), to[::-1], align)
            expected[0] = lying.mT.contiguous()
        failures += [
            agree(lib, antialias, [x, size, align, None, None], expected[:1], [x], i),
            agree(lib, plain, [x, size, align, None], expected[1:], [x], i),
        ]
        if not double:
            values = [x, None, align, [m.random.uniform(1, 3), m.pick((1.0, 1.1, 2.0))]]
            result = aten.upsample_bilinear2d(*values)
            failures.append(agree(lib, plain, values, [result], [x], i))
    assert not any(failures), "\n".join(filter(None, failures))


ALLCLOSE = torch._C.parse_schema(
    "aten::allclose.out(Tensor self, Tensor other, float rtol, float atol, bool equal_nan, "
    "bool dummy_param, *, Tensor(a!) out) -> Tensor(a!)"
)


def test_allclose(lib: Library) -> None:
    m = Maker("allclose")
    answers = set()
    for _ in range(CASES * 2):
        x = m.tensor(m.pick(DTYPES))
        y = x.clone()
        if y.numel() and m.chance(0.6):
            near = m.pick((1, 1e-3, 1e-6, 1e-9))
            y = y + near if y.is_floating_point() else y.roll(1)
        nan = m.chance(0.5)
        rtol, atol = m.pick((1e-5, 0.0, 0.1)), m.pick((1e-8, 0.0, 2e-3))
        out = Out.like(torch.empty([], dtype=torch.bool))
        (got,) = lib.call("aten::allclose.out", ALLCLOSE, [x, y, rtol, atol, nan, False], [out])
        in_float = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        assert bool(got) == torch.allclose(in_float, y.to(in_float.dtype), rtol, atol, nan), (x, y)
        answers.add(bool(got))
    assert answers == {True, False}
    for other in (torch.ones(2, dtype=torch.int32), torch.ones(3)):
        with pytest.raises(KernelError):
            lib.call(
                "aten::allclose.out",
                ALLCLOSE,
                [torch.ones(2), other, 0.0, 0.0, False, False],
                [Out.like(torch.empty([], dtype=torch.bool))],
            )


def test_masks_without_dims_are_refused(lib: Library) -> None:
    """Eager's index drops such a mask, or fails an assertion of its own: see docs/kernels.md."""
    mask = torch.tensor(True)
    x, row = torch.ones(2, 3), torch.tensor([0, 1])
    for where in ([mask], [None, mask], [mask, row], [row, mask]):
        with pytest.raises(KernelError):
            lib.call(
                "aten::index.Tensor_out",
                schema_of("aten::index.Tensor_out"),
                [x, where],
                [Out.like(x)],
            )
        with pytest.raises(KernelError):
            lib.call(
                "aten::index_put_", schema_of("aten::index_put_"), [x, where, x[0, 0], False], []
            )


def test_random_numbers_of_any_shape(lib: Library) -> None:
    m = Maker("random")
    for i in range(CASES):
        like = torch.empty(m.shape(), dtype=m.pick(FLOATS))
        for operator in ("aten::rand.out", "aten::randn.out"):
            out = Out.like(like, i % 2)
            (got,) = lib.call(operator, schema_of(operator), [list(like.shape)], [out])
            assert got.shape == like.shape
            assert bool(got.isfinite().all())
            assert operator != "aten::rand.out" or bool(((got >= 0) & (got < 1)).all())
        x = m.tensor(like.dtype)
        p, train = m.pick((0.0, 0.25, 0.5, 1.0)), m.pick((True, True, False, None))
        operator = "aten::native_dropout.out"
        outs = [Out.like(x, i % 2), Out.like(x.bool(), i % 2)]
        got, mask = lib.call(operator, schema_of(operator), [x, p, train], outs)
        keep = 1 - p if train or train is None else 1.0
        assert mask.all() or keep < 1
        scale = 1 / keep if keep else 0.0
        expected = (x.float() * mask * scale).to(x.dtype) if keep < 1 else x
        torch.testing.assert_close(got, expected, equal_nan=True)


def test_repeat_interleave(lib: Library) -> None:
    m = Maker("repeat_interleave")
    operator = "aten::repeat_interleave.Tensor_out"
    failures = []
    for i in range(CASES):
        repeats = torch.randint(-1 if m.chance(0.1) else 0, 5, m.shape((0, 1, 1, 1, 2)))
        repeats = repeats.to(m.pick((torch.int64, torch.int32)))
        values = [repeats, m.pick((None, int(repeats.sum()), 3))]
        expected = eager_out(operator, values, [repeats])
        failures.append(agree(lib, operator, values, expected, [repeats], i))
    assert not any(failures), "\n".join(filter(None, failures))


@pytest.mark.parametrize("operator", ["remainder.Scalar_out", "fmod.Scalar_out"])
def test_numbers_that_are_zero_in_the_common_dtype(lib: Library, operator: str) -> None:
    """Dividing by 256 in a tensor of bytes is dividing by zero."""
    for dtype, divisor in ((torch.uint8, 256), (torch.int8, -512), (torch.int32, 2**32)):
        x = torch.ones(3, dtype=dtype)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            getattr(aten, operator.partition(".")[0])(x, divisor)
        with pytest.raises(KernelError):
            values = [x, divisor]
            lib.call(f"aten::{operator}", schema_of(f"aten::{operator}"), values, [Out.like(x)])
