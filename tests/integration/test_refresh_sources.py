"""The `source` keys of the catalogues: true, and renewed by tools/refresh_sources.py."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parent.parent.parent / "tools" / "refresh_sources.py"

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh_sources", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_sources_of_the_catalogues_are_true() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_sources_are_added_changed_and_removed(tool: ModuleType) -> None:
    text = (
        "- op: a.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::a_out\n"
        "      source: portable/old.cpp\n"
        "\n- op: b.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::b_out\n"
        "      source: portable/gone.cpp\n"
        "\n- func: p::c(int i) -> int\n  boxed: true\n  kernels:\n"
        "    - arg_meta: null\n      kernel_name: p::c\n"
        "\n- op: d.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::d_out\n"
        "      source: portable/broken.cpp\n"
    )
    sources = {"t::native::a_out": "portable/new.cpp", "p::c": "prim/c.cpp", "p::native::c": "x"}
    new = tool.with_sources(text, sources, {"portable/broken.cpp"})
    assert new == (
        "- op: a.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::a_out\n"
        "      source: portable/new.cpp\n"
        "\n- op: b.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::b_out\n"
        "\n- func: p::c(int i) -> int\n  boxed: true\n  kernels:\n"
        "    - arg_meta: null\n      kernel_name: p::c\n      source: prim/c.cpp\n"
        "\n- op: d.out\n  kernels:\n    - arg_meta: null\n      kernel_name: t::d_out\n"
        "      source: portable/broken.cpp\n"
    )


def test_functions_of_a_file(tool: ModuleType, tmp_path: Path) -> None:
    source = tmp_path / "kernels" / "portable" / "a.cpp"
    source.parent.mkdir(parents=True)
    source.write_text(
        "namespace t { namespace native {\n"
        "int a_out(int x) { return x; }\nstatic int hidden(int x) { return x; }\n"
        "template <class T> T generic(T x) { return x; }\n"
        "int b_out(double) { return hidden(generic(1)); }\n}}\nint declared(int);\n"
    )
    tool.ROOT = tmp_path
    assert sorted(tool.defined_functions(source, "g++", [], tmp_path)) == [
        "t::native::a_out",
        "t::native::b_out",
    ]
    source.write_text("int f( {\n")
    assert "error" in tool.defined_functions(source, "g++", [], tmp_path)
