// Arithmetic with PyTorch's rules: integers wrap, floats follow IEEE 754.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace gen_kernels {

namespace internal {
template <class T, bool = std::is_integral_v<T>>
struct WrapType {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct WrapType<T, false> {
  using type = T;
};
template <class T>
using Wrap = typename WrapType<T>::type;
}  // namespace internal

template <class T>
inline T wrapping_add(T a, T b) {
  using U = internal::Wrap<T>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

template <class T>
inline T wrapping_sub(T a, T b) {
  using U = internal::Wrap<T>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

template <class T>
inline T wrapping_mul(T a, T b) {
  using U = internal::Wrap<T>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

template <class T>
inline bool is_nan(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    return v != v;
  } else {
    return false;
  }
}

}  // namespace gen_kernels
