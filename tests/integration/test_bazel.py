"""The Bazel rules, run by Debian's Bazel 4.2.3, offline and in its sandbox."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from ..support.bazel import Workspace, workspace_of
from ..support.models import MODELS, TREE
from ..support.run import RUN, missing_tools
from .test_cmake_runtime import MAIN, NOT_SUPPORTED, OK

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bazel")]

LABELS = (TREE / "examples" / "digits" / "labels.bin").read_bytes()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A copy of examples/bazel."""
    folder = tmp_path_factory.mktemp("bazel")
    shutil.copytree(TREE / "examples" / "bazel", folder / "example")
    with workspace_of(folder / "example", folder / "out") as made:
        yield made


def test_digits(workspace: Workspace) -> None:
    """The example is generated in the sandbox, compiled, linked, and names the digits."""
    workspace.build("//:digits")
    program = workspace.folder / "bazel-bin" / "digits"
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    classes = [int(line.split()[3]) for line in done.stdout.splitlines() if " class " in line]
    assert sum(a == b for a, b in zip(classes, LABELS, strict=True)) > 0.9 * len(LABELS)


@pytest.mark.cross
@pytest.mark.parametrize(
    ("on", "config", "images"),
    [
        ("qemu", "rv32imc", len(LABELS)),
        pytest.param("rtl", "cv32e40p", 3, marks=pytest.mark.rtl),
    ],
)
def test_digits_on_the_core(workspace: Workspace, on: str, config: str, images: int) -> None:
    """The same targets with the cross compiler as toolchain: a firmware that runs."""
    if reason := missing_tools(on):
        pytest.skip(reason)
    workspace.build("//:digits", f"--config={config}")
    firmware = workspace.folder / "bazel-bin"
    sources = (firmware / "digits_kernels_generated" / "kernel_sources.txt").read_text()
    assert ("corev/" in sources) == (config == "cv32e40p")
    # The RTL is stopped when it has classified as many images as are looked at (exit status 101).
    limit = ["--max-cycles", f"{images}000000"] if on == "rtl" else []
    done = subprocess.run(
        [RUN, f"--{on}", *limit, firmware / "digits"], capture_output=True, text=True, check=False
    )
    assert done.returncode == (101 if limit else 0), done.stderr
    classes = [int(line.split()[3]) for line in done.stdout.splitlines() if " class " in line]
    assert len(classes) >= images
    right = sum(a == b for a, b in zip(classes, LABELS, strict=False))
    assert right > 0.9 * len(classes)


def test_outputs_are_declared_and_stable(workspace: Workspace) -> None:
    """Only declared inputs are read (the sandbox has no others); a second build does nothing."""
    workspace.build("//:digits_kernels")
    folder = workspace.folder / "bazel-bin" / "digits_kernels_generated"
    kernels = {
        str(path.relative_to(folder / part))
        for part in ("kernels", "corev_kernels")
        for path in folder.glob(f"{part}/**/*.cpp")
    }
    assert kernels == set((folder / "kernel_sources.txt").read_text().split())
    assert "linux-sandbox" not in workspace.build("//:digits_kernels")


def test_a_mistake_is_shown(workspace: Workspace) -> None:
    """An operator that does not exist: the generator's message, no traceback, no library."""
    build = workspace.folder / "BUILD.bazel"
    text = build.read_text()
    build.write_text(text + 'gen_kernels_library(name = "bad", ops = ["aten::no_such.out"])\n')
    done = workspace.bazel("build", "//:bad")
    build.write_text(text)
    assert done.returncode != 0
    assert "aten::no_such.out" in done.stderr
    assert "[GK" in done.stderr
    assert "Traceback" not in done.stderr


PROGRAMS = """
load("@gen_kernels//bazel:defs.bzl", "gen_kernels_library", "gen_kernels_runtime")
load("@rules_cc//cc:defs.bzl", "cc_binary")

gen_kernels_library(name = "one", models = ["add.pte"])
gen_kernels_library(name = "two", models = ["cond.pte"])
gen_kernels_library(name = "three", models = ["add.pte"], runtime = ":runtime")
gen_kernels_library(name = "four", models = ["cond.pte"], runtime = ":runtime")
gen_kernels_runtime(name = "runtime", libraries = [":three", ":four"])
cc_binary(name = "alone", srcs = ["main.cpp"], copts = ["-std=c++17"], deps = [":one"])
cc_binary(name = "both", srcs = ["main.cpp"], copts = ["-std=c++17"], deps = [":one", ":two"])
cc_binary(name = "app", srcs = ["main.cpp"], copts = ["-std=c++17"], deps = [":three", ":four"])
"""


def test_runtimes(workspace: Workspace) -> None:
    """A runtime has what its libraries need; two of them in a program do not link."""
    folder = workspace.folder / "programs"
    folder.mkdir()
    (folder / "BUILD.bazel").write_text(PROGRAMS)
    (folder / "main.cpp").write_text(MAIN)
    models = [MODELS / f"{name}.pte" for name in ("add", "cond", "args_many")]
    for model in models[:2]:
        shutil.copy(model, folder)

    def loads(program: str) -> list[int]:
        workspace.build(f"//programs:{program}")
        command = [workspace.folder / "bazel-bin" / "programs" / program, *models]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return [int(line) for line in done.stdout.split()]

    assert loads("alone") == [OK, NOT_SUPPORTED, NOT_SUPPORTED]
    assert loads("app") == [OK, OK, NOT_SUPPORTED]
    done = workspace.bazel("build", "//programs:both")
    assert done.returncode != 0
    assert "gen_kernels_two_runtimes_in_one_program" in done.stderr
