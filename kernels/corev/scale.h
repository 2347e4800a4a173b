// Floats from small integers, by integers on their bits.
#pragma once

#include "corev/corev.h"
#include "util/quant.h"

namespace gen_kernels::corev {

inline bool is_byte(int64_t value) { return value >= INT8_MIN && value <= INT8_MAX; }

// Whether a scale is positive and far from overflow and underflow, and its exponent.
inline bool is_moderate(float scale) {
  const uint32_t field = float_bits(scale) >> 23;
  return field >= 127 - 64 && field <= 127 + 64;
}

// A value less the zero point, at most 255 in magnitude, times a moderate scale; rounded once.
struct Scale {
  uint32_t mantissa, base;

  explicit Scale(float scale)
      : mantissa((float_bits(scale) & 0x7fffffU) | 0x800000U),
        base(((float_bits(scale) >> 23) - 1) << 23) {}

  GEN_KERNELS_INLINE uint32_t operator()(int32_t value) const {
    if (value == 0) {
      return 0;
    }
    const uint32_t sign = static_cast<uint32_t>(value) & 0x80000000U;
    const uint32_t product = static_cast<uint32_t>(value < 0 ? -value : value) * mantissa;
    const int32_t places = last_bit(product) - 23;
    if (places == 0) {
      return (sign | base) + product;
    }
    const uint32_t even = (product >> places) & 1;
    const uint32_t rounded = (product + (1U << (places - 1)) - 1 + even) >> places;
    // A carry out of the digits steps the exponent.
    return (sign | base) + (static_cast<uint32_t>(places) << 23) + rounded;
  }
};

}  // namespace gen_kernels::corev
