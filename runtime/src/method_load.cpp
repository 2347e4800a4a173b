// SPDX-License-Identifier: BSD-3-Clause
//
// Loading a method: its memory, the kernels of its instructions, its lasting values. Structure,
// indexes and shapes were checked with the program.
#include <new>

#include "features.h"
#include "kernel_search.h"
#include "method_state.h"
#include "tensor_view.h"

namespace executorch::runtime::internal {

namespace features = gen_kernels::features;
namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using schema::InstructionKind;
using schema::ValueKind;

namespace {

/// Adds sizes. Files that make them overflow ask for more than there can be.
void grow(size_t& total, size_t more) {
  if (__builtin_add_overflow(total, more, &total)) {
    total = SIZE_MAX - 7;
  }
}

struct CallArguments {
  const MethodState& state;
  const uint8_t* args;
  bool was_asked;  ///< Whether there is a specialised kernel: then the arguments matter.
};

bool matches_call(const char* key, void* arguments) {
  auto& call = *static_cast<CallArguments*>(arguments);
  call.was_asked = true;
  KeyCursor cursor(key);
  bool good = cursor.begin();
  for (uint32_t i = 0; good && i < flat::vector_size(call.args); ++i) {
    const Serialized value = call.state.serialized(flat::vector_u32(call.args, i));
    if (value.kind == ValueKind::Tensor) {
      const TensorView tensor(value.table);
      good = cursor.tensor(tensor.type, tensor.dim_order(), tensor.dims());
    }
  }
  return good && cursor.at_end();
}

class Loader {
 public:
  Loader(const LoadArguments& from, MethodState& state)
      : from_(from), state_(state), values_(state.values) {}

  Error load() {
    // Tensors need no look when all have their places, and those are there.
    if (!((ProgramReader::is_plain(state_.program) || !features::kSpecialTensors) &&
          is_memory_whole())) {
      if constexpr (features::kSpecialTensors) {
        ET_CHECK_OK_OR_RETURN_ERROR(prepare_tensors());
      } else {
        return Error::MemoryAllocationFailed;
      }
    }
    for (uint8_t list = schema::plan::kInputs; list <= schema::plan::kOutputs; ++list) {
      mark_all(flat::field_vector(state_.plan, list));
    }
    if constexpr (features::kDelegates) {
      if (state_.list_size(schema::plan::kDelegates) != 0) {
        ET_CHECK_OR_RETURN_ERROR(init_delegates != nullptr, NotFound, "No backend is registered");
        ET_CHECK_OK_OR_RETURN_ERROR(init_delegates(state_, from_.named_data, from_.options));
      }
    }
    ET_CHECK_OK_OR_RETURN_ERROR(load_instructions());
    return make_slots();
  }

 private:
  /// Whether the planned buffers are as large as the program declares.
  bool is_memory_whole() const {
    const uint8_t* sizes = flat::field_vector(state_.plan, schema::plan::kNonConstBufferSizes);
    HierarchicalAllocator* planned = state_.memory.planned_memory();
    for (uint32_t i = 1; i < flat::vector_size(sizes); ++i) {
      const auto size = static_cast<size_t>(flat::vector_u64(sizes, i));
      if (planned == nullptr || !planned->get_offset_address(i - 1, 0, size).ok()) {
        return false;
      }
    }
    return true;
  }

  /// Checks all places, fills what has an initial state, makes last what must.
  Error prepare_tensors() {
    const NamedDataMap* named_data = from_.named_data;
    for (uint32_t i = 0; i < flat::vector_size(values_); ++i) {
      const Serialized value = serialized(values_, i);
      if (value.kind != ValueKind::Tensor) {
        continue;
      }
      const TensorView tensor(value.table);
      const size_t nbytes = tensor.nbytes();
      const void* address = nullptr;
      ET_CHECK_OK_OR_RETURN_ERROR(state_.address(tensor, nbytes, address));
      ET_CHECK_OR_RETURN_ERROR(!tensor.is_external() || named_data != nullptr, InvalidState,
                               "Value %" PRIu32 " needs external data", i);
      void* place = const_cast<void*>(address);
      if (tensor.place == Place::Planned && tensor.is_external()) {
        ET_CHECK_OK_OR_RETURN_ERROR(named_data->load_data_into(tensor.name(), place, nbytes));
      } else if (tensor.place == Place::Planned && tensor.constant() != 0) {
        ET_CHECK_OK_OR_RETURN_ERROR(ProgramReader::load_initial_state(
            state_.program, tensor.state_segments(), tensor.constant(), nbytes, place));
      }
      if (tensor.dynamism() != TensorShapeDynamism::STATIC ||
          (tensor.place == Place::Planned ? !tensor.name().empty()
                                          : tensor.place != Place::Constant)) {
        mark(i, value);
      }
    }
    return Error::Ok;
  }

