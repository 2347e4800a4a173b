// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/platform/compiler.h>
#include <stdint.h>
#include <sys/types.h>

namespace executorch::runtime::internal {
class TensorResizerFriend;
struct MethodState;
}  // namespace executorch::runtime::internal

namespace executorch::runtime::etensor {

/// What a Tensor points to: type, shape and place of its elements. It owns none of the arrays.
/// 28 bytes on a 32-bit machine.
///
/// A STATIC tensor's arrays are never written through it, so they may lie in read-only memory.
class TensorImpl {
 public:
  using SizesType = int32_t;
  using DimOrderType = uint8_t;
  using StridesType = int32_t;

  TensorImpl() = delete;
  /// `sizes`, `dim_order` and `strides` have `dim` elements and must outlive the tensor; `sizes`
  /// must be non-negative (else the program stops). For a dynamic tensor they are the largest
  /// shape and must be writable.
  TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data = nullptr,
             DimOrderType* dim_order = nullptr, StridesType* strides = nullptr,
             TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC,
             DeviceType device_type = DeviceType::CPU, DeviceIndex device_index = 0);

  /// Bytes of all elements.
  size_t nbytes() const;
  /// Bytes of one element.
  ssize_t element_size() const;

  ssize_t size(ssize_t dim) const {
    ET_CHECK_MSG(dim >= 0 && dim < dim_, "Dimension %zd out of range, there are %zd", dim,
                 ssize_t{dim_});
    return sizes_[dim];
  }
  ssize_t dim() const { return dim_; }
  ssize_t numel() const { return numel_; }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  const ArrayRef<SizesType> sizes() const { return {sizes_, dim_}; }
  const ArrayRef<DimOrderType> dim_order() const { return {dim_order_, dim_}; }
  const ArrayRef<StridesType> strides() const { return {strides_, dim_}; }
  TensorShapeDynamism shape_dynamism() const { return static_cast<TensorShapeDynamism>(dynamism_); }
  Device device() const { return Device(device_type(), device_index_); }
  DeviceType device_type() const { return static_cast<DeviceType>(device_type_); }
  DeviceIndex device_index() const { return device_index_; }

  const void* data() const { return data_; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  void* mutable_data() const { return data_; }
  template <typename T>
  T* mutable_data() const {
    return static_cast<T*>(data_);
  }
  void set_data(void* data) { data_ = data; }

  ET_DEPRECATED void set_sizes_contiguous(ArrayRef<SizesType> new_sizes) {
    ET_CHECK(internal_resize_contiguous(new_sizes) == Error::Ok);
  }

 private:
  friend class ::executorch::runtime::internal::TensorResizerFriend;
  friend struct ::executorch::runtime::internal::MethodState;
  /// Of parts that were checked before.
  TensorImpl(ScalarType type, uint32_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
             StridesType* strides, TensorShapeDynamism dynamism, ssize_t numel)
      : sizes_(sizes),
        dim_order_(dim_order),
        strides_(strides),
        data_(data),
        numel_(numel),
        numel_bound_(static_cast<size_t>(numel)),
        dim_(static_cast<uint8_t>(dim)),
        type_(type),
        dynamism_(static_cast<uint8_t>(dynamism) & 3u),
        device_type_(static_cast<uint8_t>(DeviceType::CPU)),
        device_index_(0) {}

  ET_NODISCARD Error internal_resize_contiguous(ArrayRef<SizesType> new_sizes);

  SizesType* sizes_;
  DimOrderType* dim_order_;
  StridesType* strides_;
  void* data_;
  ssize_t numel_;
  size_t numel_bound_;
  const uint8_t dim_;
  const ScalarType type_;
  // One byte for two enumerations: it keeps the object at 28 bytes.
  const uint8_t dynamism_ : 2;
  const uint8_t device_type_ : 6;
  const DeviceIndex device_index_;
};

/// The product of `dim` sizes; negative sizes or an overflow stop the program.
ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim);

/// The product of `dim` sizes, or InvalidArgument for a negative size or an overflow.
Result<ssize_t> safe_numel(const TensorImpl::SizesType* sizes, ssize_t dim);

#define ET_PRI_TENSOR_SIZE "zd"
#define ET_PRI_TENSOR_DIM "zd"
#define ET_PRI_TENSOR_NUMEL "zd"
#define ET_PRI_SIZES_AND_STRIDES "d"

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::compute_numel;
using ::executorch::runtime::etensor::safe_numel;
using ::executorch::runtime::etensor::TensorImpl;
}  // namespace torch::executor
