// SPDX-License-Identifier: BSD-3-Clause
//
// A loaded method. What it takes from the method allocator, in this order and each piece at a
// multiple of 8 (s = 4 on a 32-bit machine, 8 on a 64-bit one; all sizes in bytes; up(n) = n
// rounded up to a multiple of 8):
//
//   1. MethodState: 72, or 120 on a 64-bit machine,
//      marks: one bit a value, up(4 * ceil(values / 32)),
//      kernels: one pointer an operator, up(s * operators)
//   2. delegates, if there are any: see delegate.cpp
//   3. the blocks of the lasting values, and scratch: what the largest call needs
//   4. for each external constant an ExternalData, 32, or 48 on a 64-bit machine
//
// A value lasts when a run can change it:
//   - inputs and outputs, and the items of those that are lists;
//   - source and destination of a MoveCall;
//   - numbers, truth values and Null as the last argument of a KernelCall (the return slot), and
//     as any argument of a DelegateCall;
//   - tensors that are not STATIC, that have neither planned memory nor a constant, that are
//     external, or that have planned memory and a name.
// Every other value is made in scratch when an instruction needs it.
//
// The block of a value is 16 for its EValue and
//   Tensor              up(28) + up(4 * dims) for strides, + up(4 * dims) for sizes unless STATIC
//                       (28 is sizeof(TensorImpl), 56 on a 64-bit machine)
//   String, BoolList    2 * s
//   DoubleList          2 * s + 8 * items
//   IntList             up(3 * s) + 8 * items          (up(2 * s + 4) on a 64-bit machine)
//   TensorList          up(3 * s) + up(s * items) + the blocks of its items, less 16 each
//   OptionalTensorList  up(3 * s) + 2 * s * items + the same
//
// Scratch is the largest, over all calls, of up(s * arguments) + the blocks of the arguments. The
// value that is the last argument, the return slot, counts once wherever else it occurs. Not
// counted is what is known to last when the call's turn comes (inputs, outputs and tensors from the
// beginning, others from the first instruction on that makes them last), unless it is a list. A
// JumpFalseCall counts as the block of its condition.
#pragma once

#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

#include "value_view.h"

namespace executorch::runtime::internal {

/// A lasting value. The index lies in what would be padding.
struct Slot : EValue {
  uint32_t index : 31;
  uint32_t is_set : 1;  ///< An input: whether the caller has set it.
};
static_assert(sizeof(Slot) == 16);

/// Hands out memory from a block that is known to be large enough.
class Arena {
 public:
  explicit Arena(void* at) : at_(static_cast<uint8_t*>(at)) {}
  template <typename T>
  T* take(size_t count) {
    T* piece = reinterpret_cast<T*>(at_);
    at_ += round_up(count * sizeof(T));
    return piece;
  }
  static constexpr size_t round_up(size_t size) { return (size + 7) & ~size_t{7}; }

 private:
  uint8_t* at_;
};

struct Delegate;
struct TensorView;

/// A constant kept outside the program, until the method is destroyed.
struct alignas(8) ExternalData {
  FreeableBuffer data;
  ExternalData* next;
};
static_assert(sizeof(ExternalData) == (sizeof(void*) == 4 ? 32 : 48));

/// What a method is made from.
struct LoadArguments {
  const Program& program;
  const uint8_t* plan;  ///< Its table ExecutionPlan.
  MemoryManager& memory;
  EventTracer* tracer;
  const NamedDataMap* named_data;
  ExternalLoader load_external;
  const LoadBackendOptionsMap* options;
  Span<const Kernel> kernels;
};

struct alignas(8) MethodState {
  /// Makes a method ready to run (method_load.cpp).
  static Error load(const LoadArguments& from, MethodState*& state);
  explicit MethodState(const LoadArguments& from)
      : program(from.program),
        plan(from.plan),
        memory(from.memory),
        tracer(from.tracer),
        kernels(from.kernels),
        values(gen_kernels::flat::field_vector(plan, gen_kernels::schema::plan::kValues)) {}
  ~MethodState();

