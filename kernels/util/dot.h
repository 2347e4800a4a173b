// Dot products, the inner loop of convolution and of every matrix product.
//
// Dot<T>::run() adds products over two nested runs, value() gives their sum. Half and BFloat16 are
// summed in float, integers modulo 2^32 or 2^64.
//
// Without a floating-point unit a float multiplication and addition cost some 180 instructions,
// most of them spent on normalising and rounding an intermediate result that nobody reads. SoftDot
// keeps the sum as a 64-bit integer instead, scaled by the largest product seen so far, and rounds
// once. Each product is cut 2^-30 below the largest one, 64 times finer than the rounding of a
// float sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "util/dtype.h"

#ifndef GEN_KERNELS_SOFT_DOT
#if defined(__SOFTFP__) || (defined(__riscv) && !defined(__riscv_flen) && !defined(__riscv_zfinx))
#define GEN_KERNELS_SOFT_DOT 1
#else
#define GEN_KERNELS_SOFT_DOT 0
#endif
#endif

namespace gen_kernels {

// Steps, in bytes, through two operands.
struct Run {
  int32_t count;
  ptrdiff_t a_step;
  ptrdiff_t b_step;
};

template <class T>
T load(const char* p) {
  return *reinterpret_cast<const T*>(p);
}

// Adds products in the type that T is computed in; unsigned for integers, so that overflow wraps.
template <class T>
class PlainDot {
 public:
  using Sum =
      std::conditional_t<std::is_integral_v<T>,
                         std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>, OpMath<T>>;

  void run(const char* a, const char* b, Run outer, Run inner) {
    for (; outer.count > 0; --outer.count, a += outer.a_step, b += outer.b_step) {
      const char* ai = a;
      const char* bi = b;
      for (int32_t n = inner.count; n > 0; --n, ai += inner.a_step, bi += inner.b_step) {
        sum_ =
            static_cast<Sum>(sum_ + static_cast<Sum>(load<T>(ai)) * static_cast<Sum>(load<T>(bi)));
      }
    }
  }
  // start + the sum.
  OpMath<T> value(OpMath<T> start = {}) const {
    return static_cast<OpMath<T>>(static_cast<Sum>(start) + sum_);
  }

 private:
  Sum sum_{};
};

// The same for floats by integer arithmetic. A product of normal numbers with exponent fields ea
// and eb is p * 2^(ea + eb - kBias), p in [2^30, 2^32). The sum is sum_ * 2^(window_ - kBias).
template <class T>
class SoftDot {
 public:
  GEN_KERNELS_NOINLINE void run(const char* a, const char* b, Run outer, Run inner) {
    int64_t sum = sum_;
    int32_t window = window_;
    for (; outer.count > 0; --outer.count, a += outer.a_step, b += outer.b_step) {
      const char* ai = a;
      const char* bi = b;
      for (int32_t n = inner.count; n > 0; --n, ai += inner.a_step, bi += inner.b_step) {
        const uint32_t x = bits(load_float(ai));
        const uint32_t y = bits(load_float(bi));
        const uint32_t x_exponent = x << 1 >> 24;
        const uint32_t y_exponent = y << 1 >> 24;
        if (x_exponent - 1 >= 254 || y_exponent - 1 >= 254) {  // Not both normal numbers.
          const bool zero = x << 1 == 0 || y << 1 == 0;
          if (zero && x_exponent < 255 && y_exponent < 255) continue;
          rest_ += load_float(ai) * load_float(bi);
          continue;
        }
        const uint64_t x_mantissa = x << 8 | kLeadingBit;
        const uint32_t y_mantissa = y << 8 | kLeadingBit;
        uint32_t product = static_cast<uint32_t>(x_mantissa * y_mantissa >> 32);
        const int32_t exponent = static_cast<int32_t>(x_exponent + y_exponent);
        const int32_t below = window - exponent;
        if (below < 0) {
          sum = below > -64 ? sum >> -below : 0;
          window = exponent;
        } else if (below < 32) {
          product >>= below;
        } else {
          continue;
        }
        if (static_cast<int32_t>(x ^ y) < 0) {
          sum -= product;
        } else {
          sum += product;
        }
      }
    }
    sum_ = sum;
    window_ = window;
  }

  // start + the sum; the sum is rounded to nearest, ties to even.
  float value(float start = 0) const {
    start += rest_;
    if (sum_ == 0) return start;
    const uint32_t sign = sum_ < 0 ? kLeadingBit : 0;
    uint64_t magnitude = sum_ < 0 ? 0 - static_cast<uint64_t>(sum_) : static_cast<uint64_t>(sum_);
    // Bring the leading bit to bit 63, where it weighs 2^(exponent - 127), as the field means.
    int32_t exponent = window_ - kBias + 127 + 63;
    if (magnitude >> 32 == 0) {
      magnitude <<= 32;
      exponent -= 32;
    }
    const int zeros = __builtin_clz(static_cast<unsigned>(magnitude >> 32));
    magnitude <<= zeros;
    exponent -= zeros;
    uint32_t head = static_cast<uint32_t>(magnitude >> 32);
    uint32_t lost = static_cast<uint32_t>(magnitude);
    if (exponent >= 255) return start + from_bits(sign | 255u << 23);
    if (exponent <= 0) {  // The result is subnormal.
      const int32_t drop = 1 - exponent;
      if (drop >= 32) return start;
      lost |= head << (32 - drop);
      head >>= drop;
      exponent = 1;
    }
    uint32_t result = (static_cast<uint32_t>(exponent - 1) << 23) + (head >> 8);
    const uint32_t tail = (head & 255) << 1 | (lost != 0);
    result += tail + (result & 1) > 256;
    return start + from_bits(sign | result);
  }

 private:
  static constexpr uint32_t kLeadingBit = 0x80000000u;
  static constexpr int32_t kBias = 254 + 30;

  static float load_float(const char* p) { return static_cast<float>(load<T>(p)); }
  static uint32_t bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }

  int64_t sum_ = 0;
  int32_t window_ = 0;
  float rest_ = 0;  // Products of subnormals, infinities and NaNs.
};
template <class T>
using Dot = std::conditional_t<GEN_KERNELS_SOFT_DOT && std::is_same_v<OpMath<T>, float>, SoftDot<T>,
                               PlainDot<T>>;

}  // namespace gen_kernels
