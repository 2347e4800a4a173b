"""Catalogues: what entries mean, the bundled files, and files that are wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from gen_kernels.codegen.aten_schemas import aten_names, aten_overloads, aten_schema
from gen_kernels.codegen.bundled_item import plain_item
from gen_kernels.codegen.catalogue import (
    MAX_BYTES,
    bundled_catalogues,
    load_catalogue,
    open_catalogue,
    open_catalogues,
)
from gen_kernels.codegen.diagnostics import Diagnostic, Severity
from gen_kernels.codegen.model import CatalogueEntry
from gen_kernels.codegen.schema_parser import parse_schema
from gen_kernels.codegen.yaml_nodes import parse_yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEYS = [
    *("op", "func", "kernels", "arg_meta", "kernel_name", "type_alias", "dim_order_alias"),
    *("boxed", "variants", "tags", "source", "self", "out", "T0", "D0"),
]
SIGNATURES = Path(__file__).resolve().parent.parent / "data" / "official_signatures.json"


def load(folder: Path, text: str) -> tuple[tuple[CatalogueEntry, ...], tuple[Diagnostic, ...]]:
    path = folder / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return load_catalogue(path, "my.yaml")


def load_one(folder: Path, text: str) -> CatalogueEntry:
    entries, diagnostics = load(folder, text)
    assert diagnostics == ()
    (entry,) = entries
    return entry


def test_op_entry_takes_its_schema_from_aten(tmp_path: Path) -> None:
    entry = load_one(
        tmp_path,
        "- op: add.out\n  kernels:\n    - arg_meta: null\n      kernel_name: my::lib::add_out\n",
    )
    assert entry.name == "aten::add.out"
    assert str(entry.schema) == (
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
    )
    assert (entry.catalogue, entry.bundled, entry.boxed) == ("my", False, False)
    assert (entry.location.line, entry.location.column) == (1, 7)
    (kernel,) = entry.kernels
    assert kernel.symbol == "my::lib::native::add_out"
    assert (kernel.keys, kernel.source, kernel.location.line) == ((), None, 4)
    assert entry.stack_size == 5


def test_func_entry_with_everything(tmp_path: Path) -> None:
    entry = load_one(
        tmp_path,
        """
- func: my::mul.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)
  variants: function, method
  tags: [pointwise, core]
  manual_kernel_registration: true
  dispatch: {CPU: whatever}
  type_alias:
    T0: [Float, Half]
    T1: Bool
  dim_order_alias:
    D0: [0, 1]
    D1: [[0, 1], [1, 0]]
  kernels:
    - arg_meta: {a: [T0, D0], b: [T0, D0], out: [T0, D0]}
      kernel_name: my::mul_float
    - arg_meta: {a: [T1, D1], b: [T1, D1], out: [T1, D1]}
      kernel_name: my::mul_bool
      source: portable/mul.cpp
    - kernel_name: mul_any
