"""Operators and arguments that OpInfo's samples reach rarely or never, against eager PyTorch, and
the boxed operators on numbers against Python.

What eager refuses the kernels must refuse, and the other way round.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import caller, library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402
from .harness.cases import DTYPES, brief, find_overload  # noqa: E402

pytestmark = pytest.mark.conformance

CASES = 60  # an operator
COMPLEX = {torch.complex64: 9, torch.complex128: 10}
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
NUMBERS = (0, 1, 2, -1, -3, 7, 100, 300, -129, 70000, 2**40, True, False, 0.5, -1.5, 3.7, 1e10)
NUMBERS = (*NUMBERS, math.inf, -math.inf, math.nan)
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0)
CL = torch.channels_last
aten = torch.ops.aten


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


class Maker:
    """Random arguments of one operator, from a seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        torch.manual_seed(self.random.randrange(2**31))
        self.pick = self.random.choice

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def shape(self, ranks: Sequence[int] = (0, 1, 2, 3, 4, 4)) -> list[int]:
        shape = [self.pick((1, 2, 3, 4)) for _ in range(self.pick(ranks))]
        if shape and self.chance(0.1):
            shape[self.random.randrange(len(shape))] = 0
        return shape

    def tensor(self, dtype: Any, shape: Sequence[int] | None = None) -> Any:
        shape = self.shape() if shape is None else shape
        if dtype == torch.bool:
            t = torch.randint(0, 2, shape).bool()
        elif dtype.is_floating_point or dtype.is_complex:
            t = (torch.randn(shape) * 3).to(dtype)
            if t.numel() and not dtype.is_complex and self.chance(0.3):
                t.view(-1)[self.random.randrange(t.numel())] = self.pick(SPECIAL)
        else:
            t = torch.randint(0, 100, shape).to(dtype)
        return t.contiguous(memory_format=CL) if t.dim() == 4 and self.chance(0.3) else t


def schema_of(operator: str) -> Any:
    overload = find_overload(operator)
    assert overload is not None, operator
    return overload._schema


def eager_out(operator: str, values: Sequence[Any], likes: Sequence[Any]) -> Any:
    """What eager's own out variant writes into tensors of the dtypes of `likes`; None: refused."""
    overload = find_overload(operator)
    arguments = overload._schema.arguments
    outs = {a.name: torch.empty(0, dtype=t.dtype) for a, t in zip(
        (a for a in arguments if a.is_out), likes, strict=True)}  # fmt: skip
    plain = [a for a in arguments if not a.is_out]
    positional = [v for v, a in zip(values, plain, strict=True) if not a.kwarg_only]
    named = {a.name: v for v, a in zip(values, plain, strict=True) if a.kwarg_only}
    try:
        overload(*positional, **named, **outs)
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None
    return tuple(outs.values())


def agree(
    lib: Library,
    operator: str,
    values: Sequence[Any],
    expected: Sequence[Any] | None,
    likes: Sequence[Any],
    number: int,
    **tolerance: float,
) -> str:
    """Empty when the kernel does as expected, else what is wrong."""
    schema = schema_of(operator)
    outs = [Out.like(t, number % 2) for t in (expected or likes)]
    text = f"{operator}({', '.join(map(brief, values))}) -> {outs[0].dtype}"
    try:
        actual = lib.call(operator, schema, values, outs)
    except KernelError as error:
        return "" if expected is None else f"{text}: {error}"
    if expected is None:
        return f"{text}: eager refuses it"
    try:
        for got, wanted in zip(actual, expected, strict=True):
            torch.testing.assert_close(got, wanted, equal_nan=True, check_stride=False, **tolerance)
    except AssertionError as error:
        return f"{text}: {' '.join(str(error).split())[:200]}"
    return ""


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


