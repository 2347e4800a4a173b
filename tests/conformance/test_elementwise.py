"""Elementwise kernels against eager torch where OpInfo's samples are thin: every pair of dtypes,
0-d and empty operands, channels-last, extreme integers, NaN and infinities, numbers out of range.

What eager refuses the kernels must refuse, and the other way round.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("torch", reason="run by make conformance")

import torch

from .harness import caller, library
from .harness.caller import KernelError, Library, Out
from .harness.cases import DTYPES, brief, find_overload

pytestmark = pytest.mark.conformance

CASES = 150  # an operator
NUMBERS = (0, 1, 2, 3, -1, -2, 7, 100, 300, True, False, 0.5, 2.0, -1.5, 3.7)
MODES = (None, "floor", "trunc")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")

# What follows the two operands, by operator.
TWO_TENSORS: dict[str, tuple[Any, ...]] = {
    "add.out": (1, 1, 2, -1, 0.5, True),
    "sub.out": (1, 1, 2, -1, 0.5, True),
    "div.out_mode": MODES,
    **dict.fromkeys((f"{n}.Tensor_out" for n in (*COMPARISONS, *BITWISE, *SHIFTS)), ()),
    **dict.fromkeys(("mul.out", "div.out", "floor_divide.out", "atan2.out", "maximum.out"), ()),
    **dict.fromkeys(("minimum.out", "fmod.Tensor_out", "remainder.Tensor_out"), ()),
    **dict.fromkeys(("pow.Tensor_Tensor_out", "logical_and.out", "logical_or.out"), ()),
    "logical_xor.out": (),
}
TENSOR_AND_NUMBER: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("add.Scalar_out", "sub.Scalar_out", "rsub.Scalar_out"), (1, 1, 2, 0.5)),
    "div.Scalar_mode_out": MODES,
    **dict.fromkeys((f"{n}.Scalar_out" for n in (*COMPARISONS, *BITWISE)), ()),
    **dict.fromkeys((f"{n}.Tensor_Scalar_out" for n in (*SHIFTS, "pow")), ()),
    **dict.fromkeys(("mul.Scalar_out", "div.Scalar_out", "fmod.Scalar_out"), ()),
    **dict.fromkeys(("remainder.Scalar_out", "leaky_relu.out", "fill.Scalar_out"), ()),
}
ONE_TENSOR = """abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh erf exp expm1 floor
isinf isnan log log10 log1p log2 logical_not neg reciprocal relu round rsqrt sigmoid sign sin sinh
sqrt tan tanh trunc""".split()  # noqa: SIM905
OTHERS = ("pow.Scalar_out", "where.self_out", "masked_fill.Scalar_out", "clamp.out")
OTHERS += ("clamp.Tensor_out", "hardtanh.out", "elu.out", "copy.out", "_to_copy.out", "cat.out")
OPERATORS = (*TWO_TENSORS, *TENSOR_AND_NUMBER, *(f"{n}.out" for n in ONE_TENSOR), *OTHERS)


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


class Maker:
    """Random operands of one operator, from a seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        torch.manual_seed(self.random.randrange(2**31))
        self.shape: list[int] = []

    def new_shape(self) -> None:
        """The shape that all operands of the next case broadcast to."""
        pick = self.random.choice
        self.shape = [pick((1, 2, 3, 5)) for _ in range(pick((0, 1, 2, 3, 4, 4)))]
        if self.shape and self.random.random() < 0.05:
            self.shape[self.random.randrange(len(self.shape))] = 0

    def part(self) -> list[int]:
        """A shape that broadcasts to it."""
        drop = self.random.choice((0, 0, self.random.randint(0, len(self.shape))))
        return [1 if self.random.random() < 0.25 else n for n in self.shape[drop:]]

    def tensor(self, dtype: Any, shape: list[int] | None = None) -> Any:
        shape = self.part() if shape is None else shape
        wild = self.random.random() < 0.3
        if dtype == torch.bool:
            t = torch.randint(0, 2, shape).bool()
        elif dtype.is_floating_point:
            t = (torch.randn(shape) * 4).to(dtype)
            if wild and t.numel():
                special = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0)
                t.view(-1)[self.random.randrange(t.numel())] = self.random.choice(special)
        else:
            info = torch.iinfo(dtype)
            low, high = (info.min, info.max) if wild else (max(-6, info.min), 6)
            t = torch.randint(low, high, shape, dtype=dtype)
        if t.dim() == 4 and self.random.random() < 0.3:
            t = t.contiguous(memory_format=torch.channels_last)
        return t

    def values(self, operator: str) -> list[Any]:
        """The arguments of a call."""
        pick = self.random.choice
        self.new_shape()
        first = pick(DTYPES)
        second = pick((first, pick(DTYPES), pick(DTYPES)))
        a, b, number = self.tensor(first), self.tensor(second), pick(NUMBERS)
        if operator in TWO_TENSORS:
            return [a, b, *([pick(TWO_TENSORS[operator])] if TWO_TENSORS[operator] else [])]
        if operator in TENSOR_AND_NUMBER:
            rest = TENSOR_AND_NUMBER[operator]
            return [a, number, *([pick(rest)] if rest else [])]
        special: dict[str, list[Any]] = {
            "pow.Scalar_out": [number, a],
            "where.self_out": [self.tensor(torch.bool), a, b],
            "masked_fill.Scalar_out": [a, self.tensor(torch.bool), number],
            "clamp.out": [a, pick((None, number)), pick((None, pick(NUMBERS)))],
            "clamp.Tensor_out": [a, pick((None, b)), pick((None, self.tensor(first)))],
            "hardtanh.out": [a, pick((-1, 0, 0.5)), pick((1, 2.5, 3))],
            "elu.out": [a, pick((1, 0.5)), pick((1, 1.5)), pick((1, 0.7))],
            "copy.out": [self.tensor(first, self.shape), b, False],
            "_to_copy.out": [a, False, None],
        }
        if operator == "cat.out":
            dim = self.random.randrange(max(len(self.shape), 1))
            tensors = [self.tensor(pick((first, second)), self.shape) for _ in range(3)]
            return [tensors, dim]
        if operator in ("sinh.out", "cosh.out") and first not in (torch.bool, torch.float64):
            a = a.clamp(-80, 80)  # eager's vectorised versions overflow at 88.7 instead of 89.4
        return special.get(operator, [a])


