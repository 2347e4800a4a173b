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
  bool was_asked;  ///< Whether there is a specialised kernel: then the arguments matter.
};

bool matches_call(const char* key, void* arguments) {
  auto& call = *static_cast<CallArguments*>(arguments);
  call.was_asked = true;
  KeyCursor cursor(key);
  bool good = cursor.begin();
  for (uint32_t i = 0; good && i < flat::vector_size(call.args); ++i) {
    const uint32_t index = flat::vector_u32(call.args, i);
    const Serialized value = call.state->serialized(index);
    if (value.kind == ValueKind::Tensor) {
      const uint8_t* dim_order = flat::field_vector(value.table, schema::tensor::kDimOrder);
      good = cursor.tensor(static_cast<executorch::aten::ScalarType>(
                               flat::field_u8(value.table, schema::tensor::kScalarType)),
                           flat::vector_data(dim_order), flat::vector_size(dim_order));
    }
  }
  return good && cursor.at_end();
}

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

MethodState::MethodState(const Program& program_, const uint8_t* plan_, MemoryManager& memory_,
                         EventTracer* tracer_)
    : program(program_),
      plan(plan_),
      memory(memory_),
      tracer(tracer_),
      values(flat::field_vector(plan_, schema::plan::kValues)) {}

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

uint32_t MethodState::list_item(uint8_t list, size_t i) const {
  return flat::vector_u32(flat::field_vector(plan, list), i);
}

