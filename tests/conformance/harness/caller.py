"""Calls kernels of the harness library with torch tensors.

Kernel results land in buffers with guard bytes on both sides: a kernel that writes outside its
out tensor is caught without a sanitizer.
"""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

MAX_DIMS = 16
GUARD = 64
GUARD_BYTE = 0xA5

# ScalarType numbers of the serialized format (c10's enumeration).
DTYPES = {
    torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4,
    torch.float16: 5, torch.float32: 6, torch.float64: 7, torch.bool: 11, torch.bfloat16: 15,
    torch.uint16: 27, torch.uint32: 28, torch.uint64: 29,
}  # fmt: skip
_MEMORY_FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}

NONE, INT, DOUBLE, BOOL, TENSOR, STRING, INTS, DOUBLES, BOOLS, TENSORS, OPT_TENSORS = range(11)


class GkTensor(ctypes.Structure):
    """Mirror of GkTensor in boxed_call.cpp."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dynamism", ctypes.c_int32),
        ("sizes", ctypes.c_int32 * MAX_DIMS),
        ("dim_order", ctypes.c_uint8 * MAX_DIMS),
    )


class GkArg(ctypes.Structure):
    """Mirror of GkArg in boxed_call.cpp."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("i", ctypes.c_int64),
        ("d", ctypes.c_double),
        ("text", ctypes.c_char_p),
        ("tensors", ctypes.POINTER(GkTensor)),
        ("ints", ctypes.POINTER(ctypes.c_int64)),
        ("doubles", ctypes.POINTER(ctypes.c_double)),
        ("bools", ctypes.POINTER(ctypes.c_uint8)),
    )


class NotRepresentableError(Exception):
    """The arguments cannot be carried by ExecuTorch (complex, sparse, overlapping strides, …)."""


class KernelError(Exception):
    """The kernel failed its context; `code` is the executorch::runtime::Error number."""

    def __init__(self, operator: str, code: int) -> None:
        super().__init__(f"{operator}: error {code:#x}")
        self.code = code


def dim_order_of(t: torch.Tensor) -> tuple[int, ...]:
    """The dim order of a dense tensor, outermost first; NotRepresentableError for others."""
    order = sorted(range(t.dim()), key=lambda d: (-t.stride(d), d))
    # Dimensions of size 1 have arbitrary strides: prefer plain order when it fits.
    if t.is_contiguous():
        return tuple(range(t.dim()))
    if t.dim() == 4 and t.is_contiguous(memory_format=torch.channels_last):
        return (0, 2, 3, 1)
    expected = 1
    for d in reversed(order):
        if t.size(d) != 1 and t.stride(d) != expected:
            raise NotRepresentableError("strides with gaps or overlap")
        expected *= max(t.size(d), 1)
    return tuple(order)


