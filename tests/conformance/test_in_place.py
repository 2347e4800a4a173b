"""Operators that write into their first argument, against eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="run by make conformance")

from .harness import library  # noqa: E402
from .harness.caller import KernelError, Library  # noqa: E402
from .harness.cases import DTYPES  # noqa: E402
from .random_cases import CASES, Maker, schema_of  # noqa: E402

pytestmark = pytest.mark.conformance

aten = torch.ops.aten


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


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
