"""Code of each CORE-V kernel beside its portable twin: bytes that one kernel brings into an image.

A kernel's object is linked alone, without what nothing in it refers to; calls of the runtime stay
open. CORE-V kernels hold the portable code too, which runs the calls that they don't take.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from gen_kernels.codegen.config import config_words
from gen_kernels.codegen.toolchain import Toolchain, find_toolchain

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
FUNCTIONS = KERNELS.parent / "functions"
COLUMNS = (
    ("portable -Os", "cortex_m", "rv32imc", "-Os"),
    ("portable -O3", "cortex_m", "rv32imc", "-O3"),
    ("CORE-V, as built", "corev", "cv32e40p", "-Os"),
)


def kernel_sources(catalogue: str) -> dict[str, str]:
    """Kernel name -> source file, of a bundled catalogue."""
    text = (FUNCTIONS / f"{catalogue}.yaml").read_text(encoding="utf-8")
    pairs = re.findall(r"kernel_name: (\S+)\s+source: (\S+)", text)
    return {symbol.rpartition("::")[2]: source for symbol, source in pairs}


def code_size(toolchain: Toolchain, obj: Path, kernel: str, folder: Path) -> int:
    """Bytes of code and constants that are reachable from a kernel in an object."""
    prefix = toolchain.cxx[0].removesuffix("g++")
    names = subprocess.run(
        [f"{prefix}nm", "--defined-only", str(obj)], capture_output=True, text=True, check=True
    ).stdout
    mangled = f"{len(kernel)}{kernel}E"
    symbol = next(n for n in re.findall(r" [TW] (\S+)", names) if mangled in n)
    linked = folder / "linked.o"
    command = [f"{prefix}ld", "-melf32lriscv", "-r", "--gc-sections", "-e", symbol, str(obj)]
    subprocess.run([*command, "-o", str(linked)], check=True)
    size = subprocess.run(
        [f"{prefix}size", str(linked)], capture_output=True, text=True, check=True
    )
    return int(size.stdout.splitlines()[1].split()[0])


def files() -> dict[str, str]:
    """sizes.md."""
    corev, portable = kernel_sources("corev"), kernel_sources("cortex_m")
    found: dict[str, list[int]] = {kernel: [] for kernel in corev}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (_, part, target, level) in enumerate(COLUMNS):
            toolchain, problems = find_toolchain(target)
            if toolchain is None:
                raise SystemExit("; ".join(problem.message for problem in problems))
            sources = corev if part == "corev" else portable
            for source in sorted({sources[kernel] for kernel in corev}):
                obj = folder / f"{number}_{Path(source).stem}.o"
                flags = [*config_words(toolchain, "cxxflags"), level]
                command = [*toolchain.cxx, *flags, "-c", str(KERNELS / source), "-o", str(obj)]
                subprocess.run(command, check=True)
                for kernel in corev:
                    if sources[kernel] == source:
                        found[kernel].append(code_size(toolchain, obj, kernel, folder))
    lines = ["| kernel, bytes | " + " | ".join(column[0] for column in COLUMNS) + " |"]
    lines.append("|---|---:|---:|---:|")
    lines += [
        f"| {kernel.removesuffix('_out')} | " + " | ".join(f"{n:,}" for n in numbers) + " |"
        for kernel, numbers in sorted(found.items())
    ]
    return {"sizes.md": "\n".join(lines) + "\n"}
