// Reading index tensors, and additions in place for the operators that accumulate.
#pragma once

#include "util/arith.h"
#include "util/block.h"
#include "util/view.h"

namespace gen_kernels {

inline bool is_index_type(ScalarType type) {
  return type == ScalarType::Long || type == ScalarType::Int;
}

// The Int or Long at `at`.
inline int64_t read_index(const char* at, ScalarType type) {
  return type == ScalarType::Int ? *reinterpret_cast<const int32_t*>(at)
                                 : *reinterpret_cast<const int64_t*>(at);
}

inline size_t count_of(const View& v) {
  size_t n = 1;
  for (size_t d = 0; d < v.rank; ++d) {
    n *= v.size(d);
  }
  return n;
}

// to += from, one element of dtype `type`, which is in Mask; Half and BFloat16 add in float and
// round.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline void add_element(char* to, const char* from, ScalarType type) {
  dispatch_mask<Mask, RealHBBF16Types>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T& sum = *reinterpret_cast<T*>(to);
    const T value = *reinterpret_cast<const T*>(from);
    if constexpr (std::is_same_v<T, bool>) {
      sum = sum || value;
    } else {
      sum = convert<T>(wrapping_add(convert<OpMath<T>>(sum), convert<OpMath<T>>(value)));
    }
  });
}

// to = from for one element, or to += from when `add`.
template <TypeMask Mask>
inline void put_element(char* to, const char* from, const Tensor& t, bool add) {
  if constexpr ((Mask & kAllMask) != 0) {
    if (add) {
      add_element<Mask>(to, from, t.scalar_type());
      return;
    }
  }
  std::memcpy(to, from, element_size(t));
}

}  // namespace gen_kernels
