"""What the real runtime asks for when it loads a model: kernel keys, and memory.

tests/conformance/probe/probe.cpp loads models in libexecutorch.so 1.5.1 with the kernels that it is
given, and prints each allocation.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conformance.harness.library import CACHE, executorch_folder
from tests.support import pte_builder as build
from tests.support.models import MODELS, TREE, thirdparty

pytest.importorskip("executorch")

from gen_kernels.selective.kernel_key import MAX_KEY_BYTES, call_key
from gen_kernels.selective.memory_plan import executorch_allocations, pools
from gen_kernels.selective.models import Model, load_models
from gen_kernels.selective.program import calls
from gen_kernels.selective.pte import parse_program

pytestmark = pytest.mark.conformance

SOURCE = Path(__file__).parent / "probe" / "probe.cpp"
OK, NOT_FOUND, TOO_LONG = "0x0", "0x14", "0x12"
DATA = {"ptd_mlp.pte": MODELS / "ptd_mlp.ptd"}
RUNTIMES_OWN = ("executorch_prim::", "aten::sym_", "aten::_local_scalar_dense")
"""Prim operators: libexecutorch.so registers them itself, without a key."""


class Loaded(NamedTuple):
    """What one load_method did."""

    method: str
    error: str
    allocations: list[tuple[str, int, int]]
    used: int


@pytest.fixture(scope="module")
def probe() -> Path:
    executorch = executorch_folder()
    program = CACHE / "probe"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        include, library = executorch / "include", executorch / "lib"
        command = ["g++", "-std=c++17", f"-I{include}"]
        command += [f"-I{include / 'executorch/runtime/core/portable_type/c10'}"]
        command += ["-DC10_USING_CUSTOM_GENERATED_MACROS", str(SOURCE), f"-L{library}"]
        fresh = program.with_suffix(".new")
        command += ["-lexecutorch", f"-Wl,-rpath,{library}", "-o", str(fresh)]
        subprocess.run(command, check=True)
        fresh.replace(program)
    return program


def load(
    probe: Path,
    file: Path,
    kernels: set[tuple[str, str]],
    tmp_path: Path,
    *,
    with_temp: bool = True,
) -> list[Loaded]:
    """Load every method of `file`; `kernels` are (operator, key), "" is the fallback."""
    table = tmp_path / "kernels.txt"
    table.write_text("".join(f"{name}\t{key}\n" for name, key in sorted(kernels)))
    command = [str(probe), str(file), str(table), str(DATA.get(file.name, "-"))]
    output = subprocess.run(
        [*command, *([] if with_temp else ["no-temp"])], capture_output=True, text=True, check=False
    ).stdout
    loaded, allocations, used = [], [], 0
    for line in output.splitlines():
        words = line.split()
        if words[0] == "alloc":
            allocations.append((words[1], int(words[2]), int(words[3])))
        elif words[0] == "reset":
            allocations.append(("reset", 0, 1))
        elif words[0] == "used":
            used = int(words[1])
        elif words[0] == "method":
            loaded.append(Loaded(words[1], words[2], allocations, used))
            allocations = []
    return loaded


def all_models() -> list[Model]:
    folders = [str(MODELS / "*.pte"), str(TREE / "examples")]
    if thirdparty() is not None:
        folders.append(str(thirdparty()))
    found, diagnostics = load_models(folders)
    assert not diagnostics
    return list(found)


ALL = all_models()


def asked(model: Model) -> set[tuple[str, str]]:
    """The kernels that we say the runtime asks for, and only those."""
    return {
        (call.operator, call_key(call))
        for method in model.program.methods
        for call in calls(method)
        if not call.operator.startswith(RUNTIMES_OWN)
    }


@pytest.mark.parametrize("model", ALL, ids=lambda model: Path(model.display).stem)
def test_kernel_keys(model: Model, probe: Path, tmp_path: Path) -> None:
    """With kernels under exactly our keys, and no fallback, every method loads."""
    keys = asked(model)
    loaded = load(probe, Path(model.display), keys, tmp_path)
    assert {item.error for item in loaded} == {OK}
    assert [item.method for item in loaded] == [method.name for method in model.program.methods]
    for operator, key in keys:  # and with any one of them changed, one does not
        other = keys - {(operator, key)} | {(operator, key + "|6;0")}
        errors = {item.error for item in load(probe, Path(model.display), other, tmp_path)}
        assert NOT_FOUND in errors


@pytest.mark.parametrize("model", ALL, ids=lambda model: Path(model.display).stem)
def test_memory(model: Model, probe: Path, tmp_path: Path) -> None:
    """Each allocation, and so the pools, are what memory_plan computes."""
    loaded = load(probe, Path(model.display), asked(model), tmp_path)
    alone = load(probe, Path(model.display), asked(model), tmp_path, with_temp=False)
    for method, item, one in zip(model.program.methods, loaded, alone, strict=True):
        assert item.allocations == list(executorch_allocations(method, 8))
        assert item.used == pools(method, 8).executorch
        assert one.used == pools(method, 8).executorch_alone


def one_call(tmp_path: Path, count: int) -> tuple[Path, str]:
    """A model that calls my::f.out with `count` tensors of rank 16, and the call's key."""
    values = [build.tensor([1] * 16, dtype=15, place=(1, 0)), build.integer(1)]
    args = [0] * count or [1]
    plan = build.method(values, [build.call(0, args)], ["my::f.out"], buffers=[64])
    data = build.serialise(build.program([plan]))
    path = tmp_path / "model.pte"
    path.write_bytes(data)
    return path, call_key(next(calls(parse_program(data, len(data)).methods[0])))


def test_longest_key(probe: Path, tmp_path: Path) -> None:
    path, key = one_call(tmp_path, 16)
    assert len(key) == MAX_KEY_BYTES
    assert load(probe, path, {("my::f.out", key)}, tmp_path)[0].error == OK
    path, key = one_call(tmp_path, 17)
    assert len(key) > MAX_KEY_BYTES
    for registered in (key, ""):
        assert load(probe, path, {("my::f.out", registered)}, tmp_path)[0].error == TOO_LONG


def test_call_without_tensors_gets_the_fallback_only(probe: Path, tmp_path: Path) -> None:
    path, key = one_call(tmp_path, 0)
    assert key == "v1"
    assert load(probe, path, {("my::f.out", key)}, tmp_path)[0].error == NOT_FOUND
    assert load(probe, path, {("my::f.out", "")}, tmp_path)[0].error == OK