def test_copies_in_place(lib: Library) -> None:
    m = Maker("copy_")
    for _ in range(CASES * 2):
        x = m.tensor(m.pick(DTYPES), m.shape((0, 1, 2, 3, 4)))
        source = m.tensor(m.pick(DTYPES), [1 if m.chance(0.2) else n for n in x.shape])
        if m.chance(0.1):
            source = m.tensor(x.dtype, [*x.shape, 5])
        expected = x.clone()
        try:
            expected.copy_(source)
        except RuntimeError:
            before = x.clone()
            with pytest.raises(KernelError):
                lib.call("aten::copy_", schema_of("aten::copy_"), [x, source, False], [])
            torch.testing.assert_close(x, before, equal_nan=True)
            continue
        lib.call("aten::copy_", schema_of("aten::copy_"), [x, source, False], [])
        torch.testing.assert_close(x, expected, equal_nan=True)


@pytest.mark.parametrize("accumulate", [False, True])
def test_index_put_in_place(lib: Library, accumulate: bool) -> None:
    m = Maker(f"index_put_ {accumulate}")
    schema = schema_of("aten::index_put_")
    for _ in range(CASES * 2):
        dtype = m.pick((torch.float32, torch.int64, torch.int8, torch.bool, torch.float64))
        x = m.tensor(dtype, [m.pick((1, 2, 3, 4)) for _ in range(m.pick((1, 2, 3)))])
        x = x.nan_to_num(0, 1, 2) if dtype.is_floating_point else x
        where: list[Any] = []
        length = m.pick((1, 2, 5))
        for size in x.shape[: m.random.randint(1, x.dim())]:
            kind = m.random.random()
            if kind < 0.25:
                where.append(None)
            elif kind < 0.4 and not any(w is not None for w in where):
                where.append(torch.rand(size) < 0.5)
                break
            else:
                where.append(torch.randint(-size, size + m.chance(0.05), [length]))
        values = torch.randint(0, 9, m.pick(([], [], [7]))).to(dtype)
        expected = x.clone()
        before = x.clone()
        try:
            aten.index_put_(expected, where, values, accumulate)
        except (RuntimeError, IndexError):
            with pytest.raises(KernelError):
                lib.call("aten::index_put_", schema, [x, where, values, accumulate], [])
            assert torch.equal(x, before)
            continue
        lib.call("aten::index_put_", schema, [x, where, values, accumulate], [])
        torch.testing.assert_close(x, expected)


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


EMPTY_DIM_ORDER = torch._C.parse_schema(
    "dim_order_ops::_empty_dim_order.out(int[] size, *, int[]? dim_order, Tensor(a!) out) "
    "-> Tensor(a!)"
)
TO_DIM_ORDER = torch._C.parse_schema(
    "dim_order_ops::_to_dim_order_copy.out(Tensor self, bool non_blocking, int[]? dim_order, *, "
    "Tensor(a!) out) -> Tensor(a!)"
)
ONE_COPY = torch._C.parse_schema(
    "et_copy::_h2d_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
)


@pytest.mark.parametrize("operator", ["_to_dim_order_copy", "_clone_dim_order"])
def test_dim_orders(lib: Library, operator: str) -> None:
    """The results have the dim order that was planned for them, and the values of the input."""
    m = Maker(operator)
    name = f"dim_order_ops::{operator}.out"
    for i in range(CASES * 2):
        x = m.tensor(m.pick(DTYPES))
        dtype = m.pick(DTYPES) if operator.startswith("_to") else x.dtype
        expected = x.to(dtype)
        if x.dim() == 4 and m.chance(0.5):
            expected = expected.contiguous(memory_format=m.pick((CL, torch.contiguous_format)))
        out = Out.like(expected, i % 2)
        order = m.pick((None, list(out.dim_order)))
        (got,) = lib.call(name, TO_DIM_ORDER, [x, False, order], [out])
        torch.testing.assert_close(got, expected, equal_nan=True, check_stride=False)
        if x.dim() > 1:
            with pytest.raises(KernelError):
                wrong = list(reversed(out.dim_order))
                lib.call(name, TO_DIM_ORDER, [x, False, wrong], [Out.like(expected)])


