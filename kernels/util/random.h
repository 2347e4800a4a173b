// Random numbers: one small generator for the whole program.
#pragma once

#include "util/dtype.h"
#include "util/fmath.h"

namespace gen_kernels {

// xoroshiro64**: 64 bits of state, 32-bit operations only. A program that wants other numbers at
// every start writes a seed of its own (not all zero) here.
struct Random {
  uint32_t a = 0x9E3779B9u;
  uint32_t b = 0x243F6A88u;

  uint32_t next() {
    const uint32_t scrambled = rotate(a * 0x9E3779BBu, 5) * 5;
    const uint32_t mixed = b ^ a;
    a = rotate(a, 26) ^ mixed ^ mixed << 9;
    b = rotate(mixed, 13);
    return scrambled;
  }

 private:
  static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }
};

inline Random random_state;

// Uniform in [0, 1): all multiples of 2^-digits of T are equally likely.
template <class T>
OpMath<T> uniform() {
  using C = OpMath<T>;
  if constexpr (std::is_same_v<T, double>) {
    const uint64_t high = random_state.next() >> 5;
    return static_cast<C>(high << 26 | random_state.next() >> 6) * C(0x1p-53);
  } else {
    constexpr int digits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    return static_cast<C>(random_state.next() >> (32 - digits)) / static_cast<C>(1 << digits);
  }
}

// Normal with mean 0 and variance 1, by the polar method.
template <class C>
C normal() {
  for (;;) {
    const C x = C{2} * uniform<C>() - C{1};
    const C y = C{2} * uniform<C>() - C{1};
    const C square = x * x + y * y;
    if (square < C{1} && square > C{}) {
      return x * math_sqrt(C{-2} * math_log(square) / square);
    }
  }
}

}  // namespace gen_kernels
