// SPDX-License-Identifier: BSD-3-Clause
//
// Instructions of a method: checked once, when it is loaded, then run.
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include "kernel_search.h"
#include "method_state.h"

namespace executorch::runtime {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::Tensor;
using schema::InstructionKind;
using schema::ValueKind;

namespace internal {

namespace {

const uint8_t* instructions_of(const uint8_t* chain) {
  return flat::field_vector(chain, schema::chain::kInstructions);
}

InstructionKind instruction_kind(const uint8_t* instruction) {
  return static_cast<InstructionKind>(flat::field_u8(instruction, schema::instruction::kType));
}

bool is_list(ValueKind kind) { return kind >= ValueKind::IntList; }

/// Whether the last of a call's arguments, the return slot, occurs before. Then it is the same
/// value, made once.
uint32_t first_occurrence_of_last(const uint8_t* args) {
  const uint32_t last = flat::vector_size(args) - 1;
  const uint32_t index = flat::vector_u32(args, last);
  uint32_t i = 0;
  while (flat::vector_u32(args, i) != index) {
    ++i;
  }
  return i;
}

struct CallArguments {
  const MethodState* state;
  const uint8_t* args;
};

bool matches_call(const char* key, const void* arguments) {
  const auto& call = *static_cast<const CallArguments*>(arguments);
  KeyCursor cursor(key);
  bool good = cursor.begin();
  for (uint32_t i = 0; good && i < flat::vector_size(call.args); ++i) {
    const uint32_t index = flat::vector_u32(call.args, i);
    if (call.state->kind(index) == ValueKind::Tensor) {
      const uint8_t* tensor = call.state->content(index);
      const uint8_t* dim_order = flat::field_vector(tensor, schema::tensor::kDimOrder);
      good = cursor.tensor(static_cast<executorch::aten::ScalarType>(
                               flat::field_u8(tensor, schema::tensor::kScalarType)),
                           flat::vector_data(dim_order), flat::vector_size(dim_order));
    }
  }
  return good && cursor.at_end();
}

/// The truth of a condition: a bool, or a tensor of bools that are all true.
Result<bool> is_true(const EValue& condition) {
  if (condition.isBool()) {
    return condition.toBool();
  }
  ET_CHECK_OR_RETURN_ERROR(
      condition.isTensor() &&
          condition.toTensor().scalar_type() == executorch::aten::ScalarType::Bool &&
          (condition.toTensor().const_data_ptr() != nullptr || condition.toTensor().numel() == 0),
      InvalidProgram, "A condition is no bool");
  const Tensor& tensor = condition.toTensor();
  const bool* values = tensor.const_data_ptr<bool>();
  for (ssize_t i = 0; i < tensor.numel(); ++i) {
    if (!values[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

MethodState::MethodState(const Program& program_, const uint8_t* plan_, MemoryManager& memory_,
                         EventTracer* tracer_)
    : program(program_),
      plan(plan_),
      memory(memory_),
      tracer(tracer_),
      values(flat::field_vector(plan_, schema::plan::kValues)),
      n_values(flat::vector_size(values)) {}

MethodState::~MethodState() {
  if (delegates != nullptr) {
    destroy_delegates(*this);
  }
  for (ExternalData* node = external_data; node != nullptr; node = node->next) {
    node->data.Free();
  }
}

size_t MethodState::list_size(uint8_t list) const {
  return flat::vector_size(flat::field_vector(plan, list));
}

uint32_t MethodState::flat_index(uint8_t list, size_t i) const {
  return flat::vector_u32(flat::field_vector(plan, list), i);
}

Error MethodState::load(const NamedDataMap* named_data, const LoadBackendOptionsMap* options,
                        Span<const Kernel> kernels) {
  MemoryAllocator& pool = *memory.method_allocator();
  marks = pool.allocateList<uint32_t>((n_values + 31) / 32);
  if (marks == nullptr && n_values != 0) {
    return Error::MemoryAllocationFailed;
  }
  for (uint32_t i = 0; i < (n_values + 31) / 32; ++i) {
    marks[i] = 0;
  }
  for (uint32_t i = 0; i < n_values; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_value(i, named_data));
  }

  for (const uint8_t list : {schema::plan::kInputs, schema::plan::kOutputs}) {
    for (size_t i = 0; i < list_size(list); ++i) {
      const uint32_t index = flat_index(list, i);
      ET_CHECK_OR_RETURN_ERROR(is_value(index), InvalidProgram, "An input or output is missing");
      mark(index);
      if (const ValueKind value_kind = kind(index); is_list(value_kind)) {
        mark_items(index, value_kind);
      }
    }
  }

  if (list_size(schema::plan::kDelegates) != 0) {
    ET_CHECK_OR_RETURN_ERROR(init_delegates != nullptr, NotFound, "No backend is registered");
    ET_CHECK_OK_OR_RETURN_ERROR(init_delegates(*this, named_data, options));
  }

  const uint8_t* chains = flat::field_vector(plan, schema::plan::kChains);
  uint32_t n_functions = 0;
  size_t scratch_size = 0;
  for (uint32_t c = 0; c < flat::vector_size(chains); ++c) {
    const uint8_t* list = instructions_of(flat::vector_table(chains, c));
    n_functions += flat::vector_size(list);
    for (uint32_t i = 0; i < flat::vector_size(list); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_instruction(flat::vector_table(list, i), flat::vector_size(list), scratch_size));
    }
  }
  functions = pool.allocateList<OpFunction>(n_functions);
  if (functions == nullptr && n_functions != 0) {
    return Error::MemoryAllocationFailed;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(find_kernels(kernels));
  ET_CHECK_OK_OR_RETURN_ERROR(make_slots(named_data));
  scratch = static_cast<uint8_t*>(pool.allocate(scratch_size, 8));
  if (scratch == nullptr && scratch_size != 0) {
    return Error::MemoryAllocationFailed;
  }
  return Error::Ok;
}

void MethodState::mark_items(uint32_t index, ValueKind value_kind) {
  if (value_kind == ValueKind::DoubleList || value_kind == ValueKind::BoolList) {
    return;
  }
  const uint8_t* items = flat::field_vector(content(index), 0);
  for (uint32_t i = 0; i < flat::vector_size(items); ++i) {
    const auto item = value_kind == ValueKind::IntList
                          ? static_cast<uint32_t>(flat::vector_u64(items, i))
                          : flat::vector_u32(items, i);
    if (is_value(item)) {
      mark(item);
    }
  }
}

Error MethodState::check_instruction(const uint8_t* instruction, uint32_t n_instructions,
                                     size_t& scratch_size) {
  const InstructionKind instruction_kind_ = instruction_kind(instruction);
  const uint8_t* table = flat::field_table(instruction, schema::instruction::kArguments);
  switch (instruction_kind_) {
    case InstructionKind::KernelCall:
    case InstructionKind::DelegateCall: {
      const bool is_kernel = instruction_kind_ == InstructionKind::KernelCall;
      ET_CHECK_OR_RETURN_ERROR(
          flat::field_u32(table, schema::call::kIndex) <
              list_size(is_kernel ? schema::plan::kOperators : schema::plan::kDelegates),
          InvalidProgram, "An operator is missing");
      const uint8_t* args = flat::field_vector(table, schema::call::kArgs);
      const uint32_t count = flat::vector_size(args);
      size_t size = Arena::round_up(count * sizeof(EValue*));
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t index = flat::vector_u32(args, i);
        ET_CHECK_OR_RETURN_ERROR(is_value(index), InvalidProgram, "An argument is missing");
        const bool is_last = i + 1 == count;
        // A call may write numbers.
        if ((is_last || !is_kernel) && kind(index) <= ValueKind::Double) {
          mark(index);
        }
        if (!is_last || first_occurrence_of_last(args) == i) {
          size += block_size(index);
        }
      }
      scratch_size = size > scratch_size ? size : scratch_size;
      return Error::Ok;
    }
    case InstructionKind::MoveCall: {
      const uint32_t from = flat::field_u32(table, schema::move::kFrom);
      const uint32_t to = flat::field_u32(table, schema::move::kTo);
      ET_CHECK_OR_RETURN_ERROR(is_value(from) && is_value(to), InvalidProgram,
                               "A moved value is missing");
      ET_CHECK_OR_RETURN_ERROR(!is_list(kind(from)) && !is_list(kind(to)), NotSupported,
                               "Lists cannot be moved");
      mark(from);
      mark(to);
      return Error::Ok;
    }
    case InstructionKind::JumpFalseCall: {
      const uint32_t condition = flat::field_u32(table, schema::jump::kCondition);
      ET_CHECK_OR_RETURN_ERROR(
          is_value(condition) &&
              flat::field_u32(table, schema::jump::kDestination) <= n_instructions,
          InvalidProgram, "A jump leads nowhere");
      const size_t size = block_size(condition);
      scratch_size = size > scratch_size ? size : scratch_size;
      return Error::Ok;
    }
    case InstructionKind::FreeCall:
      ET_CHECK_OR_RETURN_ERROR(is_value(flat::field_u32(table, schema::free_call::kValue)),
                               InvalidProgram, "A freed value is missing");
      return Error::Ok;
    default:
      ET_LOG(Error, "Unknown instruction");
      return Error::InvalidProgram;
  }
}

Error MethodState::find_kernels(Span<const Kernel> kernels) {
  const uint8_t* operators = flat::field_vector(plan, schema::plan::kOperators);
  const uint8_t* chains = flat::field_vector(plan, schema::plan::kChains);
  OpFunction* next = functions;
  for (uint32_t c = 0; c < flat::vector_size(chains); ++c) {
    const uint8_t* list = instructions_of(flat::vector_table(chains, c));
    for (uint32_t i = 0; i < flat::vector_size(list); ++i, ++next) {
      const uint8_t* call = flat::vector_table(list, i);
      if (instruction_kind(call) != InstructionKind::KernelCall) {
        continue;
      }
      const uint8_t* table = flat::field_table(call, schema::instruction::kArguments);
      const uint8_t* op =
          flat::vector_table(operators, flat::field_u32(table, schema::call::kIndex));
      const CallArguments arguments = {this, flat::field_vector(table, schema::call::kArgs)};
      const Result<OpFunction> function =
          find_kernel({flat::string_data(flat::field_vector(op, schema::op::kName)),
                       flat::string_data(flat::field_vector(op, schema::op::kOverload))},
                      kernels, matches_call, &arguments);
      if (!function.ok()) {
        return function.error();
      }
      *next = function.get();
    }
  }
  return Error::Ok;
}

Error MethodState::execute_instruction() {
  const uint8_t* chains = flat::field_vector(plan, schema::plan::kChains);
  const uint8_t* list = instructions_of(flat::vector_table(chains, chain));
  const uint8_t* current = flat::vector_table(list, instruction);
  const uint8_t* table = flat::field_table(current, schema::instruction::kArguments);
  const EventTracerProfileInstructionScope scope(tracer, static_cast<ChainID>(chain), instruction);
  Arena arena(scratch);
  uint32_t next = instruction + 1;
  const InstructionKind current_kind = instruction_kind(current);
  switch (current_kind) {
    case InstructionKind::KernelCall:
    case InstructionKind::DelegateCall: {
      const uint8_t* indexes = flat::field_vector(table, schema::call::kArgs);
      const uint32_t count = flat::vector_size(indexes);
      EValue** args = arena.take<EValue*>(count);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t first = i + 1 == count ? first_occurrence_of_last(indexes) : i;
        args[i] = first < i ? args[first] : value(flat::vector_u32(indexes, i), arena);
        ET_CHECK_OR_RETURN_ERROR(args[i] != nullptr, InvalidState, "A tensor is none any more");
      }
      Error error;
      if (current_kind == InstructionKind::KernelCall) {
        KernelRuntimeContext context(tracer, memory.temp_allocator());
        functions[first_function + instruction](context, Span<EValue*>(args, count));
        error = context.failure_state();
      } else {
        error = execute_delegate(*this, flat::field_u32(table, schema::call::kIndex),
                                 Span<EValue*>(args, count));
      }
      if (memory.temp_allocator() != nullptr) {
        memory.temp_allocator()->reset();
      }
      if (error != Error::Ok) {
        ET_LOG(Error, "Instruction %" PRIu32 " of chain %" PRIu32 " failed: 0x%" PRIx32,
               instruction, chain, static_cast<uint32_t>(error));
        return error;
      }
      break;
    }
    case InstructionKind::MoveCall:
      static_cast<EValue&>(slot(flat::field_u32(table, schema::move::kTo))) =
          slot(flat::field_u32(table, schema::move::kFrom));
      break;
    case InstructionKind::JumpFalseCall: {
      const EValue* condition = value(flat::field_u32(table, schema::jump::kCondition), arena);
      const Result<bool> truth = is_true(*condition);
      if (!truth.ok()) {
        return truth.error();
      }
      if (!truth.get()) {
        next = flat::field_u32(table, schema::jump::kDestination);
      }
      break;
    }
    default: {  // FreeCall
      const uint32_t index = flat::field_u32(table, schema::free_call::kValue);
      if (is_marked(index) && slot(index).isTensor()) {
        reset_data_ptr(slot(index).toTensor());
      }
    }
  }
  instruction = next;
  return Error::Ok;
}

Error MethodState::step() {
  if (at_end()) {
    return Error::EndOfMethod;
  }
  const uint8_t* chains = flat::field_vector(plan, schema::plan::kChains);
  const uint32_t count = flat::vector_size(instructions_of(flat::vector_table(chains, chain)));
  // A chain without instructions is a step as well.
  if (count != 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(execute_instruction());
  }
  if (instruction == count) {
    ++chain;
    instruction = 0;
    first_function += count;
  }
  return Error::Ok;
}

bool MethodState::at_end() const {
  return chain == flat::vector_size(flat::field_vector(plan, schema::plan::kChains));
}

}  // namespace internal

Method::~Method() {
  if (state_ != nullptr) {
    state_->~MethodState();
  }
}

Error Method::set_input(const EValue& input_evalue, size_t input_idx) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(input_idx < inputs_size(), InvalidArgument, "No input %zu", input_idx);
  internal::Slot& input = state_->input(input_idx);
  ET_CHECK_OR_RETURN_ERROR(input.tag == input_evalue.tag, InvalidArgument,
                           "Input %zu is of another kind", input_idx);
  switch (input.tag) {
    case Tag::Tensor: {
      const Tensor& mine = input.toTensor();
      const Tensor& given = input_evalue.toTensor();
      ET_CHECK_OR_RETURN_ERROR(mine.scalar_type() == given.scalar_type(), InvalidArgument,
                               "Input %zu has type %d", input_idx,
                               static_cast<int>(mine.scalar_type()));
      // The dim order is not compared: the values are taken in memory order, as ExecuTorch does,
      // and callers give tensors without one, or with another of the same layout.
      ET_CHECK_OK_OR_RETURN_ERROR(resize_tensor(mine, given.sizes()));
      const bool is_planned = state_->is_planned(input.index);
      ET_CHECK_OK_OR_RETURN_ERROR(is_planned ? internal::copy_tensor_data(mine, given)
                                             : internal::share_tensor_data(mine, given));
      break;
    }
    case Tag::Int:
      ET_CHECK_OR_RETURN_ERROR(input.toInt() == input_evalue.toInt(), InvalidArgument,
                               "Input %zu is a constant", input_idx);
      break;
    case Tag::Bool:
      ET_CHECK_OR_RETURN_ERROR(input.toBool() == input_evalue.toBool(), InvalidArgument,
                               "Input %zu is a constant", input_idx);
      break;
    case Tag::Double: {
      const double mine = input.toDouble();
      const double given = input_evalue.toDouble();
      const double difference = mine > given ? mine - given : given - mine;
      const double tolerance = 1e-4 + 1e-5 * (given < 0 ? -given : given);
      ET_CHECK_OR_RETURN_ERROR(
          mine == given || difference <= tolerance || (mine != mine && given != given),
          InvalidArgument, "Input %zu is a constant", input_idx);
      break;
    }
    case Tag::String:
      ET_CHECK_OR_RETURN_ERROR(input.toString() == input_evalue.toString(), InvalidArgument,
                               "Input %zu is a constant", input_idx);
      break;
    default:
      ET_LOG(Error, "Input %zu cannot be set", input_idx);
      return Error::InvalidArgument;
  }
  input.is_set = 1;
  return Error::Ok;
}

Error Method::set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(input_evalues.size() == inputs_size(), InvalidArgument,
                           "%zu inputs given, there are %zu", input_evalues.size(), inputs_size());
  for (size_t i = 0; i < input_evalues.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(set_input(input_evalues[i], i));
  }
  return Error::Ok;
}

Error Method::set_output_data_ptr(void* buffer, size_t size, size_t output_idx) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(output_idx < outputs_size(), InvalidArgument, "No output %zu",
                           output_idx);
  internal::Slot& output = state_->output(output_idx);
  ET_CHECK_OR_RETURN_ERROR(output.isTensor(), InvalidArgument, "Output %zu is no tensor",
                           output_idx);
  ET_CHECK_OR_RETURN_ERROR(!state_->is_planned(output.index), InvalidState,
                           "Output %zu has its own memory", output_idx);
  return internal::set_tensor_data(output.toTensor(), buffer, size);
}

