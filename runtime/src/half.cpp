// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/portable_type/half.h>

namespace executorch::runtime::etensor::internal {

float half_to_float(uint16_t half) {
  const unsigned sign = (half & 0x8000u) << 16;
  const unsigned rest = half & 0x7fffu;
  if (rest < 0x0400u) {
    // Zero or subnormal: a multiple of 2^-24, exact in float.
    const float magnitude = static_cast<float>(static_cast<int>(rest)) * 0x1p-24f;
    return bits_float(float_bits(magnitude) | sign);
  }
  // Rebias the exponent; that of infinity and NaN takes the highest value again.
  const unsigned bias = rest >= 0x7c00u ? 0x70000000u : 0x38000000u;
  return bits_float(((rest << 13) + bias) | sign);
}

uint16_t float_to_half(float value) {
  const unsigned bits = float_bits(value);
  const unsigned sign = bits >> 16 & 0x8000u;
  const unsigned rest = bits & 0x7fffffffu;
  unsigned half;
  if (rest > 0x7f800000u) {
    half = 0x7e00u;
  } else if (rest >= 0x477ff000u) {
    half = 0x7c00u;  // from 65520 on, halfway between the largest number and 2^16
  } else if (rest >= 0x38800000u) {
    const unsigned odd = rest >> 13 & 1u;
    half = (rest - 0x38000000u + 0xfffu + odd) >> 13;
  } else if (rest < 0x33000000u) {
    half = 0;  // below half of the smallest subnormal
  } else {
    // Subnormal: shift the significand, with its hidden bit, and round.
    const unsigned shift = 126u - (rest >> 23);
    const unsigned significand = (rest & 0x7fffffu) | 0x800000u;
    const unsigned odd = significand >> shift & 1u;
    half = (significand + (1u << (shift - 1u)) - 1u + odd) >> shift;
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace executorch::runtime::etensor::internal
