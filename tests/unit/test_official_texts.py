"""What ExecuTorch's own text-level tests expect, held against our output.

The cases are those of executorch/codegen/tools/test and executorch/codegen/test (1.5.1), as facts:
inputs, and what the outputs say. docs/official-tests.md lists all of them, with where else they are
covered and where we differ on purpose.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gen_kernels.codegen.cli import main
from gen_kernels.codegen.diagnostics import Location
from gen_kernels.codegen.model import CatalogueEntry, KernelSpec
from gen_kernels.codegen.pytorch import torch_function
from gen_kernels.codegen.schema_parser import parse_schema

KEYS_2D = "v1/{0};0,1|{0};0,1|{0};0,1|{0};0,1"


def generated(tmp_path: Path, selection: str, name: str, *more: str) -> str:
    """A file generated from the text of a selected_operators.yaml."""
    listed = tmp_path / "selected_operators.yaml"
    listed.write_text(selection)
    out = tmp_path / "out"
    arguments = ["--ops-file", str(listed), "--out", str(out), "--kernels", "none", "--quiet"]
    assert main([*arguments, *more]) == 0
    return (out / name).read_text()


def metadata(**keys: list[str]) -> str:
    lines = ["et_kernel_metadata:"]
    for name, listed in keys.items():
        lines.append(f"  aten::{name}.out:")
        lines += [f"    - {key}" for key in listed]
    lines.append("operators:")
    lines += [f"  aten::{name}.out: {{is_root_operator: true}}" for name in keys]
    return "\n".join(lines) + "\n"


def variants(header: str) -> dict[str, set[str] | None]:
    """Operator -> dtypes of selected_op_variants.h; None: every one."""
    body = re.findall(r'name, "([^"]+)"\) == 0\) \{\s*return ([^;]+);', header)
    return {
        name: None if answer == "true" else set(re.findall(r"Type::(\w+)", answer))
        for name, answer in body
    }


# test_gen_selected_op_variants


@pytest.mark.parametrize("key", [KEYS_2D, "v1/{0};"])
def test_dtypes_of_operators(key: str, tmp_path: Path) -> None:
    """Both written forms: whole keys, and keys that only name the dtype."""
    selection = metadata(add=[key.format(6), key.format(3)], mul=[key.format(6)], sub=["default"])
    header = generated(tmp_path, selection, "selected_op_variants.h")
    assert variants(header) == {"add.out": {"Float", "Int"}, "mul.out": {"Float"}, "sub.out": None}


def test_everything_has_every_dtype(tmp_path: Path) -> None:
    selection = "include_all_operators: true\noperators: {}\net_kernel_metadata: {}\n"
    header = generated(tmp_path, selection, "selected_op_variants.h")
    assert variants(header) == {}
    assert re.search(r"\{\s*return true;\s*\}", header)


def test_metadata_order_does_not_matter(tmp_path: Path) -> None:
    """Officially 'default' behind a key is lost, and before it wins; ours is the same both ways."""
    texts = []
    for keys in (["default", KEYS_2D.format(6)], [KEYS_2D.format(6), "default"]):
        header = generated(tmp_path, metadata(add=keys), "selected_op_variants.h")
        assert variants(header) == {"add.out": None}
        texts.append(header)
    assert texts[0] == texts[1]


# test_gen_selected_prim_ops

# The official case has sym_size under et_kernel_metadata alone. For us, as for the official
# registration, `operators` says what is selected.
PRIM_OPERATORS = """
operators:
  aten::_local_scalar_dense: {is_root_operator: true}
  aten::sym_size.int: {is_root_operator: true}
  executorch_prim::et_view.default: {is_root_operator: true}
