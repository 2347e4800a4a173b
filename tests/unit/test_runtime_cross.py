"""The micro runtime as it is compiled for the target: what is in its objects, and what is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gen_kernels.codegen.toolchain import find_toolchain

from ..support.cpp import RUNTIME, WARNINGS, run
from ..support.run import missing_tools

pytestmark = [pytest.mark.cross, pytest.mark.slow]
# Bytes of code and constants of the core, all parts, -Os. It may only become less.
CORE = (
    "flat",
    "flat_verify",
    "method",
    "method_load",
    "method_run",
    "method_values",
    "operator_registry",
    "program",
    "program_check",
    "program_schema",
    "tensor",
    "tensor_view",
)
CORE_LIMIT = 13_400


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The runtime's sources, compiled for rv32imc with every warning an error."""
    if reason := missing_tools("qemu"):
        pytest.skip(reason)
    toolchain, problems = find_toolchain("rv32imc")
    assert toolchain is not None, problems
    folder = tmp_path_factory.mktemp("objects")
    found = {}
    for source in sorted((RUNTIME / "src").glob("*.cpp")):
        target = folder / f"{source.stem}.o"
        command = [*toolchain.cxx, *toolchain.compile_flags, *WARNINGS, "-Os"]
        command += toolchain.flags_for(f"runtime/src/{source.name}")
        command += ["-I", str(RUNTIME / "include"), "-c", str(source), "-o", str(target)]
        done = run(command)
        assert done.returncode == 0, done.stderr
        found[source.stem] = target
    return found


def _nm(path: Path, *flags: str) -> str:
    return run(["riscv64-unknown-elf-nm", *flags, str(path)]).stdout


def test_no_static_constructors(objects: dict[str, Path]) -> None:
    """Nothing runs before main(), and nothing has to be copied to RAM."""
    for path in objects.values():
        table = run(["riscv64-unknown-elf-objdump", "-h", str(path)]).stdout
        assert not re.search(r"\.(init_array|ctors|preinit_array)", table), path.name
        for name, size in re.findall(r" (\.s?data\S*)\s+([0-9a-f]{8})", table):
            # Vtables and constant pointers are const: they go to .rodata and .srodata.
            assert int(size, 16) == 0 or "rel.ro" in name, (path.name, name)


def test_no_heap_no_printf(objects: dict[str, Path]) -> None:
    """The objects ask the C library for memory, string and arithmetic functions only."""
    allowed = re.compile(r"mem(cpy|set|cmp|move|chr)$|strn?cmp$|strlen$|__\w+$|_Z\w+$|et_pal_\w+$")
    for path in objects.values():
        for line in _nm(path, "-u").splitlines():
            name = line.split()[-1]
            assert allowed.match(name), f"{path.name} needs {name}"
            # operator new, operator delete[] and the like; operator delete is in vtables only.
            assert not re.match(r"_Zn[wa]|_ZdaPv", name), f"{path.name} needs {name}"


def test_size(objects: dict[str, Path]) -> None:
    """The core stays as small as it is."""
    done = run(["riscv64-unknown-elf-size", *(str(objects[name]) for name in CORE)])
    total = sum(int(line.split()[0]) for line in done.stdout.splitlines()[1:])
    assert total <= CORE_LIMIT, done.stdout


def test_types_on_the_target(objects: dict[str, Path], tmp_path: Path) -> None:
    """The sizes that RAM depends on."""
    toolchain, _ = find_toolchain("rv32imc")
    assert toolchain is not None
    source = tmp_path / "sizes.cpp"
    source.write_text(
        '#include "method_state.h"\n'
        "using namespace executorch::runtime;\n"
        "static_assert(sizeof(EValue) == 16);\n"
        "static_assert(sizeof(executorch::aten::TensorImpl) == 28);\n"
        "static_assert(sizeof(executorch::aten::Tensor) == 4);\n"
        "static_assert(sizeof(BoxedEvalueList<int64_t>) == 12);\n"
        "static_assert(sizeof(internal::Slot) == 16);\n"
        "static_assert(sizeof(Method) == 4);\n",
        encoding="utf-8",
    )
    command = [*toolchain.cxx, *toolchain.compile_flags, *WARNINGS, "-I", str(RUNTIME / "src")]
    command += ["-I", str(RUNTIME / "include"), "-fsyntax-only", str(source)]
    done = run(command)
    assert done.returncode == 0, done.stderr
