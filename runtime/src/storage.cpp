// SPDX-License-Identifier: BSD-3-Clause
#include "storage.h"

namespace executorch::runtime::internal {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

Storage::Storage(const flat::View& tensor)
    : allocation(tensor.table(schema::tensor::kAllocationInfo)),
      extra(tensor.table(schema::tensor::kExtraTensorInfo)),
      constant(tensor.u32(schema::tensor::kDataBufferIndex)),
      is_external(extra != nullptr && flat::field_u8(extra, schema::extra::kLocation) ==
                                          schema::extra::kLocationExternal) {
  place = allocation != nullptr ? Place::Planned
          : is_external         ? Place::External
          : constant != 0       ? Place::Constant
                                : Place::Runtime;
}

std::string_view Storage::name() const {
  if (extra == nullptr) {
    return {};
  }
  const uint8_t* text = flat::field_vector(extra, schema::extra::kFullyQualifiedName);
  return {flat::string_data(text), flat::vector_size(text)};
}

size_t Storage::offset() const {
  if (allocation == nullptr) {
    return 0;
  }
  const flat::View view(allocation);
  const uint64_t offset = view.u32(schema::allocation::kOffsetLow) |
                          uint64_t{view.u32(schema::allocation::kOffsetHigh)} << 32;
  return offset > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(offset);
}

uint32_t Storage::buffer() const {
  return flat::field_u32(allocation, schema::allocation::kMemoryId) - 1;
}

size_t Storage::state_segments() const {
  const uint64_t index =
      extra == nullptr ? 0 : flat::field_u64(extra, schema::extra::kMutableDataSegmentsIndex);
  return index > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(index);
}

}  // namespace executorch::runtime::internal
