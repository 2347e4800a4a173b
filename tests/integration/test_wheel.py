"""A wheel built from the tree, installed in an empty environment elsewhere, does everything."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ..support.models import TREE
from ..support.run import missing_tools

ADD = TREE / "tests" / "models" / "add.pte"
GENERATED = {
    "Functions.h",
    "NativeFunctions.h",
    "RegisterCodegenUnboxedKernels.cpp",
    "RegisterKernels.h",
    "kernel_sources.txt",
    "selected_max_kernel_num.h",
    "selected_op_variants.h",
    "selected_operators.yaml",
}

# One worker: two builds from one tree write the same files.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy: other tests run in the tree, and what they leave must not come and go meanwhile.
    left_over = shutil.ignore_patterns(
        *(".git", ".venv*", ".*_cache", ".hypothesis", "build", "*.egg-info", "__pycache__"),
    )
    shutil.copytree(TREE, folder / "tree", ignore=left_over)
    # Through the source distribution: nothing in the copy alone can leak into the wheel.
    run(sys.executable, "-m", "build", "--outdir", folder, folder / "tree", cwd=folder)
    (wheel,) = folder.glob("gen_kernels-*.whl")
    venv.create(folder / "env", with_pip=True)
    run(folder / "env/bin/python", "-m", "pip", "install", "-q", wheel, cwd=folder)
    return folder / "env"


def test_dependencies_are_few(installed: Path, tmp_path: Path) -> None:
    listed = run(installed / "bin/python", "-m", "pip", "list", "--format=freeze", cwd=tmp_path)
    names = {line.split("==")[0].lower() for line in listed.splitlines()}
    assert names <= {"gen-kernels", "jinja2", "markupsafe", "pyyaml", "pip", "setuptools"}
    compiled = list((installed / "lib").rglob("gen_kernels/**/*.so"))
    assert not compiled


def test_has_the_files_of_other_builds(installed: Path) -> None:
    (package,) = (installed / "lib").glob("*/site-packages/gen_kernels")
    files = ("BUCK", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", "buck/defs.bzl")
    for name in (*files, "bazel/defs.bzl", "bazel/one_runtime.cpp", "cmake/GenKernels.cmake"):
        assert (package / name).is_file(), name


def test_generates(installed: Path, tmp_path: Path) -> None:
    summary = run(
        installed / "bin/gen-kernels", "--model", ADD, "--out", tmp_path / "build", cwd=tmp_path
    )
    assert "aten::add.out" in summary
    assert {p.name for p in (tmp_path / "build").iterdir()} >= GENERATED


@pytest.mark.parametrize("target", ["host", pytest.param("cv32e40p", marks=pytest.mark.cross)])
def test_builds_a_library(installed: Path, tmp_path: Path, target: str) -> None:
    if reason := missing_tools("host" if target == "host" else "qemu"):
        pytest.skip(reason)
    run(
        installed / "bin/python", "-m", "gen_kernels", "build", "--model", ADD,
        "--out", tmp_path / "out", "--target", target, cwd=tmp_path,
    )  # fmt: skip
    library = tmp_path / "out" / "libgen_kernels.a"
    symbols = run("nm", "-C", library, cwd=tmp_path)
    assert "torch::executor::native::add_out" in symbols
    assert "mul_out" not in symbols


def test_a_cmake_project_elsewhere(installed: Path, tmp_path: Path) -> None:
    """A consumer outside the tree, with nothing but the installed wheel."""
    for name in ("cmake", "digits"):
        shutil.copytree(TREE / "examples" / name, tmp_path / name)
    package = run(installed / "bin/gen-kernels", "--cmake-dir", cwd=tmp_path).strip()
    assert Path(package).is_relative_to(installed)
    build = tmp_path / "build"
    run(
        "cmake", "-S", tmp_path / "cmake", "-B", build, f"-Dgen_kernels_DIR={package}", cwd=tmp_path
    )
    cache = (build / "CMakeCache.txt").read_text()
    assert re.search(rf"GEN_KERNELS_EXECUTABLE:FILEPATH={installed}/bin/gen-kernels", cache)
    run("cmake", "--build", build, cwd=tmp_path)
    classes = re.findall(
        r"^image \d+ class (\d+)", run(build / "digits", cwd=tmp_path), re.MULTILINE
    )
    labels = (TREE / "examples" / "digits" / "labels.bin").read_bytes()
    assert sum(int(a) == b for a, b in zip(classes, labels, strict=True)) > 0.9 * len(labels)
