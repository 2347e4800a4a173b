"""Pool sizes as they are: every test model loads in the computed pool, and not in a byte less."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from gen_kernels.selective.memory_plan import pools
from gen_kernels.selective.models import Model, load_models

from tests.support.models import MODELS, TREE
from tests.support.run import LIBRARY_TARGET, build_library, missing_tools

PROBE = Path(__file__).parent / "load_probe.cpp"
TARGETS = (pytest.param("host", 8), pytest.param("qemu", 4, marks=pytest.mark.cross))
OK, OUT_OF_MEMORY = "0x0", "0x21"
DATA = {"ptd_mlp.pte": "ptd_mlp.ptd"}


def config(target: str, what: str) -> list[str]:
    command = [sys.executable, "-m", "gen_kernels", "config"]
    command += ["--target", LIBRARY_TARGET[target], "--print", what]
    return shlex.split(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def models() -> list[Model]:
    found, _ = load_models([str(MODELS / "*.pte"), str(TREE / "examples")])
    assert len(found) > 40
    return list(found)


def assembly(found: list[Model]) -> str:
    lines = ['.section .model, "a"']
    for index, model in enumerate(found):
        files = [("model", Path(model.display))]
        if Path(model.display).name in DATA:
            files.append(("data", MODELS / DATA[Path(model.display).name]))
        for name, path in files:
            lines += [".balign 16", f".globl {name}{index}, {name}{index}_end", f"{name}{index}:"]
            lines += [f'.incbin "{path}"', f"{name}{index}_end:"]
    return "\n".join(lines) + '\n.section .note.GNU-stack, "", %progbits\n'


def table(found: list[Model], pointer: int) -> str:
    lines, rows = ['extern "C" {'], []
    for index, model in enumerate(found):
        data = Path(model.display).name in DATA
        for name in ["model", *(["data"] if data else [])]:
            lines.append(f"extern const uint8_t {name}{index}[], {name}{index}_end[];")
        place = f"data{index}, data{index}_end" if data else "nullptr, nullptr"
        for method in model.program.methods:
            size = pools(method, pointer).micro
            rows.append(
                f"  {{model{index}, model{index}_end, {place}, {json.dumps(method.name)}, {size}}},"
            )
    operators = sorted({o for m in found for method in m.program.methods for o in method.operators})
    kernels = [f'  Kernel("{name}", stand_in),' for name in operators]
    lines += ["}", "const Row kTable[] = {", *rows, "};"]
    return "\n".join([*lines, "constexpr Kernel kKernels[] = {", *kernels, "};", ""])


@pytest.mark.slow
@pytest.mark.parametrize(("target", "pointer"), TARGETS)
def test_computed_pool_is_exactly_enough(target: str, pointer: int, tmp_path: Path) -> None:
    reason = missing_tools(target)
    if reason:
        pytest.skip(reason)
    found = models()
    library = build_library(target, tmp_path / "library", "--op", "aten::relu.out")
    (tmp_path / "models.S").write_text(assembly(found))
    (tmp_path / "table.h").write_text(table(found, pointer))
    sources = [str(PROBE), *(s for s in config(target, "platform-sources") if s.endswith("cpp"))]
    objects = []
    for source in sources:
        objects.append(str(tmp_path / f"{Path(source).stem}.o"))
        command = [*config(target, "cxx"), *config(target, "cxxflags"), "-O1", f"-I{tmp_path}"]
        subprocess.run([*command, "-Wall", "-c", source, "-o", objects[-1]], check=True)
    rest = [s for s in config(target, "platform-sources") if not s.endswith("cpp")]
    for source in [str(tmp_path / "models.S"), *rest]:
        objects.append(str(tmp_path / f"{Path(source).name}.o"))
        command = [*config(target, "cc"), *config(target, "asflags"), "-O1"]
        subprocess.run([*command, "-c", source, "-o", objects[-1]], check=True)
    program = tmp_path / "probe.elf"
    command = [*config(target, "cc"), *config(target, "ldflags"), *objects]
    command += [str(library / "libgen_kernels_runtime.a"), *config(target, "ldlibs")]
    subprocess.run([*command, "-o", str(program)], check=True)
    command = [str(program)]
    if target != "host":
        command = [str(TREE / "platform" / "cv32e40p" / "run"), "--qemu", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    expected = [
        [
            Path(model.display).name,
            method.name,
            OK,
            OUT_OF_MEMORY,
            str(pools(method, pointer).micro),
        ]
        for model in found
        for method in model.program.methods
    ]
    lines = [line.split()[1:] for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [[*row[:2], *line] for row, line in zip(expected, lines, strict=True)] == expected
