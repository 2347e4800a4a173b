// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/portable_type/float16_ops.h>
#include <stdint.h>

#include <limits>

namespace executorch::runtime::etensor {

namespace internal {
/// IEEE 754 binary16 to binary32; exact.
float half_to_float(uint16_t half);
/// IEEE 754 binary32 to binary16, to nearest, ties to even.
uint16_t float_to_half(float value);
}  // namespace internal

/// IEEE 754 binary16.
struct alignas(2) Half : internal::Float16Ops<Half> {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  Half() = default;
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  /* implicit */ Half(float value) : x(internal::float_to_half(value)) {}
  /* implicit */ operator float() const { return internal::half_to_float(x); }
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Half;
}

template <>
class std::numeric_limits<::executorch::runtime::etensor::Half> {
  using Half = ::executorch::runtime::etensor::Half;
  static constexpr Half make(uint16_t bits) { return Half(bits, Half::from_bits()); }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -13;
  static constexpr int max_exponent = 16;
  static constexpr Half min() { return make(0x0400); }
  static constexpr Half lowest() { return make(0xfbff); }
  static constexpr Half max() { return make(0x7bff); }
  static constexpr Half epsilon() { return make(0x1400); }
  static constexpr Half infinity() { return make(0x7c00); }
  static constexpr Half quiet_NaN() { return make(0x7e00); }
  static constexpr Half denorm_min() { return make(0x0001); }
};
