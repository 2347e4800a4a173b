"""What the micro runtime costs on rv32imc: instructions a stage (QEMU), RAM, and flash.

    python benchmarks/runtime_cost.py [MODEL]...

Prints a table. The official figures beside it are ExecuTorch 1.5.1's, measured the same way: -Os,
logging off, gcc 12.2. MODEL is the name of a test model.

"runtime text": what of the runtime ends up in the image. "code": code and constants of a whole
image, platform/common/runner.cpp with -DRUNNER_SMALL -DNDEBUG, which runs the model and prints the
outputs. "image": the same with model and inputs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from gen_kernels.codegen.firmware import (
    Case,
    Firmware,
    Input,
    cases_header,
    data_assembly,
    link,
    link_commands,
)
from gen_kernels.codegen.toolchain import find_toolchain

TREE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TREE))

from tests.support.models import load_model, thirdparty  # noqa: E402

# model -> (load, load_method, execute)
OFFICIAL = {"add": (1514, 6692, 2726), "lenet": (1514, 77097, 115_800_000)}


class Cost(NamedTuple):
    """What one model costs; sizes in bytes.

    `instructions`: to register, load, load_method, set_input, execute. `ram`: the method pool, and
    the objects that an application makes.
    """

    instructions: list[int]
    ram: list[int]
    runtime: int
    code: int
    image: int


def measure(name: str, folder: Path) -> Cost:
    """Builds, links and runs one model."""
    model, case = _case(name)
    build = folder / "build"
    command = [sys.executable, "-m", "gen_kernels", "build", "--model", str(model)]
    target = ["--out", str(build), "--target", "rv32imc"]
    subprocess.run([*command, *target], check=True, stdout=subprocess.DEVNULL)
    toolchain, problems = find_toolchain("rv32imc")
    assert toolchain is not None, problems
    (folder / "runner_cases.h").write_text(cases_header([case]), encoding="utf-8")
    (folder / "runner_data.S").write_text(data_assembly(model.name, [case]), encoding="utf-8")
    for j, given in enumerate(case.inputs):
        (folder / f"input_0_{j}.bin").write_bytes(given.data)
    firmware = Firmware(build, model, (case,))
    source = str(Path(__file__).with_suffix(".cpp"))
    image = folder / "image"
    for words in link_commands(firmware, toolchain, folder, image):
        ours = [source if word.endswith("common/runner.cpp") else word for word in words]
        subprocess.run(ours, check=True)
    run = [str(TREE / "platform" / "cv32e40p" / "run"), "--qemu", str(image)]
    text = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    numbers = {line.split()[0]: list(map(int, line.split()[1:])) for line in text.splitlines()}
    application = folder / "application"
    small = Firmware(build, model, (case,), defines=("-DRUNNER_SMALL", "-DNDEBUG"))
    link(small, toolchain, application)
    sections = _sections(application)
    code = sections[".text"] + sections[".rodata"] + sections[".data"]
    whole = code + sections[".model"] + sections[".inputs"]
    runtime = _runtime_text(image, build)
    return Cost(numbers["instructions"], numbers["ram"], runtime, code, whole)


def _sections(image: Path) -> dict[str, int]:
    """Section -> bytes."""
    command = ["riscv64-unknown-elf-size", "-A", str(image)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdigit()}


def _case(name: str) -> tuple[Path, Case]:
    folder = thirdparty()
    if name == "kws" and folder is not None:
        data = (folder / "kws_yes.f32").read_bytes()
        given = Input("tensor", data, 6, (1, 1, 49, 10), (0, 1, 2, 3))
        return folder / "kws_dscnn_int8.pte", Case("forward", (given,))
    loaded = load_model(name)
    return loaded.path, loaded.cases[0].case


def _runtime_text(image: Path, build: Path) -> int:
    """Bytes of code and constants in the image that come from the runtime's sources."""

    def symbols(path: Path) -> list[list[str]]:
        command = ["riscv64-unknown-elf-nm", "-S", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in text.splitlines()]
        return [row for row in rows if len(row) == 4 and row[2] not in "bBdDsS"]

    # Soft-float routines replace the compiler's own: they are no part of the runtime proper.
    mine = {row[3] for row in symbols(build / "libgen_kernels_runtime.a")}
    mine -= {row[3] for row in symbols(build / "obj" / "runtime_soft_float.o")}
    # Aliases (constructors) share an address.
    rows = (row for row in symbols(image) if row[3] in mine)
    found = {row[0]: int(row[1], 16) for row in rows}
    return sum(found.values())


def main(names: list[str]) -> int:
    """Prints the table."""
    names = names or ["add", "lenet", "kws"]
    header = ("model", "register", "load", "load_method", "set_input", "execute")
    row = "{:10}" + "{:>13}" * 5 + "{:>8}" * 5
    print(row.format(*header, "pool", "objects", "runtime", "code", "image"))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            cost = measure(name, Path(folder))
        sizes = (*cost.ram, cost.runtime, cost.code, cost.image)
        print(row.format(name, *cost.instructions, *sizes))
        if name in OFFICIAL:
            load, load_method, execute = OFFICIAL[name]
            print(row.format("  official", "", load, load_method, "", execute, *[""] * 5))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
