// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdint.h>

namespace executorch::runtime::etensor {

// Storage of ATen's quantized tensors. Scale and zero point live elsewhere.
#define GEN_KERNELS_QINT(name, storage)                 \
  struct alignas(sizeof(storage)) name {                \
    using underlying = storage;                         \
    storage val_;                                       \
    name() = default;                                   \
    explicit constexpr name(storage val) : val_(val) {} \
  };
GEN_KERNELS_QINT(qint8, int8_t)
GEN_KERNELS_QINT(quint8, uint8_t)
GEN_KERNELS_QINT(qint32, int32_t)
GEN_KERNELS_QINT(quint4x2, uint8_t)
GEN_KERNELS_QINT(quint2x4, uint8_t)
#undef GEN_KERNELS_QINT

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::qint32;
using ::executorch::runtime::etensor::qint8;
using ::executorch::runtime::etensor::quint2x4;
using ::executorch::runtime::etensor::quint4x2;
using ::executorch::runtime::etensor::quint8;
}  // namespace torch::executor
