"""Cycles by kernel: the event tracer's records on a real run, and the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from gen_kernels.codegen.profile import (
    KernelCall,
    measure,
    profile_table,
    read_profile,
    zero_case,
)
from gen_kernels.selective.program import calls
from gen_kernels.selective.pte import read_program

from ..support.models import load_model
from ..support.run import missing_tools


@pytest.mark.slow
@pytest.mark.cross
def test_every_call_is_measured(tmp_path: Path) -> None:
    if missing_tools("qemu"):
        pytest.skip(missing_tools("qemu"))
    model = load_model("mlp")
    text = measure(model.path, zero_case(model.path), "rv32imc", "qemu", tmp_path)
    measured, _, instret = read_profile(text)
    program, _ = read_program(model.path, str(model.path))
    assert program is not None
    names = [call.operator.removeprefix("aten::") for call in calls(program.methods[0])]
    assert [call.kernel for call in measured] == names
    assert [call.instruction for call in measured] == list(range(len(names)))
    assert all(call.instret > 0 for call in measured)
    # The runtime itself takes little: the kernels' instructions are most of the whole.
    assert 0.5 * instret < sum(call.instret for call in measured) < instret


def test_table() -> None:
    text = "\n".join(
        [
            "output 0 0 6 1 1 00000000",
            "cycles 0 1000",
            "instret 0 800",
            "profile 0 0 native_call_addmm.out 600 500",
            "profile 0 1 native_call_relu.out 50 40",
            "profile 0 2 native_call_addmm.out 300 250",
            "profile 1 0 native_call_addmm.out 7 7",
        ]
    )
    measured, cycles, instret = read_profile(text)
    assert measured[1] == KernelCall(1, "relu.out", 50, 40)
    assert len(measured) == 3
    rows = [line.split() for line in profile_table(measured, cycles, instret).splitlines()[1:]]
    assert rows == [
        ["addmm.out", "2", "900", "90.0", "%", "750"],
        ["relu.out", "1", "50", "5.0", "%", "40"],
        ["(runtime)", "50", "5.0", "%", "10"],
        ["total", "3", "1,000", "100.0", "%", "800"],
    ]
