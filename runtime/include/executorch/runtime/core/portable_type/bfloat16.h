// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/portable_type/float16_ops.h>
#include <stdint.h>

#include <limits>

namespace executorch::runtime::etensor {

/// The upper half of an IEEE 754 binary32.
struct alignas(2) BFloat16 : internal::Float16Ops<BFloat16> {
  uint16_t x;

  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }

  BFloat16() = default;
  constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  /// To nearest, ties to even; every NaN becomes 0x7fc0.
  /* implicit */ BFloat16(float value) : x(round(internal::float_bits(value))) {}
  /* implicit */ operator float() const { return internal::bits_float(unsigned{x} << 16); }

 private:
  static constexpr uint16_t round(unsigned bits) {
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
      return 0x7fc0;
    }
    return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::BFloat16;
}

template <>
class std::numeric_limits<::executorch::runtime::etensor::BFloat16> {
  using BFloat16 = ::executorch::runtime::etensor::BFloat16;
  static constexpr BFloat16 make(uint16_t bits) { return BFloat16(bits, BFloat16::from_bits()); }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int radix = 2;
  static constexpr int min_exponent = -125;
  static constexpr int max_exponent = 128;
  static constexpr BFloat16 min() { return make(0x0080); }
  static constexpr BFloat16 lowest() { return make(0xff7f); }
  static constexpr BFloat16 max() { return make(0x7f7f); }
  static constexpr BFloat16 epsilon() { return make(0x3c00); }
  static constexpr BFloat16 infinity() { return make(0x7f80); }
  static constexpr BFloat16 quiet_NaN() { return make(0x7fc0); }
  static constexpr BFloat16 denorm_min() { return make(0x0001); }
};
