"""The reader against what the official reader says, and against files built by flatbuffers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import flatbuffers
import pytest
from gen_kernels.selective.flatbuffer import FormatError
from gen_kernels.selective.program import (
    DelegateCall,
    Dynamism,
    Frame,
    FreeCall,
    JumpFalseCall,
    MoveCall,
    Offsets,
    Program,
    ValueKind,
    calls,
)
from gen_kernels.selective.pte import parse_program, read_program

from tests.support import pte_builder as build

MODELS = Path(__file__).parent.parent / "models"
FACTS: dict[str, dict[str, Any]] = json.loads((MODELS / "models.json").read_text())
PROGRAMS = {name: facts for name, facts in FACTS.items() if "methods" in facts}
KINDS = {DelegateCall: "<DelegateCall>", JumpFalseCall: "<JumpFalseCall>", MoveCall: "<MoveCall>"}


def load(name: str) -> Program:
    program, diagnostics = read_program(MODELS / FACTS[name]["file"], name)
    assert diagnostics == ()
    assert program is not None
    return program


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_equals_the_official_reader(name: str) -> None:
    facts, program = PROGRAMS[name], load(name)
    if not facts.get("bundled"):
        assert program.version == facts["version"]
        assert program.size == facts["size"]
        assert program.has_header == (facts["extended_header"] == "eh00")
        if not facts["segments"]:  # else the official reader leaves constants where they are
            assert len(program.constants.offsets) == facts["constant_buffer"]
    assert [method.name for method in program.methods] == [m["name"] for m in facts["methods"]]
    for method, said in zip(program.methods, facts["methods"], strict=True):
        instructions = [item for chain in method.chains for item in chain.instructions]
        counted = Counter(call.operator for call in calls(method))
        counted.update(KINDS[type(item)] for item in instructions if type(item) in KINDS)
        assert dict(counted) == said["calls"]
        assert list(method.operators) == said["operators"]
        assert len(method.values) == said["n_values"]
        assert len(method.chains) == said["n_chains"]
        assert len(instructions) == said["n_instructions"]
        assert [delegate.id for delegate in method.delegates] == said["delegates"]
        assert len(method.inputs) == said["n_inputs"]
        assert len(method.outputs) == said["n_outputs"]
        assert list(method.buffer_sizes) == said["non_const_buffer_sizes"]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_input_and_output_tensors_are_those_of_the_cases(name: str) -> None:
    """Cases were recorded from the models themselves: dtype, sizes and dim order must agree."""
    program = load(name)
    methods = {method.name: method for method in program.methods}
    for case in FACTS[name].get("cases", []):
        method = methods[case["method"]]
        for index, said in zip(method.inputs, case["inputs"], strict=False):
            tensor = method.values[index].tensor
            if said["kind"] == "tensor" and tensor is not None:
                assert tensor.dtype == said["scalar_type"]
                long = {
                    dim for dim, size in enumerate(said["sizes"]) if size > 1
                }  # others: any order
                order = [dim for dim in tensor.dim_order if dim in long]
                assert order == [dim for dim in said["dim_order"] if dim in long]
                if tensor.dynamism is Dynamism.STATIC:
                    assert list(tensor.sizes) == said["sizes"]


def parse(root: build.Table) -> Program:
    data = build.serialise(root)
    return parse_program(data, len(data))


def test_values_of_every_kind() -> None:
    values = [
        build.tensor([2], dtype=4),
        build.value(build.NULL),
        build.integer(-(2**63)),
        build.boolean(True),
        build.double(0.1),
        build.text("zero–one"),
        build.items(build.INT_LIST, [2, 2]),
        build.items(build.DOUBLE_LIST, [0.5, -1e300]),
        build.items(build.BOOL_LIST, [True, False]),
        build.items(build.TENSOR_LIST, [0]),
        build.items(build.OPTIONAL_TENSOR_LIST, [-1, 0]),
    ]
    (method,) = parse(build.program([build.method(values, [], [])])).methods
    assert [value.kind for value in method.values] == [
        ValueKind.TENSOR,
        ValueKind.NULL,
        ValueKind.INT,
        ValueKind.BOOL,
        ValueKind.DOUBLE,
        ValueKind.STRING,
        ValueKind.INT_LIST,
        ValueKind.DOUBLE_LIST,
        ValueKind.BOOL_LIST,
        ValueKind.TENSOR_LIST,
        ValueKind.OPTIONAL_TENSOR_LIST,
    ]
    assert [value.payload for value in method.values[1:]] == [
        None,
        -(2**63),
        True,
        0.1,
        "zero–one",
        (2, 2),
        (0.5, -1e300),
        (True, False),
        (0,),
        (-1, 0),
    ]


def test_instructions_of_every_kind() -> None:
    delegate = {0: "Ethos", 1: {0: build.Num("b", 0), 1: build.Num("I", 0)}}
    instructions = [
        build.call(0, [0, 0]),
        build.delegate_call(0, [0, 1]),
        build.move(0, 1),
        build.jump(1, 5),
        build.free(0),
    ]
    values = [build.tensor([1]), build.boolean(False)]
    plan = build.method(values, instructions, ["my::op.out"], delegates=[delegate])
    (method,) = parse(build.program([plan], slot3=[{0: b"1234567"}])).methods
    assert method.chains[0].instructions[1:] == (
        DelegateCall(0, (0, 1)),
        MoveCall(0, 1),
        JumpFalseCall(1, 5),
        FreeCall(0),
    )
    assert method.delegates[0].size == 7
    assert not method.delegates[0].in_segment


def test_old_file_with_constants_in_the_program() -> None:
    values = [build.tensor([2, 2], data=1)]
    buffers = [{0: b""}, {0: bytes(16)}]
    program = parse(build.program([build.method(values, [], [])], slot2=buffers))
    assert program.inline_constants == (0, 16)
    assert not program.has_header
    tensor = program.methods[0].values[0].tensor
    assert tensor is not None
    assert tensor.is_constant


@pytest.mark.parametrize("length", [24, 32, 40])
def test_extended_header_old_new_and_newer(length: int) -> None:
    root = build.add_program()
    root[4] = [{0: build.Num("Q", 0), 1: build.Num("Q", 5)}]
    data = build.with_header(build.serialise(root), b"12345", length=length)
    program = parse_program(data, len(data))
    assert program.has_header
    assert data[program.segment_base :] == b"12345"


def test_bytes_behind_the_program_are_not_read() -> None:
    data = build.with_header(build.serialise(build.add_program()))
    assert parse_program(data, 1 << 60).methods[0].operators == ("aten::add.out",)


def test_offset_beyond_32_bits() -> None:
    values = [build.tensor([4], place=(1, 5 << 32))]
    root = build.program([build.method(values, [], [], buffers=[(5 << 32) + 16])])
    tensor = parse(root).methods[0].values[0].tensor
    assert tensor is not None
    assert tensor.allocation is not None
    assert tensor.allocation.offset == 5 << 32


def test_debug_information_devices_and_extra_tensor_information() -> None:
    frames = [{0: [{0: "model.py", 1: build.Num("i", 12), 2: "forward", 3: "x + y"}]}]
    extra = {1: "net.weight", 2: build.Num("b", 1), 3: build.Num("b", 1), 4: build.Num("b", 2)}
    plan = build.method(
        [build.tensor([3], extra=extra)],
        [build.free(0)],
        [],
        buffers=[64],
        frames=frames,
        devices=[{0: build.Num("i", 1), 1: build.Num("b", 1), 2: build.Num("b", 3)}],
    )
    method = parse(build.program([plan])).methods[0]
    assert method.chains[0].frames == ((Frame("model.py", 12, "forward", "x + y"),),)
    assert method.devices == ((1, 1, 3),)
    tensor = method.values[0].tensor
    assert tensor is not None
    assert (tensor.name, tensor.external, tensor.device) == ("net.weight", True, (1, 2))


def test_mutable_buffer_has_an_initial_state() -> None:
    values = [build.tensor([2], data=1, place=(1, 0))]
    root = build.program([build.method(values, [], [], buffers=[16])])
    root[4] = [{0: build.Num("Q", 0), 1: build.Num("Q", 24)}]
    root[6] = [{0: build.Num("I", 0), 1: build.Vec("Q", [0, 16])}]
    data = build.with_header(build.serialise(root), bytes(24))
    program = parse_program(data, len(data))
    assert program.mutable_segments == (Offsets(0, (0, 16)),)
    tensor = program.methods[0].values[0].tensor
    assert tensor is not None
    assert not tensor.is_constant
    root[6] = [{0: build.Num("I", 0), 1: build.Vec("Q", [0, 17])}]
    data = build.with_header(build.serialise(root), bytes(24))
    with pytest.raises(FormatError, match="8 bytes of data, 7 are there"):
        parse_program(data, len(data))


@pytest.mark.parametrize("slot", [5, 6])
def test_offsets_into_a_segment_that_is_not_there(slot: int) -> None:
    root = build.program([])
    offsets = {0: build.Num("I", 9), 1: build.Vec("Q", [0, 0])}
    root[slot] = offsets if slot == 5 else [offsets]
    with pytest.raises(FormatError, match="index 9 of 1") as caught:
        parse(root)
    assert caught.value.where == "SubsegmentOffsets.segment_index"


def damaged(values: list[build.Table], **fields: object) -> FormatError:
    with pytest.raises(FormatError) as caught:
        parse(
            build.program([build.method(values, **{"instructions": [], "operators": [], **fields})])
        )
    return caught.value


@pytest.mark.parametrize(
    ("value", "where", "message"),
    [
        (build.value(0), "EValue.val_type", "unknown kind of value, 0"),
        (build.value(12), "EValue.val_type", "unknown kind of value, 12"),
        ({0: build.Num("B", build.TENSOR)}, "EValue.val", "missing"),
        (build.tensor([2], dtype=99), "Tensor.scalar_type", "unknown dtype 99"),
        (build.tensor([2, -1]), "Tensor.sizes", "a size of -1"),
        (build.tensor([1] * 17), "Tensor.sizes", "17 dims, the runtime allows 16"),
        (build.tensor([2], order=[]), "Tensor.dim_order", "[] does not order 1 dims"),
        (build.tensor([2, 2], order=[1, 1]), "Tensor.dim_order", "[1, 1] does not order 2 dims"),
        (build.tensor([2], slot1=build.Num("i", 4)), "Tensor.storage_offset", "4, only 0"),
        (build.tensor([2], slot8=build.Num("b", 3)), "Tensor.shape_dynamism", "dynamism 3"),
        (build.tensor([2], place=(0, 0)), "AllocationDetails.memory_id", "memory 0"),
        (build.tensor([2], place=(2, 0)), "AllocationDetails.memory_id", "memory 2"),
        (build.tensor([4], place=(1, 4)), "Tensor.allocation_info", "16 bytes at 4 of memory 1"),
        (build.tensor([4], data=1), "Tensor.data_buffer_idx", "data index 1 of 1"),
        (build.tensor([4], data=1, place=(1, 0)), "Tensor.extra_tensor_info", "segment 0 of 0"),
        (build.items(build.INT_LIST, [1]), "List.items", "value index 1 of 1"),
        (build.items(build.TENSOR_LIST, [-1]), "List.items", "value index -1 of 1"),
        (build.items(build.OPTIONAL_TENSOR_LIST, [-2]), "List.items", "value index -2 of 1"),
    ],
)
def test_damaged_value(value: build.Table, where: str, message: str) -> None:
    error = damaged([value], buffers=[16])
    assert error.where == where
    assert message in error.message
    assert error.places == ("value 0", "method 0")


@pytest.mark.parametrize(
    ("instruction", "where", "message"),
    [
        ({0: build.Num("B", 0)}, "Instruction.instr_args_type", "unknown kind of instruction, 0"),
        ({0: build.Num("B", 6)}, "Instruction.instr_args_type", "unknown kind of instruction, 6"),
        ({0: build.Num("B", 1)}, "Instruction.instr_args", "missing"),
        (build.call(1, []), "KernelCall.op_index", "operator index 1 of 1"),
        (build.call(0, [0, 1]), "KernelCall.args", "value index 1 of 1"),
        (build.delegate_call(0, []), "DelegateCall.delegate_index", "delegate index 0 of 0"),
        (build.move(0, -1), "MoveCall.move_to", "value index -1 of 1"),
        (build.jump(0, 2), "JumpFalseCall.destination_instruction", "instruction 2 of 1"),
        (build.free(7), "FreeCall.value_index", "value index 7 of 1"),
    ],
)
def test_damaged_instruction(instruction: build.Table, where: str, message: str) -> None:
    error = damaged([build.boolean(False)], instructions=[instruction], operators=["a::b"])
    assert error.where == where
    assert message in error.message
    assert error.places == ("instruction 0", "chain 0", "method 0")


@pytest.mark.parametrize("name", ["", "aten::", "aten::a b", "aten::a\n", "aten::a\x1b[31m", "1a"])
def test_operator_names_must_be_identifiers(name: str) -> None:
    assert "is no operator name" in damaged([], operators=[name]).message


def test_method_name_must_be_printable() -> None:
    assert "cannot be printed" in damaged([], name="forward\n#error").message


def test_segment_behind_the_end_of_the_file() -> None:
    root = build.add_program()
    root[4] = [{0: build.Num("Q", 0), 1: build.Num("Q", 5)}]
    data = build.with_header(build.serialise(root), b"12345")
    with pytest.raises(FormatError, match="the file is cut"):
        parse_program(data[:-1], len(data) - 1)


def test_shared_bytes_cannot_grow_without_end() -> None:
    """One list of 10,000 numbers that 2,000 values share: 100 kB to store, 20 million to read."""
    builder = flatbuffers.Builder(1024)
    builder.StartVector(8, 10_000, 8)
    for _ in range(10_000):
        builder.PrependFloat64(0.5)
    numbers = builder.EndVector()
    builder.StartObject(1)
    builder.PrependUOffsetTRelativeSlot(0, numbers, 0)
    payload = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUint8Slot(0, build.DOUBLE_LIST, 0)
    builder.PrependUOffsetTRelativeSlot(1, payload, 0)
    value = builder.EndObject()
    builder.StartVector(4, 2_000, 4)
    for _ in range(2_000):
        builder.PrependUOffsetTRelative(value)
    values = builder.EndVector()
    builder.StartObject(3)
    builder.PrependUOffsetTRelativeSlot(2, values, 0)
    plan = builder.EndObject()
    builder.StartVector(4, 1, 4)
    builder.PrependUOffsetTRelative(plan)
    plans = builder.EndVector()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(1, plans, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"ET12")
    data = bytes(builder.Output())
    assert len(data) < 100_000
    with pytest.raises(FormatError, match="again and again"):
        parse_program(data, len(data))