""",
    )
    assert entry.variants == ("function", "method")
    assert entry.tags == ("pointwise", "core")
    assert entry.manual_registration
    fast, logic, rest = entry.kernels
    assert fast.keys == ("v1/6;0,1|6;0,1|6;0,1|6;0,1", "v1/5;0,1|5;0,1|5;0,1|5;0,1")
    assert logic.keys == ("v1/11;0,1|11;0,1|11;0,1|11;0,1", "v1/11;1,0|11;1,0|11;1,0|11;1,0")
    assert logic.source == "portable/mul.cpp"
    # Without a namespace ExecuTorch looks in at::native.
    assert (rest.symbol, rest.keys) == ("at::native::mul_any", ())


def test_both_forms_of_dim_order_alias_mean_the_same(tmp_path: Path) -> None:
    text = (
        "- op: relu.out\n  type_alias: {{T0: [Float]}}\n  dim_order_alias: {{D0: {order}}}\n"
        "  kernels:\n    - arg_meta: {{self: [T0, D0], out: [T0, D0]}}\n"
        "      kernel_name: my::relu\n"
    )
    one = load_one(tmp_path, text.format(order="[0, 1, 2, 3]"))
    other = load_one(tmp_path, text.format(order="[[0, 1, 2, 3]]"))
    assert one.kernels[0].keys == other.kernels[0].keys == ("v1/" + "|".join(["6;0,1,2,3"] * 3),)
    no_dimensions = load_one(tmp_path, text.format(order="[]"))
    assert no_dimensions.kernels[0].keys == ("v1/6;|6;|6;",)


def test_boxed_entry_keeps_the_kernels_name(tmp_path: Path) -> None:
    entry = load_one(
        tmp_path,
        "- func: p::copy(Tensor(a!) to, int i) -> ()\n  boxed: true\n"
        "  kernels: [{kernel_name: my::prim::copy}]\n",
    )
    assert entry.kernels[0].symbol == "my::prim::copy"
    assert entry.stack_size == 2


def test_an_entry_with_mistakes_hides_no_other(tmp_path: Path) -> None:
    entries, diagnostics = load(
        tmp_path,
        "- op: nothing.out\n  kernels: [{kernel_name: a::b}]\n"
        "- op: abs.out\n  kernels: [{kernel_name: a::b}]\n",
    )
    assert [e.name for e in entries] == ["aten::abs.out"]
    assert [(d.code, d.location.line) for d in diagnostics] == [("GK156", 1)]


@pytest.mark.parametrize("text", ["", "# nothing\n", "null\n", "[]\n", "\ufeff# mark\n"])
def test_empty_files_are_empty_catalogues(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text) == ((), ())


def test_line_ends_of_every_kind_count_the_same(tmp_path: Path) -> None:
    text = "# one\n\n- op: nothing.out\n  kernels: [{kernel_name: a::b}]\n"
    for end in ("\n", "\r\n", "\r"):
        path = tmp_path / "my.yaml"
        path.write_bytes(text.replace("\n", end).encode())
        _, (problem,) = load_catalogue(path, "my.yaml")
        assert (problem.location.line, problem.location.column) == (3, 7)
        assert problem.source_line == "- op: nothing.out"


def test_unreadable_files(tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for path in (tmp_path / "absent.yaml", tmp_path, huge, Path("a\0b")):
        entries, (problem,) = load_catalogue(path, "shown.yaml")
        assert entries == ()
        assert problem.code == "GK150"
        assert problem.location.file == "shown.yaml"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text(max_size=12)
        | st.sampled_from(["add.out", "T0", "D0", "Float", "my::f", "f(Tensor x) -> Tensor"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_structure_gives_entries_or_diagnostics(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    folder = tmp_path_factory.getbasetemp()
    _, diagnostics = load(folder, json.dumps([value]))
    for problem in diagnostics:
        assert problem.code.startswith("GK1")
        assert problem.location.line == 1


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=200))
def test_any_bytes_give_entries_or_diagnostics(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(data)
    load_catalogue(path, "bytes.yaml")


# The bundled catalogues


def test_bundled_catalogues_are_read_the_same_lazily_and_whole() -> None:
    counts = {}
    for path in bundled_catalogues():
        lazy = open_catalogue(path, path.name, bundled=True)
        whole, diagnostics = load_catalogue(path, path.name)
        assert diagnostics == ()
        # Asked backwards, so that a wrong line offset or extent would show.
        for entry in reversed(whole):
            assert lazy.find(entry.name) == entry._replace(bundled=True, argument_places=())
        assert lazy.names == tuple(entry.name for entry in whole)
        assert lazy.diagnostics == ()
        counts[path.stem] = len(whole)
    assert counts["functions"] == 209
    assert counts["quantized"] == 19
    assert counts["cortex_m"] == 23
    assert counts["custom_ops"] == 2
    assert counts["prim_ops"] == 28


def test_lookups_of_unknown_operators() -> None:
    catalogues, _ = open_catalogues()
    assert [c.find("aten::no_such.out") for c in catalogues] == [None] * len(catalogues)


def test_the_users_catalogues_come_first(tmp_path: Path) -> None:
    text = "- op: add.out\n  kernels: [{kernel_name: my::add}]\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text("- op: add\n")
    catalogues, diagnostics = open_catalogues([str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")])
    assert [c.name for c in catalogues[:2]] == ["a", "b"]
    assert [d.severity for d in diagnostics] == [Severity.ERROR]
    assert all(c.bundled for c in catalogues[2:])


def test_official_signatures_agree() -> None:
    """Symbols, argument names and stack sizes of ExecuTorch's own generator, all 251."""
    reference = json.loads(SIGNATURES.read_text())
    catalogues, _ = open_catalogues()
    files = {"portable": "functions", "quantized": "quantized", "cortex_m": "cortex_m"}
    assert len(reference) == 251
    for name, official in reference.items():
        (catalogue,) = [c for c in catalogues if c.name == files[official["catalogue"]]]
        entry = catalogue.find(name)
        assert entry is not None, name
        assert [k.symbol for k in entry.kernels] == [official["kernel"]]
        assert [a.name for a in entry.schema.arguments] == [n for n, _ in official["arguments"]]
        assert entry.stack_size == official["stack_size"]
        # The official code logs the out arguments; the result slot of an operator that has none
        # (in place) or that returns nothing.
        last = len(entry.schema.arguments)
        outs = list(range(last - len(entry.schema.out), last))
        logged = outs if outs and entry.schema.returns else [last]
        assert logged == official["logged_outputs"], name