@dataclass
class _Call:
    """Keeps Python-owned memory alive for one call."""

    keep: list[Any] = field(default_factory=list)

    def describe(
        self, t: torch.Tensor, pointer: int | None = None, dynamic: bool = False
    ) -> GkTensor:
        if t.dtype not in DTYPES or t.layout is not torch.strided or t.is_conj() or t.is_neg():
            raise NotRepresentableError(f"dtype or layout {t.dtype}, {t.layout}")
        if t.dim() > MAX_DIMS:
            raise NotRepresentableError("too many dims")
        g = GkTensor(pointer if pointer is not None else t.data_ptr(), DTYPES[t.dtype], t.dim())
        g.dynamism = int(dynamic)
        for i, size in enumerate(t.shape):
            g.sizes[i] = size
        for i, axis in enumerate(dim_order_of(t)):
            g.dim_order[i] = axis
        self.keep.append(t)
        return g

    def tensors(self, items: Sequence[torch.Tensor | None]) -> Any:
        described = []
        for t in items:
            if t is None:
                empty = GkTensor()
                empty.ndim = -1
                described.append(empty)
            else:
                described.append(self.describe(t))
        array = (GkTensor * max(len(described), 1))(*described)
        self.keep.append(array)
        return array

    def _array(self, ctype: Any, items: Sequence[Any]) -> Any:
        array = (ctype * max(len(items), 1))(*items)
        self.keep.append(array)
        return ctypes.cast(array, ctypes.POINTER(ctype))

    def argument(self, value: Any, type_text: str) -> GkArg:
        """A Python value as the argument of a schema type ("Optional[int]", "List[Tensor]")."""
        inner = type_text
        if inner.startswith("Optional["):
            if value is None:
                return GkArg(NONE)
            inner = inner[len("Optional[") : -1]
        if isinstance(value, torch.Tensor):
            return GkArg(TENSOR, 1, tensors=self.tensors([value]))
        if inner == "Tensor" and value is not None:
            raise NotRepresentableError("a number where the schema has a tensor")
        if isinstance(value, torch.dtype):
            if value not in DTYPES:
                raise NotRepresentableError(str(value))
            return GkArg(INT, i=DTYPES[value])
        if isinstance(value, torch.memory_format):
            return GkArg(INT, i=_MEMORY_FORMATS[value])
        if isinstance(value, str):
            return GkArg(STRING, text=value.encode())
        if isinstance(value, bool) and inner not in ("int", "float"):
            return GkArg(BOOL, i=int(value))
        if isinstance(value, (int, bool)) and inner == "float":
            return GkArg(DOUBLE, d=float(value))
        if isinstance(value, (int, bool)):
            if not -(2**63) <= value < 2**63:
                raise NotRepresentableError("integer out of range")
            return GkArg(INT, i=int(value))
        if isinstance(value, float):
            return GkArg(DOUBLE, d=value)
        if isinstance(value, (list, tuple)) or inner.startswith("List["):
            return self._list(value, inner)
        if value is None:
            return GkArg(NONE)
        raise NotRepresentableError(f"{type(value).__name__} for {type_text}")

    def _list(self, value: Any, type_text: str) -> GkArg:
        if not isinstance(value, (list, tuple)):
            value = [value]
        n = len(value)
        if "Optional[Tensor]" in type_text:
            return GkArg(OPT_TENSORS, n, tensors=self.tensors(value))
        if "Tensor" in type_text:
            return GkArg(TENSORS, n, tensors=self.tensors(value))
        if "float" in type_text:
            return GkArg(
                DOUBLES, n, doubles=self._array(ctypes.c_double, [float(v) for v in value])
            )
        if "bool" in type_text:
            return GkArg(BOOLS, n, bools=self._array(ctypes.c_uint8, [int(v) for v in value]))
        return GkArg(INTS, n, ints=self._array(ctypes.c_int64, [int(v) for v in value]))


