"""Trains and exports the digits example: a small int8 CNN for 8 x 8 images of handwritten digits.

Writes beside this file:

    digits_int8.pte   the program, lowered to cortex_m:: operators
    images.bin        the test images: 64 bytes each (0 to 16), row after row
    labels.bin        the right answers, one byte an image
    outputs.bin       the int8 program's exact outputs: ten float32 an image
    report.json       accuracies in PyTorch

Run it in the environment of `make conformance` (torch 2.13.0, executorch 1.5.1):

    .venv-conformance/bin/python examples/digits/export.py

The data set is the one bundled with scikit-learn (UCI optical recognition of handwritten digits).
Everything is seeded. The exact outputs come from the operators' Python reference
definitions in the executorch wheel, not from this project's kernels.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import torch
from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.backends.cortex_m.target_config import CortexM, CortexMTargetConfig
from executorch.exir import to_edge
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

HERE = Path(__file__).resolve().parent
EPOCHS = 40


def block(inputs: int, outputs: int, kernel: int, *, groups: int = 1) -> nn.Sequential:
    """Convolution that keeps the image's size, batch norm, ReLU."""
    convolution = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


class DigitsNet(nn.Module):
    """A depthwise-separable CNN: (n, 1, 8, 8) floats in [0, 1] to ten logits."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            block(1, 16, 3),
            block(16, 16, 3, groups=16),
            block(16, 32, 1),
            nn.AvgPool2d(2),
            block(32, 32, 3),
            nn.AvgPool2d(2),
        )
        self.classifier = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of a batch of images."""
        return self.classifier(self.features(x).flatten(1))

    def fold_batch_norms(self) -> None:
        """Merges each batch norm into its convolution: the operators have no batch norm."""
        for child in self.features:
            if isinstance(child, nn.Sequential):
                child[0] = fuse_conv_bn_eval(child[0], child[1])
                child[1] = nn.Identity()


def train(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> None:
    """Adam with a cosine schedule and a little noise on the images."""
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    steps_an_epoch = len(images) // 64
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS * steps_an_epoch)
    for _ in range(EPOCHS):
        order = torch.randperm(len(images))
        for step in range(steps_an_epoch):
            batch = order[step * 64 : (step + 1) * 64]
            noisy = images[batch] + 0.05 * torch.randn(64, 1, 8, 8)
            loss = nn.functional.cross_entropy(model(noisy), labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()


def predictions(model: torch.nn.Module, images: torch.Tensor) -> torch.Tensor:
    """Outputs of a one-image model over all images, (n, 10)."""
    with torch.no_grad():
        return torch.cat([model(channels_last(image)) for image in images.split(1)])


def channels_last(image: torch.Tensor) -> torch.Tensor:
    """The memory format that the convolution operators want."""
    return image.to(memory_format=torch.channels_last)


def main() -> None:
    """Trains, quantises, exports, and writes the files."""
    warnings.simplefilter("ignore")
    torch.manual_seed(2026)
    torch.set_num_threads(1)
    digits = load_digits()
    raw = digits.images.astype(np.uint8)
    train_raw, test_raw, train_labels, test_labels = train_test_split(
        raw, digits.target, test_size=360, random_state=0, stratify=digits.target
    )

    def to_input(images: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(images.astype(np.float32) / 16).unsqueeze(1)

    images, labels = to_input(train_raw), torch.from_numpy(train_labels)
    model = DigitsNet()
    train(model, images, labels)
    model.eval().fold_batch_norms()
    model.to(memory_format=torch.channels_last)

    sample = (channels_last(images[:1]),)
    quantizer = CortexMQuantizer()
    prepared = prepare_pt2e(
        torch.export.export(model, sample, strict=True).module(check_guards=False), quantizer
    )
    for image in images[:300].split(1):
        prepared(channels_last(image))
    quantised = convert_pt2e(prepared)

    edge = to_edge(
        torch.export.export(quantised, sample, strict=True),
        compile_config=cortex_m_edge_compile_config(),
    )
    passes = CortexMPassManager(
        edge.exported_program(),
        CortexMPassManager.pass_list,
        target_config=CortexMTargetConfig(cpu=CortexM.M55),
    )
    program = passes.transform()
    test_images = to_input(test_raw)
    truth = torch.from_numpy(test_labels)
    in_float = predictions(model, test_images)
    # Before to_executorch, which turns the operators into out variants that Python cannot run.
    in_int8 = predictions(program.module(check_guards=False), test_images)

    edge._edge_programs["forward"] = program
    (HERE / "digits_int8.pte").write_bytes(edge.to_executorch().buffer)

    def accuracy(outputs: torch.Tensor) -> float:
        return round(float((outputs.argmax(1) == truth).double().mean()), 4)

    report = {
        "images": len(truth),
        "accuracy_float": accuracy(in_float),
        "accuracy_int8": accuracy(in_int8),
    }
    (HERE / "images.bin").write_bytes(test_raw.tobytes())
    (HERE / "labels.bin").write_bytes(test_labels.astype(np.uint8).tobytes())
    (HERE / "outputs.bin").write_bytes(in_int8.numpy().astype("<f4").tobytes())
    (HERE / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    print(report)


if __name__ == "__main__":
    main()
