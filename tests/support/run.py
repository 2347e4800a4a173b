"""Builds a library for a model, links the runner, runs it, reads what it prints."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gen_kernels.codegen.firmware import Case, Firmware, link
from gen_kernels.codegen.toolchain import Toolchain, find_toolchain

from .models import TREE, Value

RUN = TREE / "platform" / "cv32e40p" / "run"
# Where a target's library comes from: QEMU has no CORE-V instructions.
LIBRARY_TARGET = {"host": "host", "qemu": "rv32imc", "rtl": "cv32e40p"}


@dataclass
class Outcome:
    """What a run printed: outputs[case][index], counters by case, high-water marks."""

    exit_code: int
    text: str
    outputs: dict[int, dict[int, Value]] = field(default_factory=dict)
    cycles: dict[int, int] = field(default_factory=dict)
    instret: dict[int, int] = field(default_factory=dict)
    used: dict[str, tuple[int, int]] = field(default_factory=dict)
    error: str = ""


def toolchain_for(target: str) -> Toolchain:
    """The compiler for "host", "qemu" or "rtl"."""
    toolchain, problems = find_toolchain(LIBRARY_TARGET[target])
    assert toolchain is not None, problems
    return toolchain


def missing_tools(target: str) -> str:
    """Why `target` cannot be used here; empty when it can."""
    commands = {
        "host": ["c++"],
        "qemu": ["riscv64-unknown-elf-g++", "qemu-system-riscv32"],
        "rtl": ["riscv64-unknown-elf-g++", "verilator"],
    }
    absent = [name for name in commands[target] if shutil.which(name) is None]
    return f"{', '.join(absent)} not installed" if absent else ""


def build_library(target: str, out: Path, *arguments: str) -> Path:
    """Runs `gen-kernels build` with `arguments` (models, operators); returns `out`."""
    command = [sys.executable, "-m", "gen_kernels", "build", *arguments, "--out", str(out)]
    command += ["--target", LIBRARY_TARGET[target]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return out


def link_program(
    target: str,
    library: Path,
    model: Path,
    cases: Sequence[Case],
    *,
    out: Path,
    **changes: object,
) -> Path:
    """Links the runner with `cases` of `model`; `changes` are fields of Firmware."""
    firmware = replace(Firmware(library, model, tuple(cases)), **changes)  # type: ignore[arg-type]
    link(firmware, toolchain_for(target), out)
    return out


def execute(target: str, program: Path, timeout: float = 600) -> Outcome:
    """Runs a linked program and parses its lines."""
    command = [str(program)] if target == "host" else [str(RUN), f"--{target}", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    return parse(done.stdout, done.returncode, done.stderr)


def parse(text: str, exit_code: int = 0, errors: str = "") -> Outcome:
    """Reads the runner's lines (platform/common/runner.cpp lists them)."""
    outcome = Outcome(exit_code, text + errors)
    order: tuple[int, ...] = ()
    for line in text.splitlines():
        words = line.split(" ")
        match words[0]:
            case "order":
                order = tuple(map(int, words[3:]))
            case "output":
                value = replace(_value(words[3:]), dim_order=order)
                outcome.outputs.setdefault(int(words[1]), {})[int(words[2])] = value
                order = ()
            case "cycles":
                outcome.cycles[int(words[1])] = int(words[2])
            case "instret":
                outcome.instret[int(words[1])] = int(words[2])
            case "used":
                outcome.used[words[1]] = (int(words[2]), int(words[3]))
            case "error":
                outcome.error = line
    return outcome


def _value(words: list[str]) -> Value:
    match words[0]:
        case "none":
            return Value()
        case "int":
            return Value(plain=int(words[1]))
        case "bool":
            return Value(plain=words[1] == "1")
        case "double":
            return Value(plain=struct.unpack("<d", bytes.fromhex(words[1]))[0])
        case "string":
            return Value(plain=bytes.fromhex(words[1]).decode())
    rank = int(words[1])
    sizes = tuple(int(word) for word in words[2 : 2 + rank])
    return Value(int(words[0]), sizes, bytes.fromhex(words[2 + rank]))
