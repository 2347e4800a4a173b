// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/executor/pte_data_map.h>

#include "program_schema.h"

namespace executorch::runtime::internal {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

namespace {
std::string_view key_of(const uint8_t* entry) {
  const uint8_t* key = flat::field_vector(entry, schema::named_data::kKey);
  return {flat::string_data(key), flat::vector_size(key)};
}
}  // namespace

Result<const TensorLayout> PteDataMap::get_tensor_layout(std::string_view) const {
  return Error::NotImplemented;
}

Result<FreeableBuffer> PteDataMap::get_data(std::string_view key) const {
  const uint8_t* entries = flat::field_vector(program_->root_, schema::program::kNamedData);
  for (size_t i = 0; i < flat::vector_size(entries); ++i) {
    const uint8_t* entry = flat::vector_table(entries, i);
    if (key_of(entry) == key) {
      return program_->load_segment(DataLoader::SegmentInfo::Type::Constant,
                                    flat::field_u32(entry, schema::named_data::kSegmentIndex));
    }
  }
  return Error::NotFound;
}

Error PteDataMap::load_data_into(std::string_view, void*, size_t) const {
  return Error::NotImplemented;
}

Result<uint32_t> PteDataMap::get_num_keys() const {
  return flat::vector_size(flat::field_vector(program_->root_, schema::program::kNamedData));
}

Result<const char*> PteDataMap::get_key(uint32_t index) const {
  const uint8_t* entries = flat::field_vector(program_->root_, schema::program::kNamedData);
  ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(entries), InvalidArgument, "No key %" PRIu32,
                           index);
  return key_of(flat::vector_table(entries, index)).data();
}

}  // namespace executorch::runtime::internal
