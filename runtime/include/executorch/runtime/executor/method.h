// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>

#include <string_view>

namespace executorch::runtime {

class Program;

namespace internal {
struct MethodState;
}

/// One method of a program, ready to run.
///
/// Values stay in the program until an instruction needs them. Only what a run can change has a
/// place in the method allocator: inputs, outputs, numbers that an instruction writes, tensors
/// whose shape or memory changes. So a method costs little memory, however many constants and
/// planned tensors it has.
class Method final {
 public:
  Method(Method&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  ~Method();
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  Method& operator=(Method&&) = delete;

  /// Sets an input: a tensor of the program's type, rank and dim order, or the very number that
  /// the method was exported with. A planned tensor takes a copy of the elements, any other one
  /// uses the memory of the caller's tensor, which must stay.
  ET_NODISCARD Error set_input(const EValue& input_evalue, size_t input_idx);
  ET_NODISCARD Error set_inputs(const executorch::aten::ArrayRef<EValue>& input_evalues);
  /// Gives an output tensor that has no planned memory `size` bytes at `buffer`.
  ET_NODISCARD Error set_output_data_ptr(void* buffer, size_t size, size_t output_idx);

  /// Copies all inputs or outputs, of which there must be at most `length`; the rest of the array
  /// becomes None.
  ET_NODISCARD Error get_outputs(EValue* output_evalues, size_t length);
  ET_NODISCARD Error get_inputs(EValue* input_evalues, size_t length);

  /// The mutable buffer of this name.
  ET_NODISCARD Result<executorch::aten::Tensor> get_attribute(std::string_view name);

  /// Runs all instructions. Planned inputs are overwritten on the way: set them before each run.
  ET_NODISCARD Error execute();
  /// Runs one instruction; EndOfMethod when none is left.
  ET_NODISCARD Error step();
  ET_NODISCARD bool in_progress() const;
  /// Back to the first instruction after step() has reached the end, else InvalidState.
  ET_NODISCARD Error reset_execution();
  ET_DEPRECATED ET_NODISCARD Error experimental_step() { return step(); }
  ET_DEPRECATED ET_NODISCARD Error experimental_reset_execution() { return reset_execution(); }

  MethodMeta method_meta() const;
  size_t inputs_size() const;
  size_t outputs_size() const;
  /// An index out of range stops the program.
  const EValue& get_output(size_t i) const;
  const EValue& get_input(size_t i) const;
  EValue& mutable_input(size_t i);
  EValue& mutable_output(size_t i);
  EventTracer* get_event_tracer();

 private:
  friend class Program;
  explicit Method(internal::MethodState* state) : state_(state) {}

  internal::MethodState* state_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Method;
}
