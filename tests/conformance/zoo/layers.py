"""Layers and small networks."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from .entry import Entry, Wrapped, f, i, m, r


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


def recurrent(kind: type[nn.RNNBase]) -> Entry:
    """A recurrent layer that gives its sequence alone."""
    layer = kind(5, 7, batch_first=True)
    return Entry(Wrapped(lambda x: layer(x)[0]), (r(2, 4, 5),))


LAYERS: dict[str, Callable[[], Entry]] = {
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
}
