"""Links a runnable program: the runner, a model and inputs, a built library.

`gen-kernels build` leaves libgen_kernels.a, libgen_kernels_runtime.a and RegisterKernels.h in a
folder; this adds platform/common/runner.cpp and, for RISC-V, the CV32E40P platform. The result
prints its outputs in the line format that runner.cpp describes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..selective.model_file import is_bundled
from ..selective.program import Method, Program, ValueKind
from ..selective.pte import read_program
from .config import COMMON, config_words, platform_sources
from .toolchain import SECTION_FLAGS, Toolchain, find_toolchain

LIBRARIES = ("libgen_kernels.a", "libgen_kernels_runtime.a")

KINDS = {"tensor": "kTensor", "int": "kInt", "float": "kDouble", "bool": "kBool", "none": "kNone"}


class FirmwareError(Exception):
    """The program cannot be linked; the text says why."""


@dataclass(frozen=True)
class Input:
    """One argument of a method.

    `kind` is a key of KINDS. A tensor has `data` (little-endian values in memory order),
    `scalar_type`, `sizes` and `dim_order`; the others have `value`.
    """

    kind: str
    data: bytes = b""
    scalar_type: int = 0
    sizes: tuple[int, ...] = ()
    dim_order: tuple[int, ...] = ()
    value: int | float | bool = 0


@dataclass(frozen=True)
class Case:
    """One call of a method."""

    method: str
    inputs: tuple[Input, ...]


@dataclass(frozen=True)
class Pools:
    """Bytes of the runner's memory pools, and the most planned buffers that a method has."""

    method: int
    planned: int
    temp: int
    buffers: int


@dataclass(frozen=True)
class Firmware:
    """What to link. `defines` and `link_flags` are added to the compiler's command.

    `model` is a .pte or .bpte file; `weights` the .ptd file of a model with external weights.
    Without `pools` the library's memory_plan.h sizes them: right for the models it was made for.
    """

    build: Path
    model: Path
    cases: tuple[Case, ...]
    weights: Path | None = None
    pools: Pools | None = None
    optimise: str = "-Os"
    defines: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    sources: tuple[Path, ...] = field(default=())


def file_case(program: Program, method_name: str, files: Sequence[Path]) -> Case:
    """A case from raw files, one a tensor input, with the sizes that the program gives."""
    method = find_method(program, method_name)
    if len(files) != len(method.inputs):
        raise FirmwareError(f"{method.name} takes {len(method.inputs)} inputs, not {len(files)}")
    inputs = []
    for file, index in zip(files, method.inputs, strict=True):
        tensor = method.values[index].tensor
        if tensor is None:
            kind = ValueKind(method.values[index].kind).name
            raise FirmwareError(f"{file}: the input is a {kind}, not a tensor")
        data = file.read_bytes()
        if len(data) != tensor.nbytes:
            raise FirmwareError(f"{file}: {len(data)} bytes, the input has {tensor.nbytes}")
        inputs.append(Input("tensor", data, tensor.dtype, tensor.sizes, tensor.dim_order))
    return Case(method.name, tuple(inputs))


def find_method(program: Program, name: str) -> Method:
    """The method called `name`; the first one for an empty name."""
    for method in program.methods:
        if name in (method.name, ""):
            return method
    raise FirmwareError(f"the model has no method '{name}'")


def cases_header(cases: Sequence[Case]) -> str:
    """The text of runner_cases.h. The weights' symbols are defined only when there are any."""
    symbols = [
        f"extern const unsigned char runner_input_{i}_{j}[];"
        for i, case in enumerate(cases)
        for j, given in enumerate(case.inputs)
        if given.kind == "tensor"
    ]
    lines = ["// The cases for runner.cpp; the bytes are in runner_data.S.", 'extern "C" {']
    for file in ("model", "weights"):
        lines += [f"extern const unsigned char runner_{file}_begin[], runner_{file}_end[];"]
    lines += [*symbols, "}", "namespace runner {"]
    for i, case in enumerate(cases):
        rows = [_input_row(given, i, j, lines) for j, given in enumerate(case.inputs)]
        if rows:
            lines += [f"static const Input kInputs{i}[] = {{", *rows, "};"]
    lines.append("static const Case kCases[] = {")
    for i, case in enumerate(cases):
        inputs = f"kInputs{i}" if case.inputs else "nullptr"
        lines.append(f'    {{"{case.method}", {inputs}, {len(case.inputs)}}},')
    return "\n".join([*lines, "};", "}  // namespace runner", ""])


def _input_row(given: Input, i: int, j: int, lines: list[str]) -> str:
    kind = f"Kind::{KINDS[given.kind]}"
    if given.kind != "tensor":
        integer = int(given.value) if given.kind != "float" else 0
        real = float(given.value).hex() if given.kind == "float" else "0.0"
        return f"    {{{kind}, 0, 0, nullptr, nullptr, nullptr, {integer}LL, {real}}},"
    sizes = order = "nullptr"
    if given.sizes:
        sizes, order = f"kSizes{i}_{j}", f"kOrder{i}_{j}"
        lines.append(f"static const int32_t {sizes}[] = {{{', '.join(map(str, given.sizes))}}};")
        lines.append(
            f"static const uint8_t {order}[] = {{{', '.join(map(str, given.dim_order))}}};"
        )
    shape = f"{given.scalar_type}, {len(given.sizes)}, {sizes}, {order}"
    return f"    {{{kind}, {shape}, runner_input_{i}_{j}, 0, 0.0}},"


