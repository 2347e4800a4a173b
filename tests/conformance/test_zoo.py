"""Modules of many kinds (zoo.py), from PyTorch to the micro runtime: exported, built, compared.

What a user does with a model of his own, for some sixty small ones: export it with executorch, give
the files to `gen-kernels build`, link, run. The outputs are eager PyTorch's.
"""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="run by make conformance")

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from gen_kernels.codegen.firmware import Case, Input
from torch.export import export
from torch.utils import _pytree as pytree

from ..support.models import Value, difference
from ..support.run import build_library, execute, link_program
from .harness.caller import DTYPES
from .zoo import ZOO, Entry

pytestmark = pytest.mark.conformance


def exported(entry: Entry) -> bytes:
    """The entry as a program."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = copy.deepcopy(entry.module)  # the export of a module with state changes it
        program = export(module, entry.inputs, dynamic_shapes=entry.dynamic, strict=False)
        # Operators outside the core set reach the run time too.
        config = EdgeCompileConfig(_check_ir_validity=False)
        return bytes(to_edge(program, compile_config=config).to_executorch().buffer)


def made(name: str) -> Entry:
    """The entry, with the same weights and inputs at each call."""
    torch.manual_seed(sum(map(ord, name)))
    return ZOO[name]()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One library with the kernels of all models; the models lie beside it."""
    folder = tmp_path_factory.mktemp("zoo")
    for name in ZOO:
        (folder / f"{name}.pte").write_bytes(exported(made(name)))
    return build_library("host", folder / "library", "--model", str(folder))


def given(value: Any) -> Input:
    """An input of the runner."""
    if isinstance(value, torch.Tensor):
        order = value.dim_order()
        dense = value.permute(order).contiguous()
        data = bytes(dense.reshape(-1).view(torch.uint8).tolist()) if dense.numel() else b""
        return Input("tensor", data, DTYPES[value.dtype], tuple(value.shape), tuple(order))
    return Input({int: "int", float: "float", bool: "bool"}[type(value)], value=value)


def expected(value: Any) -> Value:
    """An output as eager PyTorch gives it."""
    if not isinstance(value, torch.Tensor):
        return Value(plain=value)
    dense = value.detach().contiguous()
    data = bytes(dense.reshape(-1).view(torch.uint8).tolist()) if dense.numel() else b""
    return Value(DTYPES[value.dtype], tuple(value.shape), data)


@pytest.mark.parametrize("name", ZOO)
def test_outputs_are_eagers(name: str, library: Path, tmp_path: Path) -> None:
    """Every output of every call, in order: state lives from call to call."""
    entry = made(name)
    calls = (entry.inputs, *entry.more)
    cases = [Case("forward", tuple(given(v) for v in pytree.tree_leaves(call))) for call in calls]
    program = link_program(
        "host", library, library.parent / f"{name}.pte", cases, out=tmp_path / "program"
    )
    outcome = execute("host", program)
    assert outcome.exit_code == 0, outcome.text
    for number, call in enumerate(calls):
        wanted = [expected(v) for v in pytree.tree_leaves(entry.module(*call))]
        outputs = outcome.outputs.get(number, {})
        assert sorted(outputs) == list(range(len(wanted))), outcome.text
        for index, value in enumerate(wanted):
            problem = difference(outputs[index], value)
            assert not problem, f"call {number} output {index}: {problem}"
