"""Cases from torch's own OpInfo samples: each aten call of a sample, as an out-variant call.

Each sample input of torch.testing._internal's op_db runs in eager mode under a dispatch mode that
sees the aten operators it reaches. An operator whose out variant is in our catalogues gives a case:
the arguments, and eager's result as the reference.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

DTYPES = (
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
    torch.int16, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One call: the catalogue's operator, every argument but the results, eager's results."""

    operator: str
    schema: torch.FunctionSchema
    values: tuple[Any, ...]
    expected: tuple[Any, ...]
    source: str
    functional: Any = None
    # PyTorch's own (rtol, atol) for the operator where it has one wider than the dtype's.
    tolerance: tuple[float, float] | None = None

    def in_float(self) -> tuple[Any, ...] | None:
        """The results when Half and BFloat16 are computed in Float; None when there are none.

        Eager rounds intermediate values of some operators (add's `alpha * other`) to Half; kernels
        that compute in Float are at least as right.
        """
        low = (torch.float16, torch.bfloat16)
        leaves = torch.utils._pytree.tree_leaves(self.values)
        if self.functional is None or not any(
            isinstance(v, torch.Tensor) and v.dtype in low for v in leaves
        ):
            return None
        up = tree_map(
            lambda v: v.float() if isinstance(v, torch.Tensor) and v.dtype in low else v,
            self.values,
        )
        try:
            arguments = self.functional._schema.arguments
            positional = [v for v, a in zip(up, arguments, strict=True) if not a.kwarg_only]
            named = {a.name: v for v, a in zip(up, arguments, strict=True) if a.kwarg_only}
            result = self.functional(*positional, **named)
        except Exception:  # an operator that wants the original dtype
            return None
        results = result if isinstance(result, tuple) else (result,)
        return tree_map(
            lambda r, e: r.to(e.dtype) if isinstance(r, torch.Tensor) else r,
            results,
            self.expected,
        )

    def describe(self) -> str:
        """The call in one line, tensors as dtype and shape."""
        return f"{self.operator}({', '.join(map(brief, self.values))}) [{self.source}]"


def brief(value: Any) -> str:
    """A short text of an argument."""
    if isinstance(value, torch.Tensor):
        strides = "" if value.is_contiguous() else f"/{list(value.stride())}"
        return f"{str(value.dtype)[6:]}{list(value.shape)}{strides}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(brief, value)) + "]"
    return repr(value)


def find_overload(operator: str) -> torch._ops.OpOverload | None:
    """The torch OpOverload of "aten::add.out", None when this torch has none."""
    namespace, _, rest = operator.partition("::")
    base, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, overload or "default", None) if packet is not None else None


def inputs_of(schema: torch.FunctionSchema) -> tuple[tuple[str, str], ...]:
    """Names and types of the arguments that are no results."""
    return tuple((a.name, str(a.type)) for a in schema.arguments if not a.is_out)


class OutVariants:
    """From functional overloads to the catalogue's out variants of the same arguments."""

    def __init__(self, operators: Iterable[str]) -> None:
        self.by_functional: dict[torch._ops.OpOverload, list[tuple[str, Any]]] = {}
        for operator in sorted(operators):
            out = find_overload(operator)
            if out is None or not operator.startswith("aten::"):
                continue
            base = operator[6:].partition(".")[0]
            bases = [base, base.removesuffix("_copy")] if base.endswith("_copy") else [base]
            for candidate in bases:
                packet = getattr(torch.ops.aten, candidate, None)
                for name in packet.overloads() if packet is not None else ():
                    functional = getattr(packet, name)
                    schema = functional._schema
                    if any(a.is_out for a in schema.arguments) or schema.is_mutable:
                        continue
                    if inputs_of(schema) == inputs_of(out._schema):
                        self.by_functional.setdefault(functional, []).append(
                            (operator, out._schema)
                        )