def data_assembly(model: str, cases: Sequence[Case], weights: str = "") -> str:
    """The text of runner_data.S; `model` and `weights` are file names on the include path."""
    lines = ['    .section .model, "a"']
    for symbol, file in (("model", model), ("weights", weights)):
        if file:
            lines += ["    .balign 16", *_blob(f"runner_{symbol}_begin", file)]
            lines += [f"    .globl runner_{symbol}_end", f"runner_{symbol}_end:"]
    lines.append('    .section .inputs, "a"')
    for i, case in enumerate(cases):
        for j, given in enumerate(case.inputs):
            if given.kind == "tensor":
                lines += ["    .balign 16", *_blob(f"runner_input_{i}_{j}", f"input_{i}_{j}.bin")]
    return "\n".join([*lines, '    .section .note.GNU-stack, "", @progbits', ""])


def _blob(symbol: str, file: str) -> list[str]:
    quoted = file.replace("\\", "\\\\").replace('"', '\\"')
    return [f"    .globl {symbol}", f"{symbol}:", f'    .incbin "{quoted}"']


def link(firmware: Firmware, toolchain: Toolchain, out: Path) -> None:
    """Compiles the runner and links `out`; helper files go into `out` + ".d"."""
    folder = out.with_name(out.name + ".d")
    folder.mkdir(parents=True, exist_ok=True)
    for i, case in enumerate(firmware.cases):
        for j, given in enumerate(case.inputs):
            if given.kind == "tensor":
                (folder / f"input_{i}_{j}.bin").write_bytes(given.data)
    (folder / "runner_cases.h").write_text(cases_header(firmware.cases), encoding="utf-8")
    (folder / "runner_data.S").write_text(
        data_assembly(
            firmware.model.name,
            firmware.cases,
            firmware.weights.name if firmware.weights is not None else "",
        ),
        encoding="utf-8",
    )
    for command in link_commands(firmware, toolchain, folder, out):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise FirmwareError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def link_commands(
    firmware: Firmware, toolchain: Toolchain, folder: Path, out: Path
) -> list[list[str]]:
    """The commands that `link` runs: compile the C++ sources, then link everything."""
    defines = list(firmware.defines)
    if firmware.pools is not None:
        defines += [
            f"-DRUNNER_METHOD_POOL={firmware.pools.method}",
            f"-DRUNNER_PLANNED_POOL={firmware.pools.planned}",
            f"-DRUNNER_TEMP_POOL={firmware.pools.temp}",
            f"-DRUNNER_PLANNED_BUFFERS={firmware.pools.buffers}",
        ]
    if is_bundled(firmware.model):
        defines.append("-DRUNNER_BUNDLED")
    if firmware.weights is not None:
        defines.append("-DRUNNER_WEIGHTS")
    include = [f"-I{path}" for path in (folder, firmware.build)]
    files = [file for file in (firmware.model, firmware.weights) if file is not None]
    platform = platform_sources(toolchain.target)
    flags = [*config_words(toolchain, "cxxflags"), firmware.optimise, *defines, *include]
    commands, objects = [], []
    for source in (COMMON / "runner.cpp", *firmware.sources, *platform):
        if source.suffix == ".cpp":
            objects.append(str(folder / (source.name + ".o")))
            commands.append([*toolchain.cxx, *flags, "-c", str(source), "-o", objects[-1]])
    final = [*toolchain.cc, *config_words(toolchain, "ldflags"), firmware.optimise]
    final += [*SECTION_FLAGS, *firmware.defines]
    final += [f"-I{path}" for path in (folder, *(file.parent for file in files), COMMON)]
    final += [str(folder / "runner_data.S"), *objects]
    final += [str(source) for source in platform if source.suffix != ".cpp"]
    final += [str(firmware.build / name) for name in LIBRARIES]
    final += [*firmware.link_flags, *config_words(toolchain, "ldlibs"), "-o", str(out)]
    return [*commands, final]


def main(argv: Sequence[str] | None = None) -> int:
    """Command line: see --help."""
    parser = argparse.ArgumentParser(prog="gen_kernels.codegen.firmware", description=__doc__)
    parser.add_argument("--target", default="cv32e40p", help="host, rv32imc or cv32e40p")
    parser.add_argument("--cxx", help="C++ compiler")
    parser.add_argument("--build", type=Path, required=True, help="folder of `gen-kernels build`")
    parser.add_argument("--model", type=Path, required=True, help=".pte or .bpte file to embed")
    parser.add_argument("--weights", type=Path, help=".ptd file of the model, to embed as well")
    parser.add_argument("--method", default="", help="method to call (default: the first)")
    parser.add_argument(
        "--inputs",
        type=Path,
        nargs="*",
        action="append",
        default=[],
        metavar="FILE",
        help="raw values, one file an input tensor; repeat for several cases",
    )
    parser.add_argument("--out", type=Path, required=True, help="program to write")
    arguments = parser.parse_args(argv)
    toolchain, problems = find_toolchain(arguments.target, arguments.cxx)
    program, more = read_program(arguments.model, str(arguments.model))
    for problem in (*problems, *more):
        print(f"{problem.location.file}: {problem.message} ({problem.hint})", file=sys.stderr)
    if toolchain is None or program is None:
        return 1
    try:
        cases = tuple(file_case(program, arguments.method, files) for files in arguments.inputs)
        firmware = Firmware(arguments.build, arguments.model, cases, arguments.weights)
        link(firmware, toolchain, arguments.out)
    except (FirmwareError, OSError) as error:
        print(f"firmware: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
