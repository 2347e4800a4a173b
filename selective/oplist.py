"""Operator lists: reading selected_operators.yaml, catalogues and plain lists; writing the first.

Source of the format: ExecuTorch's codegen/tools/gen_oplist.py writes it, torchgen's
selective_build/selector.py reads it; both reject keys that they do not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..codegen.diagnostics import Diagnostic, Location
from ..codegen.yaml_nodes import Mapping, Node, Scalar, YamlError, parse_yaml
from ..codegen.yaml_nodes import Sequence as YamlSequence
from .kernel_key import DEFAULT, dtype_key, key_dtypes
from .operator_text import OperatorTextError, parse_operator, split_operators
from .selection import Selection

_NEEDS_NO_QUOTES = re.compile(r"default|(?=.*[./:])[A-Za-z_][\w:./;,|+-]*[\w;]", re.ASCII)
MAX_BYTES = 16 << 20
"""Largest operator list; all of ATen is less than one megabyte."""

_TOP_KEYS = (
    "build_features",
    "custom_classes",
    "debug_info",
    "et_kernel_metadata",
    "include_all_non_op_selectives",
    "include_all_operators",
    "kernel_metadata",
    "operators",
)
_OPERATOR_KEYS = (
    "debug_info",
    "include_all_overloads",
    "is_root_operator",
    "is_used_for_training",
    "name",
)


class ListedOperator(NamedTuple):
    """One operator of a list. `name` may be a pattern; `expand`: it may lack its overload.

    `keys` are kernel keys as the list has them, never empty ("default": every dtype). `root` as for
    SelectedOperator.
    """

    name: str
    keys: tuple[str, ...]
    expand: bool = True
    root: bool = True


class OperatorList(NamedTuple):
    """What a list asks for."""

    operators: tuple[ListedOperator, ...] = ()
    include_all: bool = False


class _ListError(ValueError):
    def __init__(self, message: str, node: Node | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.line = node.line if node else 0
        self.column = node.column if node else 0
        self.hint = hint


def read_operator_list(path: str) -> tuple[OperatorList, tuple[Diagnostic, ...]]:
    """The operators that the file asks for; with an error the list is empty."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            message = f"more than {MAX_BYTES:,} bytes: this is no operator list"
            return OperatorList(), (Diagnostic("GK302", message, Location(path)),)
        text = data.decode().removeprefix("\ufeff")
    except OSError as error:
        message = f"cannot read the operator list: {error.strerror or error}"
        return OperatorList(), (Diagnostic("GK301", message, Location(path)),)
    except UnicodeDecodeError as error:
        message = f"not text: byte {error.start} is not UTF-8"
        hint = "a model is given with --model"
        location = Location(path, offset=error.start)
        return OperatorList(), (Diagnostic("GK302", message, location, hint),)
    except ValueError as error:  # a NUL in the path
        message = f"cannot read the operator list: {error}"
        return OperatorList(), (Diagnostic("GK301", message, Location(path)),)
    try:
        return parse_operator_list(text), ()
    except YamlError as error:
        line, column, message, hint = error.line, error.column, error.message, ""
    except _ListError as error:
        line, column, message, hint = error.line, error.column, str(error), error.hint
    lines = text.splitlines()
    source_line = lines[line - 1] if 0 < line <= len(lines) else ""
    location = Location(path, line, column)
    return OperatorList(), (Diagnostic("GK303", message, location, hint, source_line=source_line),)


def parse_operator_list(text: str) -> OperatorList:
    """The operators that a list's text asks for. Raises YamlError, ValueError."""
    plain = _plain_list(text)
    if plain is not None:
        return plain
    root = parse_yaml(text)
    if root is None:
        return OperatorList()
    if isinstance(root, Mapping):
        return _selected_operators(root)
    if isinstance(root, YamlSequence):
        return OperatorList(tuple(map(_catalogue_entry, root.items)))
    raise _ListError("neither an operator list nor a catalogue", root)


def _plain_list(text: str) -> OperatorList | None:
    """A list with one or more operators a line and `#` comments; None when it is something else."""
    operators: list[ListedOperator] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        if content.startswith(("-", "{", "[", "---", "%")) or re.search(r":(\s|$)", content):
            return None
        for item in split_operators(content):
            try:
                operators.append(_plain_operator(item))
            except OperatorTextError as error:
                node = Scalar(content, True, number, line.find(item) + 1)
                raise _ListError(str(error), node, error.hint) from None
    return OperatorList(tuple(operators))


def _plain_operator(text: str) -> ListedOperator:
    name, dtypes = parse_operator(text)
    return ListedOperator(name, (DEFAULT,) if dtypes is None else tuple(map(dtype_key, dtypes)))


def _catalogue_entry(node: Node) -> ListedOperator:
    """An entry of functions.yaml (`op:` or `func:`), or a name in a YAML list."""
    if isinstance(node, Scalar):
        try:
            return _plain_operator(node.text)
        except OperatorTextError as error:
            raise _ListError(str(error), node, error.hint) from None
    if isinstance(node, Mapping):
        for key, value in node.pairs:
            if isinstance(key, Scalar) and key.text in ("op", "func") and isinstance(value, Scalar):
                name = value.text.partition("(")[0].strip()
                name = name if "::" in name else f"aten::{name}"
                return ListedOperator(name, (DEFAULT,), expand=False)
    raise _ListError("an entry has neither 'op' nor 'func'", node)


