"""The bundled catalogues against an installed torch and executorch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from gen_kernels.codegen.catalogue import FUNCTIONS, load_catalogue, open_catalogue
from gen_kernels.codegen.catalogue_import import run_import
from gen_kernels.codegen.schema_parser import parse_operator_name, parse_schema

executorch = pytest.importorskip("executorch", reason="run by make conformance")
torchgen_gen = pytest.importorskip("torchgen.gen")
official_parse = pytest.importorskip("executorch.codegen.parse")

pytestmark = pytest.mark.conformance

PACKAGE = Path(next(iter(executorch.__path__)))

OFFICIAL = {
    "functions": "kernels/portable/functions.yaml",
    "custom_ops": "kernels/portable/custom_ops.yaml",
    "quantized": "kernels/quantized/quantized.yaml",
    "cortex_m": "backends/cortex_m/ops/operators.yaml",
}

LIST_KERNELS = """
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <cstdio>
int main() {
  executorch::runtime::runtime_init();
  for (const auto& kernel : executorch::runtime::get_registered_kernels())
    std::puts(kernel.name_);
}
"""


def official_entries(name: str) -> list[dict[str, Any]]:
    text = (PACKAGE / OFFICIAL[name]).read_text()
    return list(yaml.load(text, Loader=yaml.CSafeLoader))


@pytest.mark.parametrize("name", OFFICIAL)
def test_every_official_entry_is_here(name: str) -> None:
    ours = open_catalogue(FUNCTIONS / f"{name}.yaml", name, bundled=True)
    theirs = official_entries(name)
    assert len(ours.names) == len(theirs)
    for official in theirs:
        if "op" in official:
            operator = str(parse_operator_name(official["op"]))
        else:
            operator = str(parse_schema(official["func"]).name)
        entry = ours.find(operator if "::" in operator else f"aten::{operator}")
        assert entry is not None, operator
        if "func" in official:
            assert str(entry.schema).removeprefix("aten::") == official["func"]
        kernels = [k["kernel_name"].rpartition("::")[2] for k in official["kernels"]]
        assert [k.symbol.rpartition("::")[2] for k in entry.kernels] == kernels


CATALOGUES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*.yaml")
    if "kernel_name:" in path.read_text(errors="replace")
)


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_catalogue_of_the_package_is_understood(name: str) -> None:
    """Ten of them, 700 entries: the same operators, functions and number of keys as official."""
    entries, diagnostics = load_catalogue(PACKAGE / name, name)
    assert diagnostics == ()
    raw = yaml.load((PACKAGE / name).read_text(), Loader=torchgen_gen.LineLoader)
    assert len(entries) == len(raw)
    for entry, official in zip(entries, raw, strict=True):
        kernels = official_parse.parse_from_yaml(official)
        theirs = sorted({f"{k.cpp_namespace}::{k.kernel}" for k in kernels.values()})
        assert sorted({k.symbol for k in entry.kernels}) == theirs
        assert sum(max(1, len(k.keys)) for k in entry.kernels) == len(kernels)


def test_import_finds_nothing_new(tmp_path: Path) -> None:
    text, diagnostics = run_import(python=sys.executable, dry_run=True)
    assert diagnostics == ()
    assert text.startswith("0 of 5 files would change (torch 2.13.0")


def test_import_into_an_empty_folder(tmp_path: Path) -> None:
    out = tmp_path / "new"
    text, diagnostics = run_import(python=sys.executable, out=out)
    assert diagnostics == ()
    assert "5 of 5 files changed" in text
    assert "+- op: add.out" in text
    for name in OFFICIAL:
        written = (out / f"{name}.yaml").read_text()
        bundled = (FUNCTIONS / f"{name}.yaml").read_text()
        # `source` keys are ours: they come from our kernels, not from the import.
        lines = [line for line in bundled.splitlines() if not line.startswith("      source: ")]
        assert written.splitlines() == lines
    schemas = "aten_schemas.yaml"
    assert (out / schemas).read_text() == (FUNCTIONS / schemas).read_text()


def test_prim_operators_are_those_of_the_real_runtime(tmp_path: Path) -> None:
    source = tmp_path / "list.cpp"
    source.write_text(LIST_KERNELS)
    include = PACKAGE / "include"
    c10 = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    library = PACKAGE / "lib"
    command = ["g++", "-std=c++17", "-Wno-deprecated", "-DC10_USING_CUSTOM_GENERATED_MACROS"]
    command += [f"-I{include}", f"-I{c10}", str(source), "-o", str(tmp_path / "list")]
    command += [f"-L{library}", "-lexecutorch", f"-Wl,-rpath,{library}"]
    subprocess.run(command, check=True)
    listed = subprocess.run([str(tmp_path / "list")], capture_output=True, text=True, check=True)
    ours = open_catalogue(FUNCTIONS / "prim_ops.yaml", "prim_ops.yaml", bundled=True)
    assert sorted(ours.names) == sorted(listed.stdout.split())
    assert all(entry.boxed for entry in ours.entries())
