"""generated_example/ is what the generator writes today.

`python -m tests.golden.test_generated_example` renews it. The keyword-spotting model is not part
of this repository: its folder is checked and renewed only where the model is at hand.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main

from .test_generate import contents

TREE = Path(__file__).resolve().parent.parent.parent
FOLDER = TREE / "generated_example"
THIRDPARTY = Path(
    os.environ.get("GEN_KERNELS_THIRDPARTY", TREE.parent / "shared" / "models" / "thirdparty")
)

MODELS = {
    "add": TREE / "tests" / "models" / "add.pte",
    "digits": TREE / "examples" / "digits" / "digits_int8.pte",
    "keyword_spotting": THIRDPARTY / "kws_dscnn_int8.pte",
}


def generate(name: str, out: Path) -> None:
    assert (
        main(["--model", str(MODELS[name]), "--library", name, "--out", str(out), "--quiet"]) == 0
    )


@pytest.mark.parametrize("name", sorted(MODELS))
def test_example(name: str, tmp_path: Path) -> None:
    if not MODELS[name].is_file():
        pytest.skip(f"{MODELS[name].name} is not at hand (GEN_KERNELS_THIRDPARTY)")
    generate(name, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(FOLDER / name)


def renew() -> None:
    """Write every example whose model is at hand."""
    for name, model in MODELS.items():
        if model.is_file():
            with tempfile.TemporaryDirectory() as scratch:
                generate(name, Path(scratch) / "out")
                shutil.rmtree(FOLDER / name, ignore_errors=True)
                shutil.copytree(Path(scratch) / "out", FOLDER / name)


if __name__ == "__main__":
    renew()
