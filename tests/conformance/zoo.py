"""Modules of many kinds, small, to be exported and compared with eager PyTorch.

Each entry gives a module, example inputs, and the names of dimensions that stay dynamic. They are
what users bring: layers of every kind, indexing, several dtypes, control flow, state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


class Entry(NamedTuple):
    """A module, the inputs it is exported with, more inputs to call it with, dynamic shapes."""

    module: nn.Module
    inputs: tuple[Any, ...]
    more: tuple[tuple[Any, ...], ...] = ()
    dynamic: Any = None


class Wrapped(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        """Call the function."""
        return self.function(*inputs)


def f(function: Callable[..., Any], *inputs: Any) -> Entry:
    """An entry of a function."""
    return Entry(Wrapped(function), inputs)


def m(module: nn.Module, *inputs: Any) -> Entry:
    """An entry of a module."""
    return Entry(module.eval(), inputs)


def r(*sizes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Random numbers."""
    return torch.randn(*sizes).to(dtype)


def i(*sizes: int, low: int = -9, high: int = 9, dtype: torch.dtype = torch.int64) -> Tensor:
    """Random integers."""
    return torch.randint(low, high, sizes).to(dtype)


class Attention(nn.Module):
    """Multi-head attention written out, with a causal mask."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.register_buffer("mask", torch.tril(torch.ones(6, 6)).bool())

    def forward(self, x: Tensor) -> Tensor:
        """Attend."""
        batch, steps, width = x.shape
        q, k, v = self.qkv(x).view(batch, steps, 3, 4, 4).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1)) / 2.0
        scores = scores.masked_fill(~self.mask, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, steps, width))


class Counter(nn.Module):
    """A buffer that calls change."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Add."""
        self.total.add_(x)
        self.calls.add_(1)
        return self.total * 2, self.calls + 0


