"""ExecuTorch's C++ headers: those of the installed package, and of older releases' wheels."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.util import find_spec
from os import environ
from pathlib import Path

import pytest

CACHE = Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gen-kernels" / "wheels"


def installed() -> Path:
    """The folder of the installed executorch package."""
    spec = find_spec("executorch")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("executorch is not installed (run by make conformance)")
    return Path(next(iter(spec.submodule_search_locations)))


def include_flags(package: Path) -> tuple[str, ...]:
    """Compiler flags that make a package's headers found, as system headers: without warnings."""
    include = package / "include"
    c10 = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    return ("-isystem", str(include), "-isystem", str(c10), "-DC10_USING_CUSTOM_GENERATED_MACROS")


def headers_of(version: str) -> tuple[str, ...]:
    """`include_flags` of a release, downloaded without its dependencies at first use."""
    folder = CACHE / f"executorch-{version}"
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*command, "--dest", str(CACHE), f"executorch=={version}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"executorch {version} cannot be downloaded: {done.stderr[-200:]}")
        unpack(next(CACHE.glob(f"executorch-{version}-*.whl")), folder)
    return include_flags(folder / "executorch")


def unpack(wheel: Path, folder: Path) -> None:
    """Unpack the headers of a wheel, under their name only when all are there."""
    new = folder.with_name(folder.name + ".new")
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.startswith("executorch/include/")]
        archive.extractall(new, names)
    new.rename(folder)
