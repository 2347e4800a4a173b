"""Runs everything that reads a model on bytes that may be damaged."""

from __future__ import annotations

import json

from gen_kernels.codegen.catalogue import bundled_catalogues, open_catalogue
from gen_kernels.codegen.diagnostics import format_diagnostic
from gen_kernels.codegen.model import CatalogueEntry
from gen_kernels.selective.call_check import check_calls
from gen_kernels.selective.call_ways import call_ways, ways_json, ways_lines
from gen_kernels.selective.constants import read_constants
from gen_kernels.selective.flatbuffer import FormatError
from gen_kernels.selective.inspect import text_report
from gen_kernels.selective.inspect_html import plots
from gen_kernels.selective.memory_header import memory_table
from gen_kernels.selective.model_file import parse_bytes
from gen_kernels.selective.models import Model
from gen_kernels.selective.oplist import format_operator_list, parse_operator_list
from gen_kernels.selective.ptd import IDENTIFIER, parse_tensors
from gen_kernels.selective.pte import parse_program
from gen_kernels.selective.report import model_facts
from gen_kernels.selective.report_json import model_json
from gen_kernels.selective.select import select

_CATALOGUES = [open_catalogue(path, path.name, bundled=True) for path in bundled_catalogues()]


def find(name: str) -> CatalogueEntry | None:
    """The bundled catalogue entry of an operator."""
    return next((entry for c in _CATALOGUES if (entry := c.find(name)) is not None), None)


def check_quickly(data: bytes, size: int = 0) -> Model | None:
    """Read, select and check the calls; the model, if the bytes are one.

    `size`: what the file is said to have, when more than the bytes given (segments are not read).
    """
    if data[4:8] == IDENTIFIER:
        try:
            parse_tensors(data, len(data))
        except FormatError as error:
            assert error.message
        return None
    program, diagnostics = parse_bytes(data, max(size, len(data)), "model.pte", parse_program)
    assert (program is None) == bool(diagnostics)
    for diagnostic in diagnostics:
        text = format_diagnostic(diagnostic)
        assert diagnostic.code.startswith("GK2")
        assert text.splitlines()[0].isprintable()
        assert len(text) < 600
    if program is None:
        return None
    model = Model("model.pte", program)
    check_calls([model], find)
    assert not select([model])[1]
    return model


def check_model(data: bytes, size: int = 0) -> bool:
    """Whether the bytes are a program. Any exception is a fault of the project."""
    model = check_quickly(data, size)
    if model is None:
        return False
    parse_operator_list(format_operator_list(select([model])[0]))
    memory_table([model])
    facts = model_facts(model, find)
    assert text_report(facts, with_calls=True).replace("\n", "").isprintable()
    json.dumps(model_json(facts), allow_nan=False)
    constants = read_constants(model.program, data, len(data))
    for method in facts.methods:
        plots(method)
        ways = call_ways(method.method, find, constants)
        assert "".join(ways_lines(ways)).isprintable()
        json.dumps(ways_json(ways), allow_nan=False)
    return True
