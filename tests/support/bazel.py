"""Runs Debian's Bazel 4.2.3 offline.

rules_cc, rules_python and the pip packages are stand-ins (tests/bazel); the rest is what a module
of Bazel 7 or 8 uses too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from .models import TREE

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
    """A workspace with an output folder of its own."""

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


@contextmanager
def workspace_of(folder: Path, root: Path) -> Iterator[Workspace]:
    """The workspace in `folder`, with outputs below `root`; skips the test without Bazel."""
    absent = [str(path) for path in REPOSITORIES.values() if not path.is_dir()]
    if shutil.which("bazel") is None or absent:
        pytest.skip("Debian's bazel-bootstrap, bazel-rules-* and bazel-skylib are not installed")
    made = Workspace(folder, root)
    yield made
    made.bazel("shutdown")
    # Bazel makes its outputs read-only.
    subprocess.run(["chmod", "-R", "u+w", str(made.root)], check=False)
