// SPDX-License-Identifier: BSD-3-Clause
//
// A loaded method. What it takes from the method allocator, in this order and each piece at a
// multiple of its alignment (s = 4 on a 32-bit machine, 8 on a 64-bit one; all sizes in bytes):
//
//   1. MethodState                                       alignment 8 (see kStateSize)
//   2. marks: one bit a value                            4 * ceil(values / 32), alignment 4
//   3. functions: one pointer an instruction             s * instructions,      alignment s
//   4. slots: one for each lasting value                 16 * lasting values,   alignment 8
//      with, for each, what it holds (block_size() - 16) alignment 8
//   5. scratch: the arguments of the largest call        alignment 8
//   6. delegates: see delegate.cpp
// An external constant adds sizeof(ExternalData) after its block in 4.
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
//                       (28 is sizeof(TensorImpl), 48 on a 64-bit machine)
//   String, BoolList    up(2 * s)
//   DoubleList          up(2 * s) + 8 * items
//   IntList             up(3 * s) + 8 * items          (up(2 * s + 8) on a 64-bit machine)
//   TensorList          as IntList with up(s * items), + the blocks of its items, less 16 each
//   OptionalTensorList  as TensorList with up(2 * s * items)
// and scratch is the largest, over all calls, of up(s * arguments) + the blocks of the arguments.
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
  explicit Arena(uint8_t* at) : at_(at) {}
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

/// What delegates read of a program.
struct ProgramReader {
  static const uint8_t* root(const Program& program) { return program.root_; }
  static Result<FreeableBuffer> load_segment(const Program& program, size_t index) {
    return program.load_segment(DataLoader::SegmentInfo::Type::Backend, index);
  }
};

/// A constant kept outside the program, until the method is destroyed.
struct ExternalData {
  FreeableBuffer data;
  ExternalData* next;
};

struct alignas(8) MethodState {
  MethodState(const Program& program, const uint8_t* plan, MemoryManager& memory,
              EventTracer* tracer);
  ~MethodState();

  Error load(const NamedDataMap* named_data, const LoadBackendOptionsMap* options,
             Span<const Kernel> kernels);

  // Values (method_values.cpp).
  /// Checks value `index` and marks it if its own kind makes it last.
  Error check_value(uint32_t index, const NamedDataMap* named_data);
  Error check_tensor(uint32_t index, const NamedDataMap* named_data);
  /// Bytes of a value's block.
  size_t block_size(uint32_t index) const;
  Error make_slots(const NamedDataMap* named_data);
  /// The value with which an instruction works: lasting, or made from the program. Null when an
  /// item of a list has become something else.
  EValue* value(uint32_t index, Arena& arena);
  bool make_value(uint32_t index, EValue& value, Arena& arena);
  bool make_tensor(uint32_t index, executorch::aten::Tensor& tensor, Arena& arena);
  Error load_external(std::string_view name, const executorch::aten::Tensor& tensor,
                      const NamedDataMap* named_data);
  /// Brings a lasting list up to date with its items.
  void refresh(Slot& slot);

  Slot& slot(uint32_t index) const;
  Slot& input(size_t i) const { return slot(flat_index(gen_kernels::schema::plan::kInputs, i)); }
  Slot& output(size_t i) const { return slot(flat_index(gen_kernels::schema::plan::kOutputs, i)); }
  size_t list_size(uint8_t list) const;
  uint32_t flat_index(uint8_t list, size_t i) const;
  /// Marks the items of a list.
  void mark_items(uint32_t index, gen_kernels::schema::ValueKind value_kind);
  /// Whether a tensor has its place in a planned buffer or in the program.
  bool is_planned(uint32_t index) const;
  Result<executorch::aten::Tensor> attribute(std::string_view name) const;

  void mark(uint32_t index) { marks[index / 32] |= 1u << index % 32; }
  bool is_marked(uint32_t index) const { return (marks[index / 32] >> index % 32 & 1u) != 0; }
  bool is_value(uint32_t index) const { return index < n_values; }
  gen_kernels::schema::ValueKind kind(uint32_t index) const;
  /// Table of the value itself: Int, Tensor ...
  const uint8_t* content(uint32_t index) const;

  // Instructions (method.cpp).
  Error check_instruction(const uint8_t* instruction, uint32_t n_instructions,
                          size_t& scratch_size);
  Error find_kernels(Span<const Kernel> kernels);
  Error execute_instruction();
  /// Runs one instruction; EndOfMethod when none is left.
  Error step();
  bool at_end() const;
  void rewind() { chain = instruction = first_function = 0; }

  const Program& program;
  const uint8_t* const plan;
  MemoryManager& memory;
  EventTracer* const tracer;
  const uint8_t* const values;
  const uint32_t n_values;
  uint32_t n_slots = 0;
  uint32_t n_delegates = 0;
  uint32_t* marks = nullptr;
  Slot* slots = nullptr;
  OpFunction* functions = nullptr;
  uint8_t* scratch = nullptr;
  Delegate* delegates = nullptr;
  ExternalData* external_data = nullptr;

  // Where execution stands.
  uint32_t chain = 0;
  uint32_t instruction = 0;
  uint32_t first_function = 0;  ///< Of the chain, in `functions`.
};

/// Delegates are linked only when a backend is registered: both functions stand in delegate.cpp,
/// with register_backend().
[[gnu::weak]] Error init_delegates(MethodState& state, const NamedDataMap* named_data,
                                   const LoadBackendOptionsMap* options);
[[gnu::weak]] Error execute_delegate(MethodState& state, uint32_t index, Span<EValue*> args);
[[gnu::weak]] void destroy_delegates(MethodState& state);

}  // namespace executorch::runtime::internal
