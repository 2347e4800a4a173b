// SPDX-License-Identifier: BSD-3-Clause
#include "flat.h"

namespace gen_kernels::flat {

const uint8_t* field(const uint8_t* table, uint32_t id) { return Fields(table)[id]; }

// Not by way of field(): most fields are looked up here.
const uint8_t* field_target(const uint8_t* table, uint32_t id) { return follow(Fields(table)[id]); }

}  // namespace gen_kernels::flat
