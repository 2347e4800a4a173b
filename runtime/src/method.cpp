// SPDX-License-Identifier: BSD-3-Clause
//
// The interface of a loaded method.
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/method.h>

#include "features.h"
#include "method_state.h"

namespace executorch::runtime {

namespace features = gen_kernels::features;
namespace schema = gen_kernels::schema;
using executorch::aten::Tensor;

namespace {
/// Whether the doubles with these bits agree to one part in 10^5. Compared as integers, which have
/// the same order: no soft-float code gets linked for it.
bool is_near(int64_t a, int64_t b) {
  const int64_t distance = a - b;
  return (a ^ b) >= 0 && distance < int64_t{1} << 35 && distance > -(int64_t{1} << 35);
}

/// Whether a value that is no tensor is the constant that the program was exported with.
bool is_same(const EValue& constant, const EValue& given) {
  const auto& mine = constant.payload.copyable_union;
  const auto& other = given.payload.copyable_union;
  switch (constant.tag) {
    case Tag::Int:
      return mine.as_int == other.as_int;
    case Tag::Bool:
      return mine.as_bool == other.as_bool;
    case Tag::Double:
      return is_near(mine.as_int, other.as_int);
    case Tag::String:
      return constant.toString() == given.toString();
    default:
      return false;
  }
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
  if (input.tag == Tag::Tensor) {
    const Tensor& to = input.payload.as_tensor;
    const Tensor& from = input_evalue.payload.as_tensor;
    ET_CHECK_OR_RETURN_ERROR(to.scalar_type() == from.scalar_type(), InvalidArgument,
                             "Input %zu has type %d", input_idx,
                             static_cast<int>(to.scalar_type()));
    // The dim orders may differ, as in ExecuTorch: the elements are taken in memory order.
    ET_CHECK_OK_OR_RETURN_ERROR(resize_tensor(to, from.sizes()));
    ET_CHECK_OK_OR_RETURN_ERROR(!features::kSpecialTensors || state_->is_planned(input.index)
                                    ? internal::copy_tensor_data(to, from)
                                    : internal::share_tensor_data(to, from));
  } else {
    ET_CHECK_OR_RETURN_ERROR(features::kNumberInputs, NotSupported,
                             "This build takes tensors alone as inputs");
    ET_CHECK_OR_RETURN_ERROR(is_same(input, input_evalue), InvalidArgument,
                             "Input %zu is a constant", input_idx);
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
  ET_CHECK_OR_RETURN_ERROR(!state_->in_progress(), InvalidState, "step() has begun an execution");
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

bool Method::in_progress() const { return state_->in_progress(); }

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
