// SPDX-License-Identifier: BSD-3-Clause
#include "flat.h"

namespace gen_kernels::flat {

const uint8_t* field(const uint8_t* table, uint32_t id) {
  const uint8_t* vtable = table - load<int32_t>(table);
  const uint32_t entry = 4 + 2 * id;
  if (entry >= load<uint16_t>(vtable)) {
    return nullptr;
  }
  const uint16_t offset = load<uint16_t>(vtable + entry);
  return offset == 0 ? nullptr : table + offset;
}

uint8_t field_u8(const uint8_t* table, uint32_t id) {
  const uint8_t* at = field(table, id);
  return at == nullptr ? 0 : *at;
}

uint32_t field_u32(const uint8_t* table, uint32_t id) {
  const uint8_t* at = field(table, id);
  return at == nullptr ? 0 : load<uint32_t>(at);
}

uint64_t field_u64(const uint8_t* table, uint32_t id) {
  const uint8_t* at = field(table, id);
  return at == nullptr ? 0 : load<uint64_t>(at);
}

const uint8_t* field_table(const uint8_t* table, uint32_t id) {
  const uint8_t* at = field(table, id);
  return at == nullptr ? nullptr : at + load<uint32_t>(at);
}

const uint8_t* field_vector(const uint8_t* table, uint32_t id) {
  const uint8_t* at = field_table(table, id);
  return at == nullptr ? kEmpty : at;
}

}  // namespace gen_kernels::flat
