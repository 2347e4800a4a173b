// Elementary functions: the standard library's, but on targets without floating-point instructions
// those of float by integer arithmetic. They need 80 to 300 instructions there, where picolibc's
// compute in double (2,600 to 4,300 instructions, and 6 kB of code). All results are within one
// unit in the last place (tests/unit/test_soft_functions.py).
#pragma once

#include <cmath>
#include <type_traits>

#include "util/soft_float.h"

namespace gen_kernels {
namespace soft {

// a * b >> 32.
inline uint32_t high(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline int32_t high(int32_t a, int32_t b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }

// 2^f - 1 times 2^32, for f = fraction / 2^32: a polynomial for (2^f - 1) / f that meets it in the
// Chebyshev nodes of [0, 1].
inline uint32_t exp2_part(uint32_t fraction) {
  static constexpr uint32_t kPower[] = {0xB17217F9, 0x3D7F7BA6, 0x0E3589F8, 0x02763464,
                                        0x0057BF1A, 0x00099317, 0x00015BD3};
  uint32_t p = kPower[6];
  for (int i = 6; i-- > 0;) p = kPower[i] + high(p, fraction);
  return high(p, fraction);
}

__attribute__((noinline)) inline float exp(float x) {
  const uint32_t bits = to_bits(x);
  const uint32_t field = exponent_of(bits);
  if (field >= 127 + 7) {  // 128 and more
    if ((bits & ~kSign) > kInfinity) return x;
    return bits < kSign ? from_bits(kInfinity) : 0;
  }
  if (field < 127 - 26) return 1;
  // x / ln 2 with 32 binary places: n + fraction / 2^32.
  constexpr uint32_t kLog2E = 3098164009u;  // 1 / ln 2 * 2^31
  const uint32_t mantissa = (bits & 0x7FFFFF) | 0x800000;
  uint64_t t = uint64_t{mantissa} * kLog2E >> (149 - field);
  if (bits >= kSign) t = 0 - t;
  const auto n = static_cast<int32_t>(t >> 32);
  const auto fraction = static_cast<uint32_t>(t);
  const uint32_t p = exp2_part(fraction);
  const int32_t biased = n + 127;
  if (biased >= 255) return from_bits(kInfinity);
  if (biased > 0) {
    return from_bits((static_cast<uint32_t>(biased) << 23) + (p >> 9) + (p >> 8 & 1));
  }
  return scale(int64_t{1} << 32 | p, n - 32);
}

__attribute__((noinline)) inline float log(float x) {
  uint32_t bits = to_bits(x);
  if (bits << 1 == 0) return from_bits(kSign | kInfinity);
  if ((bits & ~kSign) > kInfinity) return x;
  if (bits >= kSign) return from_bits(0x7FC00000);
  if (bits == kInfinity) return x;
  int32_t exponent = -127;
  if (bits < 0x800000) {  // Subnormal.
    bits = to_bits(x * 0x1p23f);
    exponent -= 23;
  }
  exponent += static_cast<int32_t>(bits >> 23);
  // x = 2^exponent * (1 + z), z in [sqrt(1/2) - 1, sqrt(2) - 1], times 2^31.
  const uint32_t mantissa = bits << 8 | kSign;
  const bool large = mantissa > 0xB504F334u;  // sqrt(2) * 2^31
  exponent += large;
  const auto z = static_cast<int32_t>((large ? mantissa >> 1 : mantissa) - kSign);
  // log(1 + z) / z by a polynomial that meets it in the Chebyshev nodes, times 2^30.
  static constexpr int32_t kLog1p[] = {1073741825, -536870906, 357913612, -268436126,
                                       214775591,  -178955778, 152603315, -133367553,
                                       128267891,  -124775762, 70569826};
  int32_t p = kLog1p[10];
  for (int i = 10; i-- > 0;) p = kLog1p[i] + high(p, z) * 2;
  constexpr int64_t kLn2 = 49946518145322873;  // ln 2 * 2^56
  return scale((int64_t{z} * p >> 5) + exponent * kLn2, -56);
}

// Correctly rounded.
__attribute__((noinline)) inline float sqrt(float x) {
  uint32_t bits = to_bits(x);
  if (bits << 1 == 0 || bits == kInfinity || (bits & ~kSign) > kInfinity) return x;
  if (bits >= kSign) return from_bits(0x7FC00000);
  int32_t exponent = 0;
  if (bits < 0x800000) {  // Subnormal.
    bits = to_bits(x * 0x1p24f);
    exponent = -12;
  }
  // x = 2^(2 * exponent) * rest / 2^24, rest in [2^24, 2^26).
  const auto field = static_cast<int32_t>(bits >> 23);
  uint32_t rest = ((bits & 0x7FFFFF) | 0x800000) << (1 + ((field & 1) == 0));
  exponent += (field + 1) / 2 - 64;
  // Digit by digit: `root` grows to 24 digits and one to round by; `twice` is twice its value.
  uint32_t root = 0;
  uint32_t twice = 0;
  for (uint32_t digit = 1u << 24; digit != 0; digit >>= 1) {
    const uint32_t trial = twice + digit;
    if (trial <= rest) {
      rest -= trial;
      twice = trial + digit;
      root += digit;
    }
    rest <<= 1;
  }
  // The last digit is the half unit; a root that has one is never exactly halfway.
  return from_bits(((root + 1) >> 1) + (static_cast<uint32_t>(exponent + 126) << 23));
}

// exp(-x) = power * 2^(-32 - places), with a power from 2^31 on.
struct Decay {
  uint32_t power;
  int32_t places;

  // x is positive, normal and below 2^7, from its exponent field and its 24 digits.
  Decay(uint32_t field, uint32_t mantissa) {
    constexpr uint32_t kLog2E = 3098164009u;  // 1 / ln 2 * 2^31
    const uint64_t t = uint64_t{mantissa} * kLog2E >> (149 - field);
    const auto fraction = static_cast<uint32_t>(t);
    places = static_cast<int32_t>(t >> 32) - (fraction == 0);
    // 2^-fraction = 2^(1 - fraction) / 2
    power = kSign | (fraction == 0 ? 0 : exp2_part(0 - fraction) >> 1);
  }
  // exp(-x) * 2^32
  uint32_t fixed() const { return places > 31 ? 0 : power >> places; }
};

// 1 / (1 + exp(-x))
__attribute__((noinline)) inline float sigmoid(float x) {
  const uint32_t bits = to_bits(x);
  const uint32_t field = exponent_of(bits);
  if (field < 127 - 24) return 0.5f;
  if (field >= 127 + 7) {  // 128 and more
    if ((bits & ~kSign) > kInfinity) return x;
    return bits < kSign ? 1.0f : 0.0f;
  }
  const Decay decay(field, (bits & 0x7FFFFF) | 0x800000);
  const uint32_t sum = kSign + (decay.fixed() >> 1);  // 1 + exp(-|x|), times 2^31
  if (bits >= kSign) return scale(quotient(decay.power >> 1, sum), -32 - decay.places);
  return sum == kSign ? 1.0f : scale(quotient(kSign, sum), -32);
}

__attribute__((noinline)) inline float tanh(float x) {
  const uint32_t bits = to_bits(x);
  const uint32_t field = exponent_of(bits);
  if (field >= 126) {  // 1/2 and more: (1 - exp(-2x)) / (1 + exp(-2x))
    if ((bits & ~kSign) > kInfinity) return x;
    float result = 1.0f;
    if (field < 127 + 4) {
      const uint32_t e = Decay(field + 1, (bits & 0x7FFFFF) | 0x800000).fixed();
      if (e != 0) result = scale(quotient((0 - e) >> 1, kSign + (e >> 1)), -32);
    }
    return from_bits(to_bits(result) | (bits & kSign));
  }
  if (field < 127 - 13) return x;
  // x - x^3 * (a polynomial in x^2 that meets the function in the Chebyshev nodes), times 2^32.
  const uint32_t mantissa = bits << 8 | kSign;
  const uint32_t shift = 2 * (126 - field);
  const uint32_t square = high(mantissa, mantissa) >> shift;
  static constexpr uint32_t kTanh[] = {1431655742, 572657687, 231642486, 92215881, 29819708};
  uint32_t p = kTanh[4];
  for (int i = 4; i-- > 0;) p = kTanh[i] - high(p, square);
  const uint32_t product = high(mantissa, 0 - high(p, square));
  const float result = scale(product, static_cast<int32_t>(field) - 127 - 31);
  return from_bits(to_bits(result) | (bits & kSign));
}

}  // namespace soft

template <class C>
inline C math_exp(C x) {
  if constexpr (soft::kSoftFloat && std::is_same_v<C, float>) return soft::exp(x);
  return std::exp(x);
}

template <class C>
inline C math_log(C x) {
  if constexpr (soft::kSoftFloat && std::is_same_v<C, float>) return soft::log(x);
  return std::log(x);
}

template <class C>
inline C math_sqrt(C x) {
  if constexpr (soft::kSoftFloat && std::is_same_v<C, float>) return soft::sqrt(x);
  return std::sqrt(x);
}

template <class C>
inline C math_sigmoid(C x) {
  if constexpr (soft::kSoftFloat && std::is_same_v<C, float>) return soft::sigmoid(x);
  return C{1} / (C{1} + std::exp(-x));
}

template <class C>
inline C math_tanh(C x) {
  if constexpr (soft::kSoftFloat && std::is_same_v<C, float>) return soft::tanh(x);
  return std::tanh(x);
}

}  // namespace gen_kernels
