"""Where a model's cycles go: builds it with the event tracer, runs it, prints a table by kernel.

`python -m gen_kernels.codegen.profile --model model.pte --inputs x.bin --out build/profile`. Each
kernel call is measured with the core's own counters (on QEMU a cycle is an instruction).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..selective.pte import read_program
from .config import CV32E40P
from .firmware import Case, Firmware, FirmwareError, Input, file_case, find_method, link
from .toolchain import find_toolchain

TRACER = "-DET_EVENT_TRACER_ENABLED"
PREFIX = "native_call_"


class KernelCall(NamedTuple):
    """One measured call: its instruction's number in the method, cycles, instructions."""

    instruction: int
    kernel: str
    cycles: int
    instret: int


def read_profile(text: str, case: int = 0) -> tuple[tuple[KernelCall, ...], int, int]:
    """Returns a case's calls and the cycles and instructions of execute() as a whole.

    `text` is what the runner printed; its lines are described in platform/common/runner.cpp.
    """
    calls: list[KernelCall] = []
    totals = {"cycles": 0, "instret": 0}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or words[1] != str(case):
            continue
        if words[0] == "profile":
            kernel = words[3].removeprefix(PREFIX)
            calls.append(KernelCall(int(words[2]), kernel, int(words[4]), int(words[5])))
        elif words[0] in totals:
            totals[words[0]] = int(words[2])
    return tuple(calls), totals["cycles"], totals["instret"]


def profile_table(calls: Iterable[KernelCall], cycles: int, instret: int) -> str:
    """The cycles by kernel, most first, with shares of the whole; what is left is the runtime's."""
    by_kernel: dict[str, list[KernelCall]] = {}
    for call in calls:
        by_kernel.setdefault(call.kernel, []).append(call)
    rows = [
        (kernel, len(group), sum(c.cycles for c in group), sum(c.instret for c in group))
        for kernel, group in by_kernel.items()
    ]
    rows.sort(key=lambda row: (-row[2], row[0]))
    rest = (cycles - sum(row[2] for row in rows), instret - sum(row[3] for row in rows))
    rows += [("(runtime)", 0, *rest), ("total", sum(row[1] for row in rows), cycles, instret)]
    width = max(len(row[0]) for row in rows)
    lines = [f"{'kernel':{width}}{'calls':>7}{'cycles':>14}{'share':>8}{'instructions':>14}"]
    for kernel, count, spent, steps in rows:
        share = f"{100 * spent / cycles:.1f} %" if cycles else ""
        lines.append(f"{kernel:{width}}{count or '':>7}{spent:>14,}{share:>8}{steps:>14,}")
    return "\n".join(lines)


def zero_case(model: Path) -> Case:
    """A case of the first method with zeros for every tensor."""
    program, _ = read_program(model, str(model))
    if program is None:
        raise FirmwareError(f"{model}: not a model")
    method = find_method(program, "")
    inputs = []
    for index in method.inputs:
        tensor = method.values[index].tensor
        if tensor is None:
            raise FirmwareError("the method takes more than tensors: give --inputs")
        zeros = bytes(tensor.nbytes)
        inputs.append(Input("tensor", zeros, tensor.dtype, tensor.sizes, tensor.dim_order))
    return Case(method.name, tuple(inputs))


def measure(model: Path, case: Case, target: str, machine: str, out: Path) -> str:
    """Builds library and program in `out`, runs it, and returns what it printed.

    `target` is rv32imc or cv32e40p, `machine` rtl or qemu. Raises FirmwareError.
    """
    build = [sys.executable, "-m", "gen_kernels", "build", "--quiet", "--model", str(model)]
    build += ["--out", str(out), "--target", target, f"--cflags={TRACER}"]
    toolchain, problems = find_toolchain(target)
    if toolchain is None:
        raise FirmwareError(problems[0].message)
    if (done := subprocess.run(build, check=False)).returncode != 0:
        raise FirmwareError(f"gen-kernels build failed with exit status {done.returncode}")
    program = out / "profile.elf"
    defines = (TRACER, "-DRUNNER_PROFILE")
    link(Firmware(out, model, (case,), defines=defines), toolchain, program)
    run = [sys.executable, str(CV32E40P / "run"), f"--{machine}", str(program)]
    done_run = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=False)
    if done_run.returncode != 0:
        raise FirmwareError(f"the program failed:\n{done_run.stdout}")
    return done_run.stdout


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: see --help."""
    parser = argparse.ArgumentParser(prog="gen_kernels.codegen.profile", description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--inputs", type=Path, nargs="*", help="raw values, a file an input tensor")
    parser.add_argument("--target", default="cv32e40p", choices=("rv32imc", "cv32e40p"))
    parser.add_argument("--on", default="rtl", choices=("rtl", "qemu"))
    parser.add_argument("--out", type=Path, required=True, help="folder to build in")
    arguments = parser.parse_args(argv)
    try:
        case = zero_case(arguments.model)
        if arguments.inputs is not None:
            program, _ = read_program(arguments.model, str(arguments.model))
            assert program is not None  # zero_case has read it
            case = file_case(program, "", arguments.inputs)
        text = measure(arguments.model, case, arguments.target, arguments.on, arguments.out)
    except (FirmwareError, OSError) as error:
        print(f"profile: {error}", file=sys.stderr)
        return 1
    print(profile_table(*read_profile(text)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