def _selected_operators(root: Mapping) -> OperatorList:
    top = _fields(root, _TOP_KEYS, "selected_operators.yaml")
    keys: dict[str, tuple[str, ...]] = {}
    for name, node in _pairs(top.get("et_kernel_metadata")):
        keys[name.text] = tuple(_key(item) for item in _items(node))
    operators: list[ListedOperator] = []
    for name, node in _pairs(top.get("operators")):
        fields = _fields(node, _OPERATOR_KEYS, f"operator '{name.text}'")
        overloads = _flag(fields.get("include_all_overloads"), True) and "." not in name.text
        root_operator = _flag(fields.get("is_root_operator"), True)
        operators.append(
            ListedOperator(name.text, keys.get(name.text) or (DEFAULT,), overloads, root_operator)
        )
    return OperatorList(tuple(operators), _flag(top.get("include_all_operators"), False))


def _key(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise _ListError("a kernel key is a text such as v1/6;0,1", node)
    try:
        key_dtypes(node.text)
    except ValueError as error:
        raise _ListError(str(error), node) from None
    return node.text.strip()


def _fields(node: Node, allowed: Sequence[str], what: str) -> dict[str, Node]:
    if isinstance(node, Scalar) and node.is_null:
        return {}
    found: dict[str, Node] = {}
    for key, value in _pairs(node):
        if key.text not in allowed:
            raise _ListError(f"{what} has no key '{key.text}'", key, f"keys: {', '.join(allowed)}")
        if key.text in found:
            raise _ListError(f"key '{key.text}' comes twice", key)
        found[key.text] = value
    return found


def _pairs(node: Node | None) -> list[tuple[Scalar, Node]]:
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return []
    if not isinstance(node, Mapping):
        raise _ListError("a mapping is expected here", node)
    pairs: list[tuple[Scalar, Node]] = []
    for key, value in node.pairs:
        if not isinstance(key, Scalar):
            raise _ListError("a key must be a text", key)
        pairs.append((key, value))
    return pairs


def _items(node: Node) -> list[Node]:
    if isinstance(node, Scalar) and node.is_null:
        return []
    if not isinstance(node, YamlSequence):
        raise _ListError("a list is expected here", node)
    return node.items


def _flag(node: Node | None, default: bool) -> bool:
    if node is None:
        return default
    if isinstance(node, Scalar) and node.plain:
        value = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
        if (found := value.get(node.text.lower())) is not None:
            return found
    raise _ListError("true or false is expected here", node)


def format_operator_list(selection: Selection) -> str:
    """The selection as selected_operators.yaml: sorted, block style, as ExecuTorch writes it.

    `debug_info` names the files that asked for an operator, without their folders.
    """
    metadata: dict[str, list[str]] = {}
    operators: dict[str, list[str]] = {}
    roots = {operator.name for operator in selection.operators if operator.root}
    for operator in sorted(selection.operators, key=lambda o: o.name):
        sources = {Path(origin.source).name or origin.source for origin in operator.origins}
        metadata[operator.name] = [DEFAULT] if operator.dtypes is None else sorted({*operator.keys})
        operators[operator.name] = sorted(sources)
    lines = ["build_features: []", "custom_classes: []"]
    lines += ["et_kernel_metadata:"] if metadata else ["et_kernel_metadata: {}"]
    for name, keys in metadata.items():
        lines += _block_list(f"  {_plain(name)}:", keys)
    lines.append("include_all_non_op_selectives: false")
    lines.append(f"include_all_operators: {str(selection.include_all).lower()}")
    lines.append("kernel_metadata: {}")
    lines += ["operators:"] if operators else ["operators: {}"]
    for name, files in operators.items():
        lines.append(f"  {_plain(name)}:")
        lines += _block_list("    debug_info:", files)
        lines.append("    include_all_overloads: false")
        lines.append(f"    is_root_operator: {str(name in roots).lower()}")
        lines.append("    is_used_for_training: true")
    return "".join(f"{line}\n" for line in lines)


def _block_list(key: str, items: Sequence[str]) -> list[str]:
    """A key with a list of texts, one a line."""
    indent = " " * (len(key) - len(key.lstrip()))
    return [key, *(f"{indent}- {_plain(item)}" for item in items)] if items else [f"{key} []"]


def _plain(text: str) -> str:
    """A text as yaml.safe_dump writes it, which is slow: most need no quotes."""
    if _NEEDS_NO_QUOTES.fullmatch(text) and len(text) < 72:
        return text
    style = '"' if len(text.splitlines()) > 1 or text.endswith("\n") else None
    import yaml  # only then: the import costs 10 ms

    dumped: str = yaml.safe_dump(text, width=1 << 20, default_style=style)
    return dumped.removesuffix("\n...\n").removesuffix("\n")
