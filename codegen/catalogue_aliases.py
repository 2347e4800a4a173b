"""The aliases that the kernels of a catalogue entry refer to: dtypes and dim orders."""

from __future__ import annotations

import re

from ..selective.kernel_key import SCALAR_TYPES
from .node_reader import NodeReader, did_you_mean
from .specialise import MAX_DIMS
from .yaml_nodes import Mapping, Node, Scalar, Sequence

_FOREIGN_DTYPES = {
    **{"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16"},
    **{"int8": "Char", "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long"},
}  # what PyTorch and C++ call some ScalarTypes


class Aliases:
    """`type_alias` and `dim_order_alias` of one entry, and which of them its kernels use.

    `dtypes` gives ScalarType numbers, `dim_orders` orders; `places` each alias's place by kind.
    """

    def __init__(self) -> None:
        self.dtypes: dict[str, tuple[int, ...]] = {}
        self.dim_orders: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.places: dict[tuple[str, str], Scalar] = {}
        self.used: set[tuple[str, str]] = set()

    def check(self, reader: NodeReader, kind: str, word: Scalar) -> None:
        """Note the use of an alias; report one that is not there."""
        self.used.add((kind, word.text))
        if (kind, word.text) in self.places:
            return
        hint = did_you_mean(word.text, [name for known, name in self.places if known == kind])
        if not hint and kind == "type_alias" and word.text in SCALAR_TYPES:
            hint = f"define an alias: type_alias: {{T0: [{word.text}]}}"
        reader.report("GK162", f"{kind} has no '{word.text}'", word, hint)

    def unused(self) -> list[tuple[str, Scalar]]:
        """Kind and place of each alias that no kernel names."""
        return [(key[0], place) for key, place in self.places.items() if key not in self.used]


def read_aliases(reader: NodeReader, types: Node | None, orders: Node | None) -> Aliases:
    """Read both mappings of an entry (None: absent)."""
    aliases = Aliases()
    for key, value in _pairs(reader, types, "type_alias"):
        aliases.dtypes[key.text] = _dtypes(reader, key, value)
        aliases.places["type_alias", key.text] = key
    for key, value in _pairs(reader, orders, "dim_order_alias"):
        aliases.dim_orders[key.text] = _dim_orders(reader, value)
        aliases.places["dim_order_alias", key.text] = key
    return aliases


def _pairs(reader: NodeReader, node: Node | None, kind: str) -> list[tuple[Scalar, Node]]:
    if node is None or (isinstance(node, Scalar) and node.is_null):
        return []
    if reader.keys(node, (), kind) is None or not isinstance(node, Mapping):
        return []
    return [(key, value) for key, value in node.pairs if isinstance(key, Scalar)]


def _dtypes(reader: NodeReader, key: Scalar, value: Node) -> tuple[int, ...]:
    """A dtype or a list of them, as ScalarType numbers."""
    items = value.items if isinstance(value, Sequence) else [value]
    numbers: list[int] = []
    for item in items:
        name = item.text if isinstance(item, Scalar) else ""
        number = SCALAR_TYPES.get(name)
        if number is None:
            other = _FOREIGN_DTYPES.get(name.removeprefix("torch."))
            hint = f"did you mean {other}?" if other else did_you_mean(name, SCALAR_TYPES)
            reader.report("GK163", f"'{name}' is not a dtype", item, hint)
        elif number in numbers:
            reader.report("GK163", f"'{name}' is listed twice", item)
        else:
            numbers.append(number)
    if not items:
        reader.report("GK163", f"type_alias '{key.text}' lists no dtype", value)
    return tuple(numbers)


def _dim_orders(reader: NodeReader, value: Node) -> tuple[tuple[int, ...], ...]:
    """One order, or a list of orders (ExecuTorch's documentation writes `[[0, 1, 2, 3]]`)."""
    written: list[Node] = [value]
    if isinstance(value, Sequence) and any(isinstance(item, Sequence) for item in value.items):
        written = value.items
    orders: list[tuple[int, ...]] = []
    for item in written:
        order = _dim_order(item)
        if order is None:
            hint = f"[0, 1, 2, 3]: each dimension once, at most {MAX_DIMS}"
            reader.report("GK164", "not a dim order", item, hint)
        elif order in orders:
            reader.report("GK164", "a dim order listed twice", item)
        else:
            orders.append(order)
    return tuple(orders)


def _dim_order(node: Node) -> tuple[int, ...] | None:
    if not isinstance(node, Sequence) or len(node.items) > MAX_DIMS:
        return None
    texts = [item.text for item in node.items if isinstance(item, Scalar)]
    order = tuple(int(text) for text in texts if re.fullmatch("[0-9]{1,2}", text))
    complete = len(order) == len(node.items) and sorted(order) == list(range(len(order)))
    return order if complete else None
