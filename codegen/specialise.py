"""Kernel keys of a kernel that its catalogue entry limits to some dtypes and dim orders.

    type_alias:      {T0: [Float, Half]}
    dim_order_alias: {D0: [0, 1]}            (or a list of orders: [[0, 1], [1, 0]])
    arg_meta:        {self: [T0, D0], out: [T0, D0]}

gives one key for each choice of dtypes and orders; arguments under the same alias share the choice.
The runtime builds its key from the tensors of the call in argument order, the return slot included
and the members of tensor lists not: an optional tensor that arg_meta leaves out means "not given".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..selective.kernel_key import MAX_KEY_BYTES, format_key
from .schema import Argument, BaseType, OptionalType, Schema

MAX_KEYS = 4096
"""Most keys of one kernel; each costs a row of the registration table."""

MAX_DIMS = 16
"""Most dimensions of a tensor."""


class SpecialiseError(ValueError):
    """Kernel metadata that no call can ever match. `argument` is "" or the one at fault."""

    def __init__(self, message: str, argument: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.hint = hint


class ArgumentMeta(NamedTuple):
    """What arg_meta says of one argument: the names of its two aliases."""

    argument: str
    type_alias: str
    dim_order_alias: str


def is_key_argument(argument: Argument) -> bool:
    """Whether the argument takes part in kernel keys: a tensor or an optional one."""
    element = argument.type
    if isinstance(element, OptionalType):
        element = element.element
    return element == BaseType("Tensor")


def key_arguments(schema: Schema, listed: Sequence[str]) -> tuple[str, ...]:
    """Names of the arguments in the order of the key, the returned one repeated at the end.

    `listed` are the arguments that arg_meta names. Raises SpecialiseError for a name that is not
    an argument or takes no part in keys, and for a tensor that is left out.
    """
    arguments = {a.name: a for a in schema.arguments}
    for name in listed:
        if name not in arguments:
            raise SpecialiseError(f"{schema.name} has no argument '{name}'", name)
        if not is_key_argument(arguments[name]):
            raise SpecialiseError(
                f"argument '{name}' has type {arguments[name].type}",
                name,
                "only Tensor and Tensor? take part in kernel keys",
            )
    key = [a.name for a in schema.arguments if a.name in listed]
    for argument in schema.arguments:
        if argument.type == BaseType("Tensor") and argument.name not in listed:
            raise SpecialiseError(
                f"arg_meta leaves out the tensor '{argument.name}', so that no call matches",
                hint=f"add {argument.name}: [<type alias>, <dim order alias>]",
            )
    if len(schema.returns) == 1 and schema.returns[0].type == BaseType("Tensor"):
        alias = schema.returns[0].alias
        returned = [a.name for a in schema.arguments if alias is not None and a.alias == alias]
        if len(returned) != 1:
            raise SpecialiseError(
                f"{schema.name} returns a tensor that is not one of its arguments",
                hint="only out variants can have specialised kernels",
            )
        key += returned
    return tuple(key)


def expand_keys(
    schema: Schema,
    metas: Sequence[ArgumentMeta],
    dtypes: Mapping[str, Sequence[int]],
    dim_orders: Mapping[str, Sequence[tuple[int, ...]]],
) -> tuple[str, ...]:
    """All kernel keys, in the order of the aliases' first use and of the values written.

    `dtypes` and `dim_orders` give each alias its choices (ScalarType numbers; orders).
    Raises SpecialiseError; aliases must exist.
    """
    by_name = {meta.argument: meta for meta in metas}
    slots = [by_name[name] for name in key_arguments(schema, list(by_name))]
    types = list(dict.fromkeys(meta.type_alias for meta in slots))
    orders = list(dict.fromkeys(meta.dim_order_alias for meta in slots))
    count = math.prod(len(dtypes[a]) for a in types) * math.prod(len(dim_orders[a]) for a in orders)
    if count > MAX_KEYS:
        raise SpecialiseError(
            f"the aliases stand for {count} kernel keys, more than {MAX_KEYS}",
            hint="leave out arg_meta: the fallback kernel serves every dtype",
        )
    keys = []
    for type_choice in itertools.product(*(dtypes[a] for a in types)):
        dtype = dict(zip(types, type_choice, strict=True))
        for order_choice in itertools.product(*(dim_orders[a] for a in orders)):
            order = dict(zip(orders, order_choice, strict=True))
            key = format_key((dtype[m.type_alias], order[m.dim_order_alias]) for m in slots)
            if len(key) > MAX_KEY_BYTES:
                raise SpecialiseError(
                    f"a kernel key of {len(key)} bytes; the runtime holds {MAX_KEY_BYTES}"
                )
            keys.append(key)
    return tuple(dict.fromkeys(keys))
