"""Many models in one call, one of many changed, many calls at a time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..support.models import MODELS, load_model

pytestmark = pytest.mark.slow

NAMES = ("add", "mlp", "lenet", "ds_cnn", "cortexm_mlp", "unary_ops", "binary_ops", "half")
COUNT = 200


def generate(out: Path, *arguments: object) -> None:
    command = [sys.executable, "-m", "gen_kernels", *map(str, arguments), "--out", str(out)]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for number in range(COUNT):
        name = NAMES[number % len(NAMES)]
        data = (MODELS / f"{name}.pte").read_bytes()
        (folder / f"{number:03}_{name}.pte").write_bytes(data)
    return folder


def test_200_models_in_one_call_and_one_changed(models: Path, tmp_path: Path) -> None:
    generate(tmp_path, "--model", models)
    first = contents(tmp_path)
    operators = {op for name in NAMES for op in load_model(name).operators}
    registration = first["RegisterCodegenUnboxedKernels.cpp"][0].decode()
    assert all(f'"{operator}"' in registration for operator in operators)
    generate(tmp_path, "--model", models)
    assert contents(tmp_path) == first  # time stamps too
    changed = models / "000_add.pte"
    changed.write_bytes((MODELS / "reduce_ops.pte").read_bytes())
    generate(tmp_path, "--model", models)
    second = contents(tmp_path)
    assert second["RegisterCodegenUnboxedKernels.cpp"] != first["RegisterCodegenUnboxedKernels.cpp"]
    assert second["RegisterKernels.h"] == first["RegisterKernels.h"]


def test_every_operator_beside_the_models(models: Path, tmp_path: Path) -> None:
    generate(tmp_path, "--model", models, "--all", "--kernels", "none")
    registration = (tmp_path / "RegisterCodegenUnboxedKernels.cpp").read_text()
    # ExecuTorch's catalogues: 209 portable, 19 quantized, 23 cortex_m, 2 custom operators.
    assert registration.count('"aten::') > 190
    assert '"quantized_decomposed::' in registration
    assert '"cortex_m::' in registration


def test_16_calls_at_a_time(tmp_path: Path) -> None:
    """Into sibling folders, and all into one: every time the same text, no leftovers."""
    model = MODELS / "lenet.pte"
    with ThreadPoolExecutor(16) as pool:
        apart = [pool.submit(generate, tmp_path / f"{i}", "--model", model) for i in range(16)]
        together = [pool.submit(generate, tmp_path / "one", "--model", model) for _ in range(16)]
        for call in (*apart, *together):
            call.result()
    texts = [
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()}
        for name in (*map(str, range(16)), "one")
    ]
    assert all(text == texts[0] for text in texts)