class Cache(nn.Module):
    """A key cache written at a position, as language models do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(8, 4))

    def forward(self, x: Tensor, at: Tensor) -> Tensor:
        """Write a row and read all."""
        self.keys.index_copy_(0, at, x)
        return self.keys.sum(0) + self.keys[0]


class Residual(nn.Module):
    """Convolution, batch norm, squeeze-and-excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(4, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()
        )
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Run."""
        y = self.conv(x)
        return y * F.hardsigmoid(self.squeeze(y))


def branch(x: Tensor) -> Any:
    """torch.cond."""
    return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: x - 3, (x,))


def mapped(xs: Tensor, y: Tensor) -> Any:
    """A map over the first dimension."""
    from torch._higher_order_ops.map import map as torch_map

    return torch_map(lambda x, y: x * 2 + y, xs, y)


def recurrent(kind: type[nn.RNNBase]) -> Entry:
    """A recurrent layer that gives its sequence alone."""
    layer = kind(5, 7, batch_first=True)
    return Entry(Wrapped(lambda x: layer(x)[0]), (r(2, 4, 5),))


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


ZOO: dict[str, Callable[[], Entry]] = {
    # layers
    "residual": lambda: m(Residual(), r(1, 4, 9, 9)),
    "attention": lambda: m(Attention(), r(2, 6, 16)),
    "sdpa": lambda: f(
        F.scaled_dot_product_attention,
        r(1, 2, 5, 8),
        r(1, 2, 5, 8),
        r(1, 2, 5, 8),
    ),
    "encoder_layer": lambda: m(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), r(1, 4, 8)),
    "gru": lambda: recurrent(nn.GRU),
    "lstm": lambda: recurrent(nn.LSTM),
    "rnn": lambda: recurrent(nn.RNN),
    "conv1d": lambda: m(nn.Conv1d(3, 6, 5, padding=2, groups=3), r(2, 3, 11)),
    "conv1d_causal": lambda: f(
        lambda x, w: F.conv1d(F.pad(x, (4, 0)), w, dilation=2), r(1, 2, 9), r(3, 2, 3)
    ),
    "conv_transpose1d": lambda: m(nn.ConvTranspose1d(4, 2, 4, stride=2, padding=1), r(1, 4, 5)),
    "conv_transpose2d": lambda: m(
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), r(1, 4, 4, 5)
    ),
    "conv_same": lambda: m(nn.Conv2d(2, 4, 4, padding="same", dilation=2), r(1, 2, 8, 8)),
    "pools": lambda: m(
        nn.Sequential(
            nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.AvgPool2d(2, count_include_pad=False)
        ),
        r(1, 3, 11, 11),
    ),
    "pool1d": lambda: m(nn.Sequential(nn.MaxPool1d(3), nn.AvgPool1d(2)), r(1, 2, 14)),
    "adaptive_max": lambda: f(lambda x: F.adaptive_avg_pool2d(x, (3, 2)), r(1, 2, 7, 5)),
    "norms": lambda: m(
        nn.Sequential(nn.GroupNorm(2, 4), nn.LayerNorm([4, 5]), nn.InstanceNorm1d(4, affine=True)),
        r(2, 4, 5),
    ),
    "rms_norm": lambda: m(nn.RMSNorm(6), r(2, 6)),
    "prelu": lambda: m(nn.Sequential(nn.PReLU(4), nn.Softplus(), nn.LogSigmoid()), r(2, 4)),
    "activations": lambda: f(
        lambda x: (
            F.elu(x),
            F.selu(x),
            F.celu(x),
            F.gelu(x),
            F.gelu(x, approximate="tanh"),
            F.silu(x),
            F.mish(x),
            F.hardtanh(x),
            F.relu6(x),
            F.leaky_relu(x),
            F.softsign(x),
            F.tanhshrink(x),
            F.hardshrink(x),
            F.softshrink(x),
            F.threshold(x, 0.1, -1.0),
            F.glu(x),
            F.log_softmax(x, 0),
            F.softmin(x, -1),
        ),
        r(4, 6) * 3,
    ),
    "embedding": lambda: m(
        nn.Sequential(nn.Embedding(11, 4, padding_idx=0), nn.Linear(4, 2)), i(2, 5, low=0, high=11)
    ),
    "pixels": lambda: m(nn.Sequential(nn.PixelShuffle(2), nn.PixelUnshuffle(2)), r(1, 8, 3, 3)),
    "upsample": lambda: f(
        lambda x: (
            F.interpolate(x, scale_factor=2, mode="nearest"),
            F.interpolate(x, size=(7, 5), mode="bilinear", align_corners=False),
            F.interpolate(x, size=(7, 5), mode="bilinear", align_corners=True),
        ),
        r(1, 2, 4, 3),
    ),
    "grid_sample": lambda: f(
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        r(1, 2, 5, 5),
        torch.rand(1, 4, 4, 2) * 2 - 1,
    ),
    "padding": lambda: f(
        lambda x: (
            F.pad(x, (1, 2), value=3.0),
            F.pad(x, (1, 2, 2, 1), mode="reflect"),
            F.pad(x, (1, 2, 2, 1), mode="replicate"),
            F.pad(x, (1, 2, 2, 1), mode="circular"),
            F.pad(x, (-1, 0)),
        ),
        r(1, 2, 5, 6),
    ),
    "dropout_eval": lambda: m(nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 3)), r(2, 3)),
    "distance": lambda: f(
        lambda a, b: (torch.cdist(a, b), F.cosine_similarity(a[:3], b[:3])), r(4, 5), r(3, 5)
    ),
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
    # layouts, state, control flow, dynamic shapes
    "channels_last": lambda: Entry(
        Residual().to(memory_format=torch.channels_last).eval(),
        (r(1, 4, 9, 9).to(memory_format=torch.channels_last),),
    ),
    "counter": lambda: Entry(Counter(), (r(3),), more=((r(3),), (r(3),))),
    "cache": lambda: Entry(
        Cache(), (r(1, 4), torch.tensor([2])), more=((r(1, 4), torch.tensor([5])),)
    ),
    "cond": lambda: Entry(Wrapped(branch), (torch.ones(3),), more=((-torch.ones(3),),)),
    "map": lambda: f(mapped, r(3, 4), r(4)),
    "dynamic_batch": lambda: Entry(
        nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).eval(),
        (r(5, 4),),
        more=((r(1, 4),), (r(8, 4),)),
        dynamic=({0: torch.export.Dim("batch", min=1, max=8)},),
    ),
    "dynamic_sequence": lambda: Entry(
        Wrapped(
            lambda x: (x.softmax(1).flatten(1), x.mean(1), x[:, -1], torch.arange(x.shape[1]) + 1)
        ),
        (r(2, 5, 3),),
        more=((r(2, 2, 3),), (r(2, 9, 3),)),
        dynamic=(({1: torch.export.Dim("steps", min=2, max=9)},),),
    ),
    "several_outputs": lambda: f(
        lambda x, y: {"sum": x + y, "rest": [x, (y * 2, x * y)]}, r(2, 2), r(2, 2)
    ),
    "constant_output": lambda: f(lambda x: (x + 0, torch.tensor([1.0, 2.0])), r(2)),
    "aliased": lambda: f(lambda x: (x.view(4), x.view(2, 2), x.view(4) + 1), r(2, 2)),
    "plain_inputs": lambda: f(lambda x, n, y: x * n + y, r(3), 2, 0.5),
}
