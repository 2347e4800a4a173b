"""The test models: what tests/models/models.json says, and how outputs are compared."""

from __future__ import annotations

import json
import math
import os
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gen_kernels.codegen.firmware import Case, Input

TREE = Path(__file__).resolve().parents[2]
MODELS = TREE / "tests" / "models"

# ScalarType -> struct format; Half and BFloat16 are decoded by hand.
FORMATS = {0: "B", 1: "b", 2: "h", 3: "i", 4: "q", 5: "e", 6: "f", 7: "d", 11: "B"}
BFLOAT16 = 15
# Steps of a float's last place that a result in that type may differ by, as relative error.
TOLERANCE = {5: 2e-3, 6: 1e-5, 7: 1e-7, BFLOAT16: 1.6e-2}
ABSOLUTE = 1e-6


@dataclass(frozen=True)
class Value:
    """One output: a tensor's type, sizes, bytes in memory and dim order, or a plain value.

    An empty dim order: contiguous.
    """

    scalar_type: int = -1
    sizes: tuple[int, ...] = ()
    data: bytes = b""
    plain: int | bool | float | str | None = None
    dim_order: tuple[int, ...] = ()

    @property
    def logical(self) -> tuple[float, ...]:
        """The tensor's values in the order of its dimensions, whatever their order in memory."""
        strides, step = [0] * len(self.sizes), 1
        for dim in reversed(self.dim_order or range(len(self.sizes))):
            strides[dim], step = step, step * self.sizes[dim]
        places = [0]
        for size, stride in zip(self.sizes, strides, strict=True):
            places = [place + i * stride for place in places for i in range(size)]
        values = self.numbers
        return tuple(values[place] for place in places) if values else ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """The tensor's values in memory order."""
        if self.scalar_type == BFLOAT16:
            halves = struct.unpack(f"<{len(self.data) // 2}H", self.data)
            return tuple(struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves)
        form = FORMATS[self.scalar_type]
        return struct.unpack(f"<{len(self.data) // struct.calcsize(form)}{form}", self.data)


@dataclass(frozen=True)
class Expected:
    """A case and the outputs that PyTorch computed."""

    case: Case
    outputs: tuple[Value, ...]


@dataclass(frozen=True)
class Model:
    """A model of models.json with its cases."""

    name: str
    path: Path
    cases: tuple[Expected, ...]
    operators: tuple[str, ...]
    delegates: bool
    weights: Path | None = None


@lru_cache(maxsize=1)
def _index() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((MODELS / "models.json").read_text(encoding="utf-8"))
    return loaded


def model_names() -> tuple[str, ...]:
    """Every model with at least one case."""
    return tuple(name for name, entry in _index().items() if entry.get("cases"))


@lru_cache(maxsize=64)
def load_model(name: str) -> Model:
    """Reads one model's entry and the bytes of its inputs and expected outputs."""
    entry = _index()[name]
    cases = tuple(
        Expected(
            Case(case["method"], tuple(_input(given) for given in case["inputs"])),
            tuple(_value(out) for out in case["expected_eager"]),
        )
        for case in entry["cases"]
    )
    methods = entry.get("methods", ())
    operators = sorted({op for method in methods for op in method["operators"]})
    delegates = any(method["delegates"] for method in methods)
    data_files = entry.get("data_files", ())
    weights = MODELS / data_files[0] if data_files else None
    return Model(name, MODELS / entry["file"], cases, tuple(operators), delegates, weights)


def _input(entry: dict[str, Any]) -> Input:
    if entry["kind"] != "tensor":
        return Input(entry["kind"], value=entry.get("value", 0))
    return Input(
        "tensor",
        (MODELS / entry["bin"]).read_bytes(),
        entry["scalar_type"],
        tuple(entry["sizes"]),
        tuple(entry["dim_order"]),
    )


def _value(entry: dict[str, Any]) -> Value:
    if entry["kind"] != "tensor":
        return Value(plain=entry.get("value"))
    data = (MODELS / entry["bin"]).read_bytes()
    order = tuple(entry["dim_order"])
    return Value(entry["scalar_type"], tuple(entry["sizes"]), data, dim_order=order)


def thirdparty() -> Path | None:
    """The folder with models that others published; None when it is not there."""
    named = os.environ.get("GEN_KERNELS_THIRDPARTY")
    folder = Path(named) if named else TREE.parent / "shared" / "models" / "thirdparty"
    return folder if (folder / "index.json").is_file() else None


def difference(actual: Value, expected: Value) -> str:
    """Says how an output differs from the expected one; empty when it does not.

    Integers must be equal; floats within 1e-5 relative (less for the narrow types) or a tiny
    absolute difference. Infinities and NaNs must match.
    """
    if actual.scalar_type < 0 or expected.scalar_type < 0:
        same = actual.plain == expected.plain and actual.scalar_type == expected.scalar_type
        return "" if same else f"{actual.plain!r}, expected {expected.plain!r}"
    if (actual.scalar_type, actual.sizes) != (expected.scalar_type, expected.sizes):
        return (
            f"type {actual.scalar_type} sizes {actual.sizes}, "
            f"expected type {expected.scalar_type} sizes {expected.sizes}"
        )
    relative = TOLERANCE.get(expected.scalar_type, 0.0)
    pairs = list(zip(actual.logical, expected.logical, strict=True))
    scale = max((abs(e) for _, e in pairs if math.isfinite(e)), default=0.0)
    # Sums cancel: an element may be off by the rounding of its neighbours' magnitude.
    absolute = ABSOLUTE * max(1.0, scale) if relative else 0.0
    for i, (a, e) in enumerate(pairs):
        if a == e or (math.isnan(a) and math.isnan(e)):
            continue
        if not abs(a - e) <= max(relative * abs(e), absolute):
            return f"element {i} is {a!r}, expected {e!r}"
    return ""
