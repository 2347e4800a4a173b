// SPDX-License-Identifier: BSD-3-Clause
//
// What the values of a program must fulfil, beyond its structure and its indexes.
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/executor/program.h>

#include "features.h"
#include "tensor_view.h"
#include "value_view.h"

namespace executorch::runtime {

namespace features = gen_kernels::features;
namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using internal::Items;
using internal::Place;
using internal::Serialized;
using internal::serialized;
using internal::TensorView;
using schema::ValueKind;

namespace {

constexpr uint32_t bit(ValueKind kind, bool is_there = true) {
  return is_there ? 1u << static_cast<uint32_t>(kind) : 0;
}

/// The kinds of values that this build handles.
constexpr uint32_t kKinds = bit(ValueKind::Null) | bit(ValueKind::Int) | bit(ValueKind::Bool) |
                            bit(ValueKind::Double) | bit(ValueKind::Tensor) |
                            bit(ValueKind::String, features::kOtherLists) |
                            bit(ValueKind::IntList, features::kIntLists) |
                            bit(ValueKind::DoubleList, features::kOtherLists) |
                            bit(ValueKind::BoolList, features::kOtherLists) |
                            bit(ValueKind::TensorList, features::kTensorLists) |
                            bit(ValueKind::OptionalTensorList, features::kTensorLists);

/// Bytes of a tensor; SIZE_MAX when its type, dim order or sizes are bad. The product of the sizes,
/// empty ones left out, must fit in a stride, and the bytes in a size.
size_t checked_nbytes(const TensorView& tensor) {
  const uint32_t dims = tensor.dims();
  if (!isValid(tensor.type) || dims != flat::vector_size(tensor.dim_order_vector) ||
      !validate_dim_order(tensor.dim_order(), dims) ||
      static_cast<uint8_t>(tensor.dynamism()) > 2 ||
      flat::field_u32(tensor.table, schema::tensor::kStorageOffset) != 0) {
    return SIZE_MAX;
  }
  int32_t extent = 1;
  bool is_empty = false;
  for (uint32_t i = 0; i < dims; ++i) {
    const int32_t size = tensor.sizes()[i];
    if (size == 0) {
      is_empty = true;
    } else if (size < 0 || __builtin_mul_overflow(extent, size, &extent)) {
      return SIZE_MAX;
    }
  }
  size_t nbytes;
  if (__builtin_mul_overflow(static_cast<size_t>(extent), tensor.element_size(), &nbytes)) {
    return SIZE_MAX;
  }
  return is_empty ? 0 : nbytes;
}

/// Whether the items of a list have the right kind.
bool is_good(const Serialized& list, const uint8_t* values) {
  const Items items(list);
  const uint8_t* bytes = flat::vector_data(flat::field_vector(list.table, 0));
  const ValueKind wanted = list.kind == ValueKind::IntList ? ValueKind::Int : ValueKind::Tensor;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (list.kind == ValueKind::BoolList) {
      if (bytes[i] > 1) {
        return false;
      }
    } else if (internal::has_items(list)) {
      const ValueKind kind =
          items[i] == UINT32_MAX ? ValueKind::Null : serialized(values, items[i]).kind;
      if (kind != wanted &&
          (kind != ValueKind::Null || list.kind != ValueKind::OptionalTensorList)) {
        return false;
      }
    }
  }
  return true;
}

/// Whether a planned tensor lies inside the buffer that the program declares for it.
bool is_inside(const TensorView& tensor, const uint8_t* buffer_sizes, size_t nbytes) {
  if (tensor.buffer == 0 || tensor.buffer >= flat::vector_size(buffer_sizes)) {
    return false;
  }
  const uint64_t declared = flat::vector_u64(buffer_sizes, tensor.buffer);
  const auto size = static_cast<size_t>(declared);
  return size == declared && tensor.offset <= size && nbytes <= size - tensor.offset;
}

/// Whether nothing about a tensor is up to a run or to loading the method: its shape, its place,
/// its contents.
bool is_plain(const TensorView& tensor, const uint8_t* buffer_sizes, size_t nbytes) {
  if (tensor.dynamism() != TensorShapeDynamism::STATIC || tensor.is_external()) {
    return false;
  }
  return tensor.place == Place::Planned ? tensor.constant() == 0 && tensor.name().empty() &&
                                              is_inside(tensor, buffer_sizes, nbytes)
                                        : tensor.place == Place::Constant;
}

}  // namespace

// Inline: it is called once.
[[gnu::always_inline]] inline Error Program::check_tensor(const uint8_t* table,
                                                          const uint8_t* buffer_sizes) {
  const TensorView tensor(table);
  const size_t nbytes = checked_nbytes(tensor);
  ET_CHECK_OR_RETURN_ERROR(nbytes != SIZE_MAX, InvalidProgram, "A tensor is damaged");
  // The program decides where constants, and in their buffers planned tensors, begin.
  const void* begin = nullptr;
  if (tensor.place == Place::Constant) {
    ET_CHECK_OK_OR_RETURN_ERROR(find_constant(tensor.constant(), nbytes, begin));
  }
  // Sizes of elements are powers of two.
  ET_CHECK_OR_RETURN_ERROR(nbytes == 0 || ((reinterpret_cast<uintptr_t>(begin) | tensor.offset) &
                                           (tensor.element_size() - 1)) == 0,
                           InvalidProgram, "A tensor is not aligned");
  if (!is_plain(tensor, buffer_sizes, nbytes)) {
    ET_CHECK_OR_RETURN_ERROR(features::kSpecialTensors, NotSupported,
                             "This build takes constants and planned tensors alone");
    is_plain_ = false;
  }
  return Error::Ok;
}

Error Program::check_values(const uint8_t* plan) {
  ET_CHECK_OR_RETURN_ERROR(features::kDelegates || flat::vector_size(flat::field_vector(
                                                       plan, schema::plan::kDelegates)) == 0,
                           NotSupported, "This build has no delegates");
  const uint8_t* values = flat::field_vector(plan, schema::plan::kValues);
  for (uint32_t i = 0; i < flat::vector_size(values); ++i) {
    const Serialized value = serialized(values, i);
    if (value.kind == ValueKind::Tensor) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          check_tensor(value.table, flat::field_vector(plan, schema::plan::kNonConstBufferSizes)));
    } else if ((kKinds >> static_cast<uint32_t>(value.kind) & 1u) == 0) {
      return Error::NotSupported;
    } else if (features::kLists && value.is_list()) {
      ET_CHECK_OR_RETURN_ERROR(is_good(value, values), InvalidProgram,
                               "List %" PRIu32 " has a bad item", i);
    }
  }
  return Error::Ok;
}

}  // namespace executorch::runtime