et_kernel_metadata: {}
"""


def defines(header: str) -> set[str]:
    return set(re.findall(r"^#define (\w+)$", header, re.MULTILINE))


def test_prim_operators(tmp_path: Path) -> None:
    header = generated(tmp_path, PRIM_OPERATORS, "selected_prim_ops.h")
    assert defines(header) == {
        "INCLUDE_ATEN_LOCAL_SCALAR_DENSE",
        "INCLUDE_ATEN_SYM_SIZE_INT",
        "INCLUDE_EXECUTORCH_PRIM_ET_VIEW_DEFAULT",
    }


def test_no_prim_operators(tmp_path: Path) -> None:
    header = generated(tmp_path, metadata(add=["default"]), "selected_prim_ops.h")
    assert defines(header) == set()


# test_gen_max_kernel_num: kernels plus the runtime's 28 prim operators


@pytest.mark.parametrize(
    ("selection", "kernels"),
    [
        (metadata(add=[KEYS_2D.format(6)], mul=[KEYS_2D.format(6)]), 2),
        # One kernel serves both dtypes. The official count takes each key for a kernel.
        (metadata(add=[KEYS_2D.format(6), KEYS_2D.format(3)]), 1),
        ("operators: {aten::add.out: {}, aten::mul.out: {}}\net_kernel_metadata: {}\n", 2),
    ],
)
def test_size_of_the_registry(selection: str, kernels: int, tmp_path: Path) -> None:
    header = generated(tmp_path, selection, "selected_max_kernel_num.h")
    found = re.search(r"^#define EXECUTORCH_SELECTED_MAX_KERNEL_NUM (\d+)$", header, re.MULTILINE)
    assert found is not None
    assert int(found.group(1)) == kernels + 28


def test_size_of_the_registry_for_everything(tmp_path: Path) -> None:
    """Officially there is no size then, and the registry has room for 2000; ours is exact."""
    selection = "include_all_operators: true\noperators: {}\n"
    header = generated(tmp_path, selection, "selected_max_kernel_num.h")
    registration = (tmp_path / "out" / "RegisterCodegenUnboxedKernels.cpp").read_text()
    rows = len(re.findall(r'^    Kernel\("(?!.*::prim::)', registration, re.MULTILINE))
    assert rows > 250
    assert f"EXECUTORCH_SELECTED_MAX_KERNEL_NUM {rows + 28}\n" in header


def test_an_unchanged_header_keeps_its_time(tmp_path: Path) -> None:
    generated(tmp_path, metadata(add=["default"]), "selected_max_kernel_num.h")
    path = tmp_path / "out" / "selected_max_kernel_num.h"
    before = path.stat().st_mtime_ns
    generated(tmp_path, metadata(add=["default"]), "selected_max_kernel_num.h")
    assert path.stat().st_mtime_ns == before


# test_executorch_custom_ops: placeholders that return an output, an input or an empty tensor

OUT = "at::Tensor &"


@pytest.mark.parametrize(
    ("schema", "returns", "parameters", "stub"),
    [
        (
            "custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            *(OUT, ("const at::Tensor & self", "at::Tensor & out"), "out"),
        ),
        (
            "custom::foo.Tensor(Tensor self) -> Tensor",
            "at::Tensor",
            ("const at::Tensor & self",),
            "self",
        ),
        (
            "custom::foo.out(Tensor self, *, Tensor(a!)[] out) -> ()",
            *("void", ("const at::Tensor & self", "at::TensorList out"), ""),
        ),
        (
            "custom::foo(Tensor self, Tensor[] other) -> (Tensor, Tensor, Tensor)",
            "::std::tuple<at::Tensor,at::Tensor,at::Tensor>",
            ("const at::Tensor & self", "at::TensorList other"),
            "{}",
        ),
        ("custom::foo(Tensor[] a) -> Tensor", "at::Tensor", ("at::TensorList a",), "{}"),
        # The official generator raises for this one.
        ("custom::foo.bool(Tensor self) -> bool", "bool", ("const at::Tensor & self",), "{}"),
    ],
)
def test_placeholders(schema: str, returns: str, parameters: tuple[str, ...], stub: str) -> None:
    kernel = KernelSpec("custom::native::foo")
    entry = CatalogueEntry(parse_schema(schema), (kernel,), "custom", Location("custom.yaml"))
    function = torch_function(entry, kernel.symbol)
    assert (function.returns, function.parameters, function.stub.strip()) == (
        *(returns, parameters, stub),
    )


# test_executorch_gen: what the boxed form of an operator is


CUSTOM = """
- func: custom_1::op_1() -> bool
  kernels:
    - arg_meta: null
      kernel_name: custom_1::native::op_1
