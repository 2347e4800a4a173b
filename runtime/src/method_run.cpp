// SPDX-License-Identifier: BSD-3-Clause
//
// Running the instructions of a method.
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "features.h"
#include "method_state.h"

namespace executorch::runtime::internal {

namespace features = gen_kernels::features;
namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::Tensor;
using schema::InstructionKind;

namespace {

bool has_memory(const EValue& value) {
  return !value.isTensor() || value.payload.as_tensor.const_data_ptr() != nullptr ||
         value.payload.as_tensor.numel() == 0;
}

/// The truth of a condition: a bool, or a tensor of bools that are all true.
Error is_true(const EValue& condition, bool& truth) {
  if (condition.isBool()) {
    truth = condition.payload.copyable_union.as_bool;
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(condition.isTensor(), InvalidProgram, "A condition is no bool");
  const Tensor& tensor = condition.payload.as_tensor;
  ET_CHECK_OR_RETURN_ERROR(tensor.scalar_type() == executorch::aten::ScalarType::Bool &&
                               (tensor.const_data_ptr() != nullptr || tensor.numel() == 0),
                           InvalidProgram, "A condition is no bool");
  truth = memchr(tensor.const_data_ptr(), 0, static_cast<size_t>(tensor.numel())) == nullptr;
  return Error::Ok;
}

}  // namespace

bool MethodState::is_prim(const uint8_t* call) const {
  constexpr char kPrefix[] = "executorch_prim::";
  const uint8_t* op = flat::vector_table(flat::field_vector(plan, schema::plan::kOperators),
                                         flat::field_u32(call, schema::call::kIndex));
  const char* name = flat::string_data(flat::field_vector(op, schema::op::kName));
  return strncmp(name, kPrefix, sizeof(kPrefix) - 1) == 0;
}

// Inline, as what follows: called once.
[[gnu::always_inline]] inline Error MethodState::call(const uint8_t* table, bool is_kernel) {
  const uint8_t* indexes = flat::field_vector(table, schema::call::kArgs);
  const uint32_t count = flat::vector_size(indexes);
  Arena arena(scratch);
  EValue** args = arena.take<EValue*>(count);
  // The last argument, the return slot, is mostly one of the others: the same value then.
  EValue* last = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = flat::vector_u32(indexes, i);
    const bool is_last = index == flat::vector_u32(indexes, count - 1);
    args[i] = is_last && last != nullptr ? last : value(index, arena);
    last = is_last ? args[i] : last;
    // Of an output that was given no memory, say. Views are an exception: the call sets theirs.
    if constexpr (features::kSpecialTensors || features::kLists) {
      ET_CHECK_OR_RETURN_ERROR(args[i] != nullptr && (has_memory(*args[i]) || !is_kernel ||
                                                      (features::kPrimOperators && is_prim(table))),
                               InvalidState, "Argument %" PRIu32 " is a tensor without memory", i);
    }
  }
  const Span<EValue*> span(args, count);
  MemoryAllocator* temp = memory.temp_allocator();
  Error error = Error::NotSupported;
  if (is_kernel) {
    OpFunction function = functions[flat::field_u32(table, schema::call::kIndex)];
    if (features::kKernelKeys && function == nullptr) {
      function = find_kernel_of(table);
      ET_CHECK_OR_RETURN_ERROR(function != nullptr, OperatorMissing, "A call has no kernel");
    }
    KernelRuntimeContext context(tracer, temp);
    function(context, span);
    error = context.failure_state();
  } else if constexpr (features::kDelegates) {
    error = execute_delegate(*this, flat::field_u32(table, schema::call::kIndex), span);
  }
  if (temp != nullptr) {
    temp->reset();
  }
  return error;
}

[[gnu::always_inline]] inline Error MethodState::execute_instruction(const uint8_t* current) {
  const uint8_t* table = flat::field_table(current, schema::instruction::kArguments);
  const EventTracerProfileInstructionScope scope(tracer, static_cast<ChainID>(chain), instruction);
  const InstructionKind kind = instruction_kind(current);
  uint32_t next = instruction + 1;
  if (!features::kControlFlow || kind <= InstructionKind::DelegateCall) {
    const Error error = call(table, !features::kDelegates || kind == InstructionKind::KernelCall);
    if (error != Error::Ok) {
      ET_LOG(Error, "Instruction %" PRIu32 " of chain %" PRIu32 " failed: 0x%" PRIx32, instruction,
             chain, static_cast<uint32_t>(error));
      return error;
    }
  } else {
    const uint32_t first = flat::field_u32(table, 0);
    if (kind == InstructionKind::MoveCall) {
      static_cast<EValue&>(slot(flat::field_u32(table, schema::move::kTo))) = slot(first);
    } else if (kind == InstructionKind::JumpFalseCall) {
      Arena arena(scratch);
      const EValue* condition = value(first, arena);
      bool truth = false;
      ET_CHECK_OK_OR_RETURN_ERROR(condition == nullptr ? Error::InvalidState
                                                       : is_true(*condition, truth));
      if (!truth) {
        next = flat::field_u32(table, schema::jump::kDestination);
      }
    } else if (is_marked(first) && slot(first).isTensor()) {  // FreeCall
      reset_data_ptr(slot(first).toTensor());
    }
  }
  instruction = next;
  return Error::Ok;
}

Error MethodState::step() {
  if (at_end()) {
    return Error::EndOfMethod;
  }
  const uint8_t* list =
      instructions_of(flat::vector_table(flat::field_vector(plan, schema::plan::kChains), chain));
  const uint32_t count = flat::vector_size(list);
  // A chain without instructions is a step as well.
  if (count != 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(execute_instruction(flat::vector_table(list, instruction)));
  }
  if (instruction == count) {
    ++chain;
    instruction = 0;
  }
  return Error::Ok;
}

bool MethodState::at_end() const {
  return chain == flat::vector_size(flat::field_vector(plan, schema::plan::kChains));
}

}  // namespace executorch::runtime::internal
