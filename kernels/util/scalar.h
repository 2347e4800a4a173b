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

}  // namespace gen_kernels
