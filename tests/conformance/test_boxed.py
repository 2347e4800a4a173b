"""The boxed operators, most of them on numbers, against Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import library  # noqa: E402
from .harness.caller import KernelError, Library, Out  # noqa: E402
from .harness.cases import DTYPES  # noqa: E402
from .random_cases import CASES, Maker  # noqa: E402

pytestmark = pytest.mark.conformance

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


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


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
