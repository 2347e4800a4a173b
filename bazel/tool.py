"""The generator as Bazel's tool: makes the folders importable as `gen_kernels`, then runs it.

With `--copy-sources DIR` first, the selected kernel sources are copied to DIR too: Bazel compiles
a folder whose files are not known before. The folders map into one import package as
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
    destination = None
    if arguments[:1] == ["--copy-sources"]:
        destination, arguments = Path(arguments[1]), arguments[2:]
    status = main(arguments)
    if status == 0 and destination is not None:
        out = Path(arguments[arguments.index("--out") + 1])
        for name in (out / "kernel_sources.txt").read_text(encoding="utf-8").split():
            target = destination / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "kernels" / name, target)
    return status


sys.exit(run(sys.argv[1:]))
