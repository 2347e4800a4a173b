"""Whole models on the RTL: the portable kernels against the CORE-V ones, and where cycles go."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from gen_kernels.codegen.firmware import Case, file_case, find_method
from gen_kernels.codegen.profile import KernelCall, measure, read_profile, zero_case
from gen_kernels.selective.call_values import tensor
from gen_kernels.selective.models import load_models
from gen_kernels.selective.program import Call, Method, calls

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "tests" / "models"
NAMES = ("cortexm_add", "cortexm_mlp", "cortexm_dscnn")
THIRD_PARTY = Path(
    os.environ.get("GEN_KERNELS_THIRDPARTY", ROOT.parent / "shared" / "models" / "thirdparty")
)


class Run(NamedTuple):
    """A model's calls and its execute() as a whole."""

    calls: tuple[KernelCall, ...]
    cycles: int
    instructions: int


def candidates() -> list[tuple[str, Path, list[Path]]]:
    """Name, model, inputs (none: zeros). The keyword model only where it is present."""
    facts = json.loads((BUNDLED / "models.json").read_text(encoding="utf-8"))
    found = [(name, BUNDLED / facts[name]["file"], []) for name in NAMES]
    found.append(("digits_int8", ROOT / "examples" / "digits" / "digits_int8.pte", []))
    words = THIRD_PARTY / "kws_dscnn_int8.pte"
    if words.exists():
        found.append(("keyword spotting", words, [THIRD_PARTY / "kws_yes.f32"]))
    return found


def case_of(model: Path, inputs: list[Path]) -> Case:
    """The case to run."""
    (loaded,), _ = load_models([str(model)])
    return file_case(loaded.program, "", inputs) if inputs else zero_case(model)


def products(call: Call) -> int:
    """Multiplications of a convolution or matrix product."""
    arguments = (call.method, call.args)
    out, weight = tensor(arguments, -1), tensor(arguments, 1)
    if out is None:
        return 0
    if "conv2d" in call.operator and weight is not None:
        _, height, width, channels = weight.sizes
        if "transpose" in call.operator:
            source = tensor(arguments, 0)
            assert source is not None
            return source.nbytes * height * width * weight.sizes[0]
        return out.nbytes * height * width * (1 if "depthwise" in call.operator else channels)
    if "linear" in call.operator and weight is not None:
        return out.nbytes * weight.sizes[-1]
    left = tensor(arguments, 0)
    if "batch_matmul" in call.operator and left is not None:
        return out.nbytes * left.sizes[-1]
    return 0


def run(model: Path, case: Case, target: str) -> Run:
    """One run on the RTL."""
    with tempfile.TemporaryDirectory() as folder:
        text = measure(model, case, target, "rtl", Path(folder))
    return Run(*read_profile(text))


def by_kernel(found: Run) -> dict[str, int]:
    """Cycles by kernel, the rest as "(runtime)"."""
    cycles: dict[str, int] = {}
    for call in found.calls:
        cycles[call.kernel] = cycles.get(call.kernel, 0) + call.cycles
    cycles["(runtime)"] = found.cycles - sum(cycles.values())
    return cycles


def share_table(name: str, method: Method, portable: Run, corev: Run) -> list[str]:
    """Where the cycles of a model go, with both kinds of kernels."""
    work: dict[str, int] = {}
    for call in calls(method):
        kernel = call.operator.partition("::")[2]
        work[kernel] = work.get(kernel, 0) + products(call)
    slow, fast = by_kernel(portable), by_kernel(corev)
    lines = ["", f"### {name}", "", "| kernel | MAC | portable | CORE-V | share | MAC/cycle |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for kernel in sorted(fast, key=lambda k: -fast[k]):
        mac = work.get(kernel, 0)
        rate = f"{mac / fast[kernel]:.2f}" if mac else ""
        lines.append(
            f"| {kernel} | {mac or '':{',' if mac else ''}} | {slow.get(kernel, 0):,} "
            f"| {fast[kernel]:,} | {100 * fast[kernel] / corev.cycles:.1f} % | {rate} |"
        )
    return lines


def files() -> dict[str, str]:
    """models.md: all models, then the shares of each."""
    lines = ["| model | MAC | portable -Os, cycles | instructions | CORE-V, cycles | instructions "]
    lines[0] += "| MAC/cycle | faster |"
    lines.append("|---|---:|---:|---:|---:|---:|---:|---:|")
    shares: list[str] = []
    for name, model, inputs in candidates():
        case = case_of(model, inputs)
        portable, corev = run(model, case, "rv32imc"), run(model, case, "cv32e40p")
        (loaded,), _ = load_models([str(model)])
        method = find_method(loaded.program, "")
        work = sum(products(call) for call in calls(method))
        lines.append(
            f"| {name} | {work:,} | {portable.cycles:,} | {portable.instructions:,} "
            f"| {corev.cycles:,} | {corev.instructions:,} | {work / corev.cycles:.2f} "
            f"| {portable.cycles / corev.cycles:.1f} x |"
        )
        shares += share_table(name, method, portable, corev)
    return {"models.md": "\n".join([*lines, *shares]) + "\n"}
