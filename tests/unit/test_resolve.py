"""Resolve: which kernels serve a selection, and what is said when none do."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from gen_kernels.codegen.diagnostics import Diagnostic, Location, Severity
from gen_kernels.codegen.model import CatalogueEntry, KernelSpec, Plan
from gen_kernels.codegen.resolve import describe_origin, resolve, suggest
from gen_kernels.codegen.schema_parser import parse_schema
from gen_kernels.selective.selection import Origin, SelectedOperator, Selection

UNARY = "(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
FLOAT, INT = "v1/6;0|6;0|6;0", "v1/3;0|3;0|3;0"


@dataclass
class FakeCatalogue:
    entries: dict[str, CatalogueEntry] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.entries)

    def find(self, name: str) -> CatalogueEntry | None:
        return self.entries.get(name)


def kernel(symbol: str, *keys: str, source: str | None = "portable/x.cpp") -> KernelSpec:
    return KernelSpec(symbol, keys, source)


def entry(
    name: str, *kernels: KernelSpec, signature: str = UNARY, **more: object
) -> CatalogueEntry:
    schema = parse_schema(name + signature)
    made = CatalogueEntry(schema, kernels, "mine", Location("mine.yaml", 3))
    return made._replace(**more)  # type: ignore[arg-type]


def catalogue(*entries: CatalogueEntry) -> FakeCatalogue:
    return FakeCatalogue({e.name: e for e in entries})


def selected(
    *names: str, dtypes: tuple[int, ...] | None = None, keys: tuple[str, ...] = ()
) -> Selection:
    origin = Origin("model", "m.pte", "forward", (0, 7))
    return Selection(tuple(SelectedOperator(n, dtypes, keys, (origin,)) for n in names))


def plan_of(selection: Selection, *catalogues: FakeCatalogue) -> Plan:
    plan, diagnostics = resolve(selection, catalogues, "lib")
    assert plan is not None, diagnostics
    return plan


def error_of(selection: Selection, *catalogues: FakeCatalogue) -> Diagnostic:
    plan, diagnostics = resolve(selection, catalogues, "lib")
    assert plan is None
    assert len(diagnostics) == 1
    return diagnostics[0]


def test_the_first_catalogue_wins() -> None:
    first = catalogue(entry("my::abs.out", kernel("a::abs")))
    second = catalogue(
        entry("my::abs.out", kernel("b::abs")), entry("my::neg.out", kernel("b::neg"))
    )
    plan = plan_of(selected("my::abs.out", "my::neg.out"), first, second)
    assert [o.entry.kernels[0].symbol for o in plan.operators] == ["a::abs", "b::neg"]
    assert plan.sources == ("portable/x.cpp",)


def test_a_bundled_entry_that_is_not_written_is_passed_over() -> None:
    corev = catalogue(entry("my::abs.out", kernel("corev::abs", source=None), bundled=True))
    portable = catalogue(entry("my::abs.out", kernel("portable::abs"), bundled=True))
    plan = plan_of(selected("my::abs.out"), corev, portable)
    assert plan.operators[0].entry.kernels[0].symbol == "portable::abs"


def test_no_kernel_yet() -> None:
    bundled = catalogue(entry("my::abs.out", kernel("abs", source=None), bundled=True))
    error = error_of(selected("my::abs.out"), bundled)
    assert error.code == "GK351"
    assert "my::abs.out" in error.message
    assert error.notes == ("used by m.pte, method forward, instruction 7",)
    assert error.location.file == "m.pte"
    # With kernels from elsewhere it is no error.
    plan, diagnostics = resolve(selected("my::abs.out"), [bundled], "lib", need_sources=False)
    assert plan is not None
    assert diagnostics == ()


def test_unwritten_operators_are_left_out_of_all() -> None:
    both = catalogue(
        entry("my::abs.out", kernel("abs", source=None), bundled=True),
        entry("my::neg.out", kernel("neg"), bundled=True),
    )
    origins = (Origin("all", "--all"),)
    operators = tuple(SelectedOperator(n, origins=origins) for n in sorted(both.names))
    plan, diagnostics = resolve(Selection(operators, include_all=True), [both], "lib")
    assert plan is not None
    assert [o.entry.name for o in plan.operators] == ["my::neg.out"]
    assert [(d.code, d.severity, d.notes) for d in diagnostics] == [
        ("GK354", Severity.NOTE, ("my::abs.out",))
    ]


def test_unknown_operators_are_all_reported() -> None:
    plan, diagnostics = resolve(selected("my::a.out", "my::b.out"), [catalogue()], "lib")
    assert plan is None
    assert [d.code for d in diagnostics] == ["GK350", "GK350"]


def test_operators_that_may_be_in_a_broken_entry() -> None:
    known = catalogue(entry("my::abs.out", kernel("abs")))
    plan, diagnostics = resolve(selected("my::a.out", "your::b.out"), [known], "x", incomplete=True)
    assert plan is None
    assert [d.message.split()[3] for d in diagnostics] == ["my::a.out:"]


NAMES = ("aten::abs.out", "aten::add.out", "aten::add.Scalar_out", "aten::mul.out")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten::abs", "aten::abs is not an out variant; use aten::abs.out"),
        (
            "aten::add.Tensor",
            "aten::add.Tensor is not an out variant; use aten::add.Scalar_out or aten::add.out",
        ),
        ("aten::abs.int_out", "its overloads are aten::abs.out"),
        ("aten::muk.out", "did you mean aten::mul.out?"),
        ("mul.out", "did you mean aten::mul.out?"),
        ("mine::op.out", "give the catalogue that has the operators of 'mine' with --functions"),
        ("aten::zzzzzzz.out", "`gen-kernels ops` lists the operators that there are"),
    ],
)
def test_suggestions(name: str, expected: str) -> None:
    assert suggest(name, NAMES) == expected


def test_specialised_kernels_that_the_model_needs() -> None:
    operators = catalogue(
        entry("my::abs.out", kernel("any"), kernel("float", FLOAT), kernel("int", INT))
    )
    only_float = plan_of(selected("my::abs.out", dtypes=(6,), keys=(FLOAT,)), operators)
    assert [k.symbol for k in only_float.operators[0].entry.kernels] == ["float"]
    other = plan_of(selected("my::abs.out", dtypes=(5, 6), keys=(FLOAT, "v1/5;0")), operators)
    assert [k.symbol for k in other.operators[0].entry.kernels] == ["float", "any"]
    every = plan_of(selected("my::abs.out"), operators)
    assert [k.symbol for k in every.operators[0].entry.kernels] == ["any", "float", "int"]


def test_no_kernel_for_these_tensors() -> None:
    operators = catalogue(entry("my::abs.out", kernel("float", FLOAT)))
    error = error_of(selected("my::abs.out", dtypes=(3,), keys=(INT,)), operators)
    assert error.code == "GK353"
    assert INT in error.message
    assert "its kernels are declared at mine.yaml:3" in error.notes


def test_specialised_kernels_keep_the_next_catalogues_fallback() -> None:
    mine = catalogue(entry("my::abs.out", kernel("float", FLOAT)))
    theirs = catalogue(entry("my::abs.out", kernel("any")))
    plan = plan_of(selected("my::abs.out"), mine, theirs)
    assert [k.symbol for k in plan.operators[0].entry.kernels] == ["float", "any"]
    # A fallback for other arguments is none.
    other = catalogue(
        entry("my::abs.out", kernel("any"), signature="(int x, *, Tensor(a!) out) -> Tensor(a!)")
    )
    plan = plan_of(selected("my::abs.out"), mine, other)
    assert [k.symbol for k in plan.operators[0].entry.kernels] == ["float"]


def test_types_that_cannot_be_carried() -> None:
    signature = "(Generator g, str[] names, *, Tensor(a!) out) -> Tensor(a!)"
    operators = catalogue(entry("my::f.out", kernel("f"), signature=signature))
    plan, diagnostics = resolve(selected("my::f.out"), [operators], "lib")
    assert plan is None
    assert [d.code for d in diagnostics] == ["GK352", "GK352"]
    assert "'g' has type Generator" in diagnostics[0].message
    assert "'names' has type str[]" in diagnostics[1].message


def test_results_that_cannot_be_returned() -> None:
    operators = catalogue(entry("my::f", kernel("f"), signature="(int x) -> (Tensor, Tensor)"))
    error = error_of(selected("my::f"), operators)
    assert error.code == "GK352"
    assert "returns (Tensor, Tensor) by value" in error.message


def test_one_symbol_with_two_results() -> None:
    operators = catalogue(
        entry("my::f", kernel("x::f"), signature="(int x) -> int"),
        entry("my::g", kernel("x::f"), signature="(int x) -> bool"),
    )
    error = error_of(selected("my::f", "my::g"), operators)
    assert error.code == "GK355"
    assert "x::f" in error.message


def test_origins_in_words() -> None:
    assert describe_origin(Origin("op", "add.out")) == "selected by --op add.out"
    assert describe_origin(Origin("all", "--all")) == "selected by --all"
    assert (
        describe_origin(Origin("model", "m.pte", "f", (1, 2)))
        == "used by m.pte, method f, instruction 2 of chain 1"
    )
