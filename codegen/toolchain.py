"""Compilers for the targets: which command, which flags, where the C++ headers are.

Targets: "host", "rv32imc" (any RISC-V microcontroller) and "cv32e40p" (the same code generation;
the kernels with CORE-V instructions are chosen by the catalogues, not by compiler flags).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .diagnostics import Diagnostic, Location

TARGETS = ("host", "rv32imc", "cv32e40p")

# No exceptions, no RTTI, no guards for function-local statics, no unwind tables: each costs flash.
SECTION_FLAGS = ("-ffunction-sections", "-fdata-sections")
LIBRARY_FLAGS = ("-std=c++17", "-fno-exceptions", "-fno-rtti", *SECTION_FLAGS)
EMBEDDED_FLAGS = (
    "-fno-threadsafe-statics",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
)
# Code that is seldom run: registers are saved by calls of library functions. It makes kernels and
# runtime a tenth smaller, but registration, all tiny functions, larger.
SMALL_FLAGS = ("-msave-restore",)
# The runtime has no hot loops: 4 % less.
RUNTIME_FLAGS = (*SMALL_FLAGS, "-fno-move-loop-invariants")
SETUP_HINT = "run `platform/setup cross`, or name your own compiler with --cxx"


@dataclass(frozen=True)
class Toolchain:
    """A compiler and the flags that belong to it.

    `cxx` is the C++ compiler's command; `flags` are for compiling C++ and C alike apart from
    LIBRARY_FLAGS, which `compile_flags` adds; `link_flags` select start-up-free linking with the
    target's C library (the driver `cc` links: it does not ask for libstdc++).
    """

    target: str
    cxx: tuple[str, ...]
    cc: tuple[str, ...]
    ar: str
    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()

    @property
    def compile_flags(self) -> tuple[str, ...]:
        """Every flag for a C++ source, without optimisation level and include folders."""
        embedded = () if self.target == "host" else EMBEDDED_FLAGS
        return (*LIBRARY_FLAGS, *embedded, *self.flags)

    def flags_for(self, source: str) -> tuple[str, ...]:
        """More flags for one source: "runtime/...", "kernels/..."; for others there are none."""
        if self.target == "host" or source.startswith("kernels/corev/"):
            return ()
        if source.startswith("runtime/"):
            return RUNTIME_FLAGS
        return SMALL_FLAGS if source.startswith("kernels/") else ()


def find_toolchain(
    target: str,
    cxx: str | None = None,
    march: str | None = None,
    mabi: str | None = None,
    cflags: str | None = None,
) -> tuple[Toolchain | None, tuple[Diagnostic, ...]]:
    """Finds the compiler for `target` and proves that it can include <type_traits>.

    `cxx` is a command ("riscv32-corev-elf-g++", may carry arguments), `march`, `mabi` and `cflags`
    replace or add to the defaults. Errors: GK400 unknown target, GK401 no compiler, GK402 a
    compiler without C++ library headers.
    """
    if target not in TARGETS:
        known = ", ".join(TARGETS)
        return None, (_error("GK400", f"unknown target '{target}'", f"targets: {known}"),)
    extra = tuple(shlex.split(cflags or ""))
    command = tuple(shlex.split(cxx or _default_compiler(target)))
    if not command or shutil.which(command[0]) is None:
        name = command[0] if command else ""
        return None, (_error("GK401", f"compiler '{name}' not found", SETUP_HINT),)
    if target == "host":
        flags = tuple(f"-m{k}={v}" for k, v in (("arch", march), ("abi", mabi)) if v)
        return _toolchain(target, command, (*flags, *extra), ()), ()
    machine = (f"-march={march or 'rv32imc'}", f"-mabi={mabi or 'ilp32'}")
    library = _cxx_library(command, machine + extra)
    if library is None:
        what = f"'{command[0]}' finds no C++ library headers (<type_traits>)"
        return None, (_error("GK402", what, SETUP_HINT),)
    specs = tuple(flag for flag in library if flag.startswith("--specs"))
    # Debian's multilibs have compressed libraries for rv32imac only; no atomics end up in the
    # image, since nothing in it uses them.
    linked = machine if march or not specs else ("-march=rv32imac", machine[1])
    link = (*(("--specs=picolibc.specs",) if specs else ()), *linked, "-nostartfiles")
    return _toolchain(target, command, (*machine, *library, *extra), link), ()


def _default_compiler(target: str) -> str:
    if target == "host":
        return os.environ.get("CXX") or next(
            (name for name in ("c++", "g++", "clang++") if shutil.which(name)), "c++"
        )
    return "riscv64-unknown-elf-g++"


def _toolchain(
    target: str, command: tuple[str, ...], flags: tuple[str, ...], link: tuple[str, ...]
) -> Toolchain:
    path = Path(command[0])
    name = path.name
    cc = name.replace("clang++", "clang").replace("g++", "gcc").replace("c++", "cc")
    prefix = name[: name.rfind("g++")] if "g++" in name else ""
    ar = str(path.with_name(f"{prefix}ar")) if prefix else "ar"
    if shutil.which(ar) is None:
        ar = "ar"  # archives of ELF objects are the same everywhere
    return Toolchain(target, command, (str(path.with_name(cc)), *command[1:]), ar, flags, link)


@lru_cache(maxsize=8)
def _cxx_library(command: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...] | None:
    """Returns the flags that make the standard headers found, None when nothing does."""
    for specs in (("--specs=picolibcpp.specs",), ()):
        for headers in ((), _downloaded_headers()):
            candidate = specs + headers
            probe = [*command, *flags, *candidate, "-std=c++17", "-x", "c++", "-E", "-"]
            source = "#include <type_traits>\n#include <cstdint>\n#include <cmath>\n"
            done = subprocess.run(
                [*probe, "-o", os.devnull],
                input=source,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                return candidate
    return None


def _downloaded_headers() -> tuple[str, ...]:
    """The headers that `platform/setup cross` put into the cache (Debian 12 has no package).

    -I, not -isystem: the specs put picolibc first, and its include_next would break.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folders = sorted((base / "gen-kernels" / "libstdcxx").glob("usr/include/newlib/c++/*"))
    if not folders:
        return ()
    return (f"-I{folders[-1]}", f"-I{folders[-1] / 'arm-none-eabi'}")


def _error(code: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic(code, message, Location("<command line>"), hint)
