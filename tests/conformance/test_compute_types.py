"""The dtypes that comparisons compute in, against torch.result_type for every pair of operands."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("torch", reason="run by make conformance")

import torch
from gen_kernels.selective.compute_types import computed_in
from gen_kernels.selective.program import ValueKind

from .harness.caller import DTYPES

pytestmark = pytest.mark.conformance

TYPES = {dtype: number for dtype, number in DTYPES.items() if number <= 15}
NUMBERS = {ValueKind.INT: 3, ValueKind.DOUBLE: 2.5, ValueKind.BOOL: True}
BOOL = 11


def test_tensors() -> None:
    """Whatever the ranks, the common dtype is selected."""
    for (a, one), (b, other) in product(TYPES.items(), repeat=2):
        known = {one, other, BOOL}
        selected = known | computed_in("aten::lt.Tensor_out", known, [])
        for left, right in product([(2,), ()], repeat=2):
            common = torch.result_type(torch.ones(left, dtype=a), torch.ones(right, dtype=b))
            assert TYPES[common] in selected, (a, b, left, right)


def test_numbers() -> None:
    """With a number whose kind is known the common dtype is selected, and no other."""
    for (dtype, one), (kind, number) in product(TYPES.items(), NUMBERS.items()):
        known = {one, BOOL}
        found = computed_in("aten::lt.Scalar_out", known, [kind])
        common = TYPES[torch.result_type(torch.ones(2, dtype=dtype), number)]
        assert found == {common} - known, (dtype, number)
        assert common in known | computed_in("aten::lt.Scalar_out", known)