  void mark_all(const uint8_t* indexes) {
    for (uint32_t i = 0; i < flat::vector_size(indexes); ++i) {
      const uint32_t index = flat::vector_u32(indexes, i);
      const Serialized value = serialized(values_, index);
      mark(index, value);
      if (features::kLists && has_items(value)) {
        const Items items(value);
        for (uint32_t j = 0; j < items.size(); ++j) {
          if (items[j] != UINT32_MAX) {
            mark(items[j], serialized(values_, items[j]));
          }
        }
      }
    }
  }

  /// Makes a value last.
  [[gnu::noinline]] void mark(uint32_t index, const Serialized value) {
    uint32_t& word = state_.marks[index / 32];
    const uint32_t bit = 1u << index % 32;
    if ((word & bit) == 0) {
      word |= bit;
      ++state_.n_slots;
      // Not by way of block_size(): inputs and outputs come here.
      grow(slots_size_, value.kind == ValueKind::Tensor ? tensor_size(value) : block_size(value));
    }
  }

  static size_t tensor_size(const Serialized& value) {
    const uint8_t* sizes = flat::field_vector(value.table, schema::tensor::kSizes);
    const size_t shape = Arena::round_up(flat::vector_size(sizes) * sizeof(int32_t));
    const bool is_dynamic = features::kSpecialTensors &&
                            flat::field_u8(value.table, schema::tensor::kShapeDynamism) != 0;
    return sizeof(EValue) + Arena::round_up(sizeof(TensorImpl)) + shape + (is_dynamic ? shape : 0);
  }

  /// Bytes of a value's block.
  [[gnu::noinline]] size_t block_size(const Serialized value) const {
    size_t size = sizeof(EValue);
    if (value.is_plain()) {
      return size;
    }
    if (value.kind == ValueKind::Tensor) {
      return tensor_size(value);
    }
    const Items items(value);
    if constexpr (features::kOtherLists) {
      switch (value.kind) {
        case ValueKind::DoubleList:
          size += items.size() * sizeof(double);
          [[fallthrough]];
        case ValueKind::String:
        case ValueKind::BoolList:
          return size + sizeof(ArrayRef<char>);
        default:
          break;
      }
    }
    size += Arena::round_up(sizeof(BoxedEvalueList<int64_t>));
    if (features::kIntLists && value.kind == ValueKind::IntList) {
      return size + items.size() * sizeof(int64_t);
    }
    if constexpr (features::kTensorLists) {
      size += Arena::round_up(items.size() * (value.kind == ValueKind::TensorList
                                                  ? sizeof(Tensor)
                                                  : sizeof(std::optional<Tensor>)));
      for (uint32_t i = 0; i < items.size(); ++i) {
        if (items[i] != UINT32_MAX) {
          grow(size, block_size(serialized(values_, items[i])) - sizeof(EValue));
        }
      }
    }
    return size;
  }

  Error load_instructions() {
    const uint8_t* chains = flat::field_vector(state_.plan, schema::plan::kChains);
    for (uint32_t c = 0; c < flat::vector_size(chains); ++c) {
      const uint8_t* list = instructions_of(flat::vector_table(chains, c));
      for (uint32_t i = 0; i < flat::vector_size(list); ++i) {
        const uint8_t* current = flat::vector_table(list, i);
        const uint8_t* table = flat::field_table(current, schema::instruction::kArguments);
        const InstructionKind kind = instruction_kind(current);
        const bool is_kernel = kind == InstructionKind::KernelCall;
        if (is_kernel || (features::kDelegates && kind == InstructionKind::DelegateCall)) {
          count_arguments(flat::field_vector(table, schema::call::kArgs), is_kernel);
          if (is_kernel) {
            ET_CHECK_OR_RETURN_ERROR(state_.find_kernel_of(table) != nullptr, OperatorMissing,
                                     "Instruction %" PRIu32 " has no kernel", i);
          }
        } else if constexpr (features::kControlFlow) {
          ET_CHECK_OK_OR_RETURN_ERROR(prepare_control(table, kind));
        } else {
          return Error::NotSupported;
        }
      }
    }
    return Error::Ok;
  }

  void count_arguments(const uint8_t* args, bool is_kernel) {
    const uint32_t count = flat::vector_size(args);
    const uint32_t last = count == 0 ? 0 : flat::vector_u32(args, count - 1);
    size_t size = Arena::round_up(count * sizeof(EValue*));
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t index = flat::vector_u32(args, i);
      const bool is_last = i + 1 == count;
      if (!features::kLists && state_.is_marked(index)) {
        continue;
      }
      const Serialized value = serialized(values_, index);
      // A call may write numbers.
      if (value.is_plain() && (is_last || !is_kernel)) {
        mark(index, value);
      }
      if ((is_last || index != last) && (!state_.is_marked(index) || value.is_list())) {
        grow(size, value.is_plain() ? sizeof(EValue) : block_size(value));
      }
    }
    count_scratch(size);
  }

  void count_scratch(size_t size) { scratch_size_ = size > scratch_size_ ? size : scratch_size_; }

