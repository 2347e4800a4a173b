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
#include <type_traits>

#include "util/dtype.h"
#include "util/soft_float.h"

// Code whose speed is worth more than its size.
#if defined(__GNUC__) && !defined(__clang__)
#define GEN_KERNELS_HOT __attribute__((optimize("O2")))
#else
#define GEN_KERNELS_HOT
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

  GEN_KERNELS_NOINLINE void run(const char* a, const char* b, const Run& outer, const Run& inner) {
    for (int32_t m = outer.count; m > 0; --m, a += outer.a_step, b += outer.b_step) {
      const char* ai = a;
      const char* bi = b;
      // In parts, so that rounding errors grow more slowly.
      Sum part{};
      for (int32_t n = inner.count; n > 0; --n, ai += inner.a_step, bi += inner.b_step) {
        part += static_cast<Sum>(load<T>(ai)) * static_cast<Sum>(load<T>(bi));
        if (!soft::kSoftFloat && n % 64 == 0) {
          sum_ += part;
          part = Sum{};
        }
      }
      sum_ += part;
    }
  }

  // Whether the same runs must be added again, before value().
  bool again() { return false; }

  // start + the sum.
  OpMath<T> value(OpMath<T> start = {}) const {
    return static_cast<OpMath<T>>(static_cast<Sum>(start) + sum_);
  }

 private:
  Sum sum_{};
};

// The same for floats by integer arithmetic. A product of normal numbers with exponent fields ea
// and eb is p * 2^(ea + eb - kBias), p in [2^30, 2^32). The sum is sum_ * 2^(window_ - kBias).
// Subnormals, infinities and NaNs are left out; again() then asks for the same runs once more, and
// adds as PlainDot does.
template <class T>
class SoftDot {
 public:
  void run(const char* a, const char* b, const Run& outer, const Run& inner) {
    if (plainly_) {
      plain_.run(a, b, outer, inner);
    } else {
      run_normal(a, b, outer, inner);
    }
  }

  bool again() {
    const bool first = left_out_ && !plainly_;
    plainly_ = left_out_;
    return first;
  }

  // start + the sum; the sum is rounded to nearest, ties to even.
  float value(float start = 0) const {
    if (plainly_) return plain_.value(start);
    const float total = soft::scale(sum_, static_cast<int32_t>(window_) - kBias);
    return soft::to_bits(start) << 1 == 0 ? total : total + start;
  }

 private:
  static constexpr int32_t kBias = 254 + 30;

  // Calls nothing: every value that the loops need has a register.
  GEN_KERNELS_HOT GEN_KERNELS_NOINLINE void run_normal(const char* a, const char* b,
                                                       const Run& outer, const Run& inner) {
    auto low = static_cast<uint32_t>(sum_);
    auto high = static_cast<uint32_t>(static_cast<uint64_t>(sum_) >> 32);
    uint32_t window = window_;
    for (int32_t m = outer.count; m > 0; --m, a += outer.a_step, b += outer.b_step) {
      const char* ai = a;
      const char* bi = b;
      const ptrdiff_t a_step = inner.a_step;
      const ptrdiff_t b_step = inner.b_step;
      for (int32_t n = inner.count; n > 0; --n, ai += a_step, bi += b_step) {
        const uint32_t x = soft::to_bits(static_cast<float>(load<T>(ai)));
        const uint32_t y = soft::to_bits(static_cast<float>(load<T>(bi)));
        const uint32_t x_exponent = soft::exponent_of(x);
        const uint32_t y_exponent = soft::exponent_of(y);
        if (x_exponent - 1 >= 254 || y_exponent - 1 >= 254) {  // Not both normal numbers.
          const bool zero = x << 1 == 0 || y << 1 == 0;
          if (!zero || x_exponent == 255 || y_exponent == 255) left_out_ = true;
          continue;
        }
        const uint64_t x_mantissa = x << 8 | soft::kSign;
        const uint32_t y_mantissa = y << 8 | soft::kSign;
        uint32_t product = static_cast<uint32_t>(x_mantissa * y_mantissa >> 32);
        const uint32_t exponent = x_exponent + y_exponent;
        const uint32_t below = window - exponent;
        if (below < 32) {
          product >>= below;
        } else {
          if (window > exponent) continue;  // Too small to count.
          for (; window < exponent && (low | high) != 0; ++window) {
            low = low >> 1 | high << 31;
            high = static_cast<uint32_t>(static_cast<int32_t>(high) >> 1);
          }
          window = exponent;
        }
        const uint32_t before = low;
        if (static_cast<int32_t>(x ^ y) < 0) {
          low -= product;
          high -= low > before;
        } else {
          low += product;
          high += low < before;
        }
      }
    }
    sum_ = static_cast<int64_t>(uint64_t{high} << 32 | low);
    window_ = window;
  }

  int64_t sum_ = 0;
  uint32_t window_ = 0;
  bool left_out_ = false;
  bool plainly_ = false;
  PlainDot<T> plain_;
};

template <class T>
using Dot = std::conditional_t<soft::kSoftFloat && std::is_same_v<OpMath<T>, float>, SoftDot<T>,
                               PlainDot<T>>;

}  // namespace gen_kernels
