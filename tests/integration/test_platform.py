"""The firmware platform: start-up, console, counters, traps, exit codes, on QEMU and the RTL."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from gen_kernels.codegen.config import CV32E40P, config_words, include_folders
from gen_kernels.codegen.image_size import image_size, section_sizes
from gen_kernels.codegen.toolchain import find_toolchain

from ..support.run import RUN, missing_tools

QEMU = pytest.param("qemu", marks=pytest.mark.cross)
RTL = pytest.param("rtl", marks=[pytest.mark.rtl, pytest.mark.slow])

PROGRAM = r"""
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform.h"

volatile float large = 100.0f;
int zeroed[3];
int initialised = 42;

int main(void) {
  const uint64_t cycles = platform_cycles(), instret = platform_instret();
  const int infinite = isinf(expf(large)) != 0;
  const uint64_t steps = platform_instret() - instret, ticks = platform_cycles() - cycles;
  (void)strtol("99999999999", NULL, 10);  // errno lives in thread-local storage
  printf("%d %d %d %d\n", zeroed[1], initialised, infinite, errno == ERANGE);
  printf("%d %d\n", (int)steps, (int)ticks);
#ifdef COREV
  int sum;
  __asm__ volatile(".insn r 0x7b, 1, 0x48, %0, %1, %1" : "=r"(sum) : "r"(0x01020304));
  printf("dot product %d\n", sum);  // 1 + 4 + 9 + 16
#endif
#ifdef BAD_STORE
  *(volatile int*)0x4000000 = 1;
#endif
#ifdef ENVIRONMENT_CALL
  __asm__ volatile("ecall");
#endif
#ifdef ENDLESS
  for (;;) zeroed[0] = zeroed[0];
#endif
  return 7;
}
"""


def build(folder: Path, *flags: str) -> Path:
    reason = missing_tools("qemu")
    if reason:
        pytest.skip(reason)
    toolchain, problems = find_toolchain("rv32imc")
    assert toolchain is not None, problems
    source, program = folder / "program.c", folder / "program.elf"
    source.write_text(PROGRAM)
    command = [*toolchain.cc, *config_words(toolchain, "ldflags"), "-Os", "-Wall", "-Wextra"]
    command += ["-Wconversion", "-Werror", "-ffunction-sections", *flags]
    command += [f"-I{path}" for path in include_folders()]
    command += [str(source), str(CV32E40P / "crt0.S"), str(CV32E40P / "platform.c")]
    subprocess.run([*command, "-lm", "-o", str(program)], check=True)
    return program


def run(target: str, program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    reason = missing_tools(target)
    if reason:
        pytest.skip(reason)
    command = [str(RUN), f"--{target}", *options, str(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("target", [QEMU, RTL])
def test_start_up_and_console(target: str, tmp_path: Path) -> None:
    done = run(target, build(tmp_path))
    assert done.returncode == 7, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "0 42 1 1"
    steps, ticks = map(int, second.split())
    assert 20 < steps < 2000
    assert steps <= ticks < 3 * steps


@pytest.mark.rtl
@pytest.mark.slow
def test_instructions_are_counted_alike(tmp_path: Path) -> None:
    program = build(tmp_path)
    counts = [run(target, program).stdout.splitlines()[1].split()[0] for target in ("qemu", "rtl")]
    assert counts[0] == counts[1]


@pytest.mark.rtl
@pytest.mark.slow
def test_corev_instruction_on_the_core(tmp_path: Path) -> None:
    done = run("rtl", build(tmp_path, "-DCOREV"))
    assert "dot product 30" in done.stdout
    assert done.returncode == 7


@pytest.mark.parametrize(
    ("target", "options"),
    [
        pytest.param("qemu", (), marks=pytest.mark.cross),
        pytest.param("rtl", ("--no-corev",), marks=RTL.marks),
    ],
)
def test_corev_instruction_without_corev(
    target: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    done = run(target, build(tmp_path, "-DCOREV"), *options)
    assert done.returncode == 64 + 2, done.stderr
    assert "trap: illegal instruction, mcause 0x00000002" in done.stdout
    assert "this is a CORE-V instruction and the core has none" in done.stdout


@pytest.mark.parametrize("target", [QEMU, RTL])
def test_other_traps_name_their_cause(target: str, tmp_path: Path) -> None:
    done = run(target, build(tmp_path, "-DENVIRONMENT_CALL"))
    assert done.returncode == 64 + 11, done.stderr
    assert "trap: environment call, mcause 0x0000000b" in done.stdout
    assert "CORE-V" not in done.stdout


@pytest.mark.rtl
@pytest.mark.slow
def test_bench_stops_stray_accesses_and_endless_programs(tmp_path: Path) -> None:
    done = run("rtl", build(tmp_path, "-DBAD_STORE"))
    assert done.returncode == 102
    assert "store outside the memory at 0x04000000" in done.stderr
    done = run("rtl", build(tmp_path, "-DENDLESS"), "--max-cycles", "20000")
    assert done.returncode == 101
    assert "limit of cycles" in done.stderr


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x01\x01" + b"\xff" * 60])
def test_bench_refuses_damaged_files(content: bytes, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.elf"
    damaged.write_bytes(content)
    done = run("rtl", damaged, "--max-cycles", "1000")
    assert done.returncode in (101, 102, 103), done.stderr


@pytest.mark.cross
def test_run_times_out(tmp_path: Path) -> None:
    done = run("qemu", build(tmp_path, "-DENDLESS"), "--timeout", "1")
    assert done.returncode == 101
    assert "did not end within 1 s" in done.stderr


def test_run_names_a_missing_program(tmp_path: Path) -> None:
    done = run("qemu", tmp_path / "absent.elf") if not missing_tools("qemu") else None
    assert done is None or (done.returncode == 103 and "no such file" in done.stderr)


@pytest.mark.cross
def test_trace_and_limits_of_the_linker_script(tmp_path: Path) -> None:
    """An image larger than the device's flash does not link."""
    with pytest.raises(subprocess.CalledProcessError):
        build(tmp_path, "-Wl,--defsym=__flash_size=2K")


@pytest.mark.cross
def test_image_size_agrees_with_binutils(tmp_path: Path) -> None:
    program = build(tmp_path)
    tool = ["riscv64-unknown-elf-size", "-A", str(program)]
    lines = subprocess.run(tool, check=True, capture_output=True, text=True).stdout.splitlines()
    told = {
        words[0]: int(words[1])
        for words in map(str.split, lines)
        if len(words) == 3 and words[0] != "section"
    }
    size = image_size(program)
    assert size.flash == sum(told[name] for name in (".text", ".rodata", ".data"))
    ram = (".data", ".tbss_space", ".bss", ".noinit", ".stack")
    assert size.ram == sum(told[name] for name in ram)
    assert size.stack == 16 * 1024


def test_image_size_refuses_foreign_and_damaged_files(tmp_path: Path) -> None:
    for content in (b"", b"text", b"\x7fELF\x02\x01", b"\x7fELF\x01\x01" + b"\xff" * 60):
        with pytest.raises(ValueError, match=r"not a 32-bit|damaged"):
            section_sizes(content)
