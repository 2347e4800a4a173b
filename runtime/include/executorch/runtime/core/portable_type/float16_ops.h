// SPDX-License-Identifier: BSD-3-Clause
//
// Arithmetic shared by the 16-bit floating-point types: everything is computed in float.
#pragma once

#include <type_traits>

namespace executorch::runtime::etensor::internal {

/// Base of a 16-bit type `T` that converts to and from float. Mixed with int, the result is T;
/// mixed with float or double, it is that type.
template <typename T>
struct Float16Ops {
  friend T operator+(T a, T b) { return T(float(a) + float(b)); }
  friend T operator-(T a, T b) { return T(float(a) - float(b)); }
  friend T operator*(T a, T b) { return T(float(a) * float(b)); }
  friend T operator/(T a, T b) { return T(float(a) / float(b)); }
  friend T operator-(T a) { return T(-float(a)); }
  friend T& operator+=(T& a, T b) { return a = a + b; }
  friend T& operator-=(T& a, T b) { return a = a - b; }
  friend T& operator*=(T& a, T b) { return a = a * b; }
  friend T& operator/=(T& a, T b) { return a = a / b; }

#define GEN_KERNELS_MIXED(op)                                                   \
  template <typename U, std::enable_if_t<std::is_floating_point_v<U>, int> = 0> \
  friend U operator op(T a, U b) {                                              \
    return U(float(a)) op b;                                                    \
  }                                                                             \
  template <typename U, std::enable_if_t<std::is_floating_point_v<U>, int> = 0> \
  friend U operator op(U a, T b) {                                              \
    return a op U(float(b));                                                    \
  }                                                                             \
  template <typename U, std::enable_if_t<std::is_integral_v<U>, int> = 0>       \
  friend T operator op(T a, U b) {                                              \
    return a op T(static_cast<float>(b));                                       \
  }                                                                             \
  template <typename U, std::enable_if_t<std::is_integral_v<U>, int> = 0>       \
  friend T operator op(U a, T b) {                                              \
    return T(static_cast<float>(a)) op b;                                       \
  }
  GEN_KERNELS_MIXED(+)
  GEN_KERNELS_MIXED(-)
  GEN_KERNELS_MIXED(*)
  GEN_KERNELS_MIXED(/)
#undef GEN_KERNELS_MIXED
};

inline unsigned float_bits(float value) {
  unsigned bits;
  static_assert(sizeof(bits) == sizeof(value));
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float bits_float(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace executorch::runtime::etensor::internal
