"""What `explain` says becomes of an overload, against ExecuTorch's own choice."""

from __future__ import annotations

import pytest
from gen_kernels.codegen.aten_schemas import aten_names, aten_schema
from gen_kernels.codegen.catalogue import open_catalogues
from gen_kernels.codegen.explain import catalogues_by_operator, out_variant
from gen_kernels.codegen.schema_parser import parse_schema

torch = pytest.importorskip("torch", reason="run by make conformance")
convert = pytest.importorskip("executorch.exir.operator.convert")

pytestmark = [pytest.mark.conformance, pytest.mark.slow]


def official(name: str) -> str | None:
    """The out variant that ExecuTorch's to_out_var pass takes; None when it finds none."""
    base, _, overload = name.partition(".")
    try:
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        variant, _ = convert.to_out_variant(operator)
    except (AssertionError, AttributeError, RuntimeError):
        return None
    schema = variant._schema
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name


def test_out_variants() -> None:
    catalogues, _ = open_catalogues(target=None)
    known = catalogues_by_operator(catalogues)
    agreed, differing = 0, []
    for name in aten_names():
        text = aten_schema(name)
        assert text is not None
        schema = parse_schema(f"aten::{text}")
        if schema.out or any(a.is_write for a in schema.arguments):
            continue
        if any(r.alias is not None for r in schema.returns):
            continue  # views: other passes make copies of them first
        theirs = official(name)
        if theirs is None:
            continue
        ours = out_variant(schema, known)
        if ours is not None and str(ours.name) == theirs:
            agreed += 1
        else:
            differing.append((name, ours and str(ours.name), theirs))
    assert differing == []
    assert agreed > 800