# ATen's schemas


def test_aten_lookups() -> None:
    expected = "relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
    assert aten_schema("relu.out") == aten_schema("aten::relu.out") == expected
    assert aten_schema("relu.no") is None
    assert aten_schema("relu.out(") is None
    assert aten_schema("elu") is not None
    assert [t.partition("(")[0] for t in aten_overloads("relu")] == ["relu", "relu.out"]
    assert aten_overloads("rel") == ()


def test_aten_schemas_all_parse() -> None:
    names = aten_names()
    assert len(names) == len(set(names)) == 3101
    for name in names:
        text = aten_schema(name)
        assert text is not None
        assert str(parse_schema(text)) == text


# Hostile files: about a megabyte each, none may take long or many megabytes of messages.

KERNEL = "  kernels:\n    - arg_meta: null\n      kernel_name: my::f\n"
HOSTILE = {
    "unknown operators": "".join(f"- op: xadd{i}.out\n{KERNEL}" for i in range(12000)),
    "one operator again and again": f"- op: add.out\n{KERNEL}" * 14000,
    "lists in lists": "[" * 1000000,
    "mappings in mappings": "{a: " * 250000,
    "long name": "- op: " + "a" * 1000000,
    "long schema": f"- func: f({', '.join(f'Tensor a{i}' for i in range(60000))}) -> ()\n{KERNEL}",
    "many keys": "- op: add.out\n" + "".join(f"  k{i}: 1\n" for i in range(60000)),
    "open quote": '- op: "' + "\n" * 900000,
    "question marks": "? " * 400000,
    "anchors": "&a " * 300000,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_end_soon(tmp_path: Path, kind: str) -> None:
    import time

    start = time.process_time()
    _, diagnostics = load(tmp_path, HOSTILE[kind])
    assert time.process_time() - start < 10  # seconds; about one on a quiet machine
    assert 1 <= len(diagnostics) <= 101


def test_plain_items_are_what_yaml_reads() -> None:
    """bundled_item.py and PyYAML give the same nodes, for every item of every bundled file."""
    plain = 0
    for path in bundled_catalogues():
        text = path.read_text(encoding="utf-8")
        starts = [match.start() for match in re.finditer(r"^- ", text, re.MULTILINE)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            line = text.count("\n", 0, start)
            item = plain_item(text[start:end], line)
            plain += item is not None
            assert item in (None, parse_yaml(text[start:end], line)), text[start:end]
    assert plain > 280


@pytest.mark.parametrize(
    "text",
    [
        "- op: add.out\n  kernels: [{arg_meta: null}]\n",
        "- op: 'add.out'\n",
        "- op: add.out # the sum\n",
        "- op: add: out\n",
        "- op: add:\n",
        "- op: add.out \n",
        "- op: add.out\n  kernels:\n",
        "- op: add.out\n      source: a.cpp\n",
        "- op: add.out\n    - source: a.cpp\n",
        "- op: add.out\n  tags:\n    - core\n",
        "- op: add.out\n  continued\n",
        "- op:\n",
        "  op: add.out\n",
        "",
    ],
)
def test_other_items_go_through_yaml(text: str) -> None:
    """What is not in the plain form is left to PyYAML."""
    assert plain_item(text, 0) is None
