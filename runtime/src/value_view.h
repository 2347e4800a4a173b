// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "program_schema.h"

namespace executorch::runtime::internal {

/// A value as the program has it: its kind, and the table Int, Tensor ...
struct Serialized {
  bool is_list() const { return kind >= gen_kernels::schema::ValueKind::IntList; }
  /// Whether a call may write it: Null and single numbers.
  bool is_plain() const { return kind <= gen_kernels::schema::ValueKind::Double; }

  gen_kernels::schema::ValueKind kind;
  const uint8_t* table;
};

/// Value `index` of a vector of them.
Serialized serialized(const uint8_t* values, uint32_t index);

/// Whether a list has other values as items.
inline bool has_items(const Serialized& value) {
  using gen_kernels::schema::ValueKind;
  return value.kind == ValueKind::IntList || value.kind >= ValueKind::TensorList;
}

/// The items of such a list: indexes, UINT32_MAX for none.
class Items {
 public:
  explicit Items(const Serialized& list)
      : data_(gen_kernels::flat::field_vector(list.table, 0)),
        is_wide_(list.kind == gen_kernels::schema::ValueKind::IntList) {}
  uint32_t size() const { return gen_kernels::flat::vector_size(data_); }
  uint32_t operator[](uint32_t i) const {
    // Wide ones are numbers of 64 bits, of which the upper half is 0.
    return gen_kernels::flat::vector_u32(data_, is_wide_ ? 2 * i : i);
  }

 private:
  const uint8_t* data_;
  bool is_wide_;
};

}  // namespace executorch::runtime::internal