  // Values (method_values.cpp).
  Serialized serialized(uint32_t index) const { return internal::serialized(values, index); }
  bool is_marked(uint32_t index) const { return (marks[index / 32] >> index % 32 & 1u) != 0; }
  /// The value with which an instruction works: lasting, or made from the program. Null when an
  /// item of a list has become something else.
  EValue* value(uint32_t index, Arena& arena);
  bool make_value(const Serialized& from, EValue& value, Arena& arena);
  bool make_list(const Serialized& from, EValue& value, Arena& arena);
  void make_tensor(const uint8_t* table, EValue& value, Arena& arena);
  /// The tensor that an item of a list is now; null when it is none any more, or has no memory.
  executorch::aten::TensorImpl* item_tensor(uint32_t index, Arena& arena);
  /// Address of a tensor's elements in planned memory or in the program; null for other places.
  Error address(const TensorView& tensor, size_t nbytes, const void*& address) const;
  Slot& slot(uint32_t index) const;
  /// Whether a tensor has its place in a planned buffer or in the program.
  bool is_planned(uint32_t index) const;
  Result<executorch::aten::Tensor> attribute(std::string_view name) const;

  // Inputs, outputs and other parts of the plan.
  size_t list_size(uint8_t list) const;
  uint32_t list_item(uint8_t list, size_t i) const;
  Slot& input(size_t i) const { return slot(list_item(gen_kernels::schema::plan::kInputs, i)); }
  /// Lists are brought up to date with their items.
  Slot& output(size_t i);

  // Running (method_run.cpp).
  /// The kernel of a KernelCall; null when there is none.
  OpFunction find_kernel_of(const uint8_t* call);
  /// Whether a KernelCall is of one of ExecuTorch's own operators.
  bool is_prim(const uint8_t* call) const;
  Error call(const uint8_t* table, bool is_kernel);
  Error execute_instruction(const uint8_t* instruction);
  /// Runs one instruction; EndOfMethod when none is left.
  Error step();
  bool at_end() const;
  bool in_progress() const { return (chain | instruction) != 0 && !at_end(); }
  void rewind() { chain = instruction = 0; }

  const Program& program;
  const uint8_t* const plan;
  MemoryManager& memory;
  EventTracer* const tracer;
  const Span<const Kernel> kernels;  ///< Instead of the registry, unless empty.
  const uint8_t* const values;
  uint32_t n_slots = 0;
  uint32_t n_delegates = 0;
  uint32_t* marks = nullptr;
  OpFunction* functions = nullptr;  ///< By operator; null: one that depends on the arguments.
  Delegate* delegates = nullptr;
  ExternalData* external_data = nullptr;
  Slot* slots = nullptr;
  void* scratch = nullptr;

  // Where execution stands.
  uint32_t chain = 0;
  uint32_t instruction = 0;
};
static_assert(sizeof(MethodState) == (sizeof(void*) == 4 ? 72 : 120));

inline const uint8_t* instructions_of(const uint8_t* chain) {
  return gen_kernels::flat::field_vector(chain, gen_kernels::schema::chain::kInstructions);
}

inline gen_kernels::schema::InstructionKind instruction_kind(const uint8_t* instruction) {
  return static_cast<gen_kernels::schema::InstructionKind>(
      gen_kernels::flat::field_u8(instruction, gen_kernels::schema::instruction::kType));
}

/// What methods and delegates read of a program.
struct ProgramReader {
  static const uint8_t* root(const Program& program) { return program.root_; }
  static bool is_plain(const Program& program) { return program.is_plain_; }
  static Error load_initial_state(const Program& program, size_t segments_index,
                                  size_t offset_index, size_t size, void* buffer) {
    return program.load_initial_state(segments_index, offset_index, size, buffer);
  }
  static Result<FreeableBuffer> load_segment(const Program& program, size_t index) {
    return program.load_segment(DataLoader::SegmentInfo::Type::Backend, index);
  }
};

/// Delegates are linked only when a backend is registered: these functions stand in delegate.cpp,
/// with register_backend().
[[gnu::weak]] Error init_delegates(MethodState& state, const NamedDataMap* named_data,
                                   const LoadBackendOptionsMap* options);
[[gnu::weak]] Error execute_delegate(MethodState& state, uint32_t index, Span<EValue*> args);
[[gnu::weak]] void destroy_delegates(MethodState& state);

}  // namespace executorch::runtime::internal
