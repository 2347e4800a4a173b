"""The micro runtime against ExecuTorch's own: the same answers, to right and to wrong calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.cpp import (
    BUILT_IN,
    SOURCES,
    build_official,
    build_program,
    build_runtime,
    operators_of,
    run,
)
from ..support.models import MODELS, model_names

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_runtime(tmp_path_factory.mktemp("runtime"), "-O1")


@pytest.mark.parametrize("name", ["runtime_core", "runtime_services"])
def test_types_of_the_official_runtime(name: str, tmp_path: Path) -> None:
    """What tests/unit/test_runtime.py expects of our types holds for the official ones."""
    program = build_official(SOURCES / f"{name}.cpp", tmp_path / name)
    done = run([str(program)])
    assert done.returncode == 0, done.stdout
    assert ", 0 failures" in done.stdout


@pytest.fixture(scope="module")
def probes(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("probes")
    source = SOURCES / "runtime_probe.cpp"
    return build_program(source, folder / "ours", runtime), build_official(source, folder / "real")


@pytest.mark.parametrize("name", model_names())
def test_same_answers(probes: tuple[Path, Path], name: str) -> None:
    """Some eighty calls a method, good and bad, with every model: not one answer differs."""
    path = MODELS / f"{name}.pte"
    if not path.is_file():
        path = MODELS / f"{name}.bpte"
    operators = ["+" + op if op.startswith(BUILT_IN) else op for op in operators_of(name)]
    ours, real = (run([str(probe), str(path), *operators]) for probe in probes)
    assert ours.stdout == real.stdout
    assert ours.returncode == real.returncode == 0


@pytest.mark.parametrize("name", ["xnnpack_full", "xnnpack_inline_delegate"])
def test_same_delegates(runtime: Path, tmp_path: Path, name: str) -> None:
    """A backend sees the same calls with the same data."""
    source = SOURCES / "runtime_backend.cpp"
    ours = build_program(source, tmp_path / "ours", runtime)
    real = build_official(source, tmp_path / "real")
    arguments = [str(MODELS / f"{name}.pte"), *operators_of(name)]
    assert run([str(ours), *arguments]).stdout == run([str(real), *arguments]).stdout


def test_same_external_data(runtime: Path, tmp_path: Path) -> None:
    """A .ptd file reads the same, and kernels get the same bytes from it."""
    source = SOURCES / "runtime_external_data.cpp"
    ours = build_program(source, tmp_path / "ours", runtime)
    real = build_official(source, tmp_path / "real")
    files = [str(MODELS / "ptd_mlp.pte"), str(MODELS / "ptd_mlp.ptd")]
    arguments = [*files, *operators_of("ptd_mlp")]
    assert run([str(ours), *arguments]).stdout == run([str(real), *arguments]).stdout


def test_type_promotion(runtime: Path, tmp_path: Path) -> None:
    """promoteTypes is torch.promote_types, for every pair of types that computes."""
    torch = pytest.importorskip("torch")
    source = tmp_path / "promote.cpp"
    source.write_text(
        "#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>\n"
        "#include <cstdio>\n"
        "using executorch::aten::ScalarType;\n"
        "int main() {\n"
        "  for (int a = 0; a < 16; ++a)\n"
        "    for (int b = 0; b < 16; ++b)\n"
        '      std::printf("%d\\n", int(executorch::runtime::promoteTypes(\n'
        "          static_cast<ScalarType>(a), static_cast<ScalarType>(b))));\n"
        "}\n",
        encoding="utf-8",
    )
    done = run([str(build_program(source, tmp_path / "promote", runtime))])
    promoted = list(map(int, done.stdout.split()))
    types = {
        0: torch.uint8,
        1: torch.int8,
        2: torch.int16,
        3: torch.int32,
        4: torch.int64,
        5: torch.float16,
        6: torch.float32,
        7: torch.float64,
        8: torch.complex32,
        9: torch.complex64,
        10: torch.complex128,
        11: torch.bool,
        15: torch.bfloat16,
    }
    for a, first in types.items():
        for b, second in types.items():
            assert types[promoted[16 * a + b]] == torch.promote_types(first, second), (a, b)
