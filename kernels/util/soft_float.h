// Floats taken apart, for targets that have no floating-point unit.
//
// There an addition or multiplication of floats costs 80 to 100 instructions, most of them spent on
// normalising and rounding. Kernels that compute several in a row do better with integers in
// between and one rounding at the end.
#pragma once

#include <cstdint>
#include <cstring>

// Whether to do so: on targets without floating-point instructions, unless the build says.
#ifndef GEN_KERNELS_SOFT_FLOAT
#if defined(__SOFTFP__) || (defined(__riscv) && !defined(__riscv_flen) && !defined(__riscv_zfinx))
#define GEN_KERNELS_SOFT_FLOAT 1
#else
#define GEN_KERNELS_SOFT_FLOAT 0
#endif
#endif

namespace gen_kernels::soft {

inline constexpr bool kSoftFloat = GEN_KERNELS_SOFT_FLOAT != 0;
inline constexpr uint32_t kSign = 0x80000000u;
inline constexpr uint32_t kInfinity = 0x7F800000u;

inline uint32_t to_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The exponent field, biased by 127; 0 for zeros and subnormals, 255 for infinities and NaNs.
inline uint32_t exponent_of(uint32_t bits) { return bits << 1 >> 24; }

// a / b * 2^32, cut, for a < b and b >= 2^31: two digits of 16 bits.
inline uint32_t quotient(uint32_t a, uint32_t b) {
  const uint32_t high_digit = b >> 16;
  uint32_t result = 0;
  for (int i = 0; i < 2; ++i) {
    uint32_t digit = a / high_digit;
    uint32_t rest = a - digit * high_digit;
    while (digit > 0xFFFF || digit * (b & 0xFFFF) > rest << 16) {
      --digit;
      rest += high_digit;
      if (rest > 0xFFFF) break;
    }
    a = (a << 16) - digit * b;
    result = result << 16 | digit;
  }
  return result;
}

// value * 2^exponent, rounded to nearest, ties to even.
__attribute__((noinline)) inline float scale(int64_t value, int32_t exponent) {
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? kSign : 0;
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (value < 0) magnitude = 0 - magnitude;
  // Bring the leading bit to bit 63, where it weighs 2^(exponent - 127), as the field means.
  exponent += 127 + 63;
  if (magnitude >> 32 == 0) {
    magnitude <<= 32;
    exponent -= 32;
  }
  const int zeros = __builtin_clz(static_cast<unsigned>(magnitude >> 32));
  magnitude <<= zeros;
  exponent -= zeros;
  uint32_t head = static_cast<uint32_t>(magnitude >> 32);
  uint32_t lost = static_cast<uint32_t>(magnitude);
  if (exponent >= 255) return from_bits(sign | kInfinity);
  if (exponent <= 0) {  // The result is subnormal.
    const int32_t drop = 1 - exponent;
    if (drop >= 32) return from_bits(sign);
    lost |= head << (32 - drop);
    head >>= drop;
    exponent = 1;
  }
  uint32_t result = (static_cast<uint32_t>(exponent - 1) << 23) + (head >> 8);
  const uint32_t tail = (head & 255) << 1 | (lost != 0);
  result += tail + (result & 1) > 256;
  return from_bits(sign | result);
}

}  // namespace gen_kernels::soft
