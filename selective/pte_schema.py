"""The tables of a `.pte` file: names of their fields in slot order.

Source: ExecuTorch's schema/program.fbs (1.5.1). Fields are only ever added at the end, so files
of every release read with these.
"""

from __future__ import annotations

from .flatbuffer import Layout

PROGRAM = Layout(
    "Program",
    "version execution_plan constant_buffer backend_delegate_data segments constant_segment "
    "mutable_data_segments named_data",
)
PLAN = Layout(
    "ExecutionPlan",
    "name container_meta_type values inputs outputs chains operators delegates "
    "non_const_buffer_sizes non_const_buffer_device",
)
CONTAINER = Layout("ContainerMetadata", "encoded_inp_str encoded_out_str")
EVALUE = Layout("EValue", "val_type val")
TENSOR = Layout(
    "Tensor",
    "scalar_type storage_offset sizes dim_order requires_grad data_buffer_idx allocation_info "
    "layout shape_dynamism extra_tensor_info",
)
ALLOCATION = Layout("AllocationDetails", "memory_id memory_offset_low memory_offset_high")
EXTRA = Layout(
    "ExtraTensorInfo",
    "mutable_data_segments_idx fully_qualified_name location device_type device_index",
)
NULL = Layout("Null", "")
INT = Layout("Int", "int_val")
BOOL = Layout("Bool", "bool_val")
DOUBLE = Layout("Double", "double_val")
STRING = Layout("String", "string_val")
LIST = Layout("List", "items")
OPERATOR = Layout("Operator", "name overload")
CHAIN = Layout("Chain", "inputs outputs instructions stacktrace")
FRAMES = Layout("FrameList", "items")
FRAME = Layout("Frame", "filename lineno name context")
INSTRUCTION = Layout("Instruction", "instr_args_type instr_args")
KERNEL_CALL = Layout("KernelCall", "op_index args")
DELEGATE_CALL = Layout("DelegateCall", "delegate_index args")
MOVE_CALL = Layout("MoveCall", "move_from move_to")
JUMP_CALL = Layout("JumpFalseCall", "cond_value_index destination_instruction")
FREE_CALL = Layout("FreeCall", "value_index")
DELEGATE = Layout("BackendDelegate", "id processed compile_specs")
REFERENCE = Layout("BackendDelegateDataReference", "location index")
SPEC = Layout("CompileSpec", "key value")
DEVICE = Layout("NonConstBufferDevice", "buffer_idx device_type device_index")
BUFFER = Layout("Buffer", "storage")
INLINE_DATA = Layout("BackendDelegateInlineData", "data")
SEGMENT = Layout("DataSegment", "offset size")
OFFSETS = Layout("SubsegmentOffsets", "segment_index offsets")
NAMED = Layout("NamedData", "key segment_index")