@pytest.mark.parametrize("operator", ["et_copy::_h2d_copy.out", "et_copy::_d2h_copy.out"])
def test_device_copies(lib: Library, operator: str) -> None:
    m = Maker(operator)
    for i in range(CASES):
        x = m.tensor(m.pick(DTYPES))
        (got,) = lib.call(operator, ONE_COPY, [x], [Out.like(x, i % 2)])
        torch.testing.assert_close(got, x, equal_nan=True)
    with pytest.raises(KernelError):
        lib.call(operator, ONE_COPY, [torch.ones(2)], [Out.like(torch.ones(2).int())])


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


# ---- Boxed operators ----


PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "truediv": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
    "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "le": lambda a, b: a <= b,
    "sym_max": lambda a, b: a if a >= b else b,
    "sym_min": lambda a, b: a if a <= b else b,
}
SINGLES: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "sym_float": float,
    "sym_int": int,
    "sym_not": lambda a: not a,
}
WORDS = (0, 1, 2, -1, -3, 7, 10, 2**31, -(2**31), 2**53, 2**62, -(2**63), 2**63 - 1)
REALS = (0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.7, -3.7, 1e18, -1e18)


def wrapped(value: Any) -> Any:
    """Integers wrap at 64 bits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value + 2**63) % 2**64 - 2**63
    return value


def number_call(lib: Library, name: str, values: Sequence[Any]) -> Any:
    arguments = ", ".join(f"Scalar a{i}" for i in range(len(values)))
    schema = torch._C.parse_schema(f"{name}({arguments}) -> Scalar")
    (got,) = lib.call(name, schema, values, [])
    return got


@pytest.mark.parametrize("name", PAIRS)
def test_operators_on_two_numbers(lib: Library, name: str) -> None:
    m = Maker(name)
    for _ in range(CASES * 2):
        a, b = m.pick((*WORDS, *REALS)), m.pick((*WORDS, *REALS))
        mixed = isinstance(a, float) or isinstance(b, float)
        operators = [f"executorch_prim::{name}.Scalar"]
        if name in ("floordiv", "mod"):
            operators.append(f"executorch_prim::{name}.int")
        if mixed and name not in ("sym_max", "sym_min", "truediv"):
            a, b = float(a), float(b)
        for operator in operators:
            refused = (name in ("floordiv", "truediv", "mod") and b == 0) or (
                mixed and (operator.endswith(".int") or name == "mod")
            )
            if refused:
                with pytest.raises(KernelError):
                    number_call(lib, operator, [a, b])
                continue
            expected = (
                PAIRS[name](float(a), float(b)) if name == "truediv" else wrapped(PAIRS[name](a, b))
            )
            got = number_call(lib, operator, [a, b])
            assert type(got) is type(expected), (operator, a, b)
            assert got == expected, (operator, a, b)


@pytest.mark.parametrize("name", SINGLES)
def test_operators_on_one_number(lib: Library, name: str) -> None:
    for a in (*WORDS, *REALS):
        got = number_call(lib, f"executorch_prim::{name}.Scalar", [a])
        assert got == wrapped(SINGLES[name](a)), a
        assert isinstance(got, bool) == (name == "sym_not")
    if name in ("ceil", "round", "trunc", "sym_int"):
        for a in (math.nan, math.inf, 1e300):
            with pytest.raises(KernelError):
                number_call(lib, f"executorch_prim::{name}.Scalar", [a])


def test_a_number_by_condition(lib: Library) -> None:
    m = Maker("ite")
    for _ in range(CASES):
        condition = m.pick((True, False, 0, 1, 2, 0.0, 0.5))
        a, b = m.pick((*WORDS, *REALS)), m.pick((*WORDS, *REALS))
        got = number_call(lib, "executorch_prim::sym_ite.Scalar", [condition, a, b])
        assert got == (a if condition else b)


def test_numbers_of_tensors(lib: Library) -> None:
    m = Maker("numbers of tensors")
    size = torch._C.parse_schema("aten::sym_size.int(Tensor self, int dim) -> SymInt")
    count = torch._C.parse_schema("aten::sym_numel(Tensor self) -> SymInt")
    value = torch._C.parse_schema("aten::_local_scalar_dense(Tensor self) -> Scalar")
    for _ in range(CASES):
        x = m.tensor(m.pick(DTYPES))
        assert lib.call("aten::sym_numel", count, [x], []) == [x.numel()]
        for dim in range(-x.dim(), x.dim()):
            assert lib.call("aten::sym_size.int", size, [x, dim], []) == [x.shape[dim]]
        for dim in (-x.dim() - 1, max(x.dim(), 1)):
            with pytest.raises(KernelError):
                lib.call("aten::sym_size.int", size, [x, dim], [])
        one = m.tensor(x.dtype, [1] * m.pick((0, 1, 2)))
        (got,) = lib.call("aten::_local_scalar_dense", value, [one], [])
        assert got == one.item() or math.isnan(got)
        assert type(got) is type(one.item())
        with pytest.raises(KernelError):
            lib.call("aten::_local_scalar_dense", value, [torch.ones(2)], [])


def test_et_view(lib: Library) -> None:
    """The result shares its input's memory."""
    m = Maker("view")
    operator = "executorch_prim::et_view.default"
    schema = torch._C.parse_schema("executorch_prim::et_view(Tensor self, int[] size) -> Tensor")
    for _ in range(CASES):
        x = m.tensor(m.pick(DTYPES)).contiguous()
        sizes = [n for n in x.shape if n != 1]
        m.random.shuffle(sizes)
        if m.chance(0.3) and sizes:
            sizes[m.random.randrange(len(sizes))] = m.pick((-1, -1, -2, 9))
        try:
            expected = x.view(sizes)
        except RuntimeError:
            with pytest.raises(KernelError):
                lib.call(operator, schema, [x, sizes], [Out.like(torch.empty([9] * len(sizes)))])
            continue
        out = Out.like(torch.empty_like(expected), 1)
        (got,) = lib.call(operator, schema, [x, sizes], [out])
        assert got.shape == expected.shape
        assert out.data == x.data_ptr()


