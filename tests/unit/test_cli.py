"""The command line: usage, exit statuses, reports, and that nothing is written on failure."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main
from gen_kernels.codegen.options import Options
from gen_kernels.codegen.render import output_names

MODELS = Path(__file__).resolve().parent.parent / "models"
ADD = str(MODELS / "add.pte")


def usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--out is required"),
        (["--out", "o"], "nothing selected: give --model, --op, --ops-file or --all"),
        (["--model", ADD], "--out is required"),
        (["--model", ADD, "--out", "o", "--library", "a-b"], "'a-b' is not a C identifier"),
        (["--model", ADD, "--out", "o", "--library", "ä"], "'ä' is not a C identifier"),
        (["--model", ADD, "--out", "o", "--aten", "--api", "stack"], "do not go together"),
        (["--model", ADD, "--out", "o", "--template-dir", "nowhere"], "'nowhere' is not a folder"),
        (["--model", ADD, "--out", "o", "--check", "--diff"], "not allowed with argument"),
        (["--model", ADD, "--out", "o", "--registration", "maybe"], "invalid choice: 'maybe'"),
        (["--mod", ADD, "--out", "o"], "unrecognized arguments: --mod"),
        (["build", "--model", ADD, "--out", "o"], "required: --target"),
        (["build", "--model", ADD, "--target", "host"], "--out is required"),
    ],
)
def test_usage(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in usage_error(arguments, capsys)
    assert list(tmp_path.iterdir()) == []


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    name, version = first.split()
    assert name == "gen-kernels"
    assert version[0].isdigit()
    # What is claimed is what the tests against ExecuTorch's headers run with.
    tests = (MODELS.parent / "conformance" / "test_generated.py").read_text()
    releases = json.loads(re.findall(r'"version", (\[.*\])', tests)[0])
    assert second == f"tested with ExecuTorch {', '.join(releases)}"


def test_help_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """24 lines of 80 columns, the prompt in one of them; it has examples and every command."""
    for option in ("--help", "-h"):
        assert main([option]) == 0
        text = capsys.readouterr().out
        assert len(text.splitlines()) <= 23
        assert max(map(len, text.splitlines())) <= 80
        assert "examples:\n  gen-kernels --model " in text
        for command in ("build", "catalogue", "config", "explain", "inspect", "ops"):
            assert f" {command} " in text


def test_help_names_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    named = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    with pytest.raises(SystemExit) as stop:
        main(["--help-all"])
    assert stop.value.code == 0
    assert named <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_cmake_dir(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cmake-dir"]) == 0
    assert Path(capsys.readouterr().out.strip()).is_dir()


def test_list_outputs_is_what_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for extra in ([], ["--pytorch"], ["--aten"]):
        out = tmp_path / "-".join(["out", *extra])
        arguments = ["--model", ADD, "--out", str(out), *extra]
        assert main([*arguments, "--list-outputs"]) == 0
        listed = capsys.readouterr().out.splitlines()
        assert not out.exists()
        assert main([*arguments, "--quiet"]) == 0
        assert sorted(map(str, out.iterdir())) == listed


def test_output_names_are_sorted() -> None:
    names = output_names(Options(pytorch=True))
    assert list(names) == sorted(names)


def test_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--model", ADD, "--out", str(tmp_path / "out")]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"1 operator in {ADD}"
    assert second.split() == [
        *("aten::add.out", "torch::executor::native::add_out"),
        *("functions", "portable/add_sub.cpp"),
    ]


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", "GK2"), (b"\x10\x00\x00\x00ET12", "GK2"), (b"hello, this is no model", "GK2")],
)
def test_bad_models_write_nothing(
    content: bytes, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "bad.pte"
    model.write_bytes(content)
    assert main(["--model", str(model), "--out", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(str(model))
    assert f"[{code}" in captured.err
    assert not (tmp_path / "out").exists()


def test_every_mistake_is_reported_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.yaml").write_text("- op: abs.outt\n  kernels:\n    - kernel_name: x::y\n")
    arguments = ["--op", "aten::no_such.out", "--model", str(tmp_path / "missing.pte")]
    arguments += ["--functions", str(tmp_path / "bad.yaml"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.count(": error: ") >= 3
    assert "missing.pte" in err
    assert "abs.outt" in err
    assert "aten::no_such.out" in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    arguments = ["--model", ADD, "--op", "add.out:Float", "--out", out]
    assert main([*arguments, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["diagnostics"] == []
    assert "NativeFunctions.h" in report["files"]
    assert report["operators"] == [
        {
            "name": "aten::add.out",
            "catalogue": "functions",
            "kernels": [
                {
                    "symbol": "torch::executor::native::add_out",
                    "keys": [],
                    "source": "portable/add_sub.cpp",
                }
            ],
            "dtypes": ["Float"],
            "selected_by": [
                {"kind": "model", "source": ADD, "method": "forward", "instruction": [0, 0]},
                {"kind": "op", "source": "add.out:Float"},
            ],
        }
    ]
    assert main(["--op", "aten::no_such.out", "--out", out, "--format", "json"]) == 1
    captured = capsys.readouterr()
    (diagnostic,) = json.loads(captured.out)["diagnostics"]
    assert captured.err == ""
    assert diagnostic["severity"] == "error"
    assert diagnostic["code"].startswith("GK3")


def test_check_and_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--model", ADD, "--out", str(tmp_path)]
    assert main([*arguments, "--check"]) == 1
    assert capsys.readouterr().err.count("is missing [GK011]") == len(output_names(Options()))
    assert list(tmp_path.iterdir()) == []
    assert main(arguments) == 0
    capsys.readouterr()
    assert main([*arguments, "--check"]) == 0
    assert main([*arguments, "--diff"]) == 0
    assert capsys.readouterr() == ("", "")
    (tmp_path / "NativeFunctions.h").write_text("changed\n")
    assert main([*arguments, "--diff"]) == 0
    diff = capsys.readouterr().out
    assert diff.startswith("--- a/NativeFunctions.h\n+++ b/NativeFunctions.h\n")
    assert "-changed\n" in diff
    assert main([*arguments, "--check"]) == 1
    assert "NativeFunctions.h is out of date" in capsys.readouterr().err
    assert (tmp_path / "NativeFunctions.h").read_text() == "changed\n"


def test_depfile(tmp_path: Path) -> None:
    arguments = ["--model", ADD, "--out", str(tmp_path / "out"), "--quiet"]
    assert main([*arguments, "--depfile", str(tmp_path / "d" / "out.d")]) == 0
    text = (tmp_path / "d" / "out.d").read_text()
    targets, _, inputs = text.partition(":")
    assert set(targets.split()) == {str(p) for p in (tmp_path / "out").iterdir()}
    for name in ("add.pte", "functions.yaml", "context.py", "RegisterKernels.h.j2"):
        assert name in inputs


def test_a_broken_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    out = str(tmp_path / "out")
    arguments = ["--model", ADD, "--out", out, "--template-dir", str(templates)]
    for text in ("{% if %}", "{{ no_such_variable }}", "{{ 1 / 0 }}", "{{ library + 1 }}"):
        (templates / "RegisterKernels.h.j2").write_text(text)
        assert main(arguments) == 1
        err = capsys.readouterr().err
        assert "[GK012]" in err
        assert "Traceback" not in err
        assert not Path(out).exists()
    (templates / "RegisterKernels.h.j2").write_bytes(b"\xff")
    assert main(arguments) == 1
    assert "[GK012]" in capsys.readouterr().err


def test_an_output_folder_that_is_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("mine")
    assert main(["--model", ADD, "--out", str(tmp_path / "out")]) == 1
    assert "[GK010]" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gen_kernels", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_output_depends_on_the_input_alone(tmp_path: Path) -> None:
    """Not on hash seed, locale, working directory or the order of options."""
    models = [str(MODELS / name) for name in ("mlp.pte", "cat_index.pte", "half.pte")]
    operators = ["--op", "aten::abs.out", "--op", "aten::mul.out"]
    selection = [w for m in models for w in ("--model", m)]
    backwards = [w for m in reversed(models) for w in ("--model", m)]
    runs = {
        "a": ([*selection, *operators], {"PYTHONHASHSEED": "1", "LC_ALL": "C"}),
        "b": ([*operators, *selection], {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8"}),
        "c": (
            [*backwards, *operators[2:], *operators[:2]],
            {"PYTHONHASHSEED": "3", "TZ": "Asia/X"},
        ),
    }
    outputs = []
    for name, (arguments, environment) in runs.items():
        out = tmp_path / name
        done = run(*arguments, "--kernels", "none", "--out", str(out), "--pytorch", **environment)
        assert done.returncode == 0, done.stderr
        outputs.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.slow
def test_a_closed_pipe_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "gen_kernels", "explain"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""
