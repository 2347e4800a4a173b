"""Every operator of ExecuTorch's catalogues as ExecuTorch's own generator treats it.

tests/data/official_signatures.json holds what that generator printed (executorch 1.5.1) for 251
operators: kernel symbol, C++ declarations, size of the boxed stack, how each argument is unboxed,
and which stack positions are logged as outputs.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gen_kernels.codegen.context import Context, build_context
from gen_kernels.codegen.cpp import argument_conversion, parameter_names
from gen_kernels.codegen.generate import Generation, Request, generate

DATA = Path(__file__).resolve().parent.parent / "data" / "official_signatures.json"
OFFICIAL: dict[str, dict[str, Any]] = json.loads(DATA.read_text())


@cache
def everything() -> tuple[Generation, Context]:
    generation = generate(Request(include_all=True, our_kernels=False))
    assert generation.plan is not None, generation.diagnostics
    return generation, build_context(generation.plan, generation.selection)


def plain(cpp: str) -> str:
    """A C++ type or expression without what does not change its meaning.

    torch::executor has aliases of the executorch::aten types, and TensorList is one for
    ArrayRef<Tensor>.
    """
    text = cpp.replace("torch::executor::TensorList", "ArrayRef<Tensor>")
    text = re.sub(r"(::)?(torch::executor|executorch::aten)::", "", text)
    text = text.replace("::std::", "std::")
    return re.sub(r"\s*([&,<>()])\s*", r"\1", text).strip()


def official_types(declaration: str) -> tuple[str, list[str]]:
    """Result and parameter types of "R (T name, U name, ...)", without the context."""
    result, _, rest = declaration.partition("(")
    parameters: list[str] = []
    depth, start = 0, 0
    for i, character in enumerate(rest):
        depth += (character in "<(") - (character in ">)")
        if (character == "," and depth == 0) or depth < 0:
            parameters.append(rest[start:i].strip())
            start = i + 1
        if depth < 0:
            break
    types = [plain(p.rpartition(" ")[0]) for p in parameters]
    return plain(result), [t for t in types if "KernelRuntimeContext" not in t]


@pytest.mark.parametrize("name", sorted(OFFICIAL))
def test_operator(name: str) -> None:
    official = OFFICIAL[name]
    _, context = everything()
    functions = [f for f in context.functions if f.operator == name]
    assert len(functions) == 1
    function = functions[0]
    signature = context.signatures[function.signature]
    arguments = function.schema.arguments

    assert function.symbol == official["kernel"]
    for declaration in official["declaration"]:
        result, parameters = official_types(declaration)
        assert plain(signature.returns) == result
        assert [plain(p) for p in signature.parameters] == parameters
    conversions = [argument_conversion(a) for a in arguments]
    assert [
        [a.name, plain(c.evalue)] for a, c in zip(arguments, conversions, strict=True) if c
    ] == [[argument, plain(how)] for argument, how in official["arguments"]]
    assert len(arguments) + 1 == official["stack_size"]
    assert logged(signature.logged, len(arguments)) == official_logged(official)
    # None of these names is reserved in C++, so the parameters keep them.
    assert parameter_names(function.schema) == tuple(a for a, _ in official["arguments"])


def logged(count: int, arguments: int) -> list[int]:
    return list(range(arguments - count, arguments)) or [arguments]


def official_logged(official: dict[str, Any]) -> list[int]:
    """The official positions, with one difference explained.

    An operator that returns nothing writes its last argument, a list of tensors. The official code
    puts that argument into the return slot of its own copy of the stack, and logs the slot; we log
    the argument itself, one place before.
    """
    positions: list[int] = official["logged_outputs"]
    if official["declaration"][0].startswith("void"):
        return [position - 1 for position in positions]
    return positions


def test_nothing_else_is_compared() -> None:
    _, context = everything()
    ours = {f.operator for f in context.functions}
    assert len(OFFICIAL) == 251
    assert set(OFFICIAL) <= ours


def test_portable_operators_have_80_signatures() -> None:
    _, context = everything()
    portable = {
        f.signature
        for f in context.functions
        if OFFICIAL.get(f.operator, {}).get("catalogue") == "portable"
    }
    assert len(portable) == 80
