"""`gen-kernels build`: generate, then compile registration and kernels into a static library.

libgen_kernels.a holds the registration and the kernels that the selection needs;
libgen_kernels_runtime.a, beside it, the micro runtime. Only what changed is compiled again.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .diagnostics import Diagnostic, Location, has_errors
from .options import REGISTRATION
from .toolchain import TARGETS, Toolchain, find_toolchain

PACKAGE = Path(__file__).resolve().parent.parent
KERNELS = PACKAGE / "kernels"
RUNTIME = PACKAGE / "runtime"

LIBRARY = "libgen_kernels.a"
RUNTIME_LIBRARY = "libgen_kernels_runtime.a"


class _Job(NamedTuple):
    """A source to compile, and how it is called in messages."""

    source: Path
    display: str
    target: Path
    command: tuple[str, ...]


def _no_progress(line: str) -> None:
    """For output that goes into a file."""


def build_library(
    out: Path,
    sources: Sequence[str],
    toolchain: Toolchain,
    *,
    jobs: int = 0,
    runtime: bool = True,
    registration: str = REGISTRATION,
    isolate: str = "",
    progress: Callable[[str], None] = _no_progress,
) -> tuple[tuple[Path, ...], tuple[Diagnostic, ...]]:
    """Compile `registration` in `out` and the kernels `sources` into archives there.

    `sources` are relative to the kernels folder. `jobs` compilers run at a time (0: one for each
    processor); `progress` gets a line for each source that is done. With the name of a library in
    `isolate` nothing but its registration function can be seen from outside: kernels for the dtypes
    of one model then cannot stand in for those of another in the same program. Returns the paths of
    the archives, or errors GK403 to GK405.
    """
    objects = out / "obj"

    def compile_job(path: Path, display: str, name: str) -> _Job:
        command = (
            *toolchain.cxx,
            "-Os",
            "-ffp-contract=off",  # float kernels round every step, also where there is FMA
            *toolchain.compile_flags,
            *toolchain.flags_for(display),
            "-DEXECUTORCH_SELECTIVE_BUILD_DTYPE",
            f"-I{out}",
            f"-I{KERNELS}",
            f"-I{RUNTIME / 'include'}",
        )
        return _job(path, display, objects / name, command)

    archives = {
        out / LIBRARY: [
            compile_job(out / registration, registration, "registration.o"),
            *(compile_job(KERNELS / s, f"kernels/{s}", _object(s)) for s in sources),
        ]
    }
    if runtime:
        archives[out / RUNTIME_LIBRARY] = [
            compile_job(path, f"runtime/src/{path.name}", f"runtime_{path.stem}.o")
            for path in sorted((RUNTIME / "src").glob("*.cpp"))
        ]
    stale = [job for group in archives.values() for job in group if not _is_current(job)]
    problems = []
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for number, problem in enumerate(pool.map(_compile, stale), 1):
            progress(f"[{number}/{len(stale)}] {stale[number - 1].display}")
            if problem is not None:
                problems.append(problem)
    if problems:
        return (), tuple(problems)
    built = {job.target for job in stale}
    for archive, group in archives.items():
        members = [job.target for job in group]
        listing = "\n".join(map(str, members))
        record = objects / f"{archive.name}.members"
        if isolate and archive.name == LIBRARY:
            listing += f"\nisolated {isolate}"
        if archive.is_file() and built.isdisjoint(members) and _text(record) == listing:
            continue
        problem = None
        if isolate and archive.name == LIBRARY:
            joined = objects / f"{isolate}.joined.o"
            problem = _isolate(joined, members, isolate, toolchain)
            members = [joined]
        problem = problem or _archive(archive, members, toolchain.ar)
        if problem is not None:
            return (), (problem,)
        record.write_text(listing)
    return tuple(archives), ()


def _object(source: str) -> str:
    # One flat folder of objects: archives keep base names only, and debuggers show them.
    return re.sub(r"\.cpp$", "", source).replace("/", "_") + ".o"


def _job(source: Path, display: str, target: Path, command: Sequence[str]) -> _Job:
    return _Job(source, display, target, (*command, "-MMD", "-c", str(source), "-o", str(target)))


def _is_current(job: _Job) -> bool:
    """Whether the object is newer than all it was made from, by the same command."""
    if _text(job.target.with_suffix(".cmd")) != _digest(job.command):
        return False
    try:
        made = job.target.stat().st_mtime_ns
        return all(Path(d).stat().st_mtime_ns <= made for d in _dependencies(job.target))
    except OSError:
        return False


def _digest(command: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(command).encode()).hexdigest()


def _dependencies(target: Path) -> list[str]:
    text = target.with_suffix(".d").read_text()
    words = re.findall(r"(?:\\ |[^\s\\])+", text.partition(": ")[2].replace("\\\n", " "))
    return [w.replace("\\ ", " ") for w in words]


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except OSError:
        return None


def _compile(job: _Job) -> Diagnostic | None:
    job.target.parent.mkdir(parents=True, exist_ok=True)
    record = job.target.with_suffix(".cmd")
    record.unlink(missing_ok=True)
    done = subprocess.run(job.command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = tuple((done.stderr or done.stdout).strip().splitlines()[:20])
        return Diagnostic(
            "GK403", "the compiler rejects this source", Location(job.display), notes=lines
        )
    record.write_text(_digest(job.command))
    return None


def _isolate(
    joined: Path, members: Sequence[Path], library: str, toolchain: Toolchain
) -> Diagnostic | None:
    """Join objects into one with a single global symbol.

    Sections stay apart, so that a linker can still drop what is not used. Groups must go: linkers
    take one of several groups with the same name, whatever file it is from.
    """
    machine = [flag for flag in toolchain.flags if flag.startswith("-m")]
    entry = f"register_{library}_kernels"
    tool = f"{toolchain.ar.removesuffix('ar')}objcopy"
    commands = (
        (*toolchain.cc, *machine, "-r", "-nostdlib", "-Wl,--force-group-allocation"),
        (tool, f"--keep-global-symbol=_ZN11gen_kernels{len(entry)}{entry}Ev", str(joined)),
    )
    for command in (commands[0] + (*map(str, members), "-o", str(joined)), commands[1]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = tuple(done.stderr.strip().splitlines()[:20])
            return Diagnostic("GK405", "isolating failed", Location(joined.name), notes=lines)
    return None


def _archive(archive: Path, members: Sequence[Path], ar: str) -> Diagnostic | None:
    new = archive.with_name(f".{archive.name}.{os.getpid()}.tmp")
    new.unlink(missing_ok=True)
    # D: no time stamps, no owners; the same objects give the same bytes.
    command = (ar, "rcsD", str(new), *map(str, members))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        new.unlink(missing_ok=True)
        lines = tuple(done.stderr.strip().splitlines()[:20])
        return Diagnostic("GK404", "the archiver failed", Location(archive.name), notes=lines)
    new.replace(archive)
    return None


def _show_progress(line: str) -> None:
    # One line that is written over: cleared to its end, cut to a narrow terminal.
    print(f"\r\x1b[K{line[:78]}", end="", file=sys.stderr, flush=True)
    done, _, total = line[1 : line.index("]")].partition("/")
    if done == total:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `gen-kernels build`."""
    from .arguments import add_selection_arguments

    parser = argparse.ArgumentParser(
        prog="gen-kernels build",
        description="Generate, then compile registration and kernels into a static library.",
        allow_abbrev=False,
    )
    add_selection_arguments(parser)
    compile_group = parser.add_argument_group("compiling")
    compile_group.add_argument("--target", choices=TARGETS, required=True)
    compile_group.add_argument("--cxx", help="C++ compiler of yours (riscv32-corev-elf-g++)")
    compile_group.add_argument("--march", help="instruction set, instead of rv32imc")
    compile_group.add_argument("--mabi", help="calling convention, instead of ilp32")
    compile_group.add_argument("--cflags", help="more compiler flags")
    compile_group.add_argument("--jobs", "-j", type=int, default=0, help="compilers at a time")
    compile_group.add_argument(
        "--no-runtime", action="store_true", help=f"do not compile {RUNTIME_LIBRARY}"
    )
    compile_group.add_argument(
        "--isolate",
        action="store_true",
        help="hide everything but register_NAME_kernels(), for several libraries in one program",
    )
    return parser


def run_build(arguments: Sequence[str]) -> int:
    """Run `gen-kernels build` and return its exit status."""
    from .arguments import request_from
    from .cli import finish, generate_and_write

    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.out is None:
        parser.error("--out is required")
    request = request_from(parser, args)
    toolchain, problems = find_toolchain(args.target, args.cxx, args.march, args.mabi, args.cflags)
    diagnostics = list(problems)
    generation, problems = generate_and_write(request, args, write=toolchain is not None)
    diagnostics.extend(problems)
    archives: tuple[Path, ...] = ()
    if toolchain is not None and generation.plan is not None and not has_errors(diagnostics):
        sources = generation.plan.sources
        archives, problems = build_library(
            args.out,
            sources,
            toolchain,
            jobs=args.jobs,
            runtime=not args.no_runtime,
            registration=request.options.registration_source,
            isolate=args.library if args.isolate else "",
            progress=_show_progress if sys.stderr.isatty() and not args.quiet else _no_progress,
        )
        diagnostics.extend(problems)
    status = finish(generation, diagnostics, args)
    if args.format == "text" and not args.quiet:
        for archive in archives:
            print(f"{archive.as_posix()}: {archive.stat().st_size} bytes")
    return status
