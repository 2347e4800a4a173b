"""Kernel keys of specialised kernels, in the runtime's form (operator_registry.h)."""

from __future__ import annotations

import pytest
from gen_kernels.codegen.schema_parser import parse_schema
from gen_kernels.codegen.specialise import ArgumentMeta, SpecialiseError, expand_keys

ADD = parse_schema(
    "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
CONVOLUTION = parse_schema(
    "f.out(Tensor input, Tensor? bias, Tensor[] more, *, Tensor(a!) out) -> Tensor(a!)"
)
TOPK = parse_schema(
    "topk.values(Tensor self, SymInt k, *, Tensor(a!) values, Tensor(b!) indices)"
    " -> (Tensor(a!) values, Tensor(b!) indices)"
)


def meta(*triples: str) -> list[ArgumentMeta]:
    return [ArgumentMeta(*triple.split()) for triple in triples]


def test_out_variant_has_the_returned_tensor_at_the_end() -> None:
    keys = expand_keys(
        ADD, meta("self T0 D0", "other T0 D0", "out T0 D0"), {"T0": (6,)}, {"D0": ((0, 1),)}
    )
    assert keys == ("v1/6;0,1|6;0,1|6;0,1|6;0,1",)


def test_arguments_are_in_schema_order_not_in_the_order_written() -> None:
    keys = expand_keys(
        ADD,
        meta("out T1 D0", "other T0 D1", "self T0 D0"),
        {"T0": (3,), "T1": (11,)},
        {"D0": ((0,),), "D1": ((),)},
    )
    assert keys == ("v1/3;0|3;|11;0|11;0",)


def test_every_choice_of_dtypes_and_orders_in_the_order_written() -> None:
    keys = expand_keys(
        ADD,
        meta("self T0 D0", "other T1 D0", "out T0 D0"),
        {"T0": (15, 5), "T1": (6, 27)},
        {"D0": ((0, 1), (1, 0))},
    )
    assert keys == tuple(
        f"v1/{a};{o}|{b};{o}|{a};{o}|{a};{o}"
        for a in (15, 5)
        for b in (6, 27)
        for o in ("0,1", "1,0")
    )


def test_optional_tensor_counts_when_listed_and_means_none_when_not() -> None:
    dtypes, orders = {"T0": (6,)}, {"D0": ((0,),)}
    listed = meta("input T0 D0", "bias T0 D0", "out T0 D0")
    assert expand_keys(CONVOLUTION, listed, dtypes, orders) == ("v1/6;0|6;0|6;0|6;0",)
    left_out = meta("input T0 D0", "out T0 D0")
    assert expand_keys(CONVOLUTION, left_out, dtypes, orders) == ("v1/6;0|6;0|6;0",)


def test_several_results_are_a_list_and_no_part_of_the_key() -> None:
    keys = expand_keys(
        TOPK,
        meta("self T0 D0", "values T0 D0", "indices T1 D0"),
        {"T0": (6,), "T1": (4,)},
        {"D0": ((0,),)},
    )
    assert keys == ("v1/6;0|6;0|4;0",)


@pytest.mark.parametrize(
    ("metas", "message"),
    [
        (meta("self T0 D0", "out T0 D0"), "leaves out the tensor 'other'"),
        (meta("self T0 D0", "othr T0 D0", "out T0 D0"), "no argument 'othr'"),
        (
            meta("self T0 D0", "other T0 D0", "alpha T0 D0", "out T0 D0"),
            "argument 'alpha' has type Scalar",
        ),
    ],
)
def test_mistakes(metas: list[ArgumentMeta], message: str) -> None:
    with pytest.raises(SpecialiseError, match=message):
        expand_keys(ADD, metas, {"T0": (6,)}, {"D0": ((0,),)})


def test_a_key_longer_than_the_runtimes_buffer_is_refused() -> None:
    tensors = ", ".join(f"Tensor t{i}" for i in range(18))
    schema = parse_schema(f"f.out({tensors}, *, Tensor(a!) out) -> Tensor(a!)")
    metas = meta(*(f"{a.name} T0 D0" for a in schema.arguments))
    order = tuple(range(16))
    with pytest.raises(SpecialiseError, match="the runtime holds 658"):
        expand_keys(schema, metas, {"T0": (6,)}, {"D0": (order,)})
    # 16 tensors of 16 dimensions are what the buffer was made for.
    tensors = ", ".join(f"Tensor t{i}" for i in range(14))
    schema = parse_schema(f"f.out({tensors}, *, Tensor(a!) out) -> Tensor(a!)")
    metas = meta(*(f"{a.name} T0 D0" for a in schema.arguments))
    (key,) = expand_keys(schema, metas, {"T0": (6,)}, {"D0": (order,)})
    assert key.count("|") == 15
