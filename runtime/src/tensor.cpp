// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <string.h>

#include "features.h"

namespace executorch::runtime {

namespace etensor {

namespace {
bool find_numel(const TensorImpl::SizesType* sizes, ssize_t dim, ssize_t& numel) {
  numel = 1;
  for (ssize_t i = 0; i < dim; ++i) {
    if (sizes[i] < 0 || __builtin_mul_overflow(numel, ssize_t{sizes[i]}, &numel)) {
      return false;
    }
  }
  return true;
}
}  // namespace

Result<ssize_t> safe_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ssize_t numel;
  ET_CHECK_OR_RETURN_ERROR((dim == 0 || sizes != nullptr) && find_numel(sizes, dim, numel),
                           InvalidArgument, "No sizes, or one is negative or too large");
  return numel;
}

ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ssize_t numel;
  ET_CHECK((dim == 0 || sizes != nullptr) && find_numel(sizes, dim, numel));
  return numel;
}

TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data,
                       DimOrderType* dim_order, StridesType* strides, TensorShapeDynamism dynamism,
                       DeviceType device_type, DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      numel_(compute_numel(sizes, dim)),
      numel_bound_(static_cast<size_t>(numel_)),
      dim_(static_cast<uint8_t>(dim)),
      type_(type),
      dynamism_(static_cast<uint8_t>(dynamism) & 3u),
      device_type_(static_cast<uint8_t>(device_type) & 63u),
      device_index_(device_index) {
  ET_CHECK_MSG(isValid(type), "Invalid type %d", static_cast<int>(type));
  ET_CHECK_MSG(dim >= 0 && dim <= ssize_t{kTensorDimensionLimit}, "%zd dimensions", dim);
}

size_t TensorImpl::nbytes() const { return static_cast<size_t>(numel_) * elementSize(type_); }

ssize_t TensorImpl::element_size() const { return static_cast<ssize_t>(elementSize(type_)); }

Error TensorImpl::internal_resize_contiguous(ArrayRef<SizesType> new_sizes) {
  ET_CHECK_OR_RETURN_ERROR(new_sizes.size() == dim_, NotSupported,
                           "Cannot change the rank from %d to %zu", int{dim_}, new_sizes.size());
  if (new_sizes == sizes()) {
    return Error::Ok;
  }
  ET_CHECK_OR_RETURN_ERROR(shape_dynamism() != TensorShapeDynamism::STATIC, NotSupported,
                           "Cannot resize a static tensor");
  if constexpr (gen_kernels::features::kSpecialTensors) {
    ssize_t numel;
    ET_CHECK_OR_RETURN_ERROR(find_numel(new_sizes.data(), dim_, numel), InvalidArgument,
                             "A size is negative or too large");
    ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(numel) <= numel_bound_, NotSupported,
                             "%zd elements, at most %zu fit", numel, numel_bound_);
    memcpy(sizes_, new_sizes.data(), new_sizes.size() * sizeof(SizesType));
    numel_ = numel;
    if (strides_ != nullptr && dim_order_ != nullptr) {
      dim_order_to_stride_nocheck(sizes_, dim_order_, dim_, strides_);
    }
    return Error::Ok;
  }
  return Error::NotSupported;
}

}  // namespace etensor

Result<const TensorLayout> TensorLayout::create(Span<const int32_t> sizes,
                                                Span<const uint8_t> dim_order,
                                                executorch::aten::ScalarType scalar_type) {
  ET_CHECK_OR_RETURN_ERROR(isValid(scalar_type) && dim_order.size() == sizes.size() &&
                               validate_dim_order(dim_order.data(), dim_order.size()),
                           InvalidArgument, "Not a tensor");
  const Result<ssize_t> numel =
      etensor::safe_numel(sizes.data(), static_cast<ssize_t>(sizes.size()));
  size_t nbytes;
  if (!numel.ok() ||
      __builtin_mul_overflow(static_cast<size_t>(numel.get()), elementSize(scalar_type), &nbytes)) {
    return Error::InvalidArgument;
  }
  return TensorLayout(sizes, dim_order, scalar_type, nbytes);
}

bool tensors_have_same_dim_order(executorch::aten::ArrayRef<executorch::aten::Tensor> tensors) {
  bool contiguous = true;
  bool channels_last = true;
  for (const executorch::aten::Tensor& tensor : tensors) {
    contiguous = contiguous && tensor_is_default_dim_order(tensor);
    channels_last = channels_last && tensor_is_channels_last_dim_order(tensor);
  }
  return contiguous || channels_last;
}

Error get_dim_order(const executorch::aten::Tensor& tensor,
                    executorch::aten::DimOrderType* out_dim_order, size_t out_dim_order_size) {
  ET_CHECK_OR_RETURN_ERROR(out_dim_order_size == tensor.dim_order().size(), InvalidArgument,
                           "The tensor has %zu dimensions", tensor.dim_order().size());
  memcpy(out_dim_order, tensor.dim_order().data(), out_dim_order_size);
  return Error::Ok;
}

namespace internal {

Error share_tensor_data(const executorch::aten::Tensor& t_dst,
                        const executorch::aten::Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == t_src.nbytes(), InvalidArgument,
                           "Sizes differ: %zu and %zu bytes", t_dst.nbytes(), t_src.nbytes());
  ET_CHECK_OR_RETURN_ERROR(t_src.mutable_data_ptr() != nullptr || t_src.nbytes() == 0,
                           InvalidArgument, "The source has no data");
  t_dst.unsafeGetTensorImpl()->set_data(t_src.mutable_data_ptr());
  return Error::Ok;
}

Error copy_tensor_data(const executorch::aten::Tensor& t_dst,
                       const executorch::aten::Tensor& t_src) {
  const size_t nbytes = t_src.nbytes();
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == nbytes, InvalidArgument,
                           "Sizes differ: %zu and %zu bytes", t_dst.nbytes(), nbytes);
  if (nbytes == 0) {
    return Error::Ok;
  }
  void* to = t_dst.mutable_data_ptr();
  const void* from = t_src.const_data_ptr();
  ET_CHECK_OR_RETURN_ERROR(to != nullptr && from != nullptr, InvalidArgument,
                           "The source or the destination has no memory");
  // A caller may have filled the tensor's own memory.
  if (to != from) {
    memcpy(to, from, nbytes);
  }
  return Error::Ok;
}

Error set_tensor_data(const executorch::aten::Tensor& t, void* buffer, size_t buffer_size) {
  ET_CHECK_OR_RETURN_ERROR(buffer_size >= t.nbytes(), InvalidArgument,
                           "%zu bytes given, %zu needed", buffer_size, t.nbytes());
  t.unsafeGetTensorImpl()->set_data(buffer);
  return Error::Ok;
}

void reset_data_ptr(const executorch::aten::Tensor& t) {
  t.unsafeGetTensorImpl()->set_data(nullptr);
}

Error resize_tensor_impl(executorch::aten::TensorImpl* impl,
                         executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  return TensorResizerFriend::resize_tensor_impl(impl, new_sizes);
}

}  // namespace internal
}  // namespace executorch::runtime
