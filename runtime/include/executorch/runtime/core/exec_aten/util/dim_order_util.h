// SPDX-License-Identifier: BSD-3-Clause
//
// A dim order lists a tensor's dimensions from the outermost in memory to the innermost:
// {0, 1, 2, 3} is contiguous, {0, 2, 3, 1} is channels-last.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/platform/compiler.h>
#include <stdint.h>

#include <type_traits>

namespace executorch::runtime {

/// Whether `dim_order` is a permutation of 0 .. dims - 1.
template <typename DimOrderType>
bool validate_dim_order(const DimOrderType* dim_order, size_t dims) {
  if (dims > kTensorDimensionLimit) {
    return false;
  }
  uint32_t seen = 0;
  for (size_t i = 0; i < dims; ++i) {
    if (dim_order[i] >= dims || (seen >> dim_order[i] & 1u) != 0) {
      return false;
    }
    seen |= 1u << dim_order[i];
  }
  return true;
}

template <typename DimOrderType>
bool is_contiguous_dim_order(const DimOrderType* dim_order, size_t dims) {
  for (size_t i = 0; i < dims; ++i) {
    if (dim_order[i] != i) {
      return false;
    }
  }
  return true;
}

/// Whether the channels, dimension 1 of 4 or 5, are innermost and everything else is in order.
template <typename DimOrderType>
bool is_channels_last_dim_order(const DimOrderType* dim_order, size_t dims) {
  if ((dims != 4 && dims != 5) || dim_order[0] != 0 || dim_order[dims - 1] != 1) {
    return false;
  }
  for (size_t i = 1; i + 1 < dims; ++i) {
    if (dim_order[i] != i + 1) {
      return false;
    }
  }
  return true;
}

/// Strides, in elements, of a dense tensor. `dim_order` must be valid.
template <typename SizesType, typename DimOrderType, typename StridesType>
void dim_order_to_stride_nocheck(const SizesType* sizes, const DimOrderType* dim_order, size_t dims,
                                 StridesType* strides) {
  StridesType stride = 1;
  for (size_t i = dims; i-- > 0;) {
    const DimOrderType dim = dim_order[i];
    strides[dim] = stride;
    // An empty dimension counts as 1, so that the others keep the strides of a shape in use.
    if (sizes[dim] != 0) {
      // Wraps only where there is no element: then other sizes can be anything.
      using Word = std::make_unsigned_t<StridesType>;
      stride = static_cast<StridesType>(static_cast<Word>(stride) * static_cast<Word>(sizes[dim]));
    }
  }
}

template <typename SizesType, typename DimOrderType, typename StridesType>
ET_NODISCARD Error dim_order_to_stride(const SizesType* sizes, const DimOrderType* dim_order,
                                       size_t dims, StridesType* strides) {
  ET_CHECK_OR_RETURN_ERROR(validate_dim_order(dim_order, dims), InvalidArgument,
                           "Invalid dim order");
  dim_order_to_stride_nocheck(sizes, dim_order, dims, strides);
  return Error::Ok;
}

/// The dim order with which these strides are dense; dimensions of equal stride keep their order.
template <typename DimOrderType, typename StridesType>
ET_NODISCARD Error stride_to_dim_order(const StridesType* strides, size_t dims,
                                       DimOrderType* dim_order) {
  ET_CHECK_OR_RETURN_ERROR(dim_order != nullptr, MemoryAllocationFailed, "dim_order is null");
  for (size_t i = 0; i < dims; ++i) {
    size_t at = i;
    for (; at > 0 && strides[dim_order[at - 1]] < strides[i]; --at) {
      dim_order[at] = dim_order[at - 1];
    }
    dim_order[at] = static_cast<DimOrderType>(i);
  }
  return Error::Ok;
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::dim_order_to_stride;
using ::executorch::runtime::dim_order_to_stride_nocheck;
using ::executorch::runtime::is_channels_last_dim_order;
using ::executorch::runtime::is_contiguous_dim_order;
using ::executorch::runtime::stride_to_dim_order;
}  // namespace torch::executor
