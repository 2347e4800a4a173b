r"""Writes docs/kernels.md's table: each operator's kernel, dtypes, calls, size on rv32.

    GEN_KERNELS_CASES=$PWD/cases.tsv make conformance
    .venv/bin/python tools/kernel_table.py cases.tsv

Without a log it prints the whole library's sizes and writes nothing. The failures are calls in
tests that failed: a test compares each of its calls, and ends at the first difference.

Sizes are of one operator's kernel alone (code and constants, -Os with the flags of gen-kernels
build, logging off), as the linker keeps them with --gc-sections: with every dtype, and selected for
Float and for Char. The C library and soft float are not in them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from gen_kernels.codegen.catalogue import bundled_catalogues, load_catalogue
from gen_kernels.codegen.config import include_folders
from gen_kernels.codegen.toolchain import Toolchain, find_toolchain

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "kernels.md"
BEGIN, END = "<!-- table begin -->", "<!-- table end -->"

VARIANTS = {"all": None, "Float": "Float", "Char": "Char"}
HEADER = """#pragma once
#include <executorch/runtime/core/exec_aten/exec_aten.h>
inline constexpr bool should_include_kernel_dtype(const char*,
                                                  ::executorch::aten::ScalarType type) {{
  return type == ::executorch::aten::ScalarType::{dtype};
}}
"""


class Kernel(NamedTuple):
    """One operator's kernel: symbol with namespace, file below kernels/."""

    operator: str
    symbol: str
    source: str


def bundled_kernels() -> list[Kernel]:
    """Every operator of the catalogues with its kernel."""
    kernels = []
    for path in bundled_catalogues():
        entries, problems = load_catalogue(path, path.name, bundled=True)
        assert not problems, problems
        kernels += [
            Kernel(entry.name, kernel.symbol, kernel.source)
            for entry in entries
            for kernel in entry.kernels
            if kernel.source and not kernel.source.startswith("corev/")
        ]
    return sorted(kernels)


def compile_source(toolchain: Toolchain, source: str, variant: str, folder: Path) -> Path:
    """Compiles a kernel file for a variant; returns the object."""
    out = folder / variant / (source.replace("/", "__") + ".o")
    own = toolchain.flags_for(f"kernels/{source}")
    flags = [*toolchain.compile_flags, *own, "-Os", *(f"-I{f}" for f in include_folders())]
    if VARIANTS[variant]:
        flags += ["-DEXECUTORCH_SELECTIVE_BUILD_DTYPE", f"-I{out.parent}"]
    command = [*toolchain.cxx, *flags, "-c", str(ROOT / "kernels" / source), "-o", str(out)]
    subprocess.run(command, check=True)
    return out


def mangled_names(obj: Path) -> dict[str, str]:
    """The functions an object defines: qualified name → symbol."""
    command = ["riscv64-unknown-elf-nm", "--defined-only", "--format=posix", str(obj)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    symbols = [row[0] for row in rows if row[1] in "TW"]
    plain = subprocess.run(
        ["riscv64-unknown-elf-c++filt"],
        input="\n".join(symbols),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {name.split("(")[0]: symbol for name, symbol in zip(plain, symbols, strict=True)}


def linked_size(obj: Path, symbol: str) -> int:
    """Bytes of code and constants that the linker keeps for one function."""
    out = obj.with_suffix(".linked")
    command = ["riscv64-unknown-elf-ld", "-melf32lriscv", "-r", "--gc-sections", "-u", symbol]
    subprocess.run([*command, str(obj), "-o", str(out)], check=True)
    text = subprocess.run(
        ["riscv64-unknown-elf-size", str(out)], capture_output=True, text=True, check=True
    ).stdout
    out.unlink()
    return int(text.splitlines()[1].split()[0])


def measure(kernels: Sequence[Kernel], folder: Path, jobs: int) -> dict[str, dict[str, int]]:
    """Sizes by operator and variant; "whole" holds each variant's sum over all files."""
    toolchain, problems = find_toolchain("rv32imc")
    if toolchain is None:
        sys.exit(str(problems))
    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    for variant, dtype in VARIANTS.items():
        (folder / variant).mkdir(parents=True, exist_ok=True)
        if dtype:
            (folder / variant / "selected_op_variants.h").write_text(HEADER.format(dtype=dtype))

        def one(source: str, variant: str = variant) -> Path:
            return compile_source(toolchain, source, variant, folder)

        sources = sorted({k.source for k in kernels})
        with ThreadPoolExecutor(jobs) as pool:
            objects = dict(zip(sources, pool.map(one, sources), strict=True))
        names = {source: mangled_names(obj) for source, obj in objects.items()}
        for kernel in kernels:
            symbol = names[kernel.source][kernel.symbol]
            sizes[kernel.operator][variant] = linked_size(objects[kernel.source], symbol)
        command = ["riscv64-unknown-elf-size", "-t", *map(str, objects.values())]
        total = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        sizes["whole"][variant] = int(total.splitlines()[-1].split()[0])
    return sizes


class Cases:
    """An operator's calls that no kernel refused, those in failed tests, their leading dtypes."""

    def __init__(self) -> None:
        self.calls = 0
        self.failures = 0
        self.dtypes: set[str] = set()


def read_cases(paths: Sequence[Path]) -> dict[str, Cases]:
    """What the logs say of each operator."""
    cases: dict[str, Cases] = defaultdict(Cases)
    for path in paths:
        for line in path.read_text().splitlines():
            operator, dtype, count, failures = line.split("\t")
            cases[operator].calls += int(count)
            cases[operator].failures += int(failures)
            if dtype != "None":
                cases[operator].dtypes.add(dtype)
    return cases


def table(
    kernels: Sequence[Kernel],
    sizes: dict[str, dict[str, int]],
    cases: dict[str, Cases],
) -> str:
    """The page's generated part."""
    lines = [
        f"{len(kernels)} operators, {sum(c.calls for c in cases.values()):,} cases, "
        f"{sum(c.failures for c in cases.values()):,} failures. The whole library,",
        f"CORE-V kernels apart, has {sizes['whole']['all']:,} bytes of text with every dtype, "
        f"{sizes['whole']['Float']:,} for Float alone, {sizes['whole']['Char']:,} for Char alone.",
        "",
        "| operator | file | cases | failures | dtypes tried | all dtypes | Float | Char |",
        "|---|---|--:|--:|---|--:|--:|--:|",
    ]
    for kernel in kernels:
        row = sizes[kernel.operator]
        tried = cases[kernel.operator]
        dtypes = " ".join(sorted(tried.dtypes)) or "—"
        lines.append(
            f"| `{kernel.operator}` | {kernel.source} | {tried.calls} | {tried.failures} "
            f"| {dtypes} | {row['all']} | {row['Float']} | {row['Char']} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path, nargs="*", help="logs of GEN_KERNELS_CASES")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "kernel_table")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    kernels = bundled_kernels()
    sizes = measure(kernels, args.build, args.jobs)
    text = table(kernels, sizes, read_cases(args.cases))
    print(text.split("\n\n")[0])
    if not args.cases:
        return 0  # sizes alone: the page keeps the table of the last whole run
    page = PAGE.read_text()
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
