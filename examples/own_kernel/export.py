"""Export the example's model: a linear layer and `my::softclip`, an operator of our own.

    pip install torch executorch
    python export.py

writes softclip.pte, and expected.txt with what PyTorch computes for the input of main.cpp.
"""

from __future__ import annotations

from pathlib import Path

import torch
from executorch.exir import to_edge
from torch.export import export

HERE = Path(__file__).resolve().parent
INPUT = (1.0, -2.0, 0.5, 3.0)

LIBRARY = torch.library.Library("my", "DEF")
LIBRARY.define("softclip(Tensor self, float limit=1.0) -> Tensor")
LIBRARY.define("softclip.out(Tensor self, float limit=1.0, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(LIBRARY, "softclip", "CompositeExplicitAutograd")
def softclip(x: torch.Tensor, limit: float = 1.0) -> torch.Tensor:
    """Values far from zero bend towards `limit` and `-limit`: x / (1 + |x| / limit)."""
    return x / (1 + x.abs() / limit)


@torch.library.impl(LIBRARY, "softclip.out", "CompositeExplicitAutograd")
def softclip_out(x: torch.Tensor, limit: float = 1.0, *, out: torch.Tensor) -> torch.Tensor:
    """The out variant, which is what a .pte calls."""
    return out.copy_(softclip(x, limit))


class Model(torch.nn.Module):
    """Four numbers in, three in (-0.5, 0.5) out."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Run the model."""
        return torch.ops.my.softclip(self.linear(x), 0.5)


def main() -> None:
    """Write the two files."""
    torch.manual_seed(0)
    model = Model().eval()
    example = (torch.tensor([INPUT]),)
    program = to_edge(export(model, example)).to_executorch()
    (HERE / "softclip.pte").write_bytes(program.buffer)
    numbers = model(*example).detach().flatten().tolist()
    (HERE / "expected.txt").write_text("".join(f"{number:.6f}\n" for number in numbers))


if __name__ == "__main__":
    main()
