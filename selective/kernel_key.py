"""Kernel keys: how the runtime names the kernel of a call by its tensors.

The runtime looks an operator's kernel up by name and key when a method is loaded. The key lists
dtype and dim order of each argument that is a tensor, in the order of the instruction's arguments
(out arguments and return slot included, members of tensor lists not), and falls back to the
kernel that was registered without a key. Source: ExecuTorch's operator_registry.h and the
behaviour of libexecutorch 1.5.1, which tests/conformance compares.
"""

from __future__ import annotations

from collections.abc import Iterable

from .program import DTYPES, Call

SCALAR_TYPES: dict[str, int] = {name: number for number, (name, _) in DTYPES.items()}
"""ScalarType name as ExecuTorch spells it ("Float") -> number."""

VERSION = "v1"
DEFAULT = "default"
"""How operator lists write 'any key': the fallback kernel."""

MAX_KEY_BYTES = 658
"""The runtime's buffer for a key, without the final NUL."""


def format_key(tensors: Iterable[tuple[int, tuple[int, ...]]]) -> str:
    """The key of (dtype, dim order) pairs: "v1/6;0,1|6;0,1"; "v1" when there are none."""
    parts = [f"{dtype};{','.join(map(str, order))}" for dtype, order in tensors]
    return f"{VERSION}/{'|'.join(parts)}" if parts else VERSION


def call_key(call: Call) -> str:
    """The key that the runtime asks for when it loads the method of this call."""
    tensors = (value.tensor for value in call.values)
    return format_key((t.dtype, t.dim_order) for t in tensors if t is not None)


def dtype_key(dtype: int) -> str:
    """How operator lists write 'this dtype, dim orders unknown' ("v1/6;")."""
    return format_key([(dtype, ())])


def key_dtypes(key: str) -> tuple[int, ...] | None:
    """The dtypes that a key of an operator list names, sorted; None: every dtype.

    Raises ValueError when the key has another form.
    """
    if key == DEFAULT:
        return None
    version, _, rest = key.strip().partition("/")
    if version != VERSION:
        raise ValueError(f"kernel key '{key}' does not begin with '{VERSION}/'")
    dtypes: set[int] = set()
    for part in rest.split("|") if rest else ():
        dtype, separator, order = part.partition(";")
        dims = order.split(",") if order else []
        if not separator or not all(number.isdecimal() for number in (dtype, *dims)):
            raise ValueError(f"kernel key '{key}': '{part}' is not '<dtype>;<dim order>'")
        if len(dtype) > 2 or int(dtype) not in DTYPES:
            raise ValueError(f"kernel key '{key}': there is no dtype {dtype}")
        dtypes.add(int(dtype))
    return tuple(sorted(dtypes))
