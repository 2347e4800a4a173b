"""Specialised kernels of a catalogue against the real runtime: it must find exactly those."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from gen_kernels.codegen.catalogue import open_catalogues
from gen_kernels.codegen.cli import main
from gen_kernels.selective.models import load_models
from gen_kernels.selective.program import Call, calls, dtype_name

executorch = pytest.importorskip("executorch", reason="run by make conformance")

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

PACKAGE = Path(next(iter(executorch.__path__)))
MODELS = Path(__file__).resolve().parent.parent / "models"
LOADED = (
    *("add", "add_mul_sub_scalar", "args_many", "bf16", "binary_ops", "cat_index"),
    *("conv_channels_last", "cortexm_dscnn", "half", "int8_uint8", "lenet", "lstm"),
    *("mixed_dtypes", "optional_args", "quant_conv_portable", "reduce_ops", "shape_ops"),
    *("transformer_block", "upsample_acts", "views_et_view", "zero_dim_tensor"),
)

# Loads every model named on the command line, which looks up all its kernels.
LOADER = """
#include <executorch/extension/module/module.h>
#include <executorch/runtime/platform/runtime.h>
#include <cstdio>
#include "RegisterKernels.h"
int main(int count, char** models) {
  executorch::runtime::runtime_init();
  if (gen_kernels::register_all_kernels() != executorch::runtime::Error::Ok) return 1;
  for (int i = 1; i < count; ++i) {
    executorch::extension::Module module(models[i]);
    auto names = module.method_names();
    for (const auto& name : *names)
      std::printf("%s %s %u\\n", models[i], name.c_str(), unsigned(module.load_method(name)));
  }
}
"""

# Runs add.pte, whose inputs are two float tensors, and prints the first number of the output.
RUNNER = """
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/platform/runtime.h>
#include <cstdio>
#include <vector>
#include "NativeFunctions.h"
#include "RegisterKernels.h"
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;
namespace my::native {
Tensor& any_out(KernelRuntimeContext&, const Tensor&, const Tensor&, const Scalar&, Tensor& out) {
  out.mutable_data_ptr<float>()[0] = 1.0f;
  return out;
}
Tensor& fast_out(KernelRuntimeContext&, const Tensor&, const Tensor&, const Scalar&, Tensor& out) {
  out.mutable_data_ptr<float>()[0] = 2.0f;
  return out;
}
}
int main(int, char** arguments) {
  executorch::runtime::runtime_init();
  if (gen_kernels::register_all_kernels() != executorch::runtime::Error::Ok) return 1;
  executorch::extension::Module module(arguments[1]);
  auto x = executorch::extension::make_tensor_ptr({2, 3}, std::vector<float>(6, 0.0f));
  auto result = module.forward({x, x});
  if (!result.ok()) return 2;
  std::printf("%g\\n", double(result->at(0).toTensor().const_data_ptr<float>()[0]));
}
"""


def build(folder: Path, program: str, *options: str, fallbacks: bool = True) -> Path:
    """Generate with the options, compile with the program against the real runtime, link.

    Kernels without a definition stay unresolved: nothing calls them. `fallbacks` false takes the
    rows of fallback kernels out of the table, so that only a specialised one can be found.
    """
    out = folder / "out"
    assert main([*options, "--kernels", "none", "--quiet", "--out", str(out)]) == 0
    table = out / "RegisterCodegenUnboxedKernels.cpp"
    if not fallbacks:
        kept = re.sub(r'\n *Kernel\("[^"]*", boxed<\d+>\),', "", table.read_text())
        assert kept.count('"v1/') == kept.count('Kernel("') > 0
        table.write_text(kept)
    (folder / "main.cpp").write_text(program)
    include = PACKAGE / "include"
    c10 = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    library = PACKAGE / "lib"
    command = ["g++", "-std=c++17", "-O0", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-Wno-deprecated"]
    command += [f"-I{include}", f"-I{c10}", f"-I{out}", str(folder / "main.cpp")]
    command += [str(path) for path in sorted(out.glob("*.cpp"))]
    command += [f"-L{library}", "-lexecutorch", f"-Wl,-rpath,{library}"]
    command += ["-Wl,-z,lazy", "-Wl,--unresolved-symbols=ignore-all", "-no-pie"]
    done = subprocess.run(
        [*command, "-o", str(folder / "program")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "program"


def run(program: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def specialised(names: Iterable[str], change: str = "") -> str:
    """A catalogue with a kernel for each distinct call of the models, and no fallback.

    The first kernel of the operator `change` is given for a dtype that no call has.
    """
    bundled, _ = open_catalogues()
    models, problems = load_models([str(MODELS / f"{name}.pte") for name in names])
    assert problems == ()
    by_operator: dict[str, list[Call]] = {}
    for model in models:
        for method in model.program.methods:
            for call in calls(method):
                by_operator.setdefault(call.operator, []).append(call)
    text = ""
    for name, found in sorted(by_operator.items()):
        entry = next(e for c in bundled if (e := c.find(name)) is not None)
        if entry.boxed:
            continue
        kernels: dict[str, str] = {}
        types: dict[int, None] = {}
        orders: dict[tuple[int, ...], None] = {}
        for call in found:
            meta = []
            for argument, value in zip(entry.schema.arguments, call.values, strict=False):
                if value.tensor is not None:
                    dtype, order = value.tensor.dtype, tuple(value.tensor.dim_order)
                    types[dtype] = orders[order] = None
                    meta.append(f"{argument.name}: [T{dtype}, D{'_'.join(map(str, order))}]")
            kernels.setdefault(", ".join(meta), f"k{len(kernels)}")
        text += f"- func: {entry.schema}\n  type_alias:\n"
        for dtype in types:
            used = "QInt32" if name == change and dtype == next(iter(types)) else dtype_name(dtype)
            text += f"    T{dtype}: [{used}]\n"
        text += "  dim_order_alias:\n"
        text += "".join(f"    D{'_'.join(map(str, o))}: {list(o)}\n" for o in orders)
        text += "  kernels:\n"
        base = name.replace("::", "_").replace(".", "_")
        for meta_text, kernel in kernels.items():
            text += f"    - arg_meta: {{{meta_text}}}\n      kernel_name: my::{base}_{kernel}\n"
    return text


def test_the_runtime_finds_every_specialised_kernel(tmp_path: Path) -> None:
    catalogue = tmp_path / "my.yaml"
    catalogue.write_text(specialised(LOADED))
    models = [str(MODELS / f"{name}.pte") for name in LOADED]
    options = [option for model in models for option in ("--model", model)]
    program = build(tmp_path, LOADER, "--functions", str(catalogue), *options, fallbacks=False)
    lines = run(program, *models).splitlines()
    assert len(lines) >= len(LOADED)
    assert [line for line in lines if not line.endswith(" 0")] == []


def test_the_runtime_refuses_a_kernel_for_another_dtype(tmp_path: Path) -> None:
    model = str(MODELS / "cat_index.pte")
    catalogue = tmp_path / "my.yaml"
    catalogue.write_text(specialised(["cat_index"], change="aten::cat.out"))
    program = build(
        tmp_path, LOADER, "--functions", str(catalogue), "--op", "aten::cat.out",
        "--op", "aten::index.Tensor_out", "--op", "dim_order_ops::_clone_dim_order.out",
        fallbacks=False,
    )  # fmt: skip
    assert run(program, model).split()[-1] == str(0x14)  # Error::OperatorMissing


@pytest.mark.parametrize(("dtype", "expected"), [("Float", "2"), ("Double", "1")])
def test_a_specialised_kernel_goes_before_the_fallback(
    tmp_path: Path, dtype: str, expected: str
) -> None:
    catalogue = tmp_path / "my.yaml"
    catalogue.write_text(
        "- op: add.out\n"
        f"  type_alias: {{T0: [{dtype}, Half]}}\n"
        "  dim_order_alias: {D0: [[0, 1]]}\n"
        "  kernels:\n"
        "    - arg_meta: null\n      kernel_name: my::any_out\n"
        "    - arg_meta: {out: [T0, D0], other: [T0, D0], self: [T0, D0]}\n"
        "      kernel_name: my::fast_out\n"
    )
    program = build(tmp_path, RUNNER, "--functions", str(catalogue), "--op", "aten::add.out")
    assert run(program, str(MODELS / "add.pte")).strip() == expected
