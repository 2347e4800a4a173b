"""Builds the harness: every kernel of kernels/, boxed, behind a C interface, as a host library.

`build("executorch")` compiles against the headers of the installed executorch wheel and links its
libexecutorch.so; `build("micro")` uses our own runtime. Incremental (ninja) in a cache folder:

    python -m tests.conformance.harness.library [executorch|micro] [--sanitize]

The registration is ours: a thunk a kernel made with a variadic template from the declarations in
tests/data/official_signatures.json. It is deliberately not the generator's output, so that a
fault there cannot hide a kernel's fault, nor the other way round.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SIGNATURES = ROOT / "tests" / "data" / "official_signatures.json"
# Operators of functions/extra.yaml and custom_ops.yaml, which the official signatures lack.
_T = "::executorch::aten::Tensor"
EXTRA = {
    "aten::allclose.out": {
        "kernel": "torch::executor::native::allclose_out",
        "declaration": [
            f"{_T}& (::executorch::runtime::KernelRuntimeContext& context, const {_T}& self, "
            f"const {_T}& other, double rtol, double atol, bool equal_nan, bool dummy_param, "
            f"{_T}& out)"
        ],
    },
    "aten::sort.values": {
        "kernel": "gen_kernels::native::sort_values",
        "declaration": [
            f"std::tuple<{_T}&, {_T}&> (::executorch::runtime::KernelRuntimeContext& context, "
            f"const {_T}& self, int64_t dim, bool descending, {_T}& values, {_T}& indices)"
        ],
    },
}
# Boxed kernels, which ExecuTorch's runtime has of its own.
_NUMBERS = """add sub mul floordiv truediv mod neg ceil round trunc eq gt lt ge le sym_float sym_int
sym_max sym_min sym_not sym_ite""".split()  # noqa: SIM905
PRIM = {
    **{f"executorch_prim::{name}.Scalar": f"{name}_scalar" for name in _NUMBERS},
    "executorch_prim::floordiv.int": "floordiv_int",
    "executorch_prim::mod.int": "mod_int",
    "executorch_prim::et_copy_index.tensor": "et_copy_index_tensor",
    "executorch_prim::et_view.default": "et_view_default",
    "aten::_local_scalar_dense": "local_scalar_dense",
    "aten::sym_numel": "sym_numel",
    "aten::sym_size.int": "sym_size_int",
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gen-kernels" / "harness"

WARNINGS = "-Wall -Wextra -Wno-unused-parameter"


def executorch_folder() -> Path:
    """The installed executorch package, found without importing it."""
    spec = importlib.util.find_spec("executorch")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the executorch wheel is not installed here")
    return Path(next(iter(spec.submodule_search_locations)))


def kernel_sources(prim: bool) -> list[Path]:
    """The C++ sources of kernels; `prim`: the boxed ones too."""
    sources = sorted((ROOT / "kernels").rglob("*.cpp"))
    return [source for source in sources if prim or source.parent.name != "prim"]


def defined_symbols(objects: list[Path]) -> set[str]:
    """Qualified names of the functions that object files define."""
    text = subprocess.run(
        ["nm", "-C", "--defined-only", *map(str, objects)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = set()
    for line in text.splitlines():
        parts = line.split(" ", 2)
        if len(parts) == 3 and parts[1] in "TW":
            names.add(parts[2].split("(", 1)[0])
    return names


def registration(symbols: set[str], prim: bool) -> str:
    """C++ that registers each operator whose kernel is among `symbols`; `prim`: the boxed too."""
    lines = ['#include "box.h"', ""]
    rows = []
    for name, entry in sorted({**json.loads(SIGNATURES.read_text()), **EXTRA}.items()):
        namespace, _, function = entry["kernel"].rpartition("::")
        if entry["kernel"] not in symbols:
            continue
        returns, _, parameters = next(
            d for d in entry["declaration"] if "KernelRuntimeContext" in d
        ).partition(" (")
        lines.append(f"namespace {namespace} {{ {returns} {function}({parameters}; }}")
        rows.append(f'  Kernel("{name}", box<&{entry["kernel"]}>),')
    for name, function in PRIM.items() if prim else ():
        lines.append(
            f"namespace gen_kernels::prim {{ void {function}(KernelRuntimeContext&, "
            "executorch::runtime::Span<EValue*>); }"
        )
        rows.append(f'  Kernel("{name}", gen_kernels::prim::{function}),')
    lines += ["", "static const Kernel kTable[] = {", *rows, "};", ""]
    lines += ["static const auto kRegistered =", "    executorch::runtime::register_kernels("]
    lines += ["        {kTable, sizeof(kTable) / sizeof(kTable[0])});", ""]
    return "\n".join(lines)


def write_if_changed(path: Path, text: str) -> None:
    """Writes only what differs, so that ninja sees no false change."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build(
    runtime: str = "executorch", *, sanitize: bool = False, strict: bool = True, jobs: int = 2
) -> Path:
    """Compiles what changed and returns the shared library's path.

    With `strict` off, kernel files that do not compile are left out (work in progress).
    """
    folder = CACHE / (runtime + ("-sanitize" if sanitize else ""))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(folder, runtime, sanitize, strict, jobs)


