"""Kernels that move elements against eager torch: random shapes, dims (wrapped, and out of
range), memory formats, empty and 0-d tensors, every dtype.

What eager refuses the kernels must refuse, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="run by make conformance")

import torch

from .harness import caller, library
from .harness.caller import KernelError, Library, NotRepresentableError, Out
from .harness.cases import DTYPES, brief, find_overload
from .random_cases import Draws

pytestmark = pytest.mark.conformance

CASES = 200  # an operator
COMPLEX = {torch.complex64: 9, torch.complex128: 10}


@pytest.fixture(scope="module")
def lib() -> Library:
    return Library(library.build("micro"))


class Maker(Draws):
    """Random arguments of one operator, from a seed."""

    EMPTY = 0.05

    def tensor(self, shape: list[int] | None = None, dtype: Any = None) -> Any:
        shape = self.shape() if shape is None else shape
        dtype = dtype or self.pick((*DTYPES, *COMPLEX))
        if dtype.is_floating_point or dtype.is_complex:
            t = torch.randn(shape).to(dtype)
        else:
            t = torch.randint(0, 2 if dtype == torch.bool else 100, shape).to(dtype)
        if t.dim() == 4 and self.chance(0.3):
            t = t.contiguous(memory_format=torch.channels_last)
        return t

    def dim(self, rank: int, extra: int = 0) -> int:
        """A dim of a tensor, mostly; sometimes one that it lacks."""
        n = max(rank, 1) + extra
        return self.random.randint(-n, n - 1) if self.chance(0.95) else self.pick((n, -n - 1))

    def dims(self, rank: int) -> list[int]:
        some = self.random.sample(range(rank), self.random.randint(0, rank))
        return [d - rank if self.chance(0.3) else d for d in some]

    def index(self, size: int, shape: list[int]) -> Any:
        """Indices into `size` elements, sometimes one too many."""
        high = max(size, 1) + (1 if self.chance(0.03) else 0)
        return torch.randint(0, high, shape)

    def smaller(self, shape: Any) -> list[int]:
        return [self.random.randint(1, n) if n else 0 for n in shape]

    def advanced(self, t: Any) -> list[Any]:
        """Index tensors, masks and gaps for the dims of `t`."""
        indices: list[Any] = []
        common = self.shape((1, 1, 2))
        masks = 0
        while len(indices) < t.dim() and not self.chance(0.2):
            size = t.shape[len(indices)]
            kind = self.random.random()
            if kind < 0.3:
                indices.append(None)
            elif kind < 0.4 and not masks:
                masks = 1
                indices.append(torch.rand(size) < 0.5)
            else:
                index = self.index(size, common)
                indices.append(index - size if self.chance(0.2) and size else index)
        return indices


def reshaped(m: Maker, t: Any) -> list[int]:
    """Sizes for a view of `t`, one of them perhaps -1, sometimes wrong."""
    sizes = [n for n in t.shape if n != 1 or m.chance(0.5)]
    m.random.shuffle(sizes)
    if len(sizes) > 1 and m.chance(0.5):
        sizes[:2] = [sizes[0] * sizes[1]]
    if sizes and m.chance(0.4):
        sizes[m.random.randrange(len(sizes))] = -1
    if m.chance(0.1):
        sizes.append(2)
    return sizes


def padding(m: Maker, pairs: int, low: int = -2) -> list[int]:
    return [m.random.randint(low, 3) for _ in range(2 * pairs)]


def spatial(m: Maker, dims: int) -> list[Any]:
    shape = [m.pick((1, 2, 3, 4, 5)) for _ in range(dims + m.pick((1, 2)))]
    return [m.tensor(shape, m.pick((torch.float32, torch.float16))), padding(m, dims, 0)]


def scattered(m: Maker, source: str) -> list[Any]:
    dtypes = (torch.float32, torch.float64, torch.int64, torch.int8, torch.bool, torch.bfloat16)
    t = m.tensor(m.shape((1, 2, 3)), m.pick(dtypes))
    dim = m.dim(t.dim())
    shape = m.smaller(t.shape)
    if -t.dim() <= dim < t.dim():
        shape[dim] = m.pick((1, 2, 3))
    if source == "value":
        return [t, dim, m.index(t.shape[dim % t.dim()], shape), m.pick((0, 1, 2.5, True))]
    src = m.tensor([n + m.pick((0, 1)) for n in shape], t.dtype)
    index = m.index(t.shape[dim % t.dim()], shape)
    if source == "src":  # where indices repeat, the winner is unspecified
        index = torch.stack(
            [torch.randperm(max(t.shape[dim % t.dim()], shape[dim % t.dim()]))]
        ).expand(1, -1)[0, : shape[dim % t.dim()]]
        view = [1] * t.dim()
        view[dim % t.dim()] = -1
        index = index.view(view).expand(shape).contiguous()
    return [t, dim, index, src]


def values(operator: str, m: Maker) -> list[Any]:
    """The arguments of a call."""
    t = m.tensor()
    n = t.dim()
    dim = m.dim(n)
    size = t.shape[dim % n] if n else 1
    part = m.random.randint(-size - 1, size + 1)

    def like(shape: Any) -> Any:
        return m.tensor(list(shape), t.dtype)

    makers: dict[str, Callable[[], list[Any]]] = {
        "permute_copy.out": lambda: [t, m.random.sample(range(-n, 0), n)],
        "transpose_copy.int_out": lambda: [t, dim, m.dim(n)],
        "t_copy.out": lambda: [t],
        "view_copy.out": lambda: [t, reshaped(m, t)],
        "squeeze_copy.dim_out": lambda: [t, dim],
        "squeeze_copy.dims_out": lambda: [t, m.dims(n)],
        "unsqueeze_copy.out": lambda: [t, m.dim(n, 1)],
        "expand_copy.out": lambda: [
            t,
            [m.pick((1, 2))] * m.pick((0, 1))
            + [m.pick((-1, s, 3 if s == 1 else s)) for s in t.shape],
            False,
        ],
        "repeat.out": lambda: [t, [m.pick((0, 1, 2, 3)) for _ in range(n + m.pick((-1, 0, 0, 1)))]],
        "slice_copy.Tensor_out": lambda: [
            t, dim, m.pick((None, part)), m.pick((None, part + 2, 99)), m.pick((1, 1, 2, 3)),
        ],
        "narrow_copy.out": lambda: [t, dim, part, m.pick((0, 1, 2))],
        "select_copy.int_out": lambda: [t, dim, part],
        "unfold_copy.out": lambda: [t, dim, m.pick((0, 1, 2, 3)), m.pick((1, 2, 3))],
        "diagonal_copy.out": lambda: [t, m.random.randint(-4, 4), dim, m.dim(n)],
        "as_strided_copy.out": lambda: [
            t.contiguous(), [m.pick((1, 2, 3)) for _ in range(2)], [m.pick((0, 1, 2, 3)), 1],
            m.pick((None, 0, 1, 4)),
        ],
        "flip.out": lambda: [t, m.dims(n)],
        "roll.out": lambda: (
            [t, [part], []] if m.chance(0.3)
            else [t, [m.random.randint(-5, 5) for _ in range(2)], [dim, m.dim(n)]]
        ),
        "tril.out": lambda: [t, m.random.randint(-4, 4)],
        "constant_pad_nd.out": lambda: [t, padding(m, m.random.randint(0, n)), m.pick((0, 1, 7))],
        **{
            f"{kind}_pad{d}d.out": lambda d=d: spatial(m, d)  # type: ignore[misc]
            for kind in ("reflection", "replication")
            for d in (1, 2, 3)
        },
        "stack.out": lambda: [[t, like(t.shape)], m.dim(n, 1)],
        "cat.out": lambda: [[t, like(t.shape), torch.empty(0, dtype=t.dtype)], dim],
        "gather.out": lambda: [t, dim, m.index(size, m.smaller(t.shape)), False],
        "scatter.src_out": lambda: scattered(m, "src"),
        "scatter.value_out": lambda: scattered(m, "value"),
        "scatter_add.out": lambda: scattered(m, "add"),
        "index_select.out": lambda: [t, dim, m.index(size, m.shape((0, 1)))],
        "index.Tensor_out": lambda: [t, m.advanced(t)],
        "index_put.out": lambda: [t, m.advanced(t), m.tensor([], t.dtype), False],
        "embedding.out": lambda: [
            m.tensor([4, 3], t.dtype), m.index(4, m.shape((0, 1, 2))), -1, False, False,
        ],
        "masked_select.out": lambda: [t, torch.rand(t.shape[m.random.randint(0, n):]) < 0.5],
        "masked_scatter.out": lambda: [
            t, torch.rand(t.shape[m.random.randint(0, n):]) < 0.5, like([m.pick((5, 99))]),
        ],
        "nonzero.out": lambda: [m.tensor(list(t.shape), m.pick(DTYPES))],
        "select_scatter.out": lambda: [
            t, like([s for d, s in enumerate(t.shape) if d != dim % max(n, 1)]), dim, part,
        ],
        "slice_scatter.out": lambda: [
            t, like([2 if d == dim % max(n, 1) else s for d, s in enumerate(t.shape)]),
            dim, m.pick((None, 0, 1)), m.pick((None, 2)), 1,
        ],
    }  # fmt: skip
    return makers[operator]()


OPERATORS = """permute_copy.out transpose_copy.int_out t_copy.out view_copy.out squeeze_copy.dim_out
squeeze_copy.dims_out unsqueeze_copy.out expand_copy.out repeat.out slice_copy.Tensor_out
narrow_copy.out select_copy.int_out unfold_copy.out diagonal_copy.out as_strided_copy.out flip.out
roll.out tril.out constant_pad_nd.out reflection_pad1d.out reflection_pad2d.out reflection_pad3d.out
replication_pad1d.out replication_pad2d.out replication_pad3d.out stack.out cat.out gather.out
scatter.src_out scatter.value_out scatter_add.out index_select.out index.Tensor_out index_put.out
embedding.out masked_select.out masked_scatter.out nonzero.out select_scatter.out
slice_scatter.out""".split()  # noqa: SIM905


def eager(operator: str, arguments: list[Any]) -> Any:
    """Eager's result, None where it refuses the arguments."""
    base = operator.partition(".")[0]
    try:
        overload = find_overload(f"aten::{operator}")
        pairs = list(
            zip(arguments, (a for a in overload._schema.arguments if not a.is_out), strict=True)
        )
        positional = [v for v, a in pairs if not a.kwarg_only]
        named = {a.name: v for v, a in pairs if a.kwarg_only}
        return getattr(torch.ops.aten, base)(*positional, **named)
    except (RuntimeError, IndexError, NotImplementedError):
        return None