Error Method::get_outputs(EValue* output_evalues, size_t length) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(output_evalues != nullptr && length >= outputs_size(), InvalidArgument,
                           "Room for %zu outputs, there are %zu", length, outputs_size());
  for (size_t i = 0; i < length; ++i) {
    output_evalues[i] = i < outputs_size() ? get_output(i) : EValue();
  }
  return Error::Ok;
}

Error Method::get_inputs(EValue* input_evalues, size_t length) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(input_evalues != nullptr && length >= inputs_size(), InvalidArgument,
                           "Room for %zu inputs, there are %zu", length, inputs_size());
  for (size_t i = 0; i < length; ++i) {
    input_evalues[i] = i < inputs_size() ? get_input(i) : EValue();
  }
  return Error::Ok;
}

Error Method::execute() {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, NotSupported, "The method is not loaded");
  ET_CHECK_OR_RETURN_ERROR(!in_progress(), InvalidState, "step() has begun an execution");
  internal::event_tracer_create_event_block(state_->tracer, "Execute");
  const internal::EventTracerProfileMethodScope scope(state_->tracer, "Method::execute");
  for (size_t i = 0; i < inputs_size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(state_->input(i).is_set, InvalidArgument, "Input %zu is not set", i);
  }
  state_->rewind();
  Error error;
  do {
    error = state_->step();
  } while (error == Error::Ok);
  state_->rewind();
  if (error != Error::EndOfMethod) {
    return error;
  }
  for (size_t i = 0; internal::event_tracer_enabled() && i < outputs_size(); ++i) {
    internal::event_tracer_log_evalue_output(state_->tracer, get_output(i));
  }
  return Error::Ok;
}