def _build(folder: Path, runtime: str, sanitize: bool, strict: bool, jobs: int) -> Path:
    here = Path(__file__).parent
    flags = f"-std=c++17 -O1 -g1 -fPIC {WARNINGS} -I{ROOT / 'kernels'} -I{here}"
    link = ""
    sources = [*kernel_sources(runtime == "micro"), here / "boxed_call.cpp"]
    if sanitize:
        flags += " -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    if runtime == "executorch":
        wheel = executorch_folder()
        flags += (
            f" -isystem {wheel}/include"
            f" -isystem {wheel}/include/executorch/runtime/core/portable_type/c10"
            " -DC10_USING_CUSTOM_GENERATED_MACROS"
        )
        link = f"-L{wheel}/lib -lexecutorch -Wl,-rpath,{wheel}/lib"
    else:
        flags += f" -I{ROOT / 'runtime' / 'include'}"
        sources += sorted((ROOT / "runtime" / "src").rglob("*.cpp"))

    objects = {}
    for source in sources:
        objects[source] = folder / (str(source.relative_to(ROOT)).replace("/", "__") + ".o")
    registrations = folder / "registration.cpp"

    def ninja(extra: dict[Path, Path], final: bool) -> None:
        lines = [
            f"flags = {flags}",
            "rule cxx",
            "  command = g++ $flags -MMD -MF $out.d -c $in -o $out",
            "  depfile = $out.d",
            "  deps = gcc",
            "rule link",
            f"  command = g++ {flags} -shared -o $out $in {link}",
        ]
        everything = {**objects, **extra}
        lines += [f"build {out}: cxx {src}" for src, out in everything.items()]
        if final:
            listed = " ".join(map(str, everything.values()))
            lines.append(f"build {folder / 'libharness.so'}: link {listed}")
        (folder / "build.ninja").write_text("\n".join(lines) + "\n")
        subprocess.run(
            ["ninja", "--quiet", "-C", str(folder), f"-j{jobs}", "-k0"], check=strict or final
        )

    ninja({}, final=False)
    objects = {source: path for source, path in objects.items() if path.exists()}
    symbols = defined_symbols(list(objects.values()))
    write_if_changed(registrations, registration(symbols, runtime == "micro"))
    ninja({registrations: folder / "registration.o"}, final=True)
    return folder / "libharness.so"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("runtime", nargs="?", default="executorch")
    parser.add_argument("--sanitize", action="store_true")
    arguments = parser.parse_args()
    print(build(arguments.runtime, sanitize=arguments.sanitize, strict=False))
