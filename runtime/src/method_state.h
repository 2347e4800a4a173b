// SPDX-License-Identifier: BSD-3-Clause
//
// A loaded method. What it takes from the method allocator, in this order and each piece at a
// multiple of its alignment (s = 4 on a 32-bit machine, 8 on a 64-bit one; all sizes in bytes):
//
//   1. MethodState: 64, or 112 on a 64-bit machine           alignment 8
//   2. marks: one bit a value, 4 * ceil(values / 32)         alignment 4
//   3. delegates, if there are any: see delegate.cpp
//   4. functions: one pointer an instruction                 alignment s
//   5. slots: 16 for each lasting value                      alignment 8
//   6. for each lasting value, lists last, what it holds:
//      its block less 16, where that is not 0                alignment 8
//      and for each external constant an ExternalData,
//      32, or 48 on a 64-bit machine                         alignment 8
//   7. scratch: the arguments of the largest call            alignment 8
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
// The block of a value, with up(n) = n rounded up to a multiple of 8, is 16 for its EValue and
//   Tensor              up(28) + up(4 * dims) for strides, + up(4 * dims) for sizes unless STATIC
//                       (28 is sizeof(TensorImpl), 56 on a 64-bit machine)
//   String, BoolList    2 * s
//   DoubleList          2 * s + 8 * items
//   IntList             up(3 * s) + 8 * items          (up(2 * s + 4) on a 64-bit machine)
//   TensorList          up(3 * s) + up(s * items) + the blocks of its items, less 16 each
//   OptionalTensorList  up(3 * s) + 2 * s * items + the same
// and scratch is the largest, over all calls, of up(s * arguments) + the blocks of the arguments,
// where the last argument does not count if it occurs before; a JumpFalseCall counts as the block
// of its condition.
#pragma once

#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>

#include "program_schema.h"

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

/// A value as the program has it: its kind, and the table Int, Tensor ...
struct Serialized {
  gen_kernels::schema::ValueKind kind;
  const uint8_t* table;

  bool is_list() const { return kind >= gen_kernels::schema::ValueKind::IntList; }
  /// Whether a call may write it: Null and single numbers.
  bool is_plain() const { return kind <= gen_kernels::schema::ValueKind::Double; }
};

/// The items of a list of values: indexes, UINT32_MAX for none.
class Items {
 public:
  explicit Items(const Serialized& list);
  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t i) const;

 private:
  const uint8_t* data_;
  uint32_t size_;
  bool is_wide_;
};

struct Delegate;
struct Storage;

/// A constant kept outside the program, until the method is destroyed.
struct alignas(8) ExternalData {
  FreeableBuffer data;
  ExternalData* next;
};
static_assert(sizeof(ExternalData) == (sizeof(void*) == 4 ? 32 : 48));

struct alignas(8) MethodState {
  MethodState(const Program& program, const uint8_t* plan, MemoryManager& memory,
              EventTracer* tracer);
  ~MethodState();

  Error load(const NamedDataMap* named_data, ExternalLoader load_external,
             const LoadBackendOptionsMap* options, Span<const Kernel> kernels);

  // Values (method_values.cpp).
  Serialized serialized(uint32_t index) const;
  /// Checks value `index` and marks it if its own kind makes it last.
  Error check_value(uint32_t index, const NamedDataMap* named_data);
  Error check_tensor(uint32_t index, const uint8_t* table, const NamedDataMap* named_data);
  Error check_items(const Serialized& list) const;
  void mark(uint32_t index);
  bool is_marked(uint32_t index) const { return (marks[index / 32] >> index % 32 & 1u) != 0; }
  /// Bytes of a value's block.
  size_t block_size(const Serialized& value) const;
  Error make_slots(const NamedDataMap* named_data, ExternalLoader load_external);
  /// The value with which an instruction works: lasting, or made from the program. Null when an
  /// item of a list has become something else.
  EValue* value(uint32_t index, Arena& arena);
  bool make_value(const Serialized& from, EValue& value, Arena& arena);
  void make_tensor(const uint8_t* table, EValue& value, Arena& arena);
  /// The tensor that an item of a list is now; null when it is none any more, or has no memory.
  executorch::aten::TensorImpl* item_tensor(uint32_t index, Arena& arena);
  /// Address of a tensor's elements in planned memory or in the program; null for other places.
  Error address(const Storage& storage, size_t nbytes, const void*& address) const;
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

  // Instructions (method.cpp).
  Error check_instruction(const uint8_t* instruction, uint32_t n_instructions,
                          size_t& scratch_size);
  /// Finds the kernel of a KernelCall. `known` holds, by operator, what was found before and does
  /// not depend on the arguments.
  Error find_kernel_of(const uint8_t* call, Span<const Kernel> kernels, Span<OpFunction> known,
                       OpFunction& function);
  /// Whether a KernelCall is of one of ExecuTorch's own operators.
  bool is_prim(const uint8_t* call) const;
  Error call(const uint8_t* table, bool is_kernel);
  Error execute_instruction(const uint8_t* instruction);
  /// Runs one instruction; EndOfMethod when none is left.
  Error step();
  bool at_end() const;
  void rewind() { chain = instruction = first_function = 0; }

  const Program& program;
  const uint8_t* const plan;
  MemoryManager& memory;
  EventTracer* const tracer;
  const uint8_t* const values;
  uint32_t n_slots = 0;
  uint32_t n_delegates = 0;
  uint32_t* marks = nullptr;
  Slot* slots = nullptr;
  OpFunction* functions = nullptr;
  void* scratch = nullptr;
  Delegate* delegates = nullptr;
  ExternalData* external_data = nullptr;

  // Where execution stands.
  uint32_t chain = 0;
  uint32_t instruction = 0;
  uint32_t first_function = 0;  ///< Of the chain, in `functions`.
};
static_assert(sizeof(MethodState) == (sizeof(void*) == 4 ? 64 : 112));

/// What delegates read of a program.
struct ProgramReader {
  static const uint8_t* root(const Program& program) { return program.root_; }
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