Error Method::step() {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  return state_->step();
}

bool Method::in_progress() const {
  return (state_->chain != 0 || state_->instruction != 0) && !state_->at_end();
}

Error Method::reset_execution() {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr && state_->at_end(), InvalidState,
                           "There are instructions left");
  state_->rewind();
  return Error::Ok;
}

MethodMeta Method::method_meta() const { return MethodMeta(state_->plan); }

size_t Method::inputs_size() const { return state_->list_size(schema::plan::kInputs); }

size_t Method::outputs_size() const { return state_->list_size(schema::plan::kOutputs); }

const EValue& Method::get_output(size_t i) const {
  return const_cast<Method*>(this)->mutable_output(i);
}

const EValue& Method::get_input(size_t i) const {
  return const_cast<Method*>(this)->mutable_input(i);
}

EValue& Method::mutable_input(size_t i) {
  ET_CHECK_MSG(i < inputs_size(), "No input %zu", i);
  return state_->input(i);
}

EValue& Method::mutable_output(size_t i) {
  ET_CHECK_MSG(i < outputs_size(), "No output %zu", i);
  internal::Slot& output = state_->output(i);
  state_->refresh(output);
  return output;
}

EventTracer* Method::get_event_tracer() { return state_->tracer; }

Result<Tensor> Method::get_attribute(std::string_view name) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  return state_->attribute(name);
}

}  // namespace executorch::runtime
