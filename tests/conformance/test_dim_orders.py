"""Operators that change a tensor's dim order or its device, and arguments of several dim orders."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import caller, library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402
from .harness.cases import DTYPES  # noqa: E402
from .random_cases import CASES, CL, Maker, schema_of  # noqa: E402

pytestmark = pytest.mark.conformance

TO_DIM_ORDER = torch._C.parse_schema(
    "dim_order_ops::_to_dim_order_copy.out(Tensor self, bool non_blocking, int[]? dim_order, *, "
    "Tensor(a!) out) -> Tensor(a!)"
)
ONE_COPY = torch._C.parse_schema(
    "et_copy::_h2d_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
)


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


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
