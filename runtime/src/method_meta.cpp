// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/executor/method_meta.h>

#include "program_schema.h"

namespace executorch::runtime {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using schema::ValueKind;

namespace {

/// A program's kinds of values as tags; None for what is no kind.
constexpr Tag kTags[] = {
    Tag::None,       Tag::None,     Tag::Int,        Tag::Bool,
    Tag::Double,     Tag::Tensor,   Tag::String,     Tag::ListInt,
    Tag::ListDouble, Tag::ListBool, Tag::ListTensor, Tag::ListOptionalTensor,
};

const uint8_t* entry_of(const uint8_t* plan, uint32_t list, size_t index) {
  const uint8_t* indexes = flat::field_vector(plan, list);
  const uint8_t* values = flat::field_vector(plan, schema::plan::kValues);
  if (index >= flat::vector_size(indexes) ||
      flat::vector_u32(indexes, index) >= flat::vector_size(values)) {
    return nullptr;
  }
  return flat::vector_table(values, flat::vector_u32(indexes, index));
}

bool is_tensor(const uint8_t* value) {
  return flat::field_u8(value, schema::evalue::kType) == static_cast<uint8_t>(ValueKind::Tensor);
}

/// The serialised tensor if a value is a tensor with a name, else null.
const uint8_t* attribute_of(const uint8_t* value) {
  if (!is_tensor(value)) {
    return nullptr;
  }
  const uint8_t* tensor = flat::field_table(value, schema::evalue::kValue);
  const uint8_t* extra = flat::field_table(tensor, schema::tensor::kExtraTensorInfo);
  const bool is_named =
      flat::vector_size(flat::field_vector(extra, schema::extra::kFullyQualifiedName)) != 0;
  return is_named ? tensor : nullptr;
}

}  // namespace

Result<TensorInfo> TensorInfo::create(const uint8_t* tensor) {
  const uint8_t* sizes = flat::field_vector(tensor, schema::tensor::kSizes);
  const uint8_t* dim_order = flat::field_vector(tensor, schema::tensor::kDimOrder);
  const uint8_t* extra = flat::field_table(tensor, schema::tensor::kExtraTensorInfo);
  const Result<const TensorLayout> layout = TensorLayout::create(
      {reinterpret_cast<const int32_t*>(flat::vector_data(sizes)), flat::vector_size(sizes)},
      {flat::vector_data(dim_order), flat::vector_size(dim_order)},
      static_cast<executorch::aten::ScalarType>(
          flat::field_u8(tensor, schema::tensor::kScalarType)));
  if (!layout.ok()) {
    return layout.error();
  }
  const uint8_t* name = flat::field_vector(extra, schema::extra::kFullyQualifiedName);
  return TensorInfo(layout->sizes(), layout->dim_order(),
                    {flat::string_data(name), flat::vector_size(name)}, layout->scalar_type(),
                    flat::field(tensor, schema::tensor::kAllocationInfo) != flat::kNothing ||
                        flat::field_u32(tensor, schema::tensor::kDataBufferIndex) != 0,
                    layout->nbytes());
}

const char* MethodMeta::name() const {
  return flat::string_data(flat::field_vector(plan_, schema::plan::kName));
}

size_t MethodMeta::num_inputs() const {
  return flat::vector_size(flat::field_vector(plan_, schema::plan::kInputs));
}

size_t MethodMeta::num_outputs() const {
  return flat::vector_size(flat::field_vector(plan_, schema::plan::kOutputs));
}

Result<Tag> MethodMeta::tag_of(uint32_t list, size_t index) const {
  const uint8_t* value = entry_of(plan_, list, index);
  ET_CHECK_OR_RETURN_ERROR(value != nullptr, InvalidArgument, "No input or output %zu", index);
  return kTags[flat::field_u8(value, schema::evalue::kType)];
}

Result<TensorInfo> MethodMeta::tensor_of(uint32_t list, size_t index) const {
  const uint8_t* value = entry_of(plan_, list, index);
  ET_CHECK_OR_RETURN_ERROR(value != nullptr && is_tensor(value), InvalidArgument,
                           "Input or output %zu is no tensor", index);
  return TensorInfo::create(flat::field_table(value, schema::evalue::kValue));
}

Result<Tag> MethodMeta::input_tag(size_t index) const {
  return tag_of(schema::plan::kInputs, index);
}

Result<TensorInfo> MethodMeta::input_tensor_meta(size_t index) const {
  return tensor_of(schema::plan::kInputs, index);
}

Result<Tag> MethodMeta::output_tag(size_t index) const {
  return tag_of(schema::plan::kOutputs, index);
}

Result<TensorInfo> MethodMeta::output_tensor_meta(size_t index) const {
  return tensor_of(schema::plan::kOutputs, index);
}

size_t MethodMeta::num_attributes() const {
  const uint8_t* values = flat::field_vector(plan_, schema::plan::kValues);
  size_t count = 0;
  for (size_t i = 0; i < flat::vector_size(values); ++i) {
    count += attribute_of(flat::vector_table(values, i)) != nullptr;
  }
  return count;
}

Result<TensorInfo> MethodMeta::attribute_tensor_meta(size_t index) const {
  const uint8_t* values = flat::field_vector(plan_, schema::plan::kValues);
  for (size_t i = 0; i < flat::vector_size(values); ++i) {
    const uint8_t* tensor = attribute_of(flat::vector_table(values, i));
    if (tensor != nullptr && index-- == 0) {
      return TensorInfo::create(tensor);
    }
  }
  return Error::InvalidArgument;
}

size_t MethodMeta::num_memory_planned_buffers() const {
  const size_t count =
      flat::vector_size(flat::field_vector(plan_, schema::plan::kNonConstBufferSizes));
  // The first is reserved: buffers are numbered from 1.
  return count == 0 ? 0 : count - 1;
}

Result<int64_t> MethodMeta::memory_planned_buffer_size(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < num_memory_planned_buffers(), InvalidArgument,
                           "No planned buffer %zu", index);
  return static_cast<int64_t>(
      flat::vector_u64(flat::field_vector(plan_, schema::plan::kNonConstBufferSizes), index + 1));
}

