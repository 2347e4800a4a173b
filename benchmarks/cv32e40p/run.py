"""The int8 kernels on the CV32E40P's RTL, zero wait states: tables and a roofline plot.

    python benchmarks/cv32e40p/run.py [--out FOLDER] [kernels] [models] [sizes]

kernels: builds kernels.cpp, others.cpp and functions.cpp with the CORE-V kernels (library flags,
-Os) and their portable twins (-O3) into one program, runs it on the core, writes kernels.md and
roofline.svg. models: whole models with the portable and with the CORE-V kernels, models.md. sizes:
code of each kernel beside its twin's, sizes.md. Without a word: all.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import models
import sizes
from gen_kernels.codegen.config import RUNTIME, config_words, platform_sources
from gen_kernels.codegen.toolchain import find_toolchain

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CEILINGS = (
    (64 / 24, "4 x 4 inner loop: 64 MAC in 24 cycles"),
    (32 / 14, "4 x 2 inner loop: 32 in 14"),
    (1.94, "PULP-NN, a core"),
)


class Row(NamedTuple):
    """One kernel on one shape; cycles and instructions of both versions.

    `work`: products (`kind` "mac") or results ("element"); `moved`: bytes of all operands.
    """

    name: str
    kind: str
    work: int
    moved: int
    portable: int
    portable_instructions: int
    corev: int
    corev_instructions: int


def measure(folder: Path) -> tuple[tuple[Row, ...], tuple[tuple[str, int, int], ...]]:
    """Builds the program in `folder` and runs it. Raises when kernels differ or a tool fails.

    Returns the kernels, and the functions: name, our cycles, picolibc's.
    """
    toolchain, problems = find_toolchain("cv32e40p")
    if toolchain is None:
        raise SystemExit("; ".join(problem.message for problem in problems))
    kernels = ROOT / "kernels"
    sources = [(HERE / "kernels.cpp", "-Os"), (HERE / "others.cpp", "-Os")]
    sources += [(HERE / "functions.cpp", "-Os")]
    sources += [(path, "-Os") for path in sorted((kernels / "corev").glob("*.cpp"))]
    sources += [(path, "-O3") for path in sorted((kernels / "cortex_m").glob("*.cpp"))]
    sources += [(path, "-Os") for path in sorted((RUNTIME / "src").glob("*.cpp"))]
    platform = platform_sources("cv32e40p")
    sources += [(path, "-Os") for path in platform if path.suffix == ".cpp"]
    objects = []
    for source, level in sources:
        objects.append(str(folder / f"{source.parent.name}_{source.stem}.o"))
        command = [*toolchain.cxx, *config_words(toolchain, "cxxflags"), level, "-c", str(source)]
        subprocess.run([*command, "-o", objects[-1]], check=True)
    program = folder / "kernels.elf"
    link = [*config_words(toolchain, "cc"), *config_words(toolchain, "ldflags"), *objects]
    link += [str(path) for path in platform if path.suffix != ".cpp"]
    link += [*config_words(toolchain, "include"), *config_words(toolchain, "ldlibs")]
    subprocess.run([*link, "-o", str(program)], check=True)
    run = [sys.executable, str(ROOT / "platform" / "cv32e40p" / "run"), "--rtl", str(program)]
    text = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    rows, functions = [], []
    for line in text.splitlines():
        if line.startswith("function "):
            _, name, ours, theirs = line.split()
            functions.append((name, int(ours), int(theirs)))
        if line.startswith("kernel "):
            _, name, kind, *numbers = line.split()
            *values, equal = map(int, numbers)
            if not equal:
                raise SystemExit(f"{name}: the kernels differ")
            rows.append(Row(name, kind, *values))
    return tuple(rows), tuple(functions)


def table(rows: tuple[Row, ...], kind: str) -> str:
    """The measurements of one kind as Markdown."""
    what, rate = ("MAC", "MAC/cycle") if kind == "mac" else ("results", "cycles a result")
    lines = [
        f"| kernel | {what} | portable -O3, cycles | instructions | CORE-V, cycles | instructions "
        f"| {rate} | faster |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in rows:
        if r.kind == kind:
            speed = r.work / r.corev if kind == "mac" else r.corev / r.work
            lines.append(
                f"| {r.name} | {r.work:,} | {r.portable:,} | {r.portable_instructions:,} "
                f"| {r.corev:,} | {r.corev_instructions:,} | {speed:.2f} "
                f"| {r.portable / r.corev:.1f} x |"
            )
    return "\n".join(lines) + "\n"


def roofline(rows: tuple[Row, ...]) -> str:
    """MAC/cycle against MAC a byte of inputs, weights and outputs, as SVG."""
    width, height, left, bottom = 760, 420, 60, 370
    low, high = 0.0, 8.0  # log2 of the intensity

    def x(intensity: float) -> float:
        return left + (math.log2(max(intensity, 1)) - low) / (high - low) * (width - left - 20)

    def y(rate: float) -> float:
        return bottom - rate / 2.8 * (bottom - 30)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">']
    parts.append('<g font-family="sans-serif" font-size="11" fill="#222">')
    parts.append(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for k in range(9):
        at = x(2.0**k)
        parts.append(f'<path d="M{at:.0f} 30V{bottom}" stroke="#eee"/>')
        parts.append(f'<text x="{at:.0f}" y="{bottom + 16}" text-anchor="middle">{2**k}</text>')
    for rate in (0.5, 1, 1.5, 2, 2.5):
        parts.append(f'<text x="{left - 8}" y="{y(rate) + 4:.0f}" text-anchor="end">{rate}</text>')
    for rate, text in CEILINGS:
        parts.append(f'<path d="M{left} {y(rate):.1f}H{width - 20}" stroke="#b55"/>')
        parts.append(f'<text x="{left + 6}" y="{y(rate) - 3:.1f}" fill="#b55">{text}</text>')
    for r in (row for row in rows if row.kind == "mac"):
        at, up = x(r.work / r.moved), y(r.work / r.corev)
        parts.append(f'<circle cx="{at:.1f}" cy="{up:.1f}" r="4" fill="#246"/>')
        parts.append(f'<text x="{at + 6:.1f}" y="{up + 4:.1f}">{r.name}</text>')
    parts.append(f'<text x="{width / 2:.0f}" y="{height - 12}">MAC a byte moved</text>')
    parts.append('<text x="8" y="20">MAC/cycle</text></g></svg>')
    return "\n".join(parts) + "\n"


def kernels() -> dict[str, str]:
    """The files of the kernels' cycles."""
    with tempfile.TemporaryDirectory() as folder:
        rows, functions = measure(Path(folder))
    lines = ["| function of a float | picolibc, cycles | here, cycles |", "|---|---:|---:|"]
    lines += [f"| {name} | {theirs:,} | {ours:,} |" for name, ours, theirs in functions]
    text = "\n".join((table(rows, "mac"), table(rows, "element"), *lines)) + "\n"
    return {"kernels.md": text, "roofline.svg": roofline(rows)}


def main() -> None:
    """Measure, print, write."""
    parts = {"kernels": kernels, "models": models.files, "sizes": sizes.files}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", nargs="*", metavar="|".join(parts))
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    if wrong := set(options.what) - set(parts):
        parser.error(f"not {', '.join(sorted(wrong))} but {', '.join(parts)}")
    for name in options.what or parts:
        for file, text in parts[name]().items():
            if file.endswith(".md"):
                print(text)
            (options.out / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