  Error prepare_control(const uint8_t* table, InstructionKind kind) {
    const uint32_t first = flat::field_u32(table, 0);
    if (kind == InstructionKind::MoveCall) {
      const uint32_t to = flat::field_u32(table, schema::move::kTo);
      const Serialized source = serialized(values_, first);
      const Serialized target = serialized(values_, to);
      ET_CHECK_OR_RETURN_ERROR(!source.is_list() && !target.is_list(), NotSupported,
                               "Lists cannot be moved");
      mark(first, source);
      mark(to, target);
    } else if (kind == InstructionKind::JumpFalseCall) {
      count_scratch(block_size(serialized(values_, first)));
    } else if (kind != InstructionKind::FreeCall) {
      return Error::NotSupported;
    }
    return Error::Ok;
  }

  Error make_slots() {
    size_t size = slots_size_;
    grow(size, scratch_size_);
    void* block = state_.memory.method_allocator()->allocate(size, 8);
    if (block == nullptr && size != 0) {
      return Error::MemoryAllocationFailed;
    }
    state_.scratch = static_cast<uint8_t*>(block) + slots_size_;
    Arena arena(block);
    Slot* const slots = arena.take<Slot>(state_.n_slots);
    state_.slots = slots;
    Slot* end = slots;
    for (uint32_t i = 0; i < flat::vector_size(values_); ++i) {
      if (state_.is_marked(i)) {
        end->index = i & INT32_MAX;
        end->is_set = 0;
        if constexpr (!features::kLists && !features::kSpecialTensors) {
          state_.make_value(serialized(values_, i), *end, arena);
        }
        ++end;
      }
    }
    if constexpr (!features::kLists && !features::kSpecialTensors) {
      return Error::Ok;
    }
    // Lists last: they need their items.
    for (uint32_t pass = 0; pass < (features::kLists ? 2 : 1); ++pass) {
      for (Slot* lasting = slots; lasting != end; ++lasting) {
        const Serialized from = serialized(values_, lasting->index);
        if (features::kLists && from.is_list() != (pass == 1)) {
          continue;
        }
        state_.make_value(from, *lasting, arena);
        if constexpr (features::kSpecialTensors) {
          if (from_.load_external != nullptr && from.kind == ValueKind::Tensor &&
              TensorView(from.table).place == Place::External) {
            ET_CHECK_OK_OR_RETURN_ERROR(
                from_.load_external(state_, lasting->index, from_.named_data));
          }
        }
      }
    }
    return Error::Ok;
  }

  const LoadArguments& from_;
  MethodState& state_;
  const uint8_t* const values_;
  size_t slots_size_ = 0;    ///< Bytes of the blocks of all values that last.
  size_t scratch_size_ = 0;  ///< Bytes for the largest call so far.
};

}  // namespace

OpFunction MethodState::find_kernel_of(const uint8_t* call) {
  const uint32_t index = flat::field_u32(call, schema::call::kIndex);
  OpFunction& known = functions[index];
  if (known != nullptr) {
    return known;
  }
  const uint8_t* op = flat::vector_table(flat::field_vector(plan, schema::plan::kOperators), index);
  CallArguments arguments = {*this, flat::field_vector(call, schema::call::kArgs), false};
  const OpFunction function =
      find_kernel({flat::string_data(flat::field_vector(op, schema::op::kName)),
                   flat::string_data(flat::field_vector(op, schema::op::kOverload))},
                  kernels, features::kKernelKeys ? matches_call : nullptr, &arguments);
  if (!features::kKernelKeys || !arguments.was_asked) {
    known = function;
  }
  return function;
}

MethodState::~MethodState() {
  if constexpr (features::kDelegates) {
    if (delegates != nullptr) {
      destroy_delegates(*this);
    }
  }
  if constexpr (features::kSpecialTensors) {
    for (ExternalData* node = external_data; node != nullptr; node = node->next) {
      node->data.Free();
    }
  }
}

Error MethodState::load(const LoadArguments& from, MethodState*& state) {
  const uint8_t* operators = flat::field_vector(from.plan, schema::plan::kOperators);
  const uint8_t* values = flat::field_vector(from.plan, schema::plan::kValues);
  const size_t n_words = (size_t{flat::vector_size(values)} + 31) / 32;
  const size_t size = sizeof(MethodState) + Arena::round_up(n_words * sizeof(uint32_t)) +
                      Arena::round_up(flat::vector_size(operators) * sizeof(OpFunction));
  void* block = from.memory.method_allocator()->allocate(size, 8);
  if (block == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  Arena arena(block);
  state = new (arena.take<MethodState>(1)) MethodState(from);
  state->marks = arena.take<uint32_t>(n_words);
  state->functions = arena.take<OpFunction>(0);
  // The barrier: no call of memset() for a few words.
  for (auto* word = state->marks; word != static_cast<void*>(static_cast<uint8_t*>(block) + size);
       ++word) {
    *word = 0;
    __asm__ volatile("");
  }
  const Error error = Loader(from, *state).load();
  if (error != Error::Ok) {
    state->~MethodState();
  }
  return error;
}

}  // namespace executorch::runtime::internal
