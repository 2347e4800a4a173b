"""Runs the OpInfo cases against a harness library and reports failures by operator.

python -m tests.conformance.harness.run [--runtime executorch|micro] [--sanitize]
    [--operator REGEX] [--opinfo NAME] [--limit N] [--show N]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch

from . import library
from .caller import KernelError, Library, NotRepresentableError, Out, dim_order_of
from .cases import Case, opinfo_cases


def outs_for(expected: tuple[Any, ...], grow: int) -> list[Any]:
    """Result buffers for eager's results."""
    return [
        [Out.like(t, grow) for t in e] if isinstance(e, (list, tuple)) else Out.like(e, grow)
        for e in expected
    ]


# Which of several equal values is taken is undefined: the values must be eager's, and the indices
# must lead to them.
CHOOSES_AMONG_EQUALS = {"aten::topk.values", "aten::sort.values"}


def selection_dim(case: Case) -> int:
    """The `dim` argument of a selecting operator."""
    names = [a.name for a in case.schema.arguments]
    return int(case.values[names.index("dim")])


def check(lib: Library, case: Case, *, grow: int = 0) -> None:
    """Runs one case; AssertionError or KernelError when the kernel is wrong."""
    for e in torch.utils._pytree.tree_leaves(case.expected):
        if not isinstance(e, torch.Tensor):
            raise NotRepresentableError("a result that is no tensor")
        dim_order_of(e)
    actual = lib.call(case.operator, case.schema, case.values, outs_for(case.expected, grow))
    try:
        compare(actual, case.expected, case.tolerance)
    except AssertionError:
        if case.operator in CHOOSES_AMONG_EQUALS:
            values, indices = actual
            compare([values], case.expected[:1], case.tolerance)
            dim = selection_dim(case)
            compare([case.values[0].gather(dim, indices)], [values])
            return
        in_float = case.in_float()
        if in_float is None:
            raise
        compare(actual, in_float, case.tolerance)


def compare(actual: Any, expected: Any, tolerance: tuple[float, float] | None = None) -> None:
    """Everything but strides must agree, within torch.testing's tolerances for the dtype.

    `tolerance` is PyTorch's own (rtol, atol) for the operator; each is used where it is wider.
    """
    for got, wanted in zip(actual, expected, strict=True):
        if isinstance(wanted, (list, tuple)):
            compare(got, wanted, tolerance)
            continue
        try:
            torch.testing.assert_close(got, wanted, equal_nan=True, check_stride=False)
        except AssertionError:
            if tolerance is None:
                raise
            rtol, atol = tolerance
            torch.testing.assert_close(
                got, wanted, rtol=rtol, atol=atol, equal_nan=True, check_stride=False
            )


def run(lib: Library, cases: Iterable[Case], show: int = 3) -> tuple[Counter[str], Counter[str]]:
    """Counts of passed and failed cases an operator; prints the first failures of each."""
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for case in cases:
        if case.operator not in lib.operators:
            continue
        # Every second case has a result buffer that the kernel must shrink by resizing.
        grow = 1 if (passed[case.operator] + failed[case.operator]) % 2 else 0
        try:
            check(lib, case, grow=grow)
            passed[case.operator] += 1
        except NotRepresentableError:
            continue
        except (AssertionError, KernelError) as error:
            failed[case.operator] += 1
            if failed[case.operator] <= show:
                text = " / ".join(str(error).strip().splitlines()[:6])
                print(f"FAIL {case.describe()} grow={grow}\n     {text}", flush=True)
    return passed, failed


def signatures() -> set[str]:
    """The operators whose kernels are ours (the real runtime registers others of its own)."""
    return set(json.loads(library.SIGNATURES.read_text()))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runtime", default="executorch", choices=["executorch", "micro"])
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--operator", default="", help="regular expression on operator names")
    parser.add_argument("--opinfo", help="only OpInfos whose name contains this")
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--show", type=int, default=3)
    args = parser.parse_args()
    lib = Library(library.build(args.runtime, sanitize=args.sanitize, strict=False))
    wanted = {o for o in lib.operators if o in signatures() and re.search(args.operator, o)}
    passed, failed = run(lib, opinfo_cases(wanted, limit=args.limit, only=args.opinfo), args.show)
    for operator in sorted(wanted):
        print(f"{operator:50} passed {passed[operator]:6} failed {failed[operator]:6}")
    print(f"{sum(passed.values())} passed, {sum(failed.values())} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
