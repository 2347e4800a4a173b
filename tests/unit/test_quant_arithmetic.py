"""kernels/util/quant.h: the integer paths for targets without floating point, on the host.

Expected values: IEEE single precision as Python's struct rounds it (a product of two floats is
exact as a double), and exact fractions.
"""

from __future__ import annotations

import ctypes
import math
import random
import shutil
import struct
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
#include "util/quant.h"
using namespace gen_kernels;
extern "C" {
int64_t quantize(float x, float inverse, int64_t zero, int64_t low, int64_t high) {
  return Quantizer(inverse, zero, low, high)(x);
}
float to_float_(double x) { return to_float(x); }
float reciprocal_(double x) { return reciprocal(x); }
float scale_integer_(int32_t value, float scale) { return scale_integer(value, scale); }
int32_t requantize_(int32_t value, int32_t multiplier, int32_t shift) {
  return requantize(value, multiplier, shift);
}
}
"""


@pytest.fixture(scope="module", params=[0, 1], ids=["float", "integer"])
def lib(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("quant")
    (folder / "quant.cpp").write_text(SOURCE)
    command = [compiler, "-std=c++17", "-O1", "-fPIC", "-shared", "-fsanitize=undefined"]
    command += ["-fno-sanitize-recover=undefined", f"-DGEN_KERNELS_SOFT_FLOAT={request.param}"]
    command += [f"-I{ROOT / 'kernels'}", f"-I{ROOT / 'runtime' / 'include'}"]
    subprocess.run([*command, "quant.cpp", "-o", "quant.so"], cwd=folder, check=True)
    loaded = ctypes.CDLL(str(folder / "quant.so"))
    loaded.quantize.restype = ctypes.c_int64
    loaded.quantize.argtypes = [ctypes.c_float, ctypes.c_float, *[ctypes.c_int64] * 3]
    for name, argument in (("to_float_", ctypes.c_double), ("reciprocal_", ctypes.c_double)):
        getattr(loaded, name).restype = ctypes.c_float
        getattr(loaded, name).argtypes = [argument]
    loaded.scale_integer_.restype = ctypes.c_float
    loaded.scale_integer_.argtypes = [ctypes.c_int32, ctypes.c_float]
    return loaded


def single(value: float) -> float:
    """Rounded to single precision; beyond its range: infinity."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def floats(rng: random.Random, count: int) -> list[float]:
    """Floats of all magnitudes, special ones among them."""
    specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        2.0**-149,
        2.0**-126,
        2.0**127,
        float("inf"),
        -float("inf"),
    ]
    drawn = [
        struct.unpack("<f", rng.getrandbits(32).to_bytes(4, "little"))[0] for _ in range(count)
    ]
    return specials + [x for x in drawn if not math.isnan(x)]


def test_quantize(lib: ctypes.CDLL) -> None:
    rng = random.Random(1)
    for x in floats(rng, 3000) + [single(rng.uniform(-200, 200)) for _ in range(3000)]:
        for inverse in (
            1.0,
            2.0,
            single(10 ** rng.uniform(-3, 4)),
            single(1 / rng.uniform(0.01, 3)),
        ):
            zero, low, high = rng.randint(-128, 127), -128, 127
            product = single(x * inverse)
            if product in (float("inf"), -float("inf")):
                expected = high if product > 0 else low
            else:
                expected = min(max(round(product) + zero, low), high)
            assert lib.quantize(x, inverse, zero, low, high) == expected, (x, inverse, zero)


def test_quantize_ties_of_both_roundings(lib: ctypes.CDLL) -> None:
    rng = random.Random(2)
    for _ in range(5000):
        # Products within a few units in the last place of k + 1/2.
        inverse = single(rng.uniform(0.5, 2) * 2.0 ** rng.randint(-8, 8))
        x = single((rng.randint(-130, 130) + 0.5) / inverse)
        x = single(x * (1 + rng.randint(-2, 2) * 2.0**-24))
        expected = min(max(round(single(x * inverse)), -128), 127)
        assert lib.quantize(x, inverse, 0, -128, 127) == expected, (x, inverse)


def test_nan_quantizes_to_zero(lib: ctypes.CDLL) -> None:
    assert lib.quantize(float("nan"), 1.0, 5, -128, 127) == 0


def test_to_float(lib: ctypes.CDLL) -> None:
    rng = random.Random(3)
    values = [
        struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0] for _ in range(3000)
    ]
    values += [x * (1 + k * 2.0**-52) for x in floats(rng, 1000) for k in (-1, 0, 1, 2**27, 2**28)]
    values += [2.0**-149 * k for k in (0.25, 0.5, 0.75, 1, 1.5, 2.5)] + [(2 - 2.0**-24) * 2.0**127]
    for x in values:
        if not math.isnan(x):
            got = lib.to_float_(x)
            assert struct.pack("<f", got) == struct.pack("<f", single(x)), x


def test_reciprocal(lib: ctypes.CDLL) -> None:
    rng = random.Random(4)
    values = [rng.uniform(0.5, 2) * 2.0 ** rng.randint(-120, 120) for _ in range(5000)]
    values += [2.0**e for e in range(-130, 130)] + [
        1 + 2.0**-52,
        1 - 2.0**-53,
        2.822781801223755,
        -3.0,
    ]
    for x in values:
        expected = single(1.0 / x)
        assert lib.reciprocal_(x) == expected, (x, lib.reciprocal_(x), expected)


def test_scale_integer(lib: ctypes.CDLL) -> None:
    rng = random.Random(5)
    for scale in floats(rng, 1500) + [single(rng.uniform(0.001, 1)) for _ in range(1500)]:
        for value in (
            0,
            1,
            -1,
            255,
            -256,
            rng.randint(-300, 300),
            rng.randint(-(1 << 24), 1 << 24),
        ):
            if value == 0 and scale in (float("inf"), -float("inf")):
                continue
            expected = single(value * scale)
            got = lib.scale_integer_(value, scale)
            assert got == expected, (value, scale)


def rescaled(value: int, multiplier: int, shift: int) -> int:
    """CMSIS-NN's two roundings: half up at bit 31, then half away from zero; wraps to 32 bits."""
    high = (value * 2 ** max(shift, 0) * multiplier + (1 << 30)) >> 31
    if shift < 0:
        exact = Fraction(high, 1 << -shift)
        whole = abs(exact) + Fraction(1, 2)
        high = (1 if exact >= 0 else -1) * (whole.numerator // whole.denominator)
    return (high + (1 << 31)) % (1 << 32) - (1 << 31)


def test_requantize(lib: ctypes.CDLL) -> None:
    rng = random.Random(6)
    corners = (0, 1, -1, 2**31 - 1, -(2**31), 2**30, -(2**30))
    for _ in range(20000):
        value = rng.choice(
            (*corners, rng.getrandbits(32) - (1 << 31), rng.randint(-300000, 300000))
        )
        multiplier = rng.choice(
            (0, 1 << 30, (1 << 31) - 1, rng.randrange(1 << 30, 1 << 31), -5, -(1 << 31))
        )
        shift = rng.choice((0, -1, rng.randint(-31, 0), rng.randint(-45, 0)))
        if multiplier >= 0 and value != -(2**31) and abs(value) < 2**20:
            shift = rng.choice((shift, rng.randint(1, 11)))
        got = lib.requantize_(value, multiplier, shift)
        assert got == rescaled(value, multiplier, shift), (value, multiplier, shift)
