"""Dtypes that comparisons compute in; tests/conformance holds them against PyTorch."""

from __future__ import annotations

import pytest
from gen_kernels.selective.compute_types import computed_in
from gen_kernels.selective.kernel_key import SCALAR_TYPES
from gen_kernels.selective.program import ValueKind
from gen_kernels.selective.select import select

INT, DOUBLE, BOOL = ValueKind.INT, ValueKind.DOUBLE, ValueKind.BOOL


# The third column is torch.result_type of such operands, where it is none of their dtypes.
@pytest.mark.parametrize(
    ("operator", "dtypes", "numbers", "expected"),
    [
        ("aten::lt.Scalar_out", "Long Bool", [DOUBLE], "Float"),
        ("aten::eq.Scalar_out", "Byte Bool", [DOUBLE], "Float"),
        ("aten::eq.Scalar_out", "Long Bool", [INT], ""),
        ("aten::eq.Scalar_out", "Half Bool", [DOUBLE], ""),
        ("aten::ge.Scalar_out", "Bool", [INT], "Long"),
        ("aten::ge.Scalar_out", "Bool", [DOUBLE], "Float"),
        ("aten::ge.Scalar_out", "Bool", [BOOL], ""),
        ("aten::ne.Scalar_out", "Int", None, "Float"),
        ("aten::ne.Scalar_out", "Bool", None, "Float Long"),
        ("aten::gt.Tensor_out", "Byte Char Bool", [], "Short"),
        ("aten::gt.Tensor_out", "Half BFloat16 Bool", [], "Float"),
        ("aten::logical_and.out", "Byte Char Bool", [], "Short"),
        ("aten::gt.Tensor_out", "Int Long Bool", [], ""),
        ("aten::add.Scalar_out", "Long Float", [DOUBLE], ""),
    ],
)
def test_computed_in(
    operator: str, dtypes: str, numbers: list[ValueKind] | None, expected: str
) -> None:
    found = computed_in(operator, [SCALAR_TYPES[name] for name in dtypes.split()], numbers)
    assert found == {SCALAR_TYPES[name] for name in expected.split()}


def test_named_dtype_brings_masks_and_answers() -> None:
    """`--op lt.Scalar_out:Float` must serve calls on Float, whose result is Bool."""
    names = ["aten::lt.Scalar_out", "aten::where.self_out", "aten::isnan.out", "aten::add.out"]
    selection, _ = select(ops=[f"{name}:Float" for name in names], known=names)
    boolean = {o.name for o in selection.operators if SCALAR_TYPES["Bool"] in (o.dtypes or ())}
    assert boolean == {*names} - {"aten::add.out"}


def test_a_list_of_keys_does_not_know_the_numbers() -> None:
    """ExecuTorch's selected_operators.yaml has the tensors' dtypes alone."""
    selection, _ = select(ops=["aten::lt.Scalar_out:Long"], known=["aten::lt.Scalar_out"])
    (operator,) = selection.operators
    assert SCALAR_TYPES["Float"] in (operator.dtypes or ())
