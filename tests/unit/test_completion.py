"""Shell completion, asked the way each shell asks."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from gen_kernels.codegen.cli import _COMMANDS, main

# What a shell runs to complete WORDS, the last of which stands before the cursor: a line for each
# candidate. zsh completes in an editor only: its builtins are stand-ins that print.
ASK = {
    "bash": """source {script}
COMP_WORDS=({words}) COMP_CWORD={last}
_gen_kernels
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "zsh": """compdef() {{ }}
compadd() {{ shift; print -l -- ${{(M)@:#${{words[CURRENT]}}*}} }}
_files() {{ }}
source {script}
words=({words}) CURRENT=$(({last} + 1))
_gen_kernels
""",
    "fish": "source {script}\ncomplete -C {line}\n",
}

CASES = [
    ("", {"build", "inspect", "ops", "catalogue", "explain", "config"}, set()),
    ("bu", {"build"}, {"ops"}),
    ("--mod", {"--model"}, {"--op"}),
    ("--target ", {"host", "rv32imc", "cv32e40p"}, {"build", "--model"}),
    ("--registration st", {"static"}, {"manual"}),
    ("--out x --registration st", {"static"}, {"manual"}),
    ("--completion z", {"zsh"}, {"bash"}),
    ("build --mar", {"--march"}, {"--mabi"}),
    ("build --target c", {"cv32e40p"}, {"host"}),
    ("ops --av", {"--available"}, {"--all"}),
    ("ops --mar", set(), {"--march"}),
    ("catalogue ", {"lint", "import"}, {"build"}),
    ("catalogue import --dry", {"--dry-run"}, set()),
    ("inspect model.pte --ht", {"--html"}, {"--help"}),
]


@pytest.mark.parametrize("shell", sorted(ASK))
@pytest.mark.parametrize(("typed", "offered", "not_offered"), CASES)
def test_completes(
    shell: str,
    typed: str,
    offered: set[str],
    not_offered: set[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} not installed")
    folder = tmp_path_factory.mktemp("completion")
    assert main(["--completion", shell]) == 0
    (folder / "script").write_text(capsys.readouterr().out)
    words = ["gen-kernels", *typed.split(" ")]
    question = ASK[shell].format(
        script=folder / "script",
        words=shlex.join(words),
        last=len(words) - 1,
        line=shlex.quote(" ".join(words)),
    )
    (folder / "empty").mkdir()
    done = subprocess.run(
        [shell, "-c", question], cwd=folder / "empty", capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    found = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert offered <= found
    assert found.isdisjoint(not_offered)


@pytest.mark.parametrize("command", sorted(_COMMANDS))
def test_knows_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))
    main(["--completion", "bash"])
    script = capsys.readouterr().out
    offered = re.search(rf'^ *"{command}:"\*:-\*\) offer="(.*)"', script, re.MULTILINE)
    assert offered is not None
    assert options <= set(offered[1].split())
