"""Each `gen-kernels` command of the documentation runs, and each make target it names exists.

Commands stand in indented or fenced blocks, one a line, optionally behind `$ `. They run in a
folder where `model.pte` and the other names that the documentation uses are real files.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ..support.models import TREE
from ..support.run import missing_tools

PAGES = sorted(
    [
        TREE / "README.md",
        TREE / "CONTRIBUTING.md",
        *(TREE / "docs").rglob("*.md"),
        *list((TREE / "examples").rglob("README.md")),
    ]
)
MODELS = TREE / "tests" / "models"
# What documentation calls a file: which file that is here.
FILES = {
    "model.pte": MODELS / "add.pte",
    "other.pte": MODELS / "mlp.pte",
    "model.bpte": MODELS / "bundled_mlp.bpte",
    "my_ops.yaml": TREE / "docs" / "my_ops.yaml",
    "digits_int8.pte": TREE / "examples" / "digits" / "digits_int8.pte",
}


def block_lines(page: Path) -> list[str]:
    """The lines of indented and fenced blocks, without a prompt; joined at a backslash."""
    lines, fenced, joined = [], False, ""
    for raw in page.read_text().splitlines():
        if raw.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if not fenced and not raw.startswith("    "):
            continue
        line = joined + raw.strip().removeprefix("$ ")
        if line.endswith("\\"):
            joined = line[:-1]
            continue
        joined = ""
        lines.append(line.split(" # ")[0].rstrip())
    return lines


def commands(first: str) -> list[tuple[str, str]]:
    return [
        (page.relative_to(TREE).as_posix(), line)
        for page in PAGES
        for line in block_lines(page)
        if re.match(rf"{first}( |$)", line)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "line"), commands("gen-kernels"))
def test_command_runs(page: str, line: str, tmp_path: Path) -> None:
    target = re.search(r"--target[ =](\S+)", line)
    reason = missing_tools("qemu") if target and target[1] != "host" else ""
    if reason:
        pytest.skip(reason)
    for name, source in FILES.items():
        shutil.copy(source, tmp_path / name)
    path = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "line"), [c for c in commands("cmake") if "…" not in c[1]], ids=lambda text: text[:40]
)
def test_cmake_configures(page: str, line: str, tmp_path: Path) -> None:
    """In the folder of an example (its own, or examples/cmake)."""
    reason = "cmake is not installed" if shutil.which("cmake") is None else ""
    reason = reason or (missing_tools("qemu") if "TOOLCHAIN" in line else "")
    if reason:
        pytest.skip(reason)
    shutil.copytree(TREE / "examples", tmp_path / "examples")
    own = tmp_path / Path(page).parent
    path = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=own if (own / "CMakeLists.txt").exists() else tmp_path / "examples" / "cmake",
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"


SCRIPTS = [
    (page, word)
    for page, line in commands(r"(?:\S*/)?python3?") + commands(r"(?:\S*/)?platform/\S+")
    for word in line.split()
    if re.fullmatch(r"[\w./-]+\.py|(?:\.\./)*platform/[\w/]+", word)
]


@pytest.mark.parametrize(("page", "script"), SCRIPTS)
def test_script_exists(page: str, script: str) -> None:
    """Scripts are named from the root, or from an example's folder."""
    folders = (TREE, (TREE / page).parent, TREE / "examples" / "digits")
    assert any((folder / script).is_file() for folder in folders), f"{page}: {script}"


@pytest.mark.parametrize(("page", "line"), commands("make"))
def test_make_target_exists(page: str, line: str) -> None:
    words = shlex.split(line)
    folder = words[words.index("-C") + 1] if "-C" in words else "."
    makefile = (TREE / folder / "Makefile").read_text()
    targets = [w for w in words[1:] if "=" not in w and not w.startswith("-") and w != folder]
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"{page}: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(TREE).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_there_are_commands() -> None:
    assert len(commands("gen-kernels")) >= 3
    assert sys.version_info >= (3, 10)
