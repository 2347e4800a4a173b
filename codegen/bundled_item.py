"""An item of a bundled catalogue as nodes, without PyYAML: importing that costs 10 ms of each run.

The bundled files are written by this project's own tools in one plain form, a key and a value a
line. What does not have that form is None here and goes through `parse_yaml`; a test holds that
both give the same nodes for every item.
"""

from __future__ import annotations

import re

from .yaml_nodes import Mapping, Node, Scalar, Sequence

# A value that YAML takes as it stands: begins with a letter, holds no ": ", " #" or end of line.
_LINE = re.compile(r"(- |  |    - |      )(\w+):(?: ([A-Za-z_](?:[^:#\n]|:(?! |$)|(?<! )#)*))?")


def plain_item(text: str, line_offset: int) -> Node | None:
    """The list with the one item in `text`, its lines counted from `line_offset` + 1."""
    item: Mapping | None = None
    kernels: Sequence | None = None
    for number, line in enumerate(text.split("\n"), line_offset + 1):
        if not line or line[0] == "#":
            continue
        match = _LINE.fullmatch(line)
        if match is None or line.endswith(" "):
            return None
        indent, key, value = match.groups()
        column = len(indent) + 1
        into: Node | None
        if indent == "- ":
            into = item = Mapping(number, column, [])
        elif indent == "  ":
            into = item
        elif indent == "    - ":
            if kernels is None:
                return None
            into = Mapping(number, column, [])
            kernels.items.append(into)
        else:
            into = kernels.items[-1] if kernels is not None and kernels.items else None
        if not isinstance(into, Mapping):
            return None
        if value is not None:
            node: Node = Scalar(value, True, number, column + len(key) + 2)
        elif key == "kernels" and into is item and kernels is None:
            node = kernels = Sequence(number + 1, 5, [])
        else:
            return None
        into.pairs.append((Scalar(key, True, number, column), node))
    if item is None or (kernels is not None and not kernels.items):
        return None
    return Sequence(item.line, 1, [item])
