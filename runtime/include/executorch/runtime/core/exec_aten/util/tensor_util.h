// SPDX-License-Identifier: BSD-3-Clause
//
// Questions that kernels ask about tensors, and the functions that change one. Predicates log
// nothing: what to make of a false is the caller's business.
#pragma once

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>
#include <stdint.h>

#include <algorithm>
#include <limits>
#include <type_traits>

/// Fails the kernel with Error::`error` and leaves it with `return_value` unless `condition` holds.
#define ET_KERNEL_CHECK(context, condition, error, return_value) \
  do {                                                           \
    if (!(condition)) {                                          \
      ET_LOG(Error, "Check failed (%s)", #condition);            \
      (context).fail(::executorch::runtime::Error::error);       \
      return return_value;                                       \
    }                                                            \
  } while (0)
#define ET_KERNEL_CHECK_MSG(context, condition, error, return_value, message, ...) \
  do {                                                                             \
    if (!(condition)) {                                                            \
      ET_LOG(Error, message, ##__VA_ARGS__);                                       \
      (context).fail(::executorch::runtime::Error::error);                         \
      return return_value;                                                         \
    }                                                                              \
  } while (0)

#define ET_LOG_AND_RETURN_IF_FALSE(condition) ET_CHECK_OR_RETURN_FALSE(condition, "")

#define ET_NORMALIZE_IX(index, upper_bound) ((index) < 0 ? (index) + (upper_bound) : (index))

namespace executorch::runtime {

/// Whether `dim` names one of `upper_bound` dimensions, counting from the end when negative.
inline bool dim_is_valid(int64_t dim, int64_t upper_bound) {
  return dim >= -upper_bound && dim < upper_bound;
}
/// The number of dimensions, at least 1.
inline ssize_t nonzero_dim(const executorch::aten::Tensor& tensor) {
  return tensor.dim() == 0 ? 1 : tensor.dim();
}
/// The size of a dimension; a 0-d tensor has one of size 1.
inline ssize_t nonempty_size(const executorch::aten::Tensor& tensor, ssize_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

inline bool tensor_is_type(const executorch::aten::Tensor& t, executorch::aten::ScalarType type) {
  return t.scalar_type() == type;
}
inline bool tensor_is_bool_type(const executorch::aten::Tensor& t) {
  return t.scalar_type() == executorch::aten::ScalarType::Bool;
}
inline bool tensor_is_integral_type(const executorch::aten::Tensor& t, bool includeBool = false) {
  return isIntegralType(t.scalar_type(), includeBool);
}
inline bool tensor_is_floating_type(const executorch::aten::Tensor& t) {
  return isFloatingType(t.scalar_type());
}
inline bool tensor_is_real_type(const executorch::aten::Tensor& t) {
  return isRealType(t.scalar_type());
}
inline bool tensor_is_realh_type(const executorch::aten::Tensor& t) {
  return isRealHType(t.scalar_type());
}
inline bool tensor_is_realhb_type(const executorch::aten::Tensor& t) {
  return isRealHBType(t.scalar_type());
}
inline bool tensor_is_realhbf16_type(const executorch::aten::Tensor& t) {
  return isRealHBF16Type(t.scalar_type());
}
inline bool tensor_is_realhbbf16_type(const executorch::aten::Tensor& t) {
  return isRealHBBF16Type(t.scalar_type());
}
inline bool tensor_is_complex_type(const executorch::aten::Tensor& t) {
  return isComplexType(t.scalar_type());
}
inline bool tensor_can_cast_to(const executorch::aten::Tensor& t,
                               executorch::aten::ScalarType type) {
  return canCast(t.scalar_type(), type);
}

inline bool tensor_is_rank(const executorch::aten::Tensor& t, size_t rank) {
  return static_cast<size_t>(t.dim()) == rank;
}
inline bool tensor_has_rank_greater_or_equal_to(const executorch::aten::Tensor& t, size_t rank) {
  return static_cast<size_t>(t.dim()) >= rank;
}
inline bool tensor_has_rank_smaller_or_equal_to(const executorch::aten::Tensor& t, size_t rank) {
  return static_cast<size_t>(t.dim()) <= rank;
}
inline bool tensor_has_dim(const executorch::aten::Tensor& t, int64_t dim) {
  return dim_is_valid(dim, nonzero_dim(t));
}
inline bool tensor_has_non_empty_dim(const executorch::aten::Tensor& t, int64_t dim) {
  return nonempty_size(t, static_cast<ssize_t>(ET_NORMALIZE_IX(dim, nonzero_dim(t)))) != 0;
}
inline bool tensor_dim_has_index(const executorch::aten::Tensor& t, int64_t dim, int64_t index) {
  return dim_is_valid(index,
                      nonempty_size(t, static_cast<ssize_t>(ET_NORMALIZE_IX(dim, nonzero_dim(t)))));
}
inline bool tensor_is_scalar(const executorch::aten::Tensor& t) { return t.numel() == 1; }

inline bool tensors_have_same_dtype(const executorch::aten::Tensor& a,
                                    const executorch::aten::Tensor& b) {
  return a.scalar_type() == b.scalar_type();
}
inline bool tensors_have_same_dtype(const executorch::aten::Tensor& a,
                                    const executorch::aten::Tensor& b,
                                    const executorch::aten::Tensor& c) {
  return tensors_have_same_dtype(a, b) && tensors_have_same_dtype(b, c);
}
inline bool tensors_have_same_rank(const executorch::aten::Tensor& a,
                                   const executorch::aten::Tensor& b) {
  return a.dim() == b.dim();
}
/// Equal sizes; two tensors of one element each are the same whatever their rank.
inline bool tensors_have_same_shape(const executorch::aten::Tensor& a,
                                    const executorch::aten::Tensor& b) {
  return (a.numel() == 1 && b.numel() == 1) || a.sizes() == b.sizes();
}
inline bool tensors_have_same_shape(const executorch::aten::Tensor& a,
                                    const executorch::aten::Tensor& b,
                                    const executorch::aten::Tensor& c) {
  return tensors_have_same_shape(a, b) && tensors_have_same_shape(b, c);
}
inline bool tensors_have_same_shape_and_dtype(const executorch::aten::Tensor& a,
                                              const executorch::aten::Tensor& b) {
  return tensors_have_same_shape(a, b) && tensors_have_same_dtype(a, b);
}
inline bool tensors_have_same_shape_and_dtype(const executorch::aten::Tensor& a,
                                              const executorch::aten::Tensor& b,
                                              const executorch::aten::Tensor& c) {
  return tensors_have_same_shape(a, b, c) && tensors_have_same_dtype(a, b, c);
}
inline bool tensors_have_same_size_at_dims(const executorch::aten::Tensor& a, size_t dim_a,
                                           const executorch::aten::Tensor& b, size_t dim_b) {
  return dim_a < static_cast<size_t>(a.dim()) && dim_b < static_cast<size_t>(b.dim()) &&
         a.size(static_cast<ssize_t>(dim_a)) == b.size(static_cast<ssize_t>(dim_b));
}
inline bool tensor_has_expected_size(
    const executorch::aten::Tensor& t,
    executorch::aten::ArrayRef<executorch::aten::SizesType> expected) {
  return t.sizes() == expected;
}
inline bool tensors_have_same_strides(const executorch::aten::Tensor& a,
                                      const executorch::aten::Tensor& b) {
  return a.strides() == b.strides();
}

/// Whether the elements lie in the order of the dimensions.
inline bool tensor_is_contiguous(const executorch::aten::Tensor& t) {
  executorch::aten::StridesType expected = 1;
  for (size_t i = t.sizes().size(); i-- > 0;) {
    if (t.sizes()[i] != 1 && t.strides()[i] != expected) {
      return false;
    }
    expected *= t.sizes()[i];
  }
  return true;
}
inline bool tensor_has_valid_dim_order(const executorch::aten::Tensor& t) {
  return validate_dim_order(t.dim_order().data(), t.dim_order().size());
}
inline bool tensor_is_default_dim_order(const executorch::aten::Tensor& t) {
  return is_contiguous_dim_order(t.dim_order().data(), t.dim_order().size());
}
inline bool tensor_is_channels_last_dim_order(const executorch::aten::Tensor& t) {
  return is_channels_last_dim_order(t.dim_order().data(), t.dim_order().size());
}
inline bool tensor_is_default_or_channels_last_dim_order(const executorch::aten::Tensor& t) {
  return tensor_is_default_dim_order(t) || tensor_is_channels_last_dim_order(t);
}
/// Whether all are contiguous, or all are channels-last.
bool tensors_have_same_dim_order(executorch::aten::ArrayRef<executorch::aten::Tensor> tensors);
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a,
                                        const executorch::aten::Tensor& b) {
  const executorch::aten::Tensor tensors[] = {a, b};
  return tensors_have_same_dim_order(tensors);
}
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a,
                                        const executorch::aten::Tensor& b,
                                        const executorch::aten::Tensor& c) {
  const executorch::aten::Tensor tensors[] = {a, b, c};
  return tensors_have_same_dim_order(tensors);
}
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a,
                                        const executorch::aten::Tensor& b,
                                        const executorch::aten::Tensor& c,
                                        const executorch::aten::Tensor& d) {
  const executorch::aten::Tensor tensors[] = {a, b, c, d};
  return tensors_have_same_dim_order(tensors);
}

/// The product of the sizes before `dim`.
inline size_t getLeadingDims(const executorch::aten::Tensor& t, int64_t dim) {
  size_t product = 1;
  for (ssize_t i = 0; i < dim; ++i) {
    product *= static_cast<size_t>(t.size(i));
  }
  return product;
}
/// The product of the sizes after `dim`.
inline size_t getTrailingDims(const executorch::aten::Tensor& t, int64_t dim) {
  size_t product = 1;
  for (ssize_t i = static_cast<ssize_t>(dim) + 1; i < t.dim(); ++i) {
    product *= static_cast<size_t>(t.size(i));
  }
  return product;
}
/// Position, in elements, of a contiguous tensor's element.
inline size_t coordinateToIndex(const executorch::aten::Tensor& t, const size_t* coordinate) {
  size_t index = 0;
  for (size_t i = 0; i < t.sizes().size(); ++i) {
    index = index * static_cast<size_t>(t.sizes()[i]) + coordinate[i];
  }
  return index;
}
inline void indexToCoordinate(const executorch::aten::Tensor& t, size_t index, size_t* coordinate) {
  for (size_t i = t.sizes().size(); i-- > 0;) {
    const size_t size = static_cast<size_t>(t.sizes()[i]);
    coordinate[i] = size == 0 ? 0 : index % size;
    index = size == 0 ? index : index / size;
  }
}
inline size_t calculate_linear_index(const executorch::aten::SizesType* coordinate,
                                     const executorch::aten::StridesType* strides, size_t dims) {
  size_t index = 0;
  for (size_t i = 0; i < dims; ++i) {
    index += static_cast<size_t>(coordinate[i]) * static_cast<size_t>(strides[i]);
  }
  return index;
}

/// Reads a one-element tensor into `out`: integers in range, any real number into a floating-point
/// type, Bool into bool. False when the tensor does not fit.
template <typename T>
bool extract_scalar_tensor(const executorch::aten::Tensor& tensor, T* out) {
  if (tensor.numel() != 1) {
    return false;
  }
  switch (tensor.scalar_type()) {
#define GEN_KERNELS_EXTRACT(cpp_type, name)                             \
  case executorch::aten::ScalarType::name: {                            \
    const cpp_type value = *tensor.const_data_ptr<cpp_type>();          \
    if constexpr (std::is_same_v<T, bool>) {                            \
      return false;                                                     \
    } else if constexpr (std::is_floating_point_v<T>) {                 \
      *out = static_cast<T>(value);                                     \
      return true;                                                      \
    } else if constexpr (std::is_integral_v<cpp_type>) {                \
      *out = static_cast<T>(value);                                     \
      return static_cast<int64_t>(*out) == static_cast<int64_t>(value); \
    } else {                                                            \
      return false;                                                     \
    }                                                                   \
  }
    ET_FORALL_REAL_TYPES(GEN_KERNELS_EXTRACT)
#undef GEN_KERNELS_EXTRACT
    case executorch::aten::ScalarType::Bool:
      if constexpr (std::is_same_v<T, bool>) {
        *out = *tensor.const_data_ptr<bool>();
        return true;
      }
      return false;
    default:
      return false;
  }
}

namespace internal {
/// Lets `t_dst` use the memory of `t_src`; both must have the same size in bytes.
ET_NODISCARD Error share_tensor_data(const executorch::aten::Tensor& t_dst,
                                     const executorch::aten::Tensor& t_src);
/// Copies the elements; both must have the same size in bytes.
ET_NODISCARD Error copy_tensor_data(const executorch::aten::Tensor& t_dst,
                                    const executorch::aten::Tensor& t_src);
/// Points `t` to a buffer of at least its size.
ET_NODISCARD Error set_tensor_data(const executorch::aten::Tensor& t, void* buffer,
                                   size_t buffer_size);
void reset_data_ptr(const executorch::aten::Tensor& t);

ET_NODISCARD Error
resize_tensor_impl(executorch::aten::TensorImpl* impl,
                   executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes);

class TensorResizerFriend final {
 public:
  ET_NODISCARD static Error resize_tensor_impl(
      executorch::aten::TensorImpl* impl,
      executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
    return impl->internal_resize_contiguous(new_sizes);
  }
};
}  // namespace internal

/// Gives `t` a new shape of the same rank, within its bound (see TensorShapeDynamism). Ok without
/// a change when the shape is the same already; else NotSupported if it may not change so.
ET_NODISCARD inline Error resize_tensor(
    executorch::aten::Tensor t, executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  return internal::resize_tensor_impl(t.unsafeGetTensorImpl(), new_sizes);
}
template <typename T, std::enable_if_t<!std::is_same_v<executorch::aten::SizesType, T>, int> = 0>
ET_NODISCARD Error resize_tensor(executorch::aten::Tensor t,
                                 executorch::aten::ArrayRef<T> new_sizes) {
  executorch::aten::SizesType sizes[kTensorDimensionLimit];
  ET_CHECK_OR_RETURN_ERROR(new_sizes.size() <= kTensorDimensionLimit, InvalidArgument,
                           "Too many dimensions");
  for (size_t i = 0; i < new_sizes.size(); ++i) {
    sizes[i] = static_cast<executorch::aten::SizesType>(new_sizes[i]);
    ET_CHECK_OR_RETURN_ERROR(static_cast<int64_t>(sizes[i]) == static_cast<int64_t>(new_sizes[i]),
                             InvalidArgument, "Size out of range");
  }
  return internal::resize_tensor_impl(t.unsafeGetTensorImpl(), {sizes, new_sizes.size()});
}

/// Copies the dim order of `tensor`, which must have `out_dim_order_size` dimensions.
ET_NODISCARD Error get_dim_order(const executorch::aten::Tensor& tensor,
                                 executorch::aten::DimOrderType* out_dim_order,
                                 size_t out_dim_order_size);

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::calculate_linear_index;
using ::executorch::runtime::coordinateToIndex;
using ::executorch::runtime::dim_is_valid;
using ::executorch::runtime::extract_scalar_tensor;
using ::executorch::runtime::get_dim_order;
using ::executorch::runtime::getLeadingDims;
using ::executorch::runtime::getTrailingDims;
using ::executorch::runtime::indexToCoordinate;
using ::executorch::runtime::kTensorDimensionLimit;
using ::executorch::runtime::nonempty_size;
using ::executorch::runtime::nonzero_dim;
using ::executorch::runtime::resize_tensor;
using ::executorch::runtime::tensor_can_cast_to;
using ::executorch::runtime::tensor_dim_has_index;
using ::executorch::runtime::tensor_has_dim;
using ::executorch::runtime::tensor_has_expected_size;
using ::executorch::runtime::tensor_has_non_empty_dim;
using ::executorch::runtime::tensor_has_rank_greater_or_equal_to;
using ::executorch::runtime::tensor_has_rank_smaller_or_equal_to;
using ::executorch::runtime::tensor_has_valid_dim_order;
using ::executorch::runtime::tensor_is_bool_type;
using ::executorch::runtime::tensor_is_complex_type;
using ::executorch::runtime::tensor_is_contiguous;
using ::executorch::runtime::tensor_is_default_dim_order;
using ::executorch::runtime::tensor_is_default_or_channels_last_dim_order;
using ::executorch::runtime::tensor_is_floating_type;
using ::executorch::runtime::tensor_is_integral_type;
using ::executorch::runtime::tensor_is_rank;
using ::executorch::runtime::tensor_is_real_type;
using ::executorch::runtime::tensor_is_realh_type;
using ::executorch::runtime::tensor_is_realhb_type;
using ::executorch::runtime::tensor_is_scalar;
using ::executorch::runtime::tensors_have_same_dim_order;
using ::executorch::runtime::tensors_have_same_dtype;
using ::executorch::runtime::tensors_have_same_rank;
using ::executorch::runtime::tensors_have_same_shape;
using ::executorch::runtime::tensors_have_same_shape_and_dtype;
using ::executorch::runtime::tensors_have_same_size_at_dims;
using ::executorch::runtime::tensors_have_same_strides;
namespace internal {
using ::executorch::runtime::internal::copy_tensor_data;
using ::executorch::runtime::internal::reset_data_ptr;
using ::executorch::runtime::internal::resize_tensor_impl;
using ::executorch::runtime::internal::set_tensor_data;
using ::executorch::runtime::internal::share_tensor_data;
}  // namespace internal
}  // namespace torch::executor
