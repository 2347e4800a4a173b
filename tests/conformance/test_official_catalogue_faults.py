"""What ExecuTorch's generator does wrong with catalogues, shown on it, and right here.

Each test runs the official code first: when a release mends the fault, the test says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gen_kernels.codegen.catalogue import load_catalogue
from gen_kernels.codegen.diagnostics import Diagnostic
from gen_kernels.codegen.model import CatalogueEntry

official_model = pytest.importorskip("executorch.codegen.model", reason="make conformance")
official_parse = pytest.importorskip("executorch.codegen.parse", reason="make conformance")

pytestmark = pytest.mark.conformance

TYPES = {"T0": ["Float"]}
ORDERS = {"D0": ["0", "1"]}
META = {"self": ("T0", "D0"), "other": ("T0", "D0"), "out": ("T0", "D0")}


def official_keys(
    meta: dict[str, tuple[str, str]], types: dict[str, list[str]], orders: dict[str, object]
) -> list[str]:
    keys = official_model.ETKernelKey.gen_from_yaml(meta, types, orders)
    return [key.to_native_string() for key in keys]


def ours(
    folder: Path, body: str, operator: str = "add.out"
) -> tuple[tuple[CatalogueEntry, ...], tuple[Diagnostic, ...]]:
    path = folder / "my.yaml"
    path.write_text(f"- op: {operator}\n{body}")
    return load_catalogue(path, "my.yaml")


def our_keys(folder: Path, meta: str, types: str, orders: str) -> list[str]:
    body = f"  type_alias: {types}\n  dim_order_alias: {orders}\n"
    body += f"  kernels:\n    - arg_meta: {meta}\n      kernel_name: my::f\n"
    (entry,), diagnostics = ours(folder, body)
    assert diagnostics == ()
    return list(entry.kernels[0].keys)


ALL = "{self: [T0, D0], other: [T0, D0], out: [T0, D0]}"


def test_the_documented_form_of_dim_orders(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        official_keys(META, TYPES, {"D0": [[0, 1]]})
    keys = our_keys(tmp_path, ALL, "{T0: [Float]}", "{D0: [[0, 1]]}")
    assert keys == ["v1/6;0,1|6;0,1|6;0,1|6;0,1"]


@pytest.mark.parametrize(("dtype", "number"), [("Half", 5), ("BFloat16", 15), ("UInt16", 27)])
def test_dtypes_that_the_official_table_lacks(tmp_path: Path, dtype: str, number: int) -> None:
    with pytest.raises(KeyError):
        official_keys(META, {"T0": [dtype]}, dict(ORDERS))
    keys = our_keys(tmp_path, ALL, f"{{T0: [{dtype}]}}", "{D0: [0]}")
    assert keys == ["v1/" + "|".join([f"{number};0"] * 4)]


def test_the_result_is_part_of_the_key(tmp_path: Path) -> None:
    # test_kernel_choice.py shows that the runtime asks for the form with the result.
    assert official_keys(META, TYPES, dict(ORDERS)) == ["v1/6;0,1|6;0,1|6;0,1"]
    keys = our_keys(tmp_path, ALL, "{T0: [Float]}", "{D0: [0, 1]}")
    assert keys == ["v1/6;0,1|6;0,1|6;0,1|6;0,1"]


def test_argument_names_are_checked(tmp_path: Path) -> None:
    wrong = {**META, "no_such_argument": ("T0", "D0")}
    assert len(official_keys(wrong, TYPES, dict(ORDERS))) == 1
    body = "  type_alias: {T0: [Float]}\n  dim_order_alias: {D0: [0]}\n"
    body += f"  kernels:\n    - arg_meta: {ALL[:-1]}, no_such_argument: [T0, D0]}}\n"
    entries, (problem,) = ours(tmp_path, f"{body}      kernel_name: my::f\n")
    assert entries == ()
    assert "no argument 'no_such_argument'" in problem.message


def test_the_order_of_keys_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    types = "{A: [Float, Half], B: [Int, Long], C: [Bool, Byte]}"
    meta = "{self: [A, D0], other: [B, D0], out: [C, D0]}"
    path = tmp_path / "my.yaml"
    path.write_text(
        f"- op: add.out\n  type_alias: {types}\n  dim_order_alias: {{D0: [0]}}\n"
        f"  kernels:\n    - arg_meta: {meta}\n      kernel_name: my::f\n"
    )
    official = (
        "from executorch.codegen.model import ETKernelKey as K\n"
        "keys = K.gen_from_yaml({'self': ('A', 'D0'), 'other': ('B', 'D0'), 'out': ('C', 'D0')},\n"
        "    {'A': ['Float', 'Int'], 'B': ['Int', 'Long'], 'C': ['Bool', 'Byte']}, {'D0': ['0']})\n"
        "print([key.to_native_string() for key in keys])\n"
    )
    own = (
        "from pathlib import Path\n"
        "from gen_kernels.codegen.catalogue import load_catalogue\n"
        f"print(load_catalogue(Path({str(path)!r}), 'x')[0][0].kernels[0].keys)\n"
    )
    assert len({_run(official, seed) for seed in range(8)}) > 1
    assert len({_run(own, seed) for seed in range(8)}) == 1


def _run(code: str, seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_a_misspelt_key_is_named(tmp_path: Path) -> None:
    entry = {"op": "add.out", "kernels": [{"arg_meta": None, "kernel_nam": "my::f"}]}
    with pytest.raises(AttributeError, match="has no attribute 'split'"):
        official_parse.parse_from_yaml(entry)
    _, (problem,) = ours(tmp_path, "  kernels:\n    - kernel_nam: my::f\n")
    assert problem.message == "unknown key 'kernel_nam' in a kernel"
    assert problem.hint == "did you mean kernel_name?"
    assert (problem.location.line, problem.location.column) == (3, 7)


def test_a_kernel_without_a_name_is_not_forgotten(tmp_path: Path) -> None:
    assert official_parse.parse_from_yaml({"op": "add.out", "kernel": []}) == {}
    _, (problem,) = ours(tmp_path, "  kernel: []\n")
    assert problem.hint == "did you mean kernels?"
