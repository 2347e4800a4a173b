"""Functions of tensors: elementwise, reductions, matrices, indexing, dtypes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from .entry import Entry, f, i, r


def shapes(x: Tensor) -> tuple[Tensor, ...]:
    """Many ways to move values."""
    return (
        x.flip(1),
        x.roll(2, 0),
        x.repeat(2, 1),
        x.unsqueeze(1).expand(-1, 3, -1).reshape(-1),
        x.repeat_interleave(2, 1),
        torch.stack([x, x + 1], 2),
        torch.cat([x, x], 0)[1:-1, ::2],
        x.unfold(1, 3, 2),
        x.diagonal(),
        x.tril() + x.triu(1),
    )


FUNCTIONS: dict[str, Callable[[], Entry]] = {
    # elementwise, reductions
    "arithmetic": lambda: f(
        lambda a, b: (
            a + 2 * b,
            a - b,
            a * b,
            a / (b.abs() + 1),
            a // (b.abs() + 1),
            a % 3.0,
            a**2,
            2.0**a,
            torch.fmod(a, 0.7),
            torch.remainder(a, -0.7),
            torch.maximum(a, b),
            a.clamp(-1, 1),
            a.abs().sqrt(),
            torch.atan2(a, b),
            a.addcmul(a, b),
            a.addcdiv(a, b.abs() + 1),
            a.lerp(b, 0.25),
        ),
        r(3, 4),
        r(4),
    ),
    "integers": lambda: f(
        lambda a, b: (
            a + b,
            a * b,
            a // 3,
            a % 3,
            a & b,
            a | b,
            a ^ b,
            ~a,
            torch.bitwise_left_shift(a, b.abs()),
            a.abs(),
            a.sum(),
            a.max(),
            -a,
            a.clamp(0, 5),
            a / 2,
            a > b,
            a == b,
            a.float() * 0.5,
        ),
        i(3, 4),
        i(3, 4),
    ),
    "int32": lambda: f(
        lambda a: (a * 3 + 1, a.sum(), a.prod(1), a.cumsum(0), a.sort()[0], a.long()),
        i(3, 4, dtype=torch.int32),
    ),
    "unary": lambda: f(
        lambda x: (
            x.exp(),
            x.log1p(),
            x.sin(),
            x.cos(),
            x.tan(),
            x.tanh(),
            x.sigmoid(),
            x.erf(),
            x.rsqrt(),
            x.floor(),
            x.ceil(),
            x.round(),
            x.trunc(),
            x.frac(),
            x.sign(),
            x.neg(),
            x.reciprocal(),
            x.expm1(),
            x.log2(),
            x.log10(),
            x.sinh(),
            x.asinh(),
            x.atan(),
            x.square(),
        ),
        torch.rand(3, 5) + 0.1,
    ),
    "reductions": lambda: f(
        lambda x: (
            x.sum(),
            x.mean(1),
            x.amax((0, 2)),
            x.amin(-1, keepdim=True),
            x.max(1)[0],
            x.max(1)[1],
            x.argmin(0),
            x.var(1),
            x.std((0, 1)),
            x.prod(2),
            x.norm(dim=1),
            x.logsumexp(2),
            x.any(1),
            (x > 0).all(),
            torch.var_mean(x, 0, correction=0)[0],
            torch.linalg.vector_norm(x, 3.0, (1, 2)),
            x.cumsum(1),
            x.abs().mean(),
        ),
        r(3, 4, 5),
    ),
    "comparisons": lambda: f(
        lambda a, b: (
            a > b,
            a >= 0,
            a.eq(b),
            torch.where(a > b, a, b),
            (a > 0) & (b > 0),
            (a > 0) | ~(b > 0),
            torch.logical_xor(a > 0, b > 0),
            a.isnan(),
            a.isinf(),
            torch.isclose(a, a),
            a.nan_to_num(),
        ),
        r(3, 4),
        r(3, 4),
    ),
    "broadcast": lambda: f(
        lambda a, b, c: (a + b * c, torch.where(a > 0, b, c), a.expand(2, 3, 4) * 1),
        r(3, 4),
        r(1, 4),
        r(2, 3, 1),
    ),
    # matrices
    "matrices": lambda: f(
        lambda a, b, c: (
            a @ b,
            torch.bmm(c, c.transpose(1, 2)),
            torch.einsum("bij,kj->bik", c, a),
            torch.addmm(b[:3], a, b[:4], beta=0.5, alpha=2.0),
            a.t() @ a,
            torch.outer(a[0], b[:, 0]),
            torch.matmul(c, b),
            a[0] @ b,
            torch.baddbmm(c[:, :, :3], c, c.transpose(1, 2)),
        ),
        r(3, 4),
        r(4, 4),
        r(2, 3, 4),
    ),
    # indexing
    "shapes": lambda: f(shapes, r(4, 6)),
    "indexing": lambda: f(
        lambda x, n: (
            x[n],
            x[:, n],
            x[n, n],
            x[:, None, 1],
            x.gather(1, n[:, None]),
            x.index_select(0, n),
            x.take_along_dim(n[None, :], 1),
            x.masked_fill(x > 0, 9.0),
            x[..., -1],
            x.narrow(1, 1, 2),
            torch.take(x, n),
            x.split(2, 0)[1],
            x.chunk(3, 1)[2],
            x.unbind(0)[1],
        ),
        r(4, 5),
        torch.tensor([3, 0, 1]),
    ),
    "writes": lambda: f(
        lambda x, n, y: (
            x.index_put((n,), y),
            x.scatter(0, n[:, None].expand(3, 5), y),
            x.scatter_add(0, n[:, None].expand(3, 5), y),
            x.index_add(0, n, y),
            x.index_fill(0, n, 2.0),
            x.slice_scatter(y, 0, 0, 3),
            x.select_scatter(y[0], 0, 1),
            x.masked_scatter(x > 100, y),
            x.index_copy(0, n, y),
            x.clone().fill_(3.0),
        ),
        r(4, 5),
        torch.tensor([3, 0, 1]),
        r(3, 5),
    ),
    "ordering": lambda: f(
        lambda x: (x.topk(3)[0], x.sort(0)[0], x.sort(1, descending=True)[1], x.argsort(1)), r(4, 6)
    ),
    "creation": lambda: f(
        lambda x: (
            torch.zeros_like(x),
            torch.ones(2, 3),
            torch.full_like(x, 7.0),
            torch.arange(5) + x[0, 0].long(),
            torch.arange(0.0, 1.0, 0.25) * x[0, 0],
            torch.linspace(0, 1, 5) + x[0, 0],
            torch.eye(3) * x[0, 0],
            torch.tensor(3.5) * x,
            F.one_hot(x[0].abs().long() % 4, 4),
        ),
        r(3, 4),
    ),
    "empty": lambda: f(
        lambda x, y: (torch.cat([x, y]), x.sum(0), (x + 1).numel() + y, x @ y.t()), r(0, 3), r(2, 3)
    ),
    "scalars": lambda: f(
        lambda x: (x + 1, x * 2.5, x.reshape(1, 1), x.exp(), torch.stack([x, x])), torch.tensor(2.0)
    ),
    "reshapes": lambda: f(
        lambda x: x.view(2, 3, 2).permute(1, 0, 2).contiguous().view(3, 4).flatten(), r(12)
    ),
    # dtypes
    "half": lambda: Entry(
        nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4)).half().eval(),
        (r(2, 4, dtype=torch.half),),
    ),
    "bfloat16": lambda: Entry(
        nn.Sequential(nn.Conv2d(2, 3, 3), nn.SiLU()).bfloat16().eval(),
        (r(1, 2, 5, 5, dtype=torch.bfloat16),),
    ),
    "double": lambda: Entry(
        nn.Sequential(nn.Linear(4, 4), nn.Softmax(-1)).double().eval(),
        (r(2, 4, dtype=torch.float64),),
    ),
    "casts": lambda: f(
        lambda x: (
            x.int(),
            x.to(torch.uint8),
            x.half().float(),
            x.bool(),
            x.to(torch.bfloat16) * 2,
            x.double(),
            x.to(torch.int8),
        ),
        torch.rand(3, 4) * 100,
    ),
    "bytes": lambda: f(
        lambda x: (x.float() / 255.0, x + x, x // 2, x.max(), x > 100),
        torch.randint(0, 255, (3, 4)).to(torch.uint8),
    ),
    "bools": lambda: f(
        lambda a, b: (a & b, a | b, ~a, a.sum(), a.any(), a.float().mean(), torch.where(a, 1, 2)),
        r(3, 4) > 0,
        r(3, 4) > 0,
    ),
}