- func: custom_2::op_2() -> bool
  kernels:
    - arg_meta: null
      kernel_name: custom_2::native::op_2
- func: custom_1::op_3(Tensor(a!) self, Tensor x) -> Tensor(a!)
  type_alias: {T0: [Double]}
  dim_order_alias: {D0: [0, 1, 2, 3]}
  kernels:
    - arg_meta:
        self: [T0, D0]
        x: [T0, D0]
      kernel_name: custom_1::op_3_double
    - arg_meta: null
      kernel_name: custom_1::op_3
"""


def custom(tmp_path: Path, operators: tuple[str, ...], name: str, *more: str) -> str:
    (tmp_path / "custom.yaml").write_text(CUSTOM)
    out = tmp_path / "out"
    words = [word for operator in operators for word in ("--op", operator)]
    arguments = ["--functions", str(tmp_path / "custom.yaml"), *words, "--out", str(out), *more]
    assert main([*arguments, "--quiet"]) == 0
    return (out / name).read_text()


def test_functions_are_grouped_by_the_operators_namespace(tmp_path: Path) -> None:
    text = custom(tmp_path, ("custom_1::op_1", "custom_2::op_2"), "Functions.h")
    for n in (1, 2):
        start = text.index(f"namespace torch::executor::custom_{n} {{")
        end = text.index(f"}}  // namespace torch::executor::custom_{n}")
        assert f"inline bool op_{n}(" in text[start:end]
        assert f"op_{3 - n}(" not in text[start:end]


def test_functions_take_a_context_in_aten_mode(tmp_path: Path) -> None:
    text = custom(tmp_path, ("custom_1::op_1",), "Functions.h", "--aten")
    assert re.search(r"inline bool op_1\(\s*\[\[maybe_unused\]\] [\w:]+KernelRuntimeContext&", text)


def rows(text: str) -> list[str]:
    return re.findall(r"^    Kernel\((.*), boxed<\d+>\),$", text, re.MULTILINE)


REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"


def test_specialised_and_default_kernels(tmp_path: Path) -> None:
    """The official keys for this schema lack the return slot, which the runtime adds."""
    text = custom(tmp_path, ("custom_1::op_3",), REGISTRATION)
    double = "7;0,1,2,3"
    assert rows(text) == [
        '"custom_1::op_3"',
        f'"custom_1::op_3", "v1/{double}|{double}|{double}"',
    ]


def test_only_the_selected_kernel(tmp_path: Path) -> None:
    """A key in the selection takes the kernel for it, another one the default."""
    double, other = "7;0,1,2,3", "7;0,1,2,3,4"
    for tensors, expected in (
        (double, [f'"custom_1::op_3", "v1/{double}|{double}|{double}"']),
        (other, ['"custom_1::op_3"']),
    ):
        listed = tmp_path / "list.yaml"
        key = f"v1/{tensors}|{tensors}|{tensors}"
        listed.write_text(
            "operators: {custom_1::op_3: {}}\n"
            f"et_kernel_metadata: {{custom_1::op_3: ['{key}']}}\n"
        )
        text = custom(tmp_path, (), REGISTRATION, "--ops-file", str(listed))
        assert rows(text) == expected


def test_nothing_selected_registers_nothing(tmp_path: Path) -> None:
    text = generated(tmp_path, "operators: {}\net_kernel_metadata: {}\n", REGISTRATION)
    assert "Kernel kKernels" not in text
    assert "register_all_kernels()" in text