Error MethodState::load(const NamedDataMap* named_data, ExternalLoader load_external,
                        const LoadBackendOptionsMap* options, Span<const Kernel> kernels) {
  MemoryAllocator& pool = *memory.method_allocator();
  const uint32_t n_values = flat::vector_size(values);
  marks = pool.allocateList<uint32_t>((n_values + 31) / 32);
  if (marks == nullptr && n_values != 0) {
    return Error::MemoryAllocationFailed;
  }
  memset(marks, 0, (n_values + 31) / 32 * sizeof(uint32_t));
  for (uint32_t i = 0; i < n_values; ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(check_value(i, named_data));
  }
  for (uint8_t list = schema::plan::kInputs; list <= schema::plan::kOutputs; ++list) {
    for (size_t i = 0; i < list_size(list); ++i) {
      const uint32_t index = list_item(list, i);
      ET_CHECK_OR_RETURN_ERROR(index < n_values, InvalidProgram, "An input or output is missing");
      mark(index);
      const Serialized value = serialized(index);
      if (value.is_list() && value.kind != ValueKind::DoubleList &&
          value.kind != ValueKind::BoolList) {
        const Items items(value);
        for (uint32_t j = 0; j < items.size(); ++j) {
          if (items[j] < n_values) {
            mark(items[j]);
          }
        }
      }
    }
  }
  if (list_size(schema::plan::kDelegates) != 0) {
    ET_CHECK_OR_RETURN_ERROR(init_delegates != nullptr, NotFound, "No backend is registered");
    ET_CHECK_OK_OR_RETURN_ERROR(init_delegates(*this, named_data, options));
  }

  const uint8_t* chains = flat::field_vector(plan, schema::plan::kChains);
  uint32_t n_functions = 0;
  for (uint32_t c = 0; c < flat::vector_size(chains); ++c) {
    n_functions += flat::vector_size(instructions_of(flat::vector_table(chains, c)));
  }
  functions = pool.allocateList<OpFunction>(n_functions);
  if (functions == nullptr && n_functions != 0) {
    return Error::MemoryAllocationFailed;
  }
  size_t scratch_size = 0;
  OpFunction known[16] = {};
  OpFunction* function = functions;
  for (uint32_t c = 0; c < flat::vector_size(chains); ++c) {
    const uint8_t* list = instructions_of(flat::vector_table(chains, c));
    for (uint32_t i = 0; i < flat::vector_size(list); ++i, ++function) {
      const uint8_t* current = flat::vector_table(list, i);
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_instruction(current, flat::vector_size(list), scratch_size));
      if (instruction_kind(current) == InstructionKind::KernelCall) {
        ET_CHECK_OK_OR_RETURN_ERROR(
            find_kernel_of(flat::field_table(current, schema::instruction::kArguments), kernels,
                           known, *function));
      }
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(make_slots(named_data, load_external));
  scratch = pool.allocate(scratch_size, 8);
  return scratch == nullptr && scratch_size != 0 ? Error::MemoryAllocationFailed : Error::Ok;
}

Error MethodState::check_instruction(const uint8_t* current, uint32_t n_instructions,
                                     size_t& scratch_size) {
  const uint32_t n_values = flat::vector_size(values);
  const uint8_t* table = flat::field_table(current, schema::instruction::kArguments);
  // Each kind has two numbers at most, or a number and the list of arguments. Without a kind the
  // table is not checked.
  const InstructionKind kind = instruction_kind(current);
  const uint32_t first = kind == InstructionKind::None ? UINT32_MAX : flat::field_u32(table, 0);
  size_t size = 0;
  bool good = first < n_values;
  switch (kind) {
    case InstructionKind::KernelCall:
    case InstructionKind::DelegateCall: {
      const bool is_kernel = kind == InstructionKind::KernelCall;
      good = first < list_size(is_kernel ? schema::plan::kOperators : schema::plan::kDelegates);
      const uint8_t* args = flat::field_vector(table, schema::call::kArgs);
      const uint32_t count = flat::vector_size(args);
      size = Arena::round_up(count * sizeof(EValue*));
      for (uint32_t i = 0; good && i < count; ++i) {
        const uint32_t index = flat::vector_u32(args, i);
        good = index < n_values;
        if (!good) {
          break;
        }
        const bool is_last = i + 1 == count;
        const Serialized value = serialized(index);
        // A call may write numbers.
        if ((is_last || !is_kernel) && value.is_plain()) {
          mark(index);
        }
        if (!is_last || first_occurrence_of_last(args) == i) {
          size += block_size(value);
        }
      }
      break;
    }
    case InstructionKind::MoveCall: {
      const uint32_t to = flat::field_u32(table, schema::move::kTo);
      good = good && to < n_values;
      if (good) {
        ET_CHECK_OR_RETURN_ERROR(!serialized(first).is_list() && !serialized(to).is_list(),
                                 NotSupported, "Lists cannot be moved");
        mark(first);
        mark(to);
      }
      break;
    }
    case InstructionKind::JumpFalseCall:
      good = good && flat::field_u32(table, schema::jump::kDestination) <= n_instructions;
      size = good ? block_size(serialized(first)) : 0;
      break;
    case InstructionKind::FreeCall:
      break;
    default:
      good = false;
  }
  ET_CHECK_OR_RETURN_ERROR(good, InvalidProgram, "An instruction is damaged");
  scratch_size = size > scratch_size ? size : scratch_size;
  return Error::Ok;
}

Error MethodState::find_kernel_of(const uint8_t* call, Span<const Kernel> kernels,
                                  Span<OpFunction> known, OpFunction& function) {
  const uint32_t index = flat::field_u32(call, schema::call::kIndex);
  if (index < known.size() && known[index] != nullptr) {
    function = known[index];
    return Error::Ok;
  }
  const uint8_t* op = flat::vector_table(flat::field_vector(plan, schema::plan::kOperators), index);
  CallArguments arguments = {this, flat::field_vector(call, schema::call::kArgs), false};
  ET_CHECK_OK_OR_RETURN_ERROR(
      find_kernel({flat::string_data(flat::field_vector(op, schema::op::kName)),
                   flat::string_data(flat::field_vector(op, schema::op::kOverload))},
                  kernels, matches_call, &arguments, function));
  if (index < known.size() && !arguments.was_asked) {
    known[index] = function;
  }
  return Error::Ok;
}

bool MethodState::is_prim(const uint8_t* call) const {
  constexpr char kPrefix[] = "executorch_prim::";
  const uint8_t* op = flat::vector_table(flat::field_vector(plan, schema::plan::kOperators),
                                         flat::field_u32(call, schema::call::kIndex));
  const char* name = flat::string_data(flat::field_vector(op, schema::op::kName));
  return strncmp(name, kPrefix, sizeof(kPrefix) - 1) == 0;
}

Error MethodState::call(const uint8_t* table, bool is_kernel) {
  const uint8_t* indexes = flat::field_vector(table, schema::call::kArgs);
  const uint32_t count = flat::vector_size(indexes);
  Arena arena(scratch);
  EValue** args = arena.take<EValue*>(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t first = i + 1 == count ? first_occurrence_of_last(indexes) : i;
    args[i] = first < i ? args[first] : value(flat::vector_u32(indexes, i), arena);
    // Of an output that was given no memory, say. Views are an exception: the call sets theirs.
    ET_CHECK_OR_RETURN_ERROR(
        args[i] != nullptr && (has_memory(*args[i]) || !is_kernel || is_prim(table)), InvalidState,
        "Argument %" PRIu32 " is a tensor without memory", i);
  }
  const Span<EValue*> span(args, count);
  MemoryAllocator* temp = memory.temp_allocator();
  Error error;
  if (is_kernel) {
    KernelRuntimeContext context(tracer, temp);
    functions[first_function + instruction](context, span);
    error = context.failure_state();
  } else {
    error = execute_delegate(*this, flat::field_u32(table, schema::call::kIndex), span);
  }
  if (temp != nullptr) {
    temp->reset();
  }
  return error;
}

Error MethodState::execute_instruction(const uint8_t* current) {
  const uint8_t* table = flat::field_table(current, schema::instruction::kArguments);
  const EventTracerProfileInstructionScope scope(tracer, static_cast<ChainID>(chain), instruction);
  const InstructionKind kind = instruction_kind(current);
  uint32_t next = instruction + 1;
  if (kind <= InstructionKind::DelegateCall) {
    const Error error = call(table, kind == InstructionKind::KernelCall);
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
    first_function += count;
  }
  return Error::Ok;
}

bool MethodState::at_end() const {
  return chain == flat::vector_size(flat::field_vector(plan, schema::plan::kChains));
}

}  // namespace internal

