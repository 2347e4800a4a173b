// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/portable_type/half.h>

namespace executorch::runtime::etensor {

/// A complex number: real part, then imaginary part.
template <typename T>
struct alignas(sizeof(T) * 2) complex {
  using value_type = T;

  T real_ = T(0);
  T imag_ = T(0);

  constexpr complex() = default;
  constexpr complex(T real, T imag = T(0)) : real_(real), imag_(imag) {}
  template <typename U>
  explicit constexpr complex(const complex<U>& other)
      : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag())) {}

  constexpr T real() const { return real_; }
  constexpr T imag() const { return imag_; }

  friend complex operator+(complex a, complex b) {
    return complex(T(a.real_ + b.real_), T(a.imag_ + b.imag_));
  }
  friend complex operator-(complex a, complex b) {
    return complex(T(a.real_ - b.real_), T(a.imag_ - b.imag_));
  }
  friend complex operator*(complex a, complex b) {
    return complex(T(a.real_ * b.real_ - a.imag_ * b.imag_),
                   T(a.real_ * b.imag_ + a.imag_ * b.real_));
  }
  friend complex operator/(complex a, complex b) {
    const T norm = T(b.real_ * b.real_ + b.imag_ * b.imag_);
    return complex(T((a.real_ * b.real_ + a.imag_ * b.imag_) / norm),
                   T((a.imag_ * b.real_ - a.real_ * b.imag_) / norm));
  }
  complex& operator+=(complex other) { return *this = *this + other; }
  complex& operator-=(complex other) { return *this = *this - other; }
  complex& operator*=(complex other) { return *this = *this * other; }
  complex& operator/=(complex other) { return *this = *this / other; }
  friend bool operator==(complex a, complex b) { return a.real_ == b.real_ && a.imag_ == b.imag_; }
  friend bool operator!=(complex a, complex b) { return !(a == b); }
};

/// Two halves.
template <>
struct alignas(4) complex<Half> {
  using value_type = Half;

  Half real_;
  Half imag_;

  complex() = default;
  complex(Half real, Half imag) : real_(real), imag_(imag) {}
  template <typename U>
  explicit complex(const complex<U>& other)
      : real_(static_cast<float>(other.real())), imag_(static_cast<float>(other.imag())) {}
  Half real() const { return real_; }
  Half imag() const { return imag_; }
};

}  // namespace executorch::runtime::etensor

namespace torch::executor {
template <typename T>
using complex = ::executorch::runtime::etensor::complex<T>;
}
