"""Flash that registration takes on rv32imc: the compiled object, and what is left when linked.

    python benchmarks/registration_size.py [--include DIR]... [--keep DIR]

Prints a table: all 209 portable operators, everything, and one operator. The object is measured as
`size` sees it (-Os, logging off); linked means with relaxed calls, less an image without
registration. --include names other runtime headers (ExecuTorch's own) to compile against.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from gen_kernels.codegen.generate import Request, generate
from gen_kernels.codegen.toolchain import Toolchain, find_toolchain

TREE = Path(__file__).resolve().parent.parent
OFFICIAL = json.loads((TREE / "tests" / "data" / "official_signatures.json").read_text())
PORTABLE = tuple(name for name, what in OFFICIAL.items() if what["catalogue"] == "portable")

# What the linked image needs besides: the runtime's two functions, and an entry.
STUBS = """
#include "RegisterKernels.h"
#include <executorch/runtime/kernel/operator_registry.h>
using namespace executorch::runtime;
extern const Kernel* volatile table;
const Kernel* volatile table;
namespace executorch::runtime {
Error register_kernels(const Span<const Kernel> kernels) {
  table = kernels.data();
  return Error::Ok;
}
}
extern "C" void _start() {
#ifdef WITH_REGISTRATION
  (void)gen_kernels::register_all_kernels();
#endif
}
"""


def run(*command: str | Path) -> str:
    """Run a command and return what it prints; its messages and exit on failure."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def size(toolchain: Toolchain, path: Path) -> tuple[int, int, int]:
    """Return text (code and constants), data and bss of an object or program."""
    tool = toolchain.ar.removesuffix("ar") + "size"
    text, data, bss = run(tool, path).splitlines()[1].split()[:3]
    return int(text), int(data), int(bss)


def measure(
    toolchain: Toolchain, operators: tuple[str, ...], include: list[str], folder: Path
) -> tuple[int, int, int, int]:
    """Return the object's text, data and bss, and the text of the linked registration."""
    generation = generate(Request(ops=operators, our_kernels=False))
    assert generation.files, generation.diagnostics
    for name, text in generation.files.items():
        (folder / name).write_text(text)
    headers = [f"-I{path}" for path in include or [str(TREE / "runtime" / "include")]]
    flags = (*toolchain.compile_flags, "-Os", "-DET_LOG_ENABLED=0", *headers, f"-I{folder}")
    target = folder / "registration.o"
    source = folder / "RegisterCodegenUnboxedKernels.cpp"
    run(*toolchain.cxx, *flags, "-c", source, "-o", target)
    (folder / "stubs.cpp").write_text(STUBS)
    linked = []
    for define in ("-DWITH_REGISTRATION", "-DWITHOUT"):
        stubs = folder / f"stubs{define}.o"
        run(*toolchain.cxx, *flags, define, "-c", folder / "stubs.cpp", "-o", stubs)
        # Kernels are left undefined: a call or table entry takes the same room.
        link = ("-nostdlib", "-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all")
        program = folder / f"program{define}"
        march = [flag for flag in toolchain.flags if flag.startswith(("-march", "-mabi"))]
        run(*toolchain.cc, *march, *link, stubs, target, "-lgcc", "-o", program)
        linked.append(size(toolchain, program)[0])
    return (*size(toolchain, target), linked[0] - linked[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--include", action="append", default=[], help="runtime headers")
    arguments = parser.parse_args()
    toolchain, problems = find_toolchain("rv32imc")
    if toolchain is None:
        sys.exit(f"{problems[0].message}: {problems[0].hint}")
    everything = tuple(OFFICIAL)
    cases = (("portable", PORTABLE), ("everything", everything), ("add", ("aten::add.out",)))
    print("operators      n   object  each  data  bss   linked  each")
    for name, operators in cases:
        with tempfile.TemporaryDirectory() as scratch:
            text, data, bss, linked = measure(
                toolchain, operators, arguments.include, Path(scratch)
            )
        n = len(operators)
        numbers = f"{text:7} {text / n:5.1f} {data:5} {bss:4}  {linked:7} {linked / n:5.1f}"
        print(f"{name:10} {n:5}  {numbers}")


if __name__ == "__main__":
    main()
