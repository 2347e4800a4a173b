"""The facts of a model as JSON values."""

from __future__ import annotations

import math
from typing import Any

from .call_ways import ways_json
from .memory_map import BufferMap
from .memory_plan import planned_total, pools
from .program import (
    DelegateCall,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    Program,
    Value,
    dtype_name,
)
from .report import MethodFacts, ModelFacts, coverage_counts

Json = dict[str, Any]


def model_json(facts: ModelFacts) -> Json:
    """Everything that is known of a model. Indices are those of the file."""
    program = facts.model.program
    return {
        "file": facts.model.display,
        "size": program.size,
        "program_size": program.program_size,
        "version": program.version,
        "num_methods": len(program.methods),
        "segments": [{"offset": s.offset, "size": s.size} for s in program.segments],
        "named_data": [
            {"name": name, "segment": index, "size": program.segments[index].size}
            for name, index in program.named_data
        ],
        "missing_data": list(facts.missing_data),
        "methods": [_method_json(item, program) for item in facts.methods],
    }


def _method_json(facts: MethodFacts, program: Program) -> Json:
    method = facts.method
    devices = {index: (kind, number) for index, kind, number in method.devices}
    return {
        "name": method.name,
        "inputs": list(method.inputs),
        "outputs": list(method.outputs),
        "values": [_value_json(value) for value in method.values],
        "operators": [
            {
                "name": operator.name,
                "coverage": operator.coverage,
                "kernels": list(operator.kernels),
                "sources": list(operator.sources),
                "calls": len(operator.positions),
                "positions": [list(position) for position in operator.positions],
                "dtypes": [dtype_name(dtype) for dtype in operator.dtypes],
                "ranks": list(operator.ranks),
                "keys": list(operator.keys),
            }
            for operator in facts.operators
        ],
        "coverage": coverage_counts(facts),
        "instruction_counts": facts.counts,
        "chains": [
            [
                _instruction_json(method, item, chain.frames[index] if chain.frames else ())
                for index, item in enumerate(chain.instructions)
            ]
            for chain in method.chains
        ],
        "delegates": [
            {
                "id": delegate.id,
                "size": delegate.size,
                "place": "segment" if delegate.in_segment else "inline",
                "index": delegate.index,
                "compile_specs": [{"key": key, "size": size} for key, size in delegate.specs],
            }
            for delegate in method.delegates
        ],
        "constants": [
            {
                "value": item.value,
                "name": item.name,
                "dtype": dtype_name(item.tensor.dtype),
                "sizes": list(item.tensor.sizes),
                "bytes": item.tensor.nbytes,
                "external": item.external,
            }
            for item in facts.constants
        ],
        "pools": {
            f"{8 * pointer}-bit": {
                **pools(method, pointer)._asdict(),
                "planned": planned_total(method),
            }
            for pointer in (4, 8)
        },
        "kernel_temporary_bytes": facts.temporary,
        "calls": ways_json(facts.ways),
        "state": list(facts.state),
        "dynamic": list(facts.dynamic),
        "buffers": [_buffer_json(part, devices.get(part.buffer, (0, 0))) for part in facts.memory],
    }


def _buffer_json(part: BufferMap, device: tuple[int, int]) -> Json:
    return {
        "index": part.buffer,
        "size": part.size,
        "device": {"type": device[0], "index": device[1]},
        "peak": part.peak,
        "peak_at": part.peak_at,
        "occupants": [
            {
                "offset": item.offset,
                "size": item.size,
                "start": item.start,
                "end": item.end,
                "values": list(item.values),
                "role": item.role,
            }
            for item in part.occupants
        ],
    }


def _value_json(value: Value) -> Json:
    tensor = value.tensor
    if tensor is None:
        payload = value.payload
        plain = (
            [_finite(item) for item in payload] if isinstance(payload, tuple) else _finite(payload)
        )
        return {"kind": value.kind.name.lower(), "value": plain}
    place = tensor.allocation
    found: Json = {
        "kind": "tensor",
        "dtype": dtype_name(tensor.dtype),
        "sizes": list(tensor.sizes),
        "dim_order": list(tensor.dim_order),
        "bytes": tensor.nbytes,
        "dynamism": tensor.dynamism.name.lower(),
        "constant": tensor.is_constant,
    }
    if place is not None:
        found["buffer"], found["offset"] = place.buffer, place.offset
        found["initial_state"] = tensor.data_index > 0
    if tensor.name:
        found["name"], found["external"] = tensor.name, tensor.external
    if tensor.device != (0, 0):
        found["device"] = {"type": tensor.device[0], "index": tensor.device[1]}
    return found


def _finite(item: object) -> object:
    """JSON has no infinities and no NaN: those as text."""
    return str(item) if isinstance(item, float) and not math.isfinite(item) else item


def _instruction_json(method: Method, item: Instruction, frames: tuple[Any, ...]) -> Json:
    found: Json
    if isinstance(item, KernelCall):
        found = {"kind": "kernel", "operator": method.operators[item.operator]}
        found["args"] = list(item.args)
    elif isinstance(item, DelegateCall):
        found = {"kind": "delegate", "delegate": item.delegate, "args": list(item.args)}
    elif isinstance(item, MoveCall):
        found = {"kind": "move", "from": item.source, "to": item.target}
    elif isinstance(item, JumpFalseCall):
        found = {"kind": "jump_false", "condition": item.condition, "to": item.destination}
    else:
        assert isinstance(item, FreeCall)
        found = {"kind": "free", "value": item.value}
    if frames:
        found["source"] = [
            {"file": f.file, "line": f.line, "function": f.function, "text": f.source}
            for f in frames
        ]
    return found
