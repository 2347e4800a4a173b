// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdint.h>

namespace executorch::runtime::etensor {

// Storage without arithmetic: 8 or 16 bits, read by nobody but their own kernels.
#define GEN_KERNELS_BITS(name, storage)                 \
  struct alignas(sizeof(storage)) name {                \
    using underlying = storage;                         \
    storage val_;                                       \
    name() = default;                                   \
    explicit constexpr name(storage val) : val_(val) {} \
  };
GEN_KERNELS_BITS(bits1x8, uint8_t)
GEN_KERNELS_BITS(bits2x4, uint8_t)
GEN_KERNELS_BITS(bits4x2, uint8_t)
GEN_KERNELS_BITS(bits8, uint8_t)
GEN_KERNELS_BITS(bits16, uint16_t)
#undef GEN_KERNELS_BITS

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::bits16;
using ::executorch::runtime::etensor::bits1x8;
using ::executorch::runtime::etensor::bits2x4;
using ::executorch::runtime::etensor::bits4x2;
using ::executorch::runtime::etensor::bits8;
}  // namespace torch::executor
