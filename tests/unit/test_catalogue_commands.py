"""The commands around the catalogues: explain, ops, catalogue lint and import."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from gen_kernels.codegen.catalogue_import import run_import
from gen_kernels.codegen.cli import main
from gen_kernels.codegen.errors import ERRORS


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


# explain


def test_explain_an_operator(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = command(capsys, "explain", "aten::abs")
    assert (status, err) == (0, "")
    assert "aten::abs(Tensor self) -> Tensor\n  functional" in out
    assert "aten::abs_(Tensor(a!) self) -> Tensor(a!)\n  in place" in out
    _, _, variant = out.partition("aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n")
    assert variant.startswith("  out variant")
    assert "torch::executor::native::abs_out" in variant
    assert "functions.yaml:" in variant
    assert "0  self      Tensor      const Tensor&" in variant
    assert "1  out       Tensor(a!)  Tensor&  (written)" in variant
    assert "2  (result)  Tensor(a!)" in variant


@pytest.mark.parametrize(
    ("subject", "variant"),
    [
        ("add.Tensor", "aten::add.out"),
        ("aten::add_.Scalar", "aten::add.Scalar_out"),
        ("view", "aten::view_copy.out"),
        ("split.Tensor", "aten::split_copy.Tensor_out"),
        ("zeros", "aten::zeros.out"),
    ],
)
def test_explain_what_becomes_of_it(
    capsys: pytest.CaptureFixture[str], subject: str, variant: str
) -> None:
    _, out, _ = command(capsys, "explain", subject)
    assert f"to_executorch() turns it into {variant}\n" in out


@pytest.mark.parametrize("subject", ["quantized_add", "cortex_m::quantized_add.out"])
def test_explain_an_operator_of_another_namespace(
    capsys: pytest.CaptureFixture[str], subject: str
) -> None:
    status, out, _ = command(capsys, "explain", subject)
    assert status == 0
    assert out.startswith("cortex_m::quantized_add.out(")
    assert out.count("::quantized_add.out(") == 1


def test_explain_one_overload(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, "explain", "add.Scalar_out")
    assert status == 0
    assert out.count(") -> ") == 1


def test_explain_the_users_kernel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("- op: abs.out\n  kernels: [{kernel_name: my::fast_abs}]\n")
    status, out, _ = command(capsys, "explain", "abs.out", "--functions", str(path))
    assert status == 0
    assert out.index("my::native::fast_abs") < out.index("torch::executor::native::abs_out")


@pytest.mark.parametrize(
    ("subject", "hint"),
    [
        ("aten::abss", "did you mean aten::abs?"),
        ("abss", "did you mean aten::abs"),
        ("aten::abs.outt", "its overloads: aten::abs, aten::abs.out"),
        ("cortex_m::quantised_add", "did you mean cortex_m::quantized_add?"),
        ("abs.out(", ""),
        ("", ""),
        ("zzzzzzzzzz", ""),
    ],
)
def test_explain_typos(capsys: pytest.CaptureFixture[str], subject: str, hint: str) -> None:
    status, out, err = command(capsys, "explain", subject)
    if subject == "":  # like no argument: the list of codes
        assert status == 0
        assert out.count("\n") == len(ERRORS)
        return
    assert (status, out) == (1, "")
    assert "[GK185]" in err
    assert hint in err


def test_every_error_code_in_use_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    import re

    folder = Path(main.__code__.co_filename).parent
    used = {
        code
        for path in folder.glob("*.py")
        for code in re.findall(r'"(GK1\d\d)"', path.read_text())
    }
    assert len(used) > 25
    assert used - ERRORS.keys() == set()
    status, out, _ = command(capsys, "explain", "gk161")
    assert status == 0
    assert out.startswith("GK161: A kernel that no call can match\n\n")


# ops


def test_ops_counts_all_catalogues(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = command(capsys, "ops")
    assert status == 0
    lines = out.splitlines()
    assert lines[-1].startswith(f"{len(lines) - 1} operators, ")
    names = [line.split()[0] for line in lines[:-1]]
    assert names == sorted(names)
    # 209 portable, 19 quantized, 23 cortex_m, 2 custom, 28 of the runtime.
    assert len(names) >= 281


def test_ops_filters(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = command(capsys, "ops", "--namespace", "cortex_m", "--json")
    operators = json.loads(out)
    assert len(operators) == 23
    assert {o["catalogue"] for o in operators} == {"cortex_m"}
    _, out, _ = command(capsys, "ops", "cortex_m::*", "--target", "cv32e40p", "--json")
    assert {o["catalogue"] for o in json.loads(out)} == {"cortex_m", "corev"}
    _, out, _ = command(capsys, "ops", "--catalogue", "quantized", "*add*", "--schema")
    assert out.startswith("quantized_decomposed::add.out(Tensor a, float a_scale,")
    _, available, _ = command(capsys, "ops", "--available", "--json")
    _, missing, _ = command(capsys, "ops", "--missing", "--json")
    _, everything, _ = command(capsys, "ops", "--json")
    counts = [len(json.loads(text)) for text in (available, missing, everything)]
    assert counts[0] + counts[1] == counts[2]
    assert all(k["source"] for o in json.loads(available) for k in o["kernels"])


def test_ops_shows_who_serves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("- op: abs.out\n  kernels: [{kernel_name: my::fast_abs}]\n")
    _, out, _ = command(capsys, "ops", "abs.out", "--functions", str(path), "--json")
    (operator,) = json.loads(out)
    assert operator["catalogue"] == "my"
    assert operator["available"] is True
    assert operator["kernels"][0]["symbol"] == "my::native::fast_abs"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--namespace", "atenn"], "no namespace 'atenn'"),
        (["--catalogue", "function"], "did you mean functions?"),
        (["no_such*"], "no operator matches no_such*"),
        (["--functions", "absent.yaml"], "absent.yaml: error: cannot read the catalogue"),
    ],
)
def test_ops_mistakes(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    status, out, err = command(capsys, "ops", *arguments)
    assert (status, out) == (1, "")
    assert message in err


# lint


def test_lint_reports_who_wins(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("- op: abs.out\n  kernels: [{kernel_name: one::abs}]\n")
    second.write_text("# mine\n- op: abs.out\n  kernels: [{kernel_name: two::abs}]\n")
    status, out, err = command(capsys, "catalogue", "lint", str(first), str(second))
    assert (status, err) == (0, "")
    assert out.startswith(f"{first}: 1 operators, 1 kernels\n{second}: 1 operators, 1 kernels\n")
    expected = f"  aten::abs.out: {first}:1 goes before {second}:2, functions.yaml:"
    assert expected in out


def test_lint_of_the_bundled_catalogues_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    from gen_kernels.codegen.catalogue import bundled_catalogues

    for path in bundled_catalogues():
        status, _, err = command(capsys, "catalogue", "lint", str(path))
        assert status == 0
        # allclose.Tensor of ExecuTorch's custom_ops.yaml is a functional operator.
        warnings = [line for line in err.splitlines() if "warning" in line]
        assert all("allclose.Tensor is not an out variant" in line for line in warnings)


# import (against torch itself: tests/conformance/test_catalogues.py)


def fake_python(folder: Path, script: str) -> str:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_import_keeps_sources_and_shows_the_difference(tmp_path: Path) -> None:
    package, out = tmp_path / "executorch", tmp_path / "functions"
    entry = "- {} \n  kernels:\n    - arg_meta: null\n      kernel_name: {}\n"
    for name in ("portable/functions", "portable/custom_ops", "quantized/quantized"):
        path = package / "kernels" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(entry.format("op: abs.out", "torch::executor::abs_out"))
    path = package / "backends" / "cortex_m" / "ops" / "operators.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(entry.format("func: c::f.out(Tensor x) -> Tensor", "c::f") + "  tags: t\n")
    out.mkdir()
    (out / "functions.yaml").write_text(
        entry.format("op: abs.out", "torch::executor::abs_out") + "      source: portable/a.cpp\n"
    )
    answer = {
        "schemas": ["b.out(Tensor x) -> Tensor", "a(Tensor x) -> Tensor", "b(Tensor x) -> Tensor"],
        "executorch": str(package),
        "versions": {"torch": "9.9"},
        "missing": [],
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    python = fake_python(tmp_path, f"cat '{tmp_path}/answer.json'")
    text, diagnostics = run_import(python, out=out, dry_run=True)
    assert diagnostics == ()
    assert "5 of 5 files would change (torch 9.9)" in text
    assert not (out / "quantized.yaml").exists()
    text, _ = run_import(python, out=out)
    assert "+++ new/cortex_m.yaml" in text
    assert "      source: portable/a.cpp\n" in (out / "functions.yaml").read_text()
    assert (out / "aten_schemas.yaml").read_text().splitlines()[1:] == [
        "- func: a(Tensor x) -> Tensor",
        "- func: b.out(Tensor x) -> Tensor",
        "- func: b(Tensor x) -> Tensor",
    ]
    assert "  tags: t\n" in (out / "cortex_m.yaml").read_text()
    assert run_import(python, out=out)[0] == "0 of 5 files changed (torch 9.9)\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo broken >&2; exit 3", "failed: broken"),
        ("echo hello", "answered with something else than JSON"),
        (
            'echo \'{"schemas": [], "executorch": "", "versions": {}, "missing": ["executorch"]}\'',
            "has no executorch",
        ),
        (
            'echo \'{"schemas": [], "executorch": "/nowhere", "versions": {}, "missing": []}\'',
            "cannot use kernels/portable/functions.yaml of nowhere",
        ),
    ],
)
def test_import_mistakes(tmp_path: Path, script: str, message: str) -> None:
    out = tmp_path / "functions"
    text, (problem,) = run_import(fake_python(tmp_path, script), out=out)
    assert text == ""
    assert message in problem.message
    assert not out.exists()


def test_import_without_an_interpreter(tmp_path: Path) -> None:
    _, (problem,) = run_import(str(tmp_path / "absent"), out=tmp_path)
    assert problem.code == "GK180"
    assert "cannot run" in problem.message