namespace {
/// Whether the doubles with these bits agree to one part in 10^5. Compared as integers, which have
/// the same order: no soft-float code gets linked for it.
bool is_near(int64_t a, int64_t b) {
  const int64_t distance = a - b;
  return (a ^ b) >= 0 && distance < int64_t{1} << 35 && distance > -(int64_t{1} << 35);
}
}  // namespace

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
  bool is_same = false;  // the constant that the program was exported with
  const auto& mine = input.payload.copyable_union;
  const auto& given = input_evalue.payload.copyable_union;
  switch (input.tag) {
    case Tag::Tensor: {
      const Tensor& to = input.payload.as_tensor;
      const Tensor& from = input_evalue.payload.as_tensor;
      ET_CHECK_OR_RETURN_ERROR(to.scalar_type() == from.scalar_type(), InvalidArgument,
                               "Input %zu has type %d", input_idx,
                               static_cast<int>(to.scalar_type()));
      // The dim orders may differ, as in ExecuTorch: the elements are taken in memory order.
      ET_CHECK_OK_OR_RETURN_ERROR(resize_tensor(to, from.sizes()));
      ET_CHECK_OK_OR_RETURN_ERROR(state_->is_planned(input.index)
                                      ? internal::copy_tensor_data(to, from)
                                      : internal::share_tensor_data(to, from));
      is_same = true;
      break;
    }
    case Tag::Int:
      is_same = mine.as_int == given.as_int;
      break;
    case Tag::Bool:
      is_same = mine.as_bool == given.as_bool;
      break;
    case Tag::Double:
      is_same = is_near(mine.as_int, given.as_int);
      break;
    case Tag::String:
      is_same = input.toString() == input_evalue.toString();
      break;
    default:
      break;
  }
  ET_CHECK_OR_RETURN_ERROR(is_same, InvalidArgument, "Input %zu is a constant", input_idx);
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

namespace {
/// Copies all inputs or outputs into an array of `length`, and None into its rest.
Error copy_values(internal::MethodState* state, bool outputs, EValue* to, size_t length) {
  ET_CHECK_OR_RETURN_ERROR(state != nullptr, InvalidState, "The method is not loaded");
  const size_t count = state->list_size(outputs ? schema::plan::kOutputs : schema::plan::kInputs);
  ET_CHECK_OR_RETURN_ERROR(to != nullptr && length >= count, InvalidArgument,
                           "Room for %zu values, there are %zu", length, count);
  for (size_t i = 0; i < length; ++i) {
    to[i] = i >= count ? EValue() : outputs ? EValue(state->output(i)) : EValue(state->input(i));
  }
  return Error::Ok;
}
}  // namespace

Error Method::get_outputs(EValue* output_evalues, size_t length) {
  return copy_values(state_, true, output_evalues, length);
}

Error Method::get_inputs(EValue* input_evalues, size_t length) {
  return copy_values(state_, false, input_evalues, length);
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
  return state_->output(i);
}

EventTracer* Method::get_event_tracer() { return state_->tracer; }

Result<Tensor> Method::get_attribute(std::string_view name) {
  ET_CHECK_OR_RETURN_ERROR(state_ != nullptr, InvalidState, "The method is not loaded");
  return state_->attribute(name);
}

}  // namespace executorch::runtime
