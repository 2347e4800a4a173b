// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tag.h>

#include <string_view>

namespace executorch::runtime {

/// What a program says about a tensor. It points into the program, which must outlive it.
class TensorInfo final {
 public:
  TensorInfo() = delete;

  /// For a dynamic tensor, the upper bounds.
  Span<const int32_t> sizes() const { return sizes_; }
  Span<const uint8_t> dim_order() const { return dim_order_; }
  executorch::aten::ScalarType scalar_type() const { return scalar_type_; }
  /// Whether the tensor has its place in a planned buffer or is a constant.
  bool is_memory_planned() const { return is_memory_planned_; }
  size_t nbytes() const { return nbytes_; }
  /// The fully qualified name of a weight or buffer; empty for other tensors.
  std::string_view name() const { return name_; }

 private:
  friend class MethodMeta;
  static Result<TensorInfo> create(const uint8_t* serialized_tensor);
  TensorInfo(Span<const int32_t> sizes, Span<const uint8_t> dim_order, std::string_view name,
             executorch::aten::ScalarType scalar_type, bool is_memory_planned, size_t nbytes)
      : sizes_(sizes),
        dim_order_(dim_order),
        name_(name),
        scalar_type_(scalar_type),
        is_memory_planned_(is_memory_planned),
        nbytes_(nbytes) {}

  Span<const int32_t> sizes_;
  Span<const uint8_t> dim_order_;
  std::string_view name_;
  executorch::aten::ScalarType scalar_type_;
  bool is_memory_planned_;
  size_t nbytes_;
};

/// What a program says about a method, before it is loaded. It points into the program, which must
/// outlive it. An index out of range gives InvalidArgument.
class MethodMeta final {
 public:
  MethodMeta() = delete;

  const char* name() const;

  size_t num_inputs() const;
  Result<Tag> input_tag(size_t index) const;
  /// InvalidArgument when the input is no tensor.
  Result<TensorInfo> input_tensor_meta(size_t index) const;

  size_t num_outputs() const;
  Result<Tag> output_tag(size_t index) const;
  Result<TensorInfo> output_tensor_meta(size_t index) const;

  /// Tensors with a name: weights kept outside the program, and mutable buffers.
  size_t num_attributes() const;
  Result<TensorInfo> attribute_tensor_meta(size_t index) const;

  size_t num_memory_planned_buffers() const;
  /// Bytes of planned buffer `index`.
  Result<int64_t> memory_planned_buffer_size(size_t index) const;
  Result<etensor::Device> memory_planned_buffer_device(size_t index) const;

  bool uses_backend(const char* backend_name) const;
  size_t num_backends() const;
  Result<const char*> get_backend_name(size_t index) const;

  size_t num_instructions() const;

  ET_DEPRECATED size_t num_non_const_buffers() const { return num_memory_planned_buffers(); }
  Result<int64_t> non_const_buffer_size(size_t index) const {
    return memory_planned_buffer_size(index);
  }

 private:
  friend class Program;
  friend class Method;
  explicit MethodMeta(const uint8_t* plan) : plan_(plan) {}
  Result<Tag> tag_of(uint32_t list, size_t index) const;
  Result<TensorInfo> tensor_of(uint32_t list, size_t index) const;

  const uint8_t* plan_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::MethodMeta;
using ::executorch::runtime::TensorInfo;
}  // namespace torch::executor
