"""The generator as Bazel's tool: makes the folders importable as `gen_kernels`, then runs it.

With `--copy-sources DIR COREV` first, the selected kernel sources are copied too: Bazel compiles a
folder whose files are not known before. Those with CORE-V instructions, which are compiled with
other flags, go to COREV. The folders map into one import package as
pyproject.toml says; here a module object stands for it, whatever name Bazel gave the repository.
"""

from __future__ import annotations

import shutil
import sys
import types
from pathlib import Path

# Not resolved: in a sandbox the files are symbolic links, and only the linked ones are declared.
ROOT = Path(__file__).absolute().parent.parent

sys.dont_write_bytecode = True
package = types.ModuleType("gen_kernels")
package.__path__ = [str(ROOT)]
sys.modules["gen_kernels"] = package

from gen_kernels.codegen.cli import main  # noqa: E402


def run(arguments: list[str]) -> int:
    """Generates; copies the kernel sources when asked; returns the exit status."""
    folders = []
    if arguments[:1] == ["--copy-sources"]:
        folders, arguments = list(map(Path, arguments[1:3])), arguments[3:]
    status = main(arguments)
    if status == 0 and folders:
        out = Path(arguments[arguments.index("--out") + 1])
        for name in (out / "kernel_sources.txt").read_text(encoding="utf-8").split():
            target = folders[name.startswith("corev/")] / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "kernels" / name, target)
    return status


sys.exit(run(sys.argv[1:]))
