// Scalars: numbers that come with a call rather than in a tensor.
#pragma once

#include "util/dtype.h"

namespace gen_kernels {

using ::executorch::aten::Scalar;

// The Scalar as a C (int64_t, int32_t, float, double or bool); numbers wrap or round, never fail.
template <class C>
GEN_KERNELS_NOINLINE inline C scalar_to(const Scalar& s) {
  if (s.isFloatingPoint()) {
    return convert<C>(s.to<double>());
  }
  return convert<C>(s.isBoolean() ? static_cast<int64_t>(s.to<bool>()) : s.to<int64_t>());
}

// The dtype that PyTorch gives the number: Float (its default), Long or Bool.
inline ScalarType scalar_type(const Scalar& s) {
  return s.isFloatingPoint() ? ScalarType::Float
         : s.isBoolean()     ? ScalarType::Bool
                             : ScalarType::Long;
}

// Whether the number is the integer (or Bool) `value`; doubles never are.
inline bool scalar_is(const Scalar& s, int64_t value) {
  return !s.isFloatingPoint() &&
         (s.isBoolean() ? static_cast<int64_t>(s.to<bool>()) : s.to<int64_t>()) == value;
}

// Whether PyTorch converts the number to the dtype: integers and Half must hold it
// (an unsigned type takes negatives down to its maximum, and wraps).
GEN_KERNELS_NOINLINE inline bool scalar_fits(const Scalar& s, ScalarType type) {
  const bool is_half = type == ScalarType::Half;
  if (!is_half && !is_integer(type)) {
    return true;
  }
  const bool is_unsigned = type == ScalarType::Byte || type >= ScalarType::UInt16;
  const unsigned bits = type_size(type) * 8U - (is_unsigned ? 0U : 1U);
  const uint64_t most = is_half ? 65504U : UINT64_MAX >> (64U - bits);
  if (s.isFloatingPoint()) {
    const double value = s.to<double>();
    const double high = static_cast<double>(most);
    const double low = is_half ? -high : is_unsigned ? 0.0 : -high - 1.0;
    return (value >= low && value <= high) || (is_half && value - value != 0.0);
  }
  const int64_t value = scalar_to<int64_t>(s);
  const uint64_t magnitude =
      value < 0 ? 0U - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return magnitude <= most + (value < 0 && !is_unsigned && !is_half ? 1U : 0U);
}

}  // namespace gen_kernels