def normalise(schema: torch.FunctionSchema, args: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All non-result arguments in the schema's order, defaults filled in."""
    values = []
    positional = list(args)
    for i, argument in enumerate(a for a in schema.arguments if not a.is_out):
        if i < len(positional):
            values.append(positional[i])
        elif argument.name in kwargs:
            values.append(kwargs[argument.name])
        else:
            values.append(argument.default_value)
    return tuple(values)


def snapshot(value: Any) -> Any:
    """A detached copy with its own memory and the same strides where they are dense."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.preserve_format)
    return value


def owns_its_storage(t: torch.Tensor) -> bool:
    """Whether a tensor's values are all that its storage holds."""
    return t.storage_offset() == 0 and t.untyped_storage().nbytes() == t.numel() * t.element_size()


class Recorder(TorchDispatchMode):
    """Records the catalogue's calls while code runs under it."""

    def __init__(self, variants: OutVariants, limit: int) -> None:
        super().__init__()
        self.variants = variants
        self.limit = limit
        self.seen: Counter[tuple[str, str]] = Counter()
        self.keys: set[str] = set()
        self.cases: list[Case] = []
        self.source = ""
        self.tolerance: tuple[float, float] | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        wanted = self.variants.by_functional.get(func)
        if not wanted:
            return func(*args, **kwargs)
        if "as_strided" in str(func) and not owns_its_storage(args[0]):
            # as_strided reads the storage behind a view; ExecuTorch's tensors have none.
            return func(*args, **kwargs)
        values = tree_map(snapshot, normalise(func._schema, args, kwargs))
        result = func(*args, **kwargs)
        for operator, schema in wanted:
            flat = torch.utils._pytree.tree_leaves(values)
            dtype = next((str(v.dtype) for v in flat if isinstance(v, torch.Tensor)), "")
            key = f"{operator}|{'|'.join(map(brief, values))}"
            if key in self.keys or self.seen[operator, dtype] >= self.limit:
                continue
            self.keys.add(key)
            self.seen[operator, dtype] += 1
            results = result if isinstance(result, (tuple,)) else (result,)
            expected = tuple(tree_map(snapshot, r) for r in results)
            self.cases.append(
                Case(operator, schema, values, expected, self.source, func, self.tolerance)
            )
        return result


def own_tolerance(info: Any, dtype: torch.dtype) -> tuple[float, float] | None:
    """The widest (rtol, atol) that PyTorch's common tests allow between implementations, if any.

    Those of other devices count: like ours, their kernels add in another order than eager's.
    """
    from torch.testing._internal.common_device_type import toleranceOverride

    allowed = [
        decorator.d[dtype]
        for group in info.decorators
        for decorator in getattr(group, "decorators", [])
        if isinstance(decorator, toleranceOverride) and dtype in decorator.d
        if getattr(group, "cls_name", None) in (None, "TestCommon")
    ]
    if not allowed:
        return None
    return max(t.rtol for t in allowed), max(t.atol for t in allowed)


def opinfo_cases(
    operators: Iterable[str],
    *,
    dtypes: Iterable[torch.dtype] = DTYPES,
    limit: int = 40,
    only: str | None = None,
    first: int | None = None,
) -> Iterator[Case]:
    """Yields cases for `operators`, at most `limit` an operator and leading dtype.

    `only`: run just the OpInfos whose name contains this text; `first`: their first samples only.
    """
    from torch.testing._internal.common_methods_invocations import op_db

    recorder = Recorder(OutVariants(operators), limit)
    warnings.simplefilter("ignore")
    for info in op_db:
        if only and only not in info.name:
            continue
        for dtype in dtypes:
            if not info.supports_dtype(dtype, "cpu"):
                continue
            torch.manual_seed(0)
            recorder.source = f"{info.name} {str(dtype)[6:]}"
            recorder.tolerance = own_tolerance(info, dtype)
            try:
                samples = list(islice(info.sample_inputs("cpu", dtype, requires_grad=False), first))
            except Exception:  # a sample generator that needs what this machine lacks
                continue
            for sample in samples:
                with recorder:
                    try:
                        info.op(sample.input, *sample.args, **sample.kwargs)
                    except Exception:  # a sample that eager itself refuses
                        continue
            yield from recorder.cases
            recorder.cases.clear()
