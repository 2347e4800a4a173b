// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/portable_type/bfloat16.h>
#include <executorch/runtime/core/portable_type/half.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/assert.h>
#include <stdint.h>

#include <type_traits>

namespace executorch::runtime::etensor {

/// An integer, a floating-point number or a truth value.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, bool> = true>
  /* implicit */ Scalar(T value) : tag(Tag::Int) {
    v.as_int = static_cast<int64_t>(value);
  }
  /* implicit */ Scalar(bool value) : tag(Tag::Bool) { v.as_bool = value; }
  /* implicit */ Scalar(double value) : tag(Tag::Double) { v.as_double = value; }
  /* implicit */ Scalar(BFloat16 value) : Scalar(double{float(value)}) {}
  /* implicit */ Scalar(Half value) : Scalar(double{float(value)}) {}

  /// The value as int64_t (also from a bool), double or bool. The kind must fit.
  template <typename T>
  T to() const;

  bool isIntegral(bool includeBool) const {
    return tag == Tag::Int || (includeBool && isBoolean());
  }
  bool isFloatingPoint() const { return tag == Tag::Double; }
  bool isBoolean() const { return tag == Tag::Bool; }

 private:
  Tag tag;
  union Value {
    double as_double;
    int64_t as_int;
    bool as_bool;
    Value() {}
  } v;
};

template <>
inline int64_t Scalar::to<int64_t>() const {
  if (isBoolean()) {
    return v.as_bool;
  }
  ET_CHECK_MSG(isIntegral(false), "Scalar is not an int nor a bool.");
  return v.as_int;
}
template <>
inline double Scalar::to<double>() const {
  ET_CHECK_MSG(isFloatingPoint(), "Scalar is not a double.");
  return v.as_double;
}
template <>
inline bool Scalar::to<bool>() const {
  ET_CHECK_MSG(isBoolean(), "Scalar is not a bool.");
  return v.as_bool;
}

}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Scalar;
}