@pytest.mark.parametrize("operator", OPERATORS)
def test_like_eager(lib: Library, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for known, number in COMPLEX.items():
        monkeypatch.setitem(caller.DTYPES, known, number)
    maker = Maker(operator)
    schema = find_overload(f"aten::{operator}")._schema
    failures = []
    ran = 0
    for number in range(CASES):
        arguments = values(operator, maker)
        expected = eager(operator, arguments)
        result = expected if expected is not None else torch.empty([1] * 4)
        try:
            out = Out.like(result if maker.chance(0.5) else result.contiguous(), number % 2)
            (actual,) = lib.call(f"aten::{operator}", schema, arguments, [out])
            ran += 1
            if expected is None:
                failures.append(f"{', '.join(map(brief, arguments))}: eager refuses it")
            else:
                torch.testing.assert_close(actual, expected, equal_nan=True, check_stride=False)
        except NotRepresentableError:
            continue
        except KernelError as error:
            ran += 1
            if expected is not None:
                failures.append(f"{', '.join(map(brief, arguments))}: {error}")
        except AssertionError as error:
            failures.append(f"{', '.join(map(brief, arguments))}: {' '.join(str(error).split())}")
    assert not failures, "\n".join(f[:300] for f in failures)
    assert ran > CASES // 2