def eager(operator: str, values: list[Any], maker: Maker) -> Any:
    """Eager's result, None where it refuses the arguments."""
    base = operator.partition(".")[0]
    try:
        if operator == "_to_copy.out":
            return values[0].to(maker.random.choice(DTYPES))
        if operator == "copy.out":
            return values[0].clone().copy_(values[1])
        overload = find_overload(f"aten::{operator}")
        arguments = [a for a in overload._schema.arguments if not a.is_out]
        pairs = list(zip(values, arguments, strict=True))
        positional = [v for v, a in pairs if not a.kwarg_only]
        return getattr(torch.ops.aten, base)(
            *positional, **{a.name: v for v, a in pairs if a.kwarg_only}
        )
    except (RuntimeError, IndexError, NotImplementedError):
        return None


def check(lib: Library, operator: str, values: list[Any], expected: Any, grow: int) -> None:
    """The kernel agrees with eager, in its result or in its refusal."""
    schema = find_overload(f"aten::{operator}")._schema
    out = Out.like(expected if expected is not None else torch.empty([1] * 4), grow)
    if expected is None:
        with pytest.raises(KernelError):
            lib.call(f"aten::{operator}", schema, values, [out])
        return
    (actual,) = lib.call(f"aten::{operator}", schema, values, [out])
    torch.testing.assert_close(actual, expected, equal_nan=True, check_stride=False)


@pytest.mark.parametrize("operator", OPERATORS)
def test_like_eager(lib: Library, operator: str) -> None:
    maker = Maker(operator)
    failures = []
    for number in range(CASES):
        values = maker.values(operator)
        expected = eager(operator, values, maker)
        try:
            check(lib, operator, values, expected, grow=number % 2)
        except (AssertionError, KernelError, pytest.fail.Exception) as error:
            text = " ".join(str(error).split())[:300]
            failures.append(f"{', '.join(map(brief, values))}: {text}")
    assert not failures, "\n".join(failures)


COMPLEX = {torch.complex64: 9, torch.complex128: 10}


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex(lib: Library, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arithmetic of complex tensors, and operators that move elements of any size."""
    for known, number in COMPLEX.items():
        monkeypatch.setitem(caller.DTYPES, known, number)
    torch.manual_seed(0)
    a, b, row = (torch.randn(n, dtype=dtype) for n in ((2, 3, 4), (2, 3, 4), (4,)))
    channels_last = torch.randn((2, 3, 4, 5), dtype=dtype).contiguous(
        memory_format=torch.channels_last
    )
    calls: dict[str, list[list[Any]]] = {
        "add.out": [[a, b, 1], [a, row, 2], [row, a, 0.5]],
        "sub.out": [[a, b, 1], [a, row, 3]],
        "mul.out": [[a, b], [row, a], [channels_last, channels_last]],
        "_conj_physical.out": [[a], [channels_last]],
        "view_as_real_copy.out": [[a], [row]],
        "permute_copy.out": [[a, [2, 0, 1]]],
        "slice_copy.Tensor_out": [[a, 1, 1, None, 1]],
        "cat.out": [[[a, b], 1]],
        "clone.out": [[a, None]],
        "expand_copy.out": [[row, [3, 4], False]],
        "index_select.out": [[a, 2, torch.tensor([3, 0])]],
    }
    maker = Maker("complex")
    for operator, arguments in calls.items():
        for values in arguments:
            expected = eager(operator, values, maker)
            assert expected is not None, operator
            check(lib, operator, values, expected, grow=0)
