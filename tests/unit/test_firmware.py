"""The runner's tables: what firmware.py writes for a model and its inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from gen_kernels.codegen.firmware import (
    Case,
    FirmwareError,
    Input,
    cases_header,
    data_assembly,
    file_case,
    find_method,
)
from gen_kernels.selective.program import Program
from gen_kernels.selective.pte import read_program

from ..support.models import MODELS

IMAGE = Input("tensor", b"\1\2\3\4", 1, (1, 2, 1, 2), (0, 2, 3, 1))
MIXED = Case("forward", (IMAGE, Input("int", value=-3), Input("float", value=2.5)))


def program(name: str) -> Program:
    path = MODELS / f"{name}.pte"
    read, problems = read_program(path, str(path))
    assert read is not None, problems
    return read


def test_header_holds_kinds_shapes_and_order() -> None:
    text = cases_header([MIXED])
    assert "static const int32_t kSizes0_0[] = {1, 2, 1, 2};" in text
    assert "static const uint8_t kOrder0_0[] = {0, 2, 3, 1};" in text
    assert "{Kind::kTensor, 1, 4, kSizes0_0, kOrder0_0, runner_input_0_0, 0, 0.0}," in text
    assert "{Kind::kInt, 0, 0, nullptr, nullptr, nullptr, -3LL, 0.0}," in text
    assert f"nullptr, 0LL, {(2.5).hex()}}}," in text
    assert '{"forward", kInputs0, 3},' in text


def test_case_without_inputs_and_tensor_without_dimensions() -> None:
    scalar = Input("tensor", b"\0" * 4, 6)
    text = cases_header([Case("get_version", ()), Case("forward", (scalar,))])
    assert '{"get_version", nullptr, 0},' in text
    assert "{Kind::kTensor, 6, 0, nullptr, nullptr, runner_input_1_0, 0, 0.0}," in text


def test_assembly_quotes_the_model_name() -> None:
    text = data_assembly('a "quoted" \\ name.pte', [MIXED])
    assert '.incbin "a \\"quoted\\" \\\\ name.pte"' in text
    assert '.incbin "input_0_0.bin"' in text
    assert "runner_input_0_1" not in text  # scalars carry no bytes


def test_weights_beside_the_model() -> None:
    assert "weights" not in data_assembly("mlp.pte", [])
    text = data_assembly("mlp.pte", [], "mlp.ptd")
    begin, end = text.index("runner_weights_begin:"), text.index("runner_weights_end:")
    assert begin < text.index('.incbin "mlp.ptd"') < end


def test_file_case_takes_sizes_from_the_model(tmp_path: Path) -> None:
    values = tmp_path / "x.bin"
    values.write_bytes(bytes(24))
    case = file_case(program("add"), "", [values, values])
    assert [given.sizes for given in case.inputs] == [(2, 3), (2, 3)]
    with pytest.raises(FirmwareError, match="takes 2 inputs, not 1"):
        file_case(program("add"), "forward", [values])
    values.write_bytes(bytes(20))
    with pytest.raises(FirmwareError, match="20 bytes, the input has 24"):
        file_case(program("add"), "forward", [values, values])


def test_unknown_method() -> None:
    with pytest.raises(FirmwareError, match="no method 'backward'"):
        find_method(program("add"), "backward")
