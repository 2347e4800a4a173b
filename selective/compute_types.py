"""Dtypes that a kernel computes in and that none of its tensors may have.

A comparison of integers with 2.5 is done in Float, and its result is Bool: a library that was
selected by the tensors' dtypes alone could not run the call. Other operators return the dtype that
they compute in, so their tensors say it; Half and BFloat16 computing in Float is codegen's concern.
Source of the rules: torch.result_type, which tests/conformance compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .program import Call, ValueKind

BYTE, CHAR, SHORT, LONG, HALF, FLOAT, DOUBLE, BOOL, BFLOAT16 = 0, 1, 2, 4, 5, 6, 7, 11, 15
_FLOATING = frozenset({HALF, FLOAT, DOUBLE, BFLOAT16})
_COMPLEX = frozenset({8, 9, 10})

# Their results are Bool, whatever they compute in.
_ANSWERS_BOOL = re.compile(
    r"aten::(?:(?:eq|ne|lt|le|gt|ge)\.(?:Tensor|Scalar)_out|logical_(?:and|or|xor)\.out)"
)

# These take Bool tensors, or give them, beside those whose dtype a user means.
_TAKES_BOOL = re.compile(
    r"aten::(?:logical_not\.out|isnan\.out|isinf\.out|where\.self_out|"
    r"masked_fill\.(?:Scalar|Tensor)_out)"
)


def named_dtypes(operator: str, dtype: int) -> tuple[int, ...]:
    """The dtypes that `--op operator:dtype` means: those of all tensors of such calls."""
    has_bool = _ANSWERS_BOOL.fullmatch(operator) or _TAKES_BOOL.fullmatch(operator)
    dtypes = (dtype, BOOL) if has_bool and dtype != BOOL else (dtype,)
    return (*dtypes, *sorted(computed_in(operator, dtypes)))


def computed_in(
    operator: str, dtypes: Iterable[int], numbers: Iterable[ValueKind] | None = None
) -> frozenset[int]:
    """The dtypes besides `dtypes`, those of its tensors, that a call of `operator` computes in.

    `numbers` are the kinds of the call's plain arguments; None: unknown, any may have come.
    """
    if not _ANSWERS_BOOL.fullmatch(operator):
        return frozenset()
    known = frozenset(dtypes)
    inputs = known - {BOOL}  # the result, and perhaps an operand
    found: set[int] = set()
    if {BYTE, CHAR} <= inputs:
        found.add(SHORT)
    if {HALF, BFLOAT16} <= inputs:
        found.add(FLOAT)
    if ".Scalar" in operator and not inputs & (_FLOATING | _COMPLEX):
        if numbers is None or ValueKind.DOUBLE in numbers:
            found.add(FLOAT)
        if not inputs and (numbers is None or ValueKind.INT in numbers):
            found.add(LONG)
    return frozenset(found) - known


def call_dtypes(call: Call) -> set[int]:
    """Every dtype that the kernel of a model's call needs."""
    dtypes = {tensor.dtype for tensor in call.tensors}
    return dtypes | computed_in(call.operator, dtypes, {value.kind for value in call.values})
