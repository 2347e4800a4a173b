"""Write docs/options.md: every option of every command, out of the command line's parsers.

python tools/options_page.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gen_kernels.codegen.completion import command_parsers

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"

HEAD = """\
# Options

Written by `python tools/options_page.py`. `gen-kernels --help` shows what is needed most, each
command has a `--help`. Options that are *repeatable* may stand several times; all count.
"""
COMMANDS = {
    "": ("gen-kernels", "Generates."),
    "build": ("gen-kernels build", "Generates and compiles; takes the options above too."),
    "inspect": ("gen-kernels inspect", "Shows what is in models."),
    "ops": ("gen-kernels ops", "Lists the operators of the catalogues."),
    "explain": ("gen-kernels explain", "Explains an operator or an error code."),
    "catalogue": ("gen-kernels catalogue", "Checks and refreshes catalogues."),
    "config": ("gen-kernels config", "Prints flags and sources for other builds."),
}


def page() -> str:
    """The page's text."""
    parsers = command_parsers()
    assert set(parsers) == set(COMMANDS)
    common = {name for name, _ in _rows(parsers[""])}
    parts = [HEAD]
    for command, (title, text) in COMMANDS.items():
        rows = [r for r in _rows(parsers[command]) if command != "build" or r[0] not in common]
        parts.append(f"\n## {title}\n\n{text}\n{_table(rows)}")
        for action in parsers[command]._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, inner in action.choices.items():
                    parts.append(f"\n### {title} {name}\n{_table(_rows(inner))}")
    return "".join(parts)


def _table(rows: list[tuple[str, str]]) -> str:
    lines = [f"| {name} | {meaning} |\n" for name, meaning in rows]
    return "".join(["\n| option | meaning |\n|---|---|\n", *lines]) if lines else ""


def _rows(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    """Each argument as it is written, and its meaning."""
    rows = []
    for action in parser._actions:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
            continue
        names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.dest}`"
        value = ""
        if action.choices:
            value = " " + " ".join(f"`{choice}`" for choice in action.choices if str(choice))
        elif action.option_strings and action.nargs != 0:
            value = f" `{action.metavar or action.dest.upper()}`"
        text = (action.help or "").replace("|", r"\|").replace("%%", "%").replace("*", r"\*")
        rows.append((names + value, text))
    return rows


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
