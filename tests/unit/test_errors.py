"""The catalogue of error codes: complete, and documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gen_kernels.codegen.errors import ERRORS, explain

TREE = Path(__file__).resolve().parent.parent.parent
SOURCES = [*(TREE / "codegen").glob("*.py"), *(TREE / "selective").glob("*.py")]


def used_codes() -> set[str]:
    """Every code that the sources speak of, outside the catalogue itself."""
    return {
        code
        for path in SOURCES
        if not path.name.startswith("errors")
        for code in re.findall(r'"(GK\d{3})"', path.read_text())
    }


def test_every_code_is_explained() -> None:
    assert used_codes() - set(ERRORS) == set()


def test_every_explained_code_is_used() -> None:
    assert set(ERRORS) - used_codes() == set()


@pytest.mark.parametrize("code", sorted(ERRORS))
def test_explanations(code: str) -> None:
    title, text = ERRORS[code]
    assert re.fullmatch(r"GK\d{3}", code)
    assert title[0].isupper()
    assert not title.endswith(".")
    assert text.endswith((".", "?", "`", ":", ")"))
    said = explain(code)
    assert said is not None
    assert said.startswith(f"{code}: {title}\n\n")
    assert max(map(len, said.splitlines()[1:])) <= 88


def test_unknown_code() -> None:
    assert explain("GK999") is None


def test_the_documentation_lists_them() -> None:
    text = (TREE / "docs" / "outputs.md").read_text()
    assert dict(re.findall(r"^\| (GK\d{3}) \| (.*) \|$", text, re.MULTILINE)) == {
        code: title for code, (title, _) in ERRORS.items()
    }
