"""Shell completion: scripts for bash, zsh and fish, made from the parsers of the command line.

The scripts are plain tables. Where neither an option nor a choice can be meant, files complete.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from .options import SHELLS


@dataclass(frozen=True)
class Option:
    """An option of a command ("" without one): its spellings, its help, what may follow it."""

    command: str
    names: tuple[str, ...]
    text: str
    takes_value: bool
    choices: tuple[str, ...]


def command_parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, and under "" that of the generation."""
    from ..selective import inspect
    from . import catalogue_lint, config, explain, operators_command
    from .arguments import generation_parser
    from .build import build_parser

    parsers = {"": generation_parser(), "build": build_parser()}
    for name, add_arguments in (
        ("catalogue", catalogue_lint.add_arguments),
        ("config", config.add_arguments),
        ("explain", explain.add_arguments),
        ("inspect", inspect.add_arguments),
        ("ops", operators_command.add_arguments),
    ):
        parsers[name] = argparse.ArgumentParser()
        add_arguments(parsers[name])
    return parsers


def completion_script(shell: str) -> str:
    """Return the script that defines completion of `gen-kernels` in `shell`, one of SHELLS."""
    parsers = command_parsers()
    options = [o for command, parser in parsers.items() for o in _options(command, parser)]
    # What can stand behind a command (or nothing) that is not an option.
    words = {command: _actions(parser) for command, parser in parsers.items()}
    words[""] = tuple(name for name in parsers if name)
    write = dict(zip(SHELLS, (_bash, _zsh, _fish), strict=True))[shell]
    return f"# Completion of gen-kernels for {shell}.\n{write(options, words)}"


# argparse has no public way to list what a parser knows.
def _options(command: str, parser: argparse.ArgumentParser) -> Iterator[Option]:
    seen: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                for option in _options(command, inner):
                    if seen.isdisjoint(option.names):
                        yield option
        elif action.option_strings:
            seen.update(action.option_strings)
            choices = tuple(str(c) for c in action.choices or () if str(c))
            names = tuple(sorted(action.option_strings, key=len, reverse=True))
            yield Option(command, names, action.help or "", action.nargs != 0, choices)


def _actions(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return tuple(action.choices)
    return ()


def _cases(options: list[Option], words: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Lines of a `case` over COMMAND:PREVIOUS WORD:WORD, the same in bash and zsh."""
    for option in options:
        if option.takes_value:
            pattern = "|".join(f'"{option.command}:{name}:"*' for name in option.names)
            yield f'    {pattern}) offer="{" ".join(option.choices)}" ;;'
    for command in words:
        names = " ".join(name for o in options if o.command == command for name in o.names)
        yield f'    "{command}:"*:-*) offer="{names}" ;;'
    for command, names_of in words.items():
        if names_of:
            before = command or "gen-kernels"
            yield f'    "{command}:{before}:"*) offer="{" ".join(names_of)}" ;;'


def _bash(options: list[Option], words: dict[str, tuple[str, ...]]) -> str:
    cases = "\n".join(_cases(options, words))
    commands = "|".join(words[""])
    return f"""_gen_kernels() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command= offer=
  # `--option=value` comes as three words.
  if [[ $word == = ]]; then word=; fi
  if [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  if ((COMP_CWORD == 1)); then before=gen-kernels; fi
  case ${{COMP_WORDS[1]}} in
    {commands}) if ((COMP_CWORD > 1)); then command=${{COMP_WORDS[1]}}; fi ;;
  esac
  case $command:$before:$word in
{cases}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offer" -- "$word")
}}
complete -o bashdefault -o default -F _gen_kernels gen-kernels
"""


def _zsh(options: list[Option], words: dict[str, tuple[str, ...]]) -> str:
    cases = "\n".join(_cases(options, words))
    commands = "|".join(words[""])
    return f"""_gen_kernels() {{
  local word=${{words[CURRENT]}} before=${{words[CURRENT - 1]}} first=${{words[2]}} command= offer=
  if ((CURRENT == 2)); then before=gen-kernels; fi
  case $first in
    {commands}) if ((CURRENT > 2)); then command=$first; fi ;;
  esac
  case $command:$before:$word in
{cases}
  esac
  if [[ -n $offer ]]; then compadd -- ${{=offer}}; fi
  if [[ $word != -* ]]; then _files; fi
}}
compdef _gen_kernels gen-kernels
"""


# fish's own __fish_seen_subcommand_from takes a word for a command's part: `x` for `explain`.
_FISH = """function __gen_kernels_command
  set -l words (commandline -opc)
  set -l command $words[2]
  contains -- "$command" {commands}; or set command none
  test $command = $argv[1]
end
function __gen_kernels_first
  test (count (commandline -opc)) = 1
end
"""


def _fish(options: list[Option], words: dict[str, tuple[str, ...]]) -> str:
    commands = " ".join(words[""])
    lines = []
    for command, names_of in words.items():
        condition = f"'__gen_kernels_command {command or 'none'}'"
        for option in (o for o in options if o.command == command):
            line = f"complete -c gen-kernels -n {condition}"
            for name in option.names:
                line += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
            if option.choices:
                line += f" -x -a '{' '.join(option.choices)}'"
            elif option.takes_value:
                line += " -r"
            text = option.text.replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"{line} -d '{text}'")
        if command and names_of:
            lines.append(f"complete -c gen-kernels -n {condition} -a '{' '.join(names_of)}'")
    lines.append(f"complete -c gen-kernels -n __gen_kernels_first -a '{commands}'")
    return _FISH.format(commands=commands) + "\n".join(lines) + "\n"