Result<etensor::Device> MethodMeta::memory_planned_buffer_device(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < num_memory_planned_buffers(), InvalidArgument,
                           "No planned buffer %zu", index);
  const uint8_t* devices = flat::field_vector(plan_, schema::plan::kNonConstBufferDevice);
  for (size_t i = 0; i < flat::vector_size(devices); ++i) {
    const uint8_t* entry = flat::vector_table(devices, i);
    if (flat::field_u32(entry, schema::buffer_device::kBufferIndex) == index + 1) {
      return etensor::Device(static_cast<etensor::DeviceType>(
                                 flat::field_u8(entry, schema::buffer_device::kDeviceType)),
                             static_cast<etensor::DeviceIndex>(
                                 flat::field_u8(entry, schema::buffer_device::kDeviceIndex)));
    }
  }
  return etensor::Device(etensor::DeviceType::CPU);
}

size_t MethodMeta::num_backends() const {
  return flat::vector_size(flat::field_vector(plan_, schema::plan::kDelegates));
}

Result<const char*> MethodMeta::get_backend_name(size_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < num_backends(), InvalidArgument, "No backend %zu", index);
  const uint8_t* delegates = flat::field_vector(plan_, schema::plan::kDelegates);
  return flat::string_data(
      flat::field_vector(flat::vector_table(delegates, index), schema::delegate::kId));
}

bool MethodMeta::uses_backend(const char* backend_name) const {
  for (size_t i = 0; i < num_backends(); ++i) {
    if (strcmp(get_backend_name(i).get(), backend_name) == 0) {
      return true;
    }
  }
  return false;
}

size_t MethodMeta::num_instructions() const {
  const uint8_t* chains = flat::field_vector(plan_, schema::plan::kChains);
  size_t count = 0;
  for (size_t i = 0; i < flat::vector_size(chains); ++i) {
    count += flat::vector_size(
        flat::field_vector(flat::vector_table(chains, i), schema::chain::kInstructions));
  }
  return count;
}

}  // namespace executorch::runtime
