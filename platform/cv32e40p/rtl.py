"""The Verilated CV32E40P: finds the core's sources, builds the bench once, keeps it in a cache.

Standard library only, so that it runs before anything is installed. `python3 rtl.py` builds the
model and prints its path.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIM = HERE / "sim"
PACKAGE = "pythondata-cpu-cv32e40p"
MODULE = "pythondata_cpu_cv32e40p"
VERSION = "1.0.1.post1909"
WHEEL_SHA256 = "424a04b65d854903ada62feb94a78346e60dc84c5487ed1f32405666eee6f8c3"
NOT_FOR_SIMULATION = ("cv32e40p_tracer_pkg.sv", "cv32e40p_tb_wrapper.sv")

Report = Callable[[str], None]


class RtlError(Exception):
    """The model cannot be built; the text says why and what to do."""


def cache_folder() -> Path:
    """The folder for everything that is downloaded or built once for a user."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "gen-kernels"


def say(text: str) -> None:
    """Reports progress on stderr; stdout belongs to the program that runs."""
    print(text, file=sys.stderr, flush=True)


def rtl_folder(report: Report = say) -> Path:
    """Returns the core's repository: GEN_KERNELS_RTL, the installed package, or a download."""
    named = os.environ.get("GEN_KERNELS_RTL")
    if named:
        return Path(named)
    try:
        installed = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        installed = ""
    spec = importlib.util.find_spec(MODULE) if installed == VERSION else None
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "system_verilog"
    folder = cache_folder() / "rtl" / f"cv32e40p-{VERSION}"
    if not folder.is_dir():
        _download(folder, report)
    return folder / MODULE / "system_verilog"


def _download(folder: Path, report: Report) -> None:
    report(f"Downloading the CV32E40P sources ({PACKAGE} {VERSION}, 2 MB)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        command = ["download", "--quiet", "--no-deps", "--dest", temporary, f"{PACKAGE}=={VERSION}"]
        done = subprocess.run([*_pip(), *command], check=False)
        wheels = list(Path(temporary).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise RtlError(
                f"pip could not download {PACKAGE}=={VERSION}: check the network, or set "
                "GEN_KERNELS_RTL to a folder with the cv32e40p repository"
            )
        if hashlib.sha256(wheels[0].read_bytes()).hexdigest() != WHEEL_SHA256:
            raise RtlError(f"{wheels[0].name} is not the file that this project was tested with")
        unpacked = Path(temporary) / "unpacked"
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(unpacked)
        unpacked.rename(folder)


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    in_tree = HERE.parent.parent / ".venv" / "bin" / "python"
    if in_tree.exists():
        return [str(in_tree), "-m", "pip"]
    pip = shutil.which("pip3") or shutil.which("pip")
    if pip is None:
        raise RtlError("pip is missing: run `platform/setup rtl` first")
    return [pip]


def _sources(rtl: Path) -> list[str]:
    manifest = rtl / "cv32e40p_manifest.flist"
    if not manifest.is_file():
        raise RtlError(f"{rtl}: no cv32e40p_manifest.flist: not the cv32e40p repository")
    lines = manifest.read_text(encoding="utf-8").splitlines()
    names = [line.strip() for line in lines if line.strip().endswith(".sv")]
    return [
        name.replace("${DESIGN_RTL_DIR}", str(rtl / "rtl"))
        for name in names
        if not name.endswith(NOT_FOR_SIMULATION)
    ]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key(rtl: Path, verilator: str, parameters: list[str]) -> str:
    digest = hashlib.sha256()
    version = subprocess.run([verilator, "--version"], capture_output=True, text=True, check=False)
    for text in (VERSION, str(rtl), version.stdout, *parameters):
        digest.update(text.encode() + b"\0")
    for path in (SIM / "bench.cpp", SIM / "waivers.vlt", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def model(corev: bool = True, report: Report = say) -> Path:
    """Returns the bench's executable, built on first use (10 to 30 s).

    `corev`: with the CORE-V (PULP) instructions. Raises RtlError when it cannot be built.
    """
    verilator = shutil.which("verilator")
    if verilator is None:
        raise RtlError("verilator is missing: run `platform/setup rtl` first")
    parameters = [f"-GCOREV_PULP={int(corev)}", "-GFPU=0"]
    base = cache_folder() / "rtl"
    with _locked(base / "lock"):
        rtl = rtl_folder(report)
        folder = base / f"model-{_key(rtl, verilator, parameters)}"
        bench = folder / "bench"
        if not bench.exists():
            with tempfile.TemporaryDirectory(dir=base) as temporary:
                _build(verilator, rtl, parameters, Path(temporary), report)
                folder.mkdir(exist_ok=True)
                (Path(temporary) / "bench").rename(bench)
    return bench


def _build(verilator: str, rtl: Path, parameters: list[str], work: Path, report: Report) -> None:
    report("Building the CV32E40P model with Verilator (once; about 20 s)")
    command = [verilator, "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast"]
    command += ["--noassert", "--top-module", "cv32e40p_top", *parameters, "--Mdir", str(work)]
    command += [f"-I{rtl / 'rtl' / 'include'}", "-o", "bench", str(SIM / "waivers.vlt")]
    _run([*command, *_sources(rtl), str(SIM / "bench.cpp")], work)
    total = len(list(work.glob("*.cpp")))
    # -CFLAGS would replace these settings of the generated makefile.
    optimise = ["OPT_FAST=-O3", "OPT_GLOBAL=-O3"]
    make = ["make", "-C", str(work), "-f", "Vcv32e40p_top.mk", f"-j{os.cpu_count() or 1}"]
    with subprocess.Popen(
        [*make, *optimise, "bench"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        output, compiled = [], 0
        for line in process.stdout or ():
            output.append(line)
            if " -c -o " in line:
                compiled += 1
                if sys.stderr.isatty():
                    print(f"\r  compiling {compiled} of {total}", end="", file=sys.stderr)
        if sys.stderr.isatty():
            print(file=sys.stderr)
    if process.returncode != 0:
        raise RtlError("the model does not compile:\n" + "".join(output[-30:]))


def _run(command: list[str], work: Path) -> None:
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RtlError(
            "Verilator does not accept the core:\n" + (done.stdout + done.stderr)[-4000:]
        )


if __name__ == "__main__":
    try:
        print(model())
    except RtlError as error:
        sys.exit(f"rtl: {error}")