def test_et_copy_index(lib: Library) -> None:
    m = Maker("copy index")
    operator = "executorch_prim::et_copy_index.tensor"
    schema = torch._C.parse_schema(f"{operator}(Tensor copy_to, Tensor copy_from, int index) -> ()")
    for _ in range(CASES):
        part = m.tensor(m.pick(DTYPES), m.shape((0, 1, 2)))
        whole = m.tensor(part.dtype, [3, *part.shape])
        index = m.pick((0, 1, 2, 3, -1))
        expected = whole.clone()
        if not 0 <= index < 3:
            with pytest.raises(KernelError):
                lib.call(operator, schema, [whole, part, index], [])
        else:
            expected[index] = part
            lib.call(operator, schema, [whole, part, index], [])
        torch.testing.assert_close(whole, expected, equal_nan=True)
    for wrong in (torch.ones(2), torch.ones(3).int()):
        with pytest.raises(KernelError):
            lib.call(operator, schema, [torch.ones(3, 3), wrong, 0], [])


@pytest.mark.parametrize("operator", ["relu.out", "exp.out", "abs.out", "isnan.out", "gelu.out"])
def test_other_dim_orders_of_one_tensor_are_refused(lib: Library, operator: str) -> None:
    x = torch.randn(2, 3, 4, 5)
    values = [x, "none"] if operator == "gelu.out" else [x]
    result = x.isnan() if operator == "isnan.out" else x
    out = Out.like(result.contiguous(memory_format=CL))
    with pytest.raises(KernelError):
        lib.call(f"aten::{operator}", schema_of(f"aten::{operator}"), values, [out])
    assert bool((out.storage == caller.GUARD_BYTE).all())


def test_other_dim_orders_of_two_tensors(lib: Library) -> None:
    x = torch.randn(2, 3, 4, 5)
    odd = torch.empty_permuted(x.shape, (3, 1, 0, 2)).copy_(x)
    orders = [x, x.contiguous(memory_format=CL), odd]
    for a in orders:
        for b in (*orders, x[0], x[:, :1].contiguous()):
            for out in orders:
                expected = a + b
                schema = schema_of("aten::add.out")
                (got,) = lib.call("aten::add.out", schema, [a, b, 1], [Out.like(out)])
                torch.testing.assert_close(got, expected, check_stride=False)
