"""What is in a model, as facts that the text, JSON and HTML reports print."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..codegen.model import CatalogueEntry
from .call_ways import CallWay, call_ways
from .constants import integer_constants
from .kernel_key import call_key
from .kernel_memory import temporary_bytes
from .memory_map import BufferMap, memory_map
from .memory_plan import planned_total, pools
from .models import Model
from .program import (
    Allocation,
    Call,
    DelegateCall,
    Dynamism,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Tensor,
    Value,
    ValueKind,
    calls,
    dtype_name,
)

OPTIMISED, YOURS, PRIM, MISSING, DELEGATE = "optimised", "yours", "prim", "missing", "delegate"

_SCRATCH = ("scratch", "scratch_buffer")  # the cortex_m schemas do not mark these as written

Find = Callable[[str], CatalogueEntry | None]


class OperatorFacts(NamedTuple):
    """One operator of a method.

    `coverage`: "optimised" (CORE-V instructions), "portable", "quantized", "cortex_m" (plain C++),
    "prim" (the runtime's own), "yours" (a catalogue of the user's) or "missing". `shapes` are the
    distinct argument lists of its calls.
    """

    name: str
    coverage: str
    kernels: tuple[str, ...]
    sources: tuple[str, ...]
    positions: tuple[tuple[int, int], ...]
    dtypes: tuple[int, ...]
    keys: tuple[str, ...]
    ranks: tuple[int, ...]


class ConstantFacts(NamedTuple):
    """A weight. `external`: it lies in a .ptd file, under `name`."""

    value: int
    name: str
    tensor: Tensor
    external: bool


class MethodFacts(NamedTuple):
    """One method. `state` are values that keep their bytes from run to run.

    `constant_bytes` counts data that several constants share once. `temporary` is the most memory
    that a kernel takes for a call. `ways` is told for a target.
    """

    method: Method
    operators: tuple[OperatorFacts, ...]
    constants: tuple[ConstantFacts, ...]
    constant_bytes: int
    state: tuple[int, ...]
    memory: tuple[BufferMap, ...]
    counts: dict[str, int]
    dynamic: tuple[int, ...]
    temporary: int
    ways: tuple[CallWay, ...] = ()


class ModelFacts(NamedTuple):
    """A whole model. `missing_data`: names of tensors that no data file given has."""

    model: Model
    methods: tuple[MethodFacts, ...]
    missing_data: tuple[str, ...] = ()


def model_facts(
    model: Model,
    find: Find,
    data_names: frozenset[str] | None = None,
    with_ways: bool = False,
) -> ModelFacts:
    """The facts of a model; `find` gives the catalogue entry that serves an operator.

    `data_names` are the tensors in the data files given; None: none was given. `with_ways`: say
    which way each call takes through its kernel, which reads the model's small constants.
    """
    methods = tuple(_method_facts(method, find) for method in model.program.methods)
    if with_ways:
        constants = integer_constants(model)
        methods = tuple(
            item._replace(ways=call_ways(item.method, find, constants)) for item in methods
        )
    missing: set[str] = set()
    if data_names is not None:
        missing = {c.name for m in methods for c in m.constants if c.external} - data_names
    return ModelFacts(model, methods, tuple(sorted(missing)))


def _method_facts(method: Method, find: Find) -> MethodFacts:
    by_name: dict[str, list[Call]] = {name: [] for name in method.operators}
    for call in calls(method):
        by_name[call.operator].append(call)
    tensors = [(index, value.tensor) for index, value in enumerate(method.values)]
    constants = [
        ConstantFacts(index, tensor.name, tensor, tensor.external)
        for index, tensor in tensors
        if tensor is not None and tensor.is_constant
    ]

    def written(name: str) -> tuple[int, ...]:
        entry = find(name)
        arguments = entry.schema.arguments if entry else ()
        return tuple(
            at for at, item in enumerate(arguments) if item.is_write or item.name in _SCRATCH
        )

    memory = memory_map(method, written)
    return MethodFacts(
        method=method,
        operators=tuple(_operator_facts(name, by_name[name], find) for name in sorted(by_name)),
        constants=tuple(sorted(constants, key=lambda item: (-item.tensor.nbytes, item.value))),
        constant_bytes=sum(
            {
                (item.external, item.name if item.external else item.tensor.data_index): (
                    item.tensor.nbytes
                )
                for item in constants
            }.values()
        ),
        state=tuple(
            item.values[0] for part in memory for item in part.occupants if item.role == "state"
        ),
        memory=memory,
        counts=_counts(method),
        dynamic=tuple(
            index
            for index, tensor in tensors
            if tensor is not None and tensor.dynamism is not Dynamism.STATIC
        ),
        temporary=temporary_bytes(method, _symbols(method, find)),
    )


def _symbols(method: Method, find: Find) -> dict[str, str]:
    """Operator -> C++ symbol of the kernel that serves it."""
    entries = ((name, find(name)) for name in method.operators)
    return {name: entry.kernels[0].symbol for name, entry in entries if entry and entry.kernels}


def _operator_facts(name: str, found: list[Call], find: Find) -> OperatorFacts:
    entry = find(name)
    tensors = [tensor for call in found for tensor in call.tensors]
    kernels = entry.kernels if entry else ()
    return OperatorFacts(
        name=name,
        coverage=coverage(entry),
        kernels=tuple(kernel.symbol for kernel in kernels),
        sources=tuple(sorted({kernel.source for kernel in kernels if kernel.source})),
        positions=tuple(call.position for call in found),
        dtypes=tuple(sorted({tensor.dtype for tensor in tensors})),
        keys=tuple(sorted({call_key(call) for call in found})),
        ranks=tuple(sorted({len(tensor.sizes) for tensor in tensors})),
    )


def coverage(entry: CatalogueEntry | None) -> str:
    """Who serves an operator, see OperatorFacts."""
    if entry is None:
        return MISSING
    if not entry.bundled:
        return YOURS
    if any(kernel.source is None for kernel in entry.kernels):
        return MISSING
    if entry.boxed:
        return PRIM
    folders = {str(kernel.source).partition("/")[0] for kernel in entry.kernels}
    return OPTIMISED if "corev" in folders else min(folders, default=MISSING)


_INSTRUCTION_NAMES: tuple[tuple[type[Instruction], str], ...] = (
    (KernelCall, "kernel call"),
    (DelegateCall, "delegate call"),
    (MoveCall, "move"),
    (JumpFalseCall, "jump"),
    (FreeCall, "free"),
)


def _counts(method: Method) -> dict[str, int]:
    """How many instructions there are of each kind that occurs: "kernel call" -> 12, ..."""
    counts: dict[str, int] = {}
    for kind, name in _INSTRUCTION_NAMES:
        count = sum(
            isinstance(item, kind) for chain in method.chains for item in chain.instructions
        )
        if count:
            counts[name] = count
    return counts


def coverage_counts(facts: MethodFacts) -> dict[str, int]:
    """Calls by coverage: "portable" -> 12, ...; delegate calls as "delegate"."""
    counts: dict[str, int] = {}
    for operator in facts.operators:
        counts[operator.coverage] = counts.get(operator.coverage, 0) + len(operator.positions)
    delegate_calls = facts.counts.get("delegate call", 0)
    if delegate_calls:
        counts[DELEGATE] = delegate_calls
    return dict(sorted(counts.items()))


POOL_COLUMNS = ("bytes of pools", "method", "with temp", "temp", "planned")


def pool_rows(facts: MethodFacts) -> tuple[tuple[str, str, str, str, str], ...]:
    """Sizes of the pools: machine and runtime, method pool, with temp, temp, planned."""
    method, kernels = facts.method, facts.temporary
    planned = f"{planned_total(method):,}"
    rows: list[tuple[str, str, str, str, str]] = []
    for bits, found in ((32, pools(method, 4)), (64, pools(method, 8))):
        micro = f"{found.micro:,}"
        rows.append((f"{bits}-bit", micro, micro, f"{kernels:,}", planned))
        temporary = max(found.executorch_temp, kernels)
        numbers = (found.executorch_alone, found.executorch, temporary)
        alone, with_temp, temp = (f"{number:,}" for number in numbers)
        rows.append((f"{bits}-bit, ExecuTorch's runtime", alone, with_temp, temp, planned))
    return tuple(rows)


def tensor_text(tensor: Tensor) -> str:
    """A tensor in short: "Float[2, 3]"; dynamic sizes as bounds, unusual dim orders named."""
    bound = {Dynamism.DYNAMIC_BOUND: "<=", Dynamism.DYNAMIC_UNBOUND: "?"}.get(tensor.dynamism, "")
    sizes = ", ".join(str(size) for size in tensor.sizes)
    text = f"{dtype_name(tensor.dtype)}[{bound}{sizes}]"
    if tensor.dim_order != tuple(range(len(tensor.sizes))):
        text += f" order {','.join(map(str, tensor.dim_order))}"
    return text


def value_text(method: Method, index: int, limit: int = 8) -> str:
    """A value in short: its number and what it is; lists are cut behind `limit` items."""
    value = method.values[index]
    if value.tensor is not None:
        return f"{tensor_text(value.tensor)}"
    return _plain_text(method, value, limit)


def _plain_text(method: Method, value: Value, limit: int) -> str:
    payload = value.payload
    if value.kind == ValueKind.NULL:
        return "None"
    if isinstance(payload, tuple):
        shown = [_item_text(method, value, item) for item in payload[:limit]]
        return f"[{', '.join(shown)}{', ...' if len(payload) > limit else ''}]"
    if isinstance(payload, str):
        return repr(payload)
    return str(payload)


def _item_text(method: Method, value: Value, item: float) -> str:
    if value.kind not in (ValueKind.INT_LIST, *_TENSOR_LISTS):
        return str(item)
    if item < 0:
        return "None"
    member = method.values[int(item)]
    return tensor_text(member.tensor) if member.tensor is not None else str(member.payload)


_TENSOR_LISTS = (ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST)


def place_text(place: Allocation | None) -> str:
    """Where a planned tensor lies: "buffer 1 + 96"."""
    return f"buffer {place.buffer} + {place.offset}" if place else ""
