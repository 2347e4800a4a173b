"""docs/options.md is what the command line's parsers say today."""

from __future__ import annotations

from tools.options_page import PAGE, page


def test_page_is_up_to_date() -> None:
    """Renewed by `python tools/options_page.py`."""
    assert PAGE.read_text(encoding="utf-8") == page()
