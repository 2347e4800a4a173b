"""Refresh the `source` keys of the bundled catalogues: which file defines which kernel.

Compiles kernels/**/*.cpp for the host, asks nm for the functions that each object defines, and
writes `source: portable/binary.cpp` under each kernel_name that one of them serves. A kernel that
no file defines loses its `source`: it counts as not written yet.

    python tools/refresh_sources.py [--check] [--cxx g++] [--jobs N] [--include DIR]

A file that does not compile keeps the keys that name it. `--check` changes nothing and exits 1
when a catalogue is out of date.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gen_kernels.codegen.catalogue import bundled_catalogues
from gen_kernels.codegen.catalogue_entry import cpp_symbol

ROOT = Path(__file__).resolve().parent.parent
_KERNEL_NAME = re.compile(r"^(\s+)kernel_name: (\S+)$")
_NAMESPACES = ("torch::executor::native::", "cortex_m::native::", "gen_kernels::")


def defined_functions(source: Path, cxx: str, includes: list[str], folder: Path) -> list[str] | str:
    """The functions of a source file that other files can call, or the compiler's message."""
    object_file = folder / (source.relative_to(ROOT).as_posix().replace("/", "_") + ".o")
    command = [cxx, "-std=c++17", "-O0", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-c"]
    command += [*(f"-I{folder}" for folder in includes), str(source), "-o", str(object_file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr
    names = subprocess.run(
        ["nm", "--extern-only", "--defined-only", "--demangle", str(object_file)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = (line.split(" ", 2)[2] for line in names.splitlines() if " T " in line)
    return [name.partition("(")[0] for name in found]


def with_sources(text: str, sources: dict[str, str], unknown: set[str]) -> str:
    """A catalogue's text with its `source` keys set from `sources` (symbol -> file).

    Keys that name one of the `unknown` files stay.
    """
    lines: list[str] = []
    boxed = False
    for line in text.splitlines():
        if line.startswith("- "):
            boxed = False
        if line.strip() == "boxed: true":
            boxed = True
        if line.strip().startswith("source: ") and line.split()[1] not in unknown:
            continue
        lines.append(line)
        if match := _KERNEL_NAME.match(line):
            symbol = match.group(2) if boxed else cpp_symbol(match.group(2))
            if symbol in sources:
                lines.append(f"{match.group(1)}source: {sources[symbol]}")
    return "".join(f"{line}\n" for line in lines)


def main() -> int:
    """Compile, compare, write. Exit status 1: out of date (--check) or something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if needed")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"), help="host compiler")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    parser.add_argument("--include", action="append", help="instead of runtime/include")
    options = parser.parse_args()

    files = sorted((ROOT / "kernels").rglob("*.cpp"))
    includes = [str(ROOT / "kernels"), *(options.include or [str(ROOT / "runtime" / "include")])]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(
            lambda file: defined_functions(file, options.cxx, includes, Path(folder)), files
        )
        found = dict(zip(files, results, strict=True))

    failed = False
    broken: set[str] = set()
    sources: dict[str, str] = {}
    for file, functions in found.items():
        name = file.relative_to(ROOT / "kernels").as_posix()
        if isinstance(functions, str):
            print(f"{name} does not compile:\n{functions}", file=sys.stderr)
            broken.add(name)
            failed = True
            continue
        for symbol in functions:
            if not symbol.startswith(_NAMESPACES):
                continue
            if sources.setdefault(symbol, name) != name:
                print(f"{symbol} is in {sources[symbol]} and in {name}", file=sys.stderr)
                failed = True

    for path in bundled_catalogues():
        old = path.read_text(encoding="utf-8")
        new = with_sources(old, sources, broken)
        written, total = new.count("source: "), new.count("kernel_name: ")
        print(f"{path.name}: {written} of {total} kernels written")
        if new == old:
            continue
        if options.check:
            print(f"{path.name} is out of date: run tools/refresh_sources.py", file=sys.stderr)
            failed = True
        else:
            path.write_text(new, encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
