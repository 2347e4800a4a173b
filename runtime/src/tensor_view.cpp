// SPDX-License-Identifier: BSD-3-Clause
#include "tensor_view.h"

#include "features.h"

namespace executorch::runtime::internal {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

TensorView::TensorView(const uint8_t* table_) : table(table_), buffer(0), offset(0) {
  const flat::Fields field(table);
  sizes_vector = flat::follow(field[schema::tensor::kSizes]);
  dim_order_vector = flat::follow(field[schema::tensor::kDimOrder]);
  type = static_cast<executorch::aten::ScalarType>(*field[schema::tensor::kScalarType]);
  const uint8_t* allocation = flat::follow(field[schema::tensor::kAllocationInfo]);
  if (allocation != flat::kNothing) {
    place = Place::Planned;
    const flat::Fields planned(allocation);
    buffer = flat::load<uint32_t>(planned[schema::allocation::kMemoryId]);
    offset = flat::load<uint32_t>(planned[schema::allocation::kOffsetLow]);
    const uint32_t high = flat::load<uint32_t>(planned[schema::allocation::kOffsetHigh]);
    if constexpr (sizeof(size_t) > 4) {
      offset |= static_cast<size_t>(uint64_t{high} << 32);
    } else if (high != 0) {
      offset = SIZE_MAX;
    }
  } else if (gen_kernels::features::kSpecialTensors && is_external()) {
    place = Place::External;
  } else {
    place = constant() != 0 ? Place::Constant : Place::Runtime;
  }
}

size_t TensorView::nbytes() const {
  size_t nbytes = element_size();
  for (uint32_t i = 0; i < dims(); ++i) {
    nbytes *= static_cast<size_t>(sizes()[i]);
  }
  return nbytes;
}

std::string_view TensorView::name() const {
  const uint8_t* text = flat::field_vector(extra(), schema::extra::kFullyQualifiedName);
  return {flat::string_data(text), flat::vector_size(text)};
}

size_t TensorView::state_segments() const {
  const uint64_t index = flat::field_u64(extra(), schema::extra::kMutableDataSegmentsIndex);
  return index > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(index);
}

}  // namespace executorch::runtime::internal
