"""Writing, checking and comparing output files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gen_kernels.codegen.output import check_files, depfile_text, diff_files, write_files

FILES = {"b.h": "two\n", "a.cpp": "one\n"}


def test_write_creates_the_folder_and_says_what_changed(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    assert write_files(FILES, folder) == (("a.cpp", "b.h"), ())
    assert {p.name: p.read_text() for p in folder.iterdir()} == FILES


def test_an_unchanged_file_keeps_its_time(tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    os.utime(tmp_path / "a.cpp", ns=(1, 1))
    os.utime(tmp_path / "b.h", ns=(1, 1))
    changed, problems = write_files({**FILES, "b.h": "new\n"}, tmp_path)
    assert (changed, problems) == (("b.h",), ())
    assert (tmp_path / "a.cpp").stat().st_mtime_ns == 1
    assert (tmp_path / "b.h").read_text() == "new\n"


def test_failure_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    write_files({"a.cpp": "old\n"}, tmp_path)
    (tmp_path / "b.h").mkdir()  # a folder where a file should go
    changed, problems = write_files({"a.cpp": "new\n", "b.h": "new\n"}, tmp_path)
    assert changed == ()
    assert [p.code for p in problems] == ["GK010"]
    assert (tmp_path / "a.cpp").read_text() == "old\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.cpp", "b.h"]


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    changed, problems = write_files(FILES, tmp_path / "out")
    assert changed == ()
    assert [p.code for p in problems] == ["GK010"]


def test_check(tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    assert check_files(FILES, tmp_path) == ()
    (tmp_path / "a.cpp").write_text("other\n")
    (tmp_path / "b.h").unlink()
    stale = check_files(FILES, tmp_path)
    assert [(d.code, d.message) for d in stale] == [
        ("GK011", "a.cpp is out of date"),
        ("GK011", "b.h is missing"),
    ]


def test_diff(tmp_path: Path) -> None:
    write_files({"a.cpp": "zero\none"}, tmp_path)
    assert diff_files(FILES, tmp_path).splitlines() == [
        "--- a/a.cpp",
        "+++ b/a.cpp",
        "@@ -1,2 +1 @@",
        "-zero",
        "-one",
        "\\ No newline at end of file",
        "+one",
        "--- /dev/null",
        "+++ b/b.h",
        "@@ -0,0 +1 @@",
        "+two",
    ]
    write_files(FILES, tmp_path)
    assert diff_files(FILES, tmp_path) == ""


def test_depfile() -> None:
    text = depfile_text(["out/a.h", "out/my b.h"], ["m odel.pte", "a$b.yaml", "a$b.yaml"])
    assert text == (
        "out/a.h out/my\\ b.h: \\\n  a$$b.yaml \\\n  m\\ odel.pte\n\n"
        "a$$b.yaml: \n\nm\\ odel.pte: \n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs make")
def test_make_reads_the_depfile(tmp_path: Path) -> None:
    (tmp_path / "m odel#1.pte").write_text("")
    (tmp_path / "d.mk").write_text(depfile_text(["a.h"], ["m odel#1.pte", "gone.yaml"]))
    (tmp_path / "Makefile").write_text("include d.mk\na.h:\n\techo made > a.h\n")

    def make() -> str:
        return subprocess.run(
            ["make", "-s", "-C", tmp_path, "a.h"], capture_output=True, text=True, check=True
        ).stdout

    make()
    assert (tmp_path / "a.h").read_text() == "made\n"
    os.utime(tmp_path / "a.h", ns=(1, 1))
    make()
    assert (tmp_path / "a.h").stat().st_mtime_ns > 1


def test_runs_that_share_a_folder(tmp_path: Path) -> None:
    """Writers of two contents at once: what stays is one of them, whole."""
    program = (
        "import sys; from pathlib import Path\n"
        "from gen_kernels.codegen.output import write_files\n"
        "files = {f'{i}.h': sys.argv[2] * 20000 for i in range(20)}\n"
        "for _ in range(10):\n"
        "    assert not write_files(files, Path(sys.argv[1]))[1]\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path), text]) for text in "ab"]
    assert [run.wait() for run in runs] == [0, 0]
    texts = {path.read_text() for path in tmp_path.iterdir()}
    assert len(texts) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"{i}.h" for i in range(20))
