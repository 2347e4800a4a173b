"""`gen-kernels config`: compiler, flags and sources of a target, for builds without CMake.

Like pkg-config: one line on stdout, quoted for a shell, for `$(shell gen-kernels config …)` in a
makefile.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from .diagnostics import Diagnostic
from .toolchain import SECTION_FLAGS, Toolchain, find_toolchain

PACKAGE = Path(__file__).resolve().parent.parent
KERNELS = PACKAGE / "kernels"
RUNTIME = PACKAGE / "runtime"
COMMON = PACKAGE / "platform" / "common"
CV32E40P = PACKAGE / "platform" / "cv32e40p"

WHAT = (
    "cxx",
    "cc",
    "ar",
    "cxxflags",
    "asflags",
    "ldflags",
    "ldlibs",
    "include",
    "kernels-dir",
    "runtime-sources",
    "platform-sources",
)


def include_folders() -> tuple[Path, ...]:
    """Where the headers of runtime, kernels and platform are."""
    return (RUNTIME / "include", KERNELS, COMMON)


def platform_sources(target: str) -> tuple[Path, ...]:
    """What an application for `target` compiles beside its own sources."""
    if target == "host":
        return (COMMON / "host.cpp",)
    return (CV32E40P / "crt0.S", CV32E40P / "platform.c", COMMON / "cxx_support.cpp")


def config_words(toolchain: Toolchain, what: str) -> tuple[str, ...]:
    """The words that `gen-kernels config --print what` prints; `what` is one of WHAT.

    Compile flags leave the optimisation level to the caller. `ldflags` go before the objects,
    `ldlibs` behind them.
    """
    include = tuple(f"-I{folder}" for folder in include_folders())
    embedded = toolchain.target != "host"
    script = (f"-T{CV32E40P / 'link.ld'}", "-DPICOLIBC_INTEGER_PRINTF_SCANF") if embedded else ()
    words: dict[str, Callable[[], Sequence[str]]] = {
        "cxx": lambda: toolchain.cxx,
        "cc": lambda: toolchain.cc,
        "ar": lambda: (toolchain.ar,),
        "cxxflags": lambda: (*toolchain.compile_flags, *include),
        "asflags": lambda: (*SECTION_FLAGS, *toolchain.flags, *include),
        "ldflags": lambda: (*toolchain.link_flags, "-Wl,--gc-sections", *script),
        "ldlibs": lambda: ("-lm",) if embedded else ("-lstdc++", "-lm"),
        "include": lambda: include,
        "kernels-dir": lambda: (str(KERNELS),),
        "runtime-sources": lambda: [str(path) for path in sorted((RUNTIME / "src").glob("*.cpp"))],
        "platform-sources": lambda: [str(path) for path in platform_sources(toolchain.target)],
    }
    return tuple(words[what]())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `gen-kernels config` to `parser`."""
    parser.add_argument("--target", default="cv32e40p", help="host, rv32imc or cv32e40p")
    parser.add_argument("--cxx", help="C++ compiler of yours")
    parser.add_argument("--march", help="instruction set, instead of rv32imc")
    parser.add_argument("--mabi", help="calling convention, instead of ilp32")
    parser.add_argument("--cflags", help="more compiler flags")
    parser.add_argument("--print", dest="what", choices=WHAT, required=True, help="what to print")


def run_config(arguments: argparse.Namespace) -> tuple[str, tuple[Diagnostic, ...]]:
    """Returns the line to print and diagnostics (GK400 to GK402); the line is empty with one."""
    toolchain, diagnostics = find_toolchain(
        arguments.target, arguments.cxx, arguments.march, arguments.mabi, arguments.cflags
    )
    if toolchain is None:
        return "", diagnostics
    return shlex.join(config_words(toolchain, arguments.what)), diagnostics
