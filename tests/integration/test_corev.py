"""CORE-V kernels against their portable twins, and where their instructions may appear.

tests/corev/*.cpp draw random calls (shapes, layouts, zero points at both ends, saturating
multipliers, unaligned pointers, too little temporary memory) and run both kernels on each.
GEN_KERNELS_COREV_CASES sets the calls an operator (300), GEN_KERNELS_COREV_RTL_CASES those on the
core (30: two minutes; before a release 200).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen.config import config_words, platform_sources

from ..support.models import TREE
from ..support.run import RUN, build_library, missing_tools, toolchain_for

CASES = os.environ.get("GEN_KERNELS_COREV_CASES", "300")
RTL_CASES = os.environ.get("GEN_KERNELS_COREV_RTL_CASES", "30")
KERNELS = TREE / "kernels"
SOURCES = [
    *sorted((TREE / "tests" / "corev").glob("*.cpp")),
    *sorted((KERNELS / "corev").glob("*.cpp")),
    *sorted((KERNELS / "cortex_m").glob("*.cpp")),
    *sorted((TREE / "runtime" / "src").glob("*.cpp")),
]
INSTRUCTIONS = TREE / "tests" / "corev" / "instructions" / "main.cpp"
OPERATORS = 22


def check(text: str, cases: str) -> None:
    """Every operator ran its cases, none of them differed, few were refused by both kernels."""
    found = re.findall(r"^(\w+) cases (\d+) wrong (\d+) refused (\d+)$", text, re.MULTILINE)
    assert len(found) == OPERATORS, text
    assert all(n == cases and wrong == "0" and int(r) < int(n) / 2 for _, n, wrong, r in found), (
        text
    )
    assert text.rstrip().endswith("equal"), text


@pytest.mark.slow
def test_equal_on_the_host(tmp_path: Path) -> None:
    if reason := missing_tools("host"):
        pytest.skip(reason)
    program = tmp_path / "equality"
    flags = ["-std=c++17", "-O1", f"-DCASES={CASES}", f"-I{KERNELS}", f"-I{TREE}/runtime/include"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    subprocess.run(["c++", *flags, *map(str, SOURCES), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    check(done.stdout, CASES)


def run_on_the_core(sources: list[Path], defines: list[str], folder: Path) -> str:
    """Builds a program of `sources` for the core's RTL, runs it, returns what it prints."""
    toolchain = toolchain_for("rtl")
    flags = [*config_words(toolchain, "cxxflags"), "-Os", *defines]
    platform = platform_sources("cv32e40p")
    objects = []
    for number, source in enumerate([*sources, *(p for p in platform if p.suffix == ".cpp")]):
        objects.append(str(folder / f"{number}_{source.stem}.o"))
        command = [*toolchain.cxx, *flags, "-c", str(source), "-o", objects[-1]]
        subprocess.run(command, check=True)
    others = [str(p) for p in platform if p.suffix != ".cpp"]
    program = folder / "program.elf"
    link = [*config_words(toolchain, "ldflags"), *objects, *others]
    link += config_words(toolchain, "include")
    command = [*config_words(toolchain, "cc"), *link, *config_words(toolchain, "ldlibs")]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = subprocess.run(
        [str(RUN), "--rtl", str(program)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.rtl
@pytest.mark.slow
def test_equal_on_the_core(tmp_path: Path) -> None:
    if reason := missing_tools("rtl"):
        pytest.skip(reason)
    check(run_on_the_core(SOURCES, [f"-DCASES={RTL_CASES}"], tmp_path), RTL_CASES)


@pytest.mark.rtl
def test_instructions_on_the_core(tmp_path: Path) -> None:
    """Each function of corev.h gives on the core what its C model gives on the host."""
    for target in ("host", "rtl"):
        if reason := missing_tools(target):
            pytest.skip(reason)
    program = tmp_path / "models"
    command = ["c++", "-std=c++17", "-O1", f"-I{KERNELS}", str(INSTRUCTIONS)]
    subprocess.run([*command, "-o", str(program)], check=True)
    models = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    core = run_on_the_core([INSTRUCTIONS], [], tmp_path)
    results = re.findall(r"^(\w+) ([0-9a-f]{8})$", models, re.MULTILINE)
    assert re.findall(r"^(\w+) ([0-9a-f]{8})$", core, re.MULTILINE) == results
    # None was forgotten; functions with and without a step have one name.
    header = (KERNELS / "corev" / "corev.h").read_text()
    header = header[header.index("// ---- Instructions ----") :]
    functions = re.findall(r"^GEN_KERNELS_COREV_[23]\(\w+, (\w+),", header, re.MULTILINE)
    functions += re.findall(r"^inline \w+ (\w+)\((?!ta a)", header, re.MULTILINE)
    assert {name.removesuffix("_step") for name, _ in results} == set(functions)


def encodings(text: str) -> set[str]:
    """The instructions of `.insn` lines, without their registers."""
    text = text.replace('" insn "', "")
    found = re.findall(r"\.insn ([ris] 0x[0-9a-f]+, \d(?:, 0x[0-9a-f]+)?),[ \"]", text)
    found += [f"r {e}" for e in re.findall(r'_[23]\(\w+, \w+, "(0x[^"]+)"', text)]
    return set(found)


def test_every_instruction_has_a_model() -> None:
    """Loops written in assembly take no instruction but those of corev.h."""
    known = encodings((KERNELS / "corev" / "corev.h").read_text())
    assert len(known) > 20
    for path in sorted((KERNELS / "corev").iterdir()):
        assert encodings(path.read_text()) <= known, path.name


def custom_instructions(archive: Path) -> int:
    """Instruction words with CORE-V's major opcodes in the code of an archive."""
    text = subprocess.run(
        ["riscv64-unknown-elf-objdump", "-d", str(archive)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    words = re.findall(r"^\s*[0-9a-f]+:\t([0-9a-f]{8})\s", text, re.MULTILINE)
    return sum(int(word, 16) & 0x7F in (0x0B, 0x2B, 0x5B, 0x7B) for word in words)


@pytest.mark.cross
def test_plain_libraries_have_no_corev_instruction(tmp_path: Path) -> None:
    if reason := missing_tools("qemu"):
        pytest.skip(reason)
    model = str(TREE / "tests" / "models" / "cortexm_dscnn.pte")
    plain = build_library("qemu", tmp_path / "plain", "--model", model)
    corev = build_library("rtl", tmp_path / "corev", "--model", model)
    assert custom_instructions(plain / "libgen_kernels.a") == 0
    assert custom_instructions(plain / "libgen_kernels_runtime.a") == 0
    assert custom_instructions(corev / "libgen_kernels.a") > 100
