"""The Bazel rules, run by Debian's Bazel 4.2.3, offline and in its sandbox.

rules_cc, rules_python and the pip packages are stand-ins (tests/bazel); the rest is what a module
of Bazel 7 or 8 uses too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..support.models import TREE
from ..support.run import RUN, missing_tools

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("bazel")]

LABELS = (TREE / "examples" / "digits" / "labels.bin").read_bytes()
STAND_INS = TREE / "tests" / "bazel"
# Where Debian's bazel-rules-*, bazel-skylib and bazel-bootstrap put the repositories.
DEBIAN = Path("/usr/share/bazel")
REPOSITORIES = {
    "gen_kernels": TREE,
    "rules_cc": STAND_INS / "rules_cc",
    "rules_python": STAND_INS / "rules_python",
    "gen_kernels_pip": STAND_INS / "gen_kernels_pip",
    "platforms": DEBIAN / "platforms",
    "rules_java": DEBIAN / "rules" / "java",
    "rules_proto": DEBIAN / "rules" / "proto",
    "bazel_skylib": DEBIAN / "tools" / "skylib",
}


@dataclass
class Workspace:
    """A copy of examples/bazel with an output folder of its own."""

    folder: Path
    root: Path

    def bazel(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
        options = [f"--override_repository={name}={p}" for name, p in REPOSITORIES.items()]
        # The generator runs on the interpreter that has Jinja2 and PyYAML: this one.
        options += [f"--action_env=PATH={path}"]
        words = ["bazel", f"--output_user_root={self.root}", command]
        words += options if command in ("build", "run") else []
        return subprocess.run(
            [*words, *arguments],
            cwd=self.folder,
            env=dict(os.environ, PATH=path),
            capture_output=True,
            text=True,
            check=False,
        )

    def build(self, target: str, *options: str) -> str:
        done = self.bazel("build", target, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    absent = [str(path) for path in REPOSITORIES.values() if not path.is_dir()]
    if shutil.which("bazel") is None or absent:
        pytest.skip("Debian's bazel-bootstrap, bazel-rules-* and bazel-skylib are not installed")
    folder = tmp_path_factory.mktemp("bazel")
    shutil.copytree(TREE / "examples" / "bazel", folder / "example")
    made = Workspace(folder / "example", folder / "out")
    yield made
    made.bazel("shutdown")
    # Bazel makes its outputs read-only.
    subprocess.run(["chmod", "-R", "u+w", str(made.root)], check=False)


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
    kernels = {str(p.relative_to(folder / "kernels")) for p in folder.glob("kernels/**/*.cpp")}
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
