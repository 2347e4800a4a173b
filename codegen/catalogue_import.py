"""`gen-kernels catalogue import`: refresh functions/ from an installed PyTorch and ExecuTorch.

Neither is ever imported here: another Python that has them is asked in a process of its own.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .catalogue import FUNCTIONS
from .diagnostics import Diagnostic, Location

# What the other Python is asked. torchgen also derives the out variants that
# native_functions.yaml only announces (its `autogen` key).
_QUESTION = """
import importlib.util, json, sys
from importlib.metadata import version
from pathlib import Path
answer = {"schemas": [], "executorch": "", "versions": {}, "missing": []}
try:
    import torchgen.gen
    native = Path(torchgen.gen.__file__).parent / "packaged" / "ATen" / "native"
    parsed = torchgen.gen.parse_native_yaml(
        str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    answer["schemas"] = [str(f.func) for f in parsed.native_functions if f.namespace == "aten"]
    answer["versions"]["torch"] = version("torch")
except ImportError:
    answer["missing"].append("torchgen (in the torch package)")
spec = importlib.util.find_spec("executorch")
places = list(spec.submodule_search_locations or ()) if spec else []
if places:
    answer["executorch"] = places[0]
    answer["versions"]["executorch"] = version("executorch")
else:
    answer["missing"].append("executorch")
json.dump(answer, sys.stdout)
"""

_SOURCES = {
    "functions.yaml": "kernels/portable/functions.yaml",
    "custom_ops.yaml": "kernels/portable/custom_ops.yaml",
    "quantized.yaml": "kernels/quantized/quantized.yaml",
    "cortex_m.yaml": "backends/cortex_m/ops/operators.yaml",
}  # our file -> the file in the executorch package

_TITLES = {
    "functions.yaml": "The portable operators of ExecuTorch: ATen's, and a few of its own.",
    "custom_ops.yaml": "Portable operators that stand beside ATen's.",
    "quantized.yaml": "The quantized_decomposed operators.",
    "cortex_m.yaml": "The int8 operators that ExecuTorch's cortex_m export flow produces.",
}

_KEPT = ("variants", "tags", "manual_kernel_registration", "type_alias", "dim_order_alias")


@dataclass(frozen=True)
class Imported:
    """New texts of files in functions/, and the versions that they come from."""

    files: Mapping[str, str]
    versions: Mapping[str, str]


def run_import(
    python: str = "", executorch: str = "", out: Path = FUNCTIONS, dry_run: bool = False
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Refresh the files in `out`; gives the difference as text, and diagnostics.

    `python`: an interpreter that has torch (and executorch) installed, "" for this one;
    `executorch`: the folder of the package when that interpreter does not have it.
    """
    imported, diagnostics = gather(python or sys.executable, executorch, out)
    if imported is None:
        return "", diagnostics
    shown: list[str] = []
    changed = 0
    for name, text in imported.files.items():
        path = out / name
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        if old == text:
            continue
        changed += 1
        shown += difflib.unified_diff(
            old.splitlines(True), text.splitlines(True), f"old/{name}", f"new/{name}", n=1
        )
        if dry_run:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            message = f"cannot write the catalogue: {error.strerror}"
            return "", (Diagnostic("GK182", message, Location(path.as_posix())),)
    versions = ", ".join(f"{name} {version}" for name, version in imported.versions.items())
    what = "would change" if dry_run else "changed"
    shown.append(f"{changed} of {len(imported.files)} files {what} ({versions})\n")
    return "".join(shown), ()


def gather(
    python: str, executorch: str, out: Path
) -> tuple[Imported | None, tuple[Diagnostic, ...]]:
    """Ask the interpreter and build the new texts; `source` keys of the old ones are kept."""
    answer, problem = _ask(python)
    if problem:
        hint = "name an environment's interpreter with --python, for example .venv/bin/python"
        return None, (Diagnostic("GK180", problem, Location("<command line>"), hint),)
    missing = [m for m in answer["missing"] if not (executorch and m == "executorch")]
    if missing:
        problem = f"{python} has no {' and no '.join(missing)}"
        hint = "pip install torch executorch there, or name another interpreter with --python"
        return None, (Diagnostic("GK180", problem, Location("<command line>"), hint),)
    package = Path(executorch or answer["executorch"])
    files = {"aten_schemas.yaml": schemas_text(answer["schemas"])}
    for name, source in _SOURCES.items():
        path = package / source
        try:
            entries = _load(path)
            old = _load(out / name) if (out / name).is_file() else []
        except (OSError, ValueError, yaml.YAMLError) as error:
            reason = " ".join(str(error).split())
            message = f"cannot use {source} of {package.name}: {reason}"
            return None, (Diagnostic("GK181", message, Location("<command line>")),)
        files[name] = catalogue_text(_TITLES[name], entries, _sources(old))
    return Imported(files, answer["versions"]), ()


def schemas_text(schemas: list[str]) -> str:
    """The text of aten_schemas.yaml: one line a schema, overloads of an operator together."""
    head = "# Schemas of ATen's operators, written by `gen-kernels catalogue import`.\n"
    unique = dict.fromkeys(schemas)
    ordered = sorted(unique, key=lambda s: s.partition("(")[0].partition(".")[0])
    return head + "".join(f"- func: {schema}\n" for schema in ordered)


def catalogue_text(
    title: str, entries: list[dict[str, Any]], sources: Mapping[tuple[str, str], str]
) -> str:
    """The text of a catalogue, in the one form that the lazy reader knows.

    `sources`: (operator or schema, kernel_name) -> file below kernels/.
    """
    parts = [f"# {title}\n# Written by `gen-kernels catalogue import`, `source` by"]
    parts.append(" tools/refresh_sources.py.\n")
    for entry in entries:
        kind = "op" if "op" in entry else "func"
        parts.append(f"\n- {kind}: {entry[kind]}\n")
        for key in _KEPT:
            if key in entry and entry[key] != "function":
                parts.append(f"  {key}: {_inline(entry[key])}\n")
        parts.append("  kernels:\n")
        for kernel in entry["kernels"]:
            parts.append(f"    - arg_meta: {_inline(kernel.get('arg_meta'))}\n")
            parts.append(f"      kernel_name: {kernel['kernel_name']}\n")
            if source := sources.get((operator_name(entry[kind]), kernel["kernel_name"])):
                parts.append(f"      source: {source}\n")
    return "".join(parts)


def operator_name(text: str) -> str:
    """The operator of an `op` or `func` value."""
    return text.partition("(")[0].strip()


def _sources(entries: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    found = {}
    for entry in entries:
        for kernel in entry["kernels"]:
            if "source" in kernel:
                name = operator_name(entry.get("op") or entry["func"])
                found[name, kernel["kernel_name"]] = kernel["source"]
    return found


def _inline(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    return json.dumps(value).replace('"', "")


def _load(path: Path) -> list[dict[str, Any]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    if not isinstance(entries, list):
        raise ValueError("not a list of operators")
    for entry in entries:
        if not isinstance(entry, dict) or not ("op" in entry or "func" in entry):
            raise ValueError("an entry without op or func")
        if not isinstance(entry.get("kernels"), list):
            raise ValueError(f"{entry.get('op') or entry['func']} has no kernels")
    return entries


def _ask(python: str) -> tuple[dict[str, Any], str]:
    """The other interpreter's answer, or what went wrong."""
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION], capture_output=True, text=True, check=False, timeout=300
        )
    except (OSError, ValueError) as error:
        return {}, f"cannot run {python}: {getattr(error, 'strerror', None) or error}"
    except subprocess.TimeoutExpired:
        return {}, f"{python} gave no answer in five minutes"
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {}, f"{python} failed: {last}"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {}, f"{python} answered with something else than JSON"
    return answer, ""