@dataclass
class Out:
    """A result buffer between guards, big enough for `capacity_shape`."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    dim_order: tuple[int, ...]
    dynamic: bool
    storage: torch.Tensor
    elements: int
    data: int = 0  # where a call left the result's data: elsewhere for a result that is a view

    @staticmethod
    def like(t: torch.Tensor, grow: int = 0) -> Out:
        """For a result that looks like `t`; `grow` adds to each size (the kernel must resize)."""
        shape = tuple(s + grow for s in t.shape)
        elements = 1
        for s in shape:
            elements *= s
        size = elements * t.element_size()
        storage = torch.full((size + 2 * GUARD,), GUARD_BYTE, dtype=torch.uint8)
        return Out(shape, t.dtype, dim_order_of(t), grow > 0, storage, elements)

    def describe(self) -> GkTensor:
        g = GkTensor(self.storage.data_ptr() + GUARD, DTYPES[self.dtype], len(self.shape))
        g.dynamism = int(self.dynamic)
        for i, size in enumerate(self.shape):
            g.sizes[i] = size
        for i, axis in enumerate(self.dim_order):
            g.dim_order[i] = axis
        return g

    def result(self, g: GkTensor) -> torch.Tensor:
        """The tensor that the kernel wrote; AssertionError when a guard byte changed."""
        self.data = g.data or 0
        assert bool((self.storage[:GUARD] == GUARD_BYTE).all()), "wrote before the out tensor"
        assert bool((self.storage[-GUARD:] == GUARD_BYTE).all()), "wrote behind the out tensor"
        sizes = [g.sizes[i] for i in range(g.ndim)]
        order = [g.dim_order[i] for i in range(g.ndim)]
        strides = [0] * g.ndim
        step = 1
        for axis in reversed(order):
            strides[axis] = step
            step *= max(sizes[axis], 1)
        count = 1
        for s in sizes:
            count *= s
        assert count <= self.elements, f"resized to {sizes}, beyond the bound {self.shape}"
        body = self.storage[GUARD : len(self.storage) - GUARD].clone()
        typed = body.view(self.dtype) if len(body) else torch.empty(0, dtype=self.dtype)
        return (
            typed.as_strided(sizes, strides).clone()
            if count
            else torch.empty(sizes, dtype=self.dtype)
        )


def _own_namespace(path: Path) -> int:
    """Loads a library and all that it needs into a new link namespace (glibc's dlmopen)."""
    libc = ctypes.CDLL(None)
    libc.dlmopen.restype = ctypes.c_void_p
    libc.dlmopen.argtypes = [ctypes.c_long, ctypes.c_char_p, ctypes.c_int]
    new_namespace, resolve_now = -1, 2
    handle = libc.dlmopen(new_namespace, str(path).encode(), resolve_now)
    if not handle:
        libc.dlerror.restype = ctypes.c_char_p
        raise OSError(libc.dlerror().decode())
    return int(handle)


CALLS: Counter[tuple[str, str, str]] = Counter()
"""Calls that an operator took, by test (its node id), operator and dtype of the first tensor."""


def log_calls(path: Path, failed_tests: Collection[str]) -> None:
    """Appends a line for each operator and dtype: how many calls, how many in failed tests."""
    totals: dict[tuple[str, str], list[int]] = {}
    for (test, operator, dtype), count in CALLS.items():
        total = totals.setdefault((operator, dtype), [0, 0])
        total[0] += count
        total[1] += count * (test in failed_tests)
    lines = [f"{op}\t{dtype}\t{n}\t{bad}\n" for (op, dtype), (n, bad) in totals.items()]
    with path.open("a") as out:
        out.write("".join(sorted(lines)))


class Library:
    """The harness library, loaded."""

    def __init__(self, path: Path, *, isolated: bool = False) -> None:
        """`isolated` gives it a link namespace (and runtime) of its own, for processes in which
        executorch's Python package has registered its kernels already."""
        self._lib = ctypes.CDLL(str(path), handle=_own_namespace(path) if isolated else None)
        self._lib.gk_call.argtypes = [
            ctypes.c_char_p, ctypes.POINTER(GkArg), ctypes.c_int, ctypes.c_int,
            ctypes.POINTER(GkArg),
        ]  # fmt: skip
        names = (ctypes.c_char_p * 4096)()
        count = self._lib.gk_registered(names, 4096)
        self.operators = {names[i].decode() for i in range(count)}

    def call(
        self, operator: str, schema: torch.FunctionSchema, values: Sequence[Any], outs: list[Any]
    ) -> list[Any]:
        """Runs `operator`. `values` are all arguments but the results, in the schema's order.

        `outs`: one `Out` a result (a list of `Out` for a tensor-list result). Returns tensors in
        the same shape, or the number that an operator without results returns.
        Raises KernelError, NotRepresentableError, AssertionError.
        """
        call = _Call()
        arguments = [
            call.argument(v, str(a.type)) for v, a in zip(values, schema.arguments, strict=False)
        ]
        described = []
        for out in outs:
            items = [o.describe() for o in (out if isinstance(out, list) else [out])]
            array = (GkTensor * max(len(items), 1))(*items)
            described.append(array)
            kind = TENSORS if isinstance(out, list) else TENSOR
            arguments.append(GkArg(kind, len(items), tensors=array))
        packed = (GkArg * max(len(arguments), 1))(*arguments)
        number = GkArg()
        code = self._lib.gk_call(
            operator.encode(), packed, len(arguments), len(outs), ctypes.byref(number)
        )
        if code:
            # Guards must hold even for a refused call.
            for out in outs:
                for o in out if isinstance(out, list) else [out]:
                    assert bool((o.storage[:GUARD] == GUARD_BYTE).all())
                    assert bool((o.storage[-GUARD:] == GUARD_BYTE).all())
            raise KernelError(operator, code)
        leading = next((v.dtype for v in values if isinstance(v, torch.Tensor)), None)
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        CALLS[test, operator, str(leading).removeprefix("torch.")] += 1
        if not outs:
            returned = {INT: number.i, DOUBLE: number.d, BOOL: bool(number.i)}.get(number.kind)
            return [] if returned is None else [returned]
        results: list[Any] = []
        for out, array in zip(outs, described, strict=True):
            if isinstance(out, list):
                results.append([o.result(g) for o, g in zip(out, array, strict=False)])
            else:
                results.append(out.result(array[0]))
        return results
