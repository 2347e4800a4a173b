"""Which parts of gen-kernels' runtime the models need: those that runtime_features.h names.

runtime/src/features.h says what each part is. Where operators are selected by other means than by
models, the programs that will be loaded are not known, and everything is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .models import Model
from .program import DelegateCall, Dynamism, KernelCall, Method, Program, Tensor, ValueKind
from .selection import Selection

FEATURES = (
    "INT_LISTS",
    "TENSOR_LISTS",
    "OTHER_LISTS",
    "CONTROL_FLOW",
    "DELEGATES",
    "SPECIAL_TENSORS",
    "NUMBER_INPUTS",
    "PRIM_OPERATORS",
    "INLINE_CONSTANTS",
    "KERNEL_KEYS",
)
"""Each is a macro GEN_KERNELS_WITH_... of the runtime."""

_LISTS = {
    ValueKind.INT_LIST: "INT_LISTS",
    ValueKind.TENSOR_LIST: "TENSOR_LISTS",
    ValueKind.OPTIONAL_TENSOR_LIST: "TENSOR_LISTS",
    ValueKind.STRING: "OTHER_LISTS",
    ValueKind.DOUBLE_LIST: "OTHER_LISTS",
    ValueKind.BOOL_LIST: "OTHER_LISTS",
}


def used_features(
    models: Sequence[Model], selection: Selection, *, keyed_kernels: bool
) -> tuple[str, ...]:
    """Those of FEATURES that a method of the models needs.

    `keyed_kernels`: whether a kernel is registered for certain dtypes and dim orders alone.
    """
    origins = (origin for operator in selection.operators for origin in operator.origins)
    if not models or selection.include_all or any(o.kind != "model" for o in origins):
        return FEATURES
    used = {feature for model in models for feature in _used_by_program(model.program)}
    if keyed_kernels:
        used.add("KERNEL_KEYS")
    return tuple(feature for feature in FEATURES if feature in used)


def _used_by_program(program: Program) -> Iterator[str]:
    if any(program.inline_constants):
        yield "INLINE_CONSTANTS"
    for method in program.methods:
        yield from _used_by_method(method)


def _used_by_method(method: Method) -> Iterator[str]:
    if method.delegates:
        yield "DELEGATES"
    if any(name.startswith("executorch_prim::") for name in method.operators):
        yield "PRIM_OPERATORS"
    for value in method.values:
        if value.kind in _LISTS:
            yield _LISTS[value.kind]
        if value.tensor is not None and _is_special(value.tensor, method.buffer_sizes):
            yield "SPECIAL_TENSORS"
    if any(method.values[index].kind is not ValueKind.TENSOR for index in method.inputs):
        yield "NUMBER_INPUTS"
    instructions = (item for chain in method.chains for item in chain.instructions)
    if not all(isinstance(item, (KernelCall, DelegateCall)) for item in instructions):
        yield "CONTROL_FLOW"


def _is_special(tensor: Tensor, buffer_sizes: Sequence[int]) -> bool:
    """As is_plain() of runtime/src/program_check.cpp, the other way round."""
    if tensor.dynamism is not Dynamism.STATIC or tensor.external:
        return True
    place = tensor.allocation
    if place is None:
        return tensor.data_index == 0
    if tensor.data_index or tensor.name or not 0 < place.buffer < len(buffer_sizes):
        return True
    return place.offset + tensor.nbytes > buffer_sizes[place.buffer]
