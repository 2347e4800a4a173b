"""The micro runtime on the host, under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import math
import random
import struct
import subprocess
from pathlib import Path

import pytest

from ..support import pte_builder as build
from ..support.cpp import (
    SANITIZE,
    SOURCES,
    build_program,
    build_runtime,
    operators_of,
    run,
)
from ..support.models import MODELS, TREE, model_names

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_runtime(tmp_path_factory.mktemp("runtime"), *SANITIZE)


@pytest.mark.parametrize("name", ["runtime_core", "runtime_services"])
def test_types(name: str, runtime: Path, tmp_path: Path) -> None:
    """EValue, Tensor, allocators, registry ...: the checks that ExecuTorch's runtime passes too."""
    program = build_program(SOURCES / f"{name}.cpp", tmp_path / name, runtime, *SANITIZE)
    done = run([str(program)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failures" in done.stdout


def test_conversions_of_narrow_floats(runtime: Path, tmp_path: Path) -> None:
    """All halves to float, and floats around every rounding border to Half and BFloat16.

    The expected values are Python's own (struct format e), and for BFloat16 the definition:
    the upper half of the float, rounded to nearest, ties to even.
    """
    source = tmp_path / "convert.cpp"
    source.write_text(
        "#include <executorch/runtime/core/exec_aten/exec_aten.h>\n"
        "#include <cstdio>\n"
        "using executorch::aten::Half;\n"
        "using executorch::aten::BFloat16;\n"
        "int main() {\n"
        "  for (unsigned i = 0; i < 65536; ++i) {\n"
        "    const float f = Half(static_cast<uint16_t>(i), Half::from_bits());\n"
        "    std::fwrite(&f, 4, 1, stdout);\n"
        "  }\n"
        "  float f;\n"
        "  while (std::fread(&f, 4, 1, stdin) == 1) {\n"
        "    const uint16_t narrow[] = {Half(f).x, BFloat16(f).x};\n"
        "    std::fwrite(narrow, 4, 1, stdout);\n"
        "  }\n"
        "}\n",
        encoding="utf-8",
    )
    program = build_program(source, tmp_path / "convert", runtime, *SANITIZE)
    numbers = _interesting_floats()
    wide = b"".join(struct.pack("<I", bits) for bits in numbers)
    output = subprocess.run([str(program)], input=wide, capture_output=True, check=True).stdout
    for i, value in enumerate(struct.unpack("<65536I", output[: 4 * 65536])):
        expected = struct.unpack(
            "<f", struct.pack("<f", struct.unpack("<e", struct.pack("<H", i))[0])
        )
        same = value == struct.unpack("<I", struct.pack("<f", *expected))[0]
        is_nan = i & 0x7C00 == 0x7C00 and i & 0x3FF
        assert same or (is_nan and value & 0x7F800000 == 0x7F800000 and value & 0x7FFFFF), hex(i)
    pairs = struct.unpack(f"<{2 * len(numbers)}H", output[4 * 65536 :])
    for bits, half, brain in zip(numbers, pairs[::2], pairs[1::2], strict=True):
        assert half == _to_half(bits), hex(bits)
        assert brain == _to_bfloat16(bits), hex(bits)


def _interesting_floats() -> list[int]:
    randomness = random.Random(1)
    numbers = [randomness.getrandbits(32) for _ in range(20000)]
    for half in range(0, 0x7C01, 7):
        (value,) = struct.unpack("<e", struct.pack("<H", half))
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        # The number, and the border to its neighbour, from both sides.
        for border in (bits, bits + 0x1000, bits + 0x0FFF, bits + 0x1001):
            numbers += [border & 0xFFFFFFFF, (border | 0x80000000) & 0xFFFFFFFF]
    return numbers


def _to_half(bits: int) -> int:
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    sign = bits >> 16 & 0x8000
    if math.isnan(value):
        return sign | 0x7E00
    try:
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    except OverflowError:
        return sign | 0x7C00


def _to_bfloat16(bits: int) -> int:
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF


def test_delegates(runtime: Path, tmp_path: Path) -> None:
    """A backend is initialised, run and destroyed, in that order, and its errors come back."""
    program = build_program(SOURCES / "runtime_backend.cpp", tmp_path / "b", runtime, *SANITIZE)
    model = MODELS / "xnnpack_inline_delegate.pte"
    done = run([str(program), str(model), *operators_of("xnnpack_inline_delegate")])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    loads = [line for line in lines if line.startswith("load_method")]
    # Not registered, not available, init() fails, then twice well.
    assert loads == [f"load_method {code}" for code in ("0x20", "0x20", "0x30", "0x00", "0x00")]
    assert [line for line in lines if line.startswith(("execute 0x", "destroy"))] == [
        "execute 0x32",
        "destroy handle 1",
        "execute 0x00",
        "destroy handle 2",
    ]


def test_external_data(runtime: Path, tmp_path: Path) -> None:
    """Constants of a program come from a .ptd file: kernels see the file's bytes."""
    source = SOURCES / "runtime_external_data.cpp"
    program = build_program(source, tmp_path / "external", runtime, *SANITIZE)
    files = [str(MODELS / "ptd_mlp.pte"), str(MODELS / "ptd_mlp.ptd")]
    done = run([str(program), *files, *operators_of("ptd_mlp")])
    assert done.returncode == 0, done.stdout + done.stderr
    sums = dict[str, str]()
    key = ""
    for line in done.stdout.splitlines():
        if line.startswith("key 0x00"):
            key = line.split()[-1]
        elif line.startswith("  layout 0x00"):
            sums[key] = line.split()[-1]
    assert set(sums) == {"l1.weight", "l1.bias", "l2.weight", "l2.bias"}
    calls = "\n".join(line for line in done.stdout.splitlines() if line.startswith("call"))
    assert all(f":{total}" in calls for total in sums.values())
    assert "without data 0x02\nload_method 0x00\n" in done.stdout


def _fuzz_flags() -> tuple[str, ...]:
    operators = sorted({name for model in model_names() for name in operators_of(model)})
    return ("-DFUZZ_OPERATORS=" + ",".join(f'"{name}"' for name in operators),)


@pytest.fixture(scope="module")
def fuzzer(runtime: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = TREE / "benchmarks" / "fuzz" / "fuzz_program.cpp"
    out = tmp_path_factory.mktemp("fuzz") / "fuzz_program"
    return build_program(source, out, runtime, *SANITIZE, *_fuzz_flags())


def test_damaged_programs(fuzzer: Path) -> None:
    """Changed and cut programs give errors or results, and touch no foreign memory.

    Before, every model as it is: with kernels that touch every byte of every argument.
    """
    others = ("bundled_mlp", "ptd_mlp", "xnnpack_full", "xnnpack_inline_delegate")
    models = [str(MODELS / f"{name}.pte") for name in model_names() if name not in others]
    done = run([str(fuzzer), "20261130", "60000", *models])
    assert done.returncode == 0, done.stderr[-4000:]
    whole, changed = (_counts(line) for line in done.stdout.splitlines())
    assert whole["unchanged"] == whole["loaded"] == len(models)
    assert whole["methods"] == whole["executed"] == whole["finished"] >= len(models)
    # The changes must not all be refused at the door, nor all be harmless.
    assert changed["files"] == 60_000
    assert 6_000 < changed["finished"] <= changed["methods"]
    assert changed["loaded"] < 54_000, done.stdout


@pytest.mark.parametrize("inputs", [[0], []])
def test_list_of_a_tensor_without_memory_is_an_output(
    inputs: list[int], fuzzer: Path, tmp_path: Path
) -> None:
    """Found by libFuzzer: such a list stayed what the pool held before.

    The tensor gets its memory with the input, or never.
    """
    values = [build.tensor([2, 3]), build.items(build.TENSOR_LIST, [0])]
    method = build.method(values, [], [], inputs=inputs, outputs=[1])
    path = tmp_path / "list.pte"
    path.write_bytes(build.with_header(build.serialise(build.program([method])), b""))
    done = run([str(fuzzer), "1", "0", str(path)])
    assert done.returncode == 0, done.stderr[-4000:]
    assert _counts(done.stdout.splitlines()[0])["finished"] == 1, done.stdout


def _counts(line: str) -> dict[str, int]:
    words = line.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))
