"""Builds C++ test programs against the micro runtime, or against ExecuTorch's own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .models import MODELS, TREE

RUNTIME = TREE / "runtime"
SOURCES = TREE / "tests" / "cpp"
WARNINGS = ("-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SANITIZE = (
    "-g",
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize=vptr",  # the runtime has no type information
    "-fno-sanitize-recover=all",
)
# Operators that ExecuTorch's runtime has kernels for.
BUILT_IN = ("executorch_prim::", "aten::sym_size", "aten::sym_numel", "aten::_local_scalar_dense")


def run(command: list[str], timeout: float = 600) -> subprocess.CompletedProcess[str]:
    """Runs a command and keeps what it prints."""
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def build_runtime(out: Path, *flags: str, compiler: str = "c++") -> Path:
    """Compiles the runtime's sources; returns the archive."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} not installed")
    out.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in sorted((RUNTIME / "src").glob("*.cpp")):
        target = out / f"{source.stem}.o"
        command = [compiler, *WARNINGS, "-fno-exceptions", "-fno-rtti", *flags]
        command += ["-I", str(RUNTIME / "include"), "-c", str(source), "-o", str(target)]
        done = run(command)
        assert done.returncode == 0, done.stderr
        objects.append(str(target))
    archive = out / "runtime.a"
    archive.unlink(missing_ok=True)
    archiver = compiler.replace("g++", "ar") if "-" in compiler else "ar"
    done = run([archiver, "rcs", str(archive), *objects])
    assert done.returncode == 0, done.stderr
    return archive


def build_program(source: Path, out: Path, runtime: Path, *flags: str) -> Path:
    """Compiles one source and links it with the runtime."""
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", *flags, "-I", str(RUNTIME / "include")]
    done = run([*command, str(source), str(runtime), "-o", str(out)])
    assert done.returncode == 0, done.stderr
    return out


def executorch_package() -> Path:
    """The installed executorch package; skips the test when there is none with a runtime."""
    try:
        import executorch
    except ImportError:
        pytest.skip("executorch is not installed")
    package = Path(next(iter(executorch.__path__)))
    if not (package / "lib" / "libexecutorch.so").is_file():
        pytest.skip("this executorch has no shared library")
    return package


def build_official(source: Path, out: Path) -> Path:
    """Compiles one source against ExecuTorch's headers and links it with its shared library."""
    package = executorch_package()
    include = package / "include"
    command = ["c++", "-std=c++17", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-I", str(include)]
    command += ["-I", str(include / "executorch/runtime/core/portable_type/c10"), str(source)]
    command += ["-L", str(package / "lib"), "-lexecutorch", f"-Wl,-rpath,{package / 'lib'}"]
    done = run([*command, "-o", str(out)])
    assert done.returncode == 0, done.stderr
    return out


def operators_of(model: str) -> list[str]:
    """The operators that a test model calls."""
    entry = json.loads((MODELS / "models.json").read_text(encoding="utf-8"))[model]
    return sorted({name for method in entry.get("methods", ()) for name in method["operators"]})
