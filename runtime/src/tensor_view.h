// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>

#include <string_view>

#include "program_schema.h"

namespace executorch::runtime::internal {

/// Where a tensor's elements are: set at run time, in the program, in a planned buffer, or in a
/// file of its own.
enum class Place : uint8_t { Runtime, Constant, Planned, External };

/// A tensor as the program has it.
struct TensorView {
  explicit TensorView(const uint8_t* table);

  uint32_t dims() const { return gen_kernels::flat::vector_size(sizes_vector); }
  const int32_t* sizes() const {
    return reinterpret_cast<const int32_t*>(gen_kernels::flat::vector_data(sizes_vector));
  }
  const uint8_t* dim_order() const { return gen_kernels::flat::vector_data(dim_order_vector); }
  size_t element_size() const { return kElementSizes[static_cast<size_t>(type)]; }
  /// Bytes of the elements; of a dynamic tensor, of the most elements.
  size_t nbytes() const;

  // What few tensors have, or few readers ask for, is looked up then.

  /// The table ExtraTensorInfo.
  const uint8_t* extra() const {
    return gen_kernels::flat::field_table(table, gen_kernels::schema::tensor::kExtraTensorInfo);
  }
  bool is_external() const {
    return gen_kernels::flat::field_u8(extra(), gen_kernels::schema::extra::kLocation) ==
           gen_kernels::schema::extra::kLocationExternal;
  }
  /// The fully qualified name, empty when there is none.
  std::string_view name() const;
  /// Where the initial state is: an index into the program's mutable_data_segments.
  size_t state_segments() const;

  /// Number of the constant, or of the initial state; 0 for none.
  uint32_t constant() const {
    return gen_kernels::flat::field_u32(table, gen_kernels::schema::tensor::kDataBufferIndex);
  }
  TensorShapeDynamism dynamism() const {
    return static_cast<TensorShapeDynamism>(
        gen_kernels::flat::field_u8(table, gen_kernels::schema::tensor::kShapeDynamism));
  }

  const uint8_t* table;
  const uint8_t* sizes_vector;
  const uint8_t* dim_order_vector;
  /// Number of the planned buffer, as the program counts: from 1.
  uint32_t buffer;
  /// Position in it; SIZE_MAX when it is beyond this machine.
  size_t offset;
  executorch::aten::ScalarType type;
  Place place;
};

}  // namespace executorch::runtime::internal
