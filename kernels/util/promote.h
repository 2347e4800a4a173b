// PyTorch's type promotion (torch.result_type, torch.can_cast) without complex types.
#pragma once

#include "util/scalar.h"
#include "util/tensor.h"

namespace gen_kernels {

// torch.promote_types; Undefined when there is no common type.
GEN_KERNELS_NOINLINE inline ScalarType promote_types(ScalarType a, ScalarType b) {
  if (a == b || b == ScalarType::Undefined) {
    return a;
  }
  if (a == ScalarType::Undefined) {
    return b;
  }
  if (is_complex(a) || is_complex(b)) {
    return ScalarType::Undefined;
  }
  if (is_floating(a) || is_floating(b)) {
    if (!is_floating(a)) {
      return b;
    }
    if (!is_floating(b)) {
      return a;
    }
    const bool has_double = a == ScalarType::Double || b == ScalarType::Double;
    return has_double ? ScalarType::Double : ScalarType::Float;  // Half with BFloat16 is Float
  }
  if (a == ScalarType::Bool) {
    return b;
  }
  if (b == ScalarType::Bool) {
    return a;
  }
  if (a > ScalarType::Long || b > ScalarType::Long) {
    return ScalarType::Undefined;  // wide unsigned integers mix with nothing
  }
  const ScalarType larger = a > b ? a : b;
  const bool byte_and_char = larger == ScalarType::Char;
  return byte_and_char ? ScalarType::Short : larger;
}

// torch.can_cast(from, to): no float to integer, nothing but Bool to Bool.
inline bool casts_to(ScalarType from, ScalarType to) {
  if (is_complex(from)) {
    return is_complex(to);
  }
  if (is_floating(from)) {
    return is_floating(to) || is_complex(to);
  }
  return from == ScalarType::Bool || to != ScalarType::Bool;
}

// The state of torch.result_type over several arguments: tensors with dims decide,
// then 0-d tensors, then Scalars, each only by a higher category (Bool, integer, float).
struct ResultType {
  ScalarType with_dims = ScalarType::Undefined;
  ScalarType zero_dim = ScalarType::Undefined;
  ScalarType number = ScalarType::Undefined;

  void add(const Tensor& t) {
    ScalarType& to = t.dim() > 0 ? with_dims : zero_dim;
    to = promote_types(to, t.scalar_type());
  }
  void add(const Scalar& s) { number = promote_types(number, scalar_type(s)); }

  ScalarType get() const { return combine(with_dims, combine(zero_dim, number)); }

 private:
  static ScalarType combine(ScalarType higher, ScalarType lower) {
    if (higher == ScalarType::Undefined) {
      return lower;
    }
    if (is_floating(higher) || is_complex(higher)) {
      return higher;
    }
    return higher == ScalarType::Bool || is_floating(lower) ? promote_types(higher, lower) : higher;
  }
};

inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  ResultType r;
  r.add(a);
  r.add(b);
  return r.get();
}

inline ScalarType result_type(const Tensor& a, const Scalar& b) {
  ResultType r;
  r.add(a);
  r.add(b);
  return r.get();
}

}  // namespace gen_kernels
