// Sums and products of complex tensors of one dtype.
#pragma once

#include "util/elementwise.h"

namespace gen_kernels {

// out = a + scale * b, or a * b when there is no scale, over the broadcast shape.
// False when the dtypes differ, are not complex, or are not in Mask.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool complex_binary(Tensor& out, const Tensor& a, const Tensor& b,
                                                const Scalar* scale, bool subtract = false) {
  const ScalarType type = out.scalar_type();
  const Operand in[2] = {a, b};
  Walk w;
  if (a.scalar_type() != type || b.scalar_type() != type || !contains(Mask & kComplexMask, type) ||
      !plan_walk(w, out, in, 2)) {
    return false;
  }
  const auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = OpMath<T>;
    const C factor =
        scale == nullptr ? C{0} : scalar_to<C>(*scale) * static_cast<C>(subtract ? -1 : 1);
    do {
      for (size_t i = 0; i < w.row(); ++i) {
        const ptrdiff_t n = static_cast<ptrdiff_t>(i);
        const T* x = reinterpret_cast<const T*>(w.at[1] + n * w.step(1));
        const T* y = reinterpret_cast<const T*>(w.at[2] + n * w.step(2));
        T* to = reinterpret_cast<T*>(w.at[0] + n * w.step(0));
        const C real = convert<C>(x[0]);
        const C imaginary = convert<C>(x[1]);
        const C other_real = convert<C>(y[0]);
        const C other_imaginary = convert<C>(y[1]);
        const bool product = scale == nullptr;
        to[0] = convert<T>(product ? real * other_real - imaginary * other_imaginary
                                   : real + factor * other_real);
        to[1] = convert<T>(product ? real * other_imaginary + imaginary * other_real
                                   : imaginary + factor * other_imaginary);
      }
    } while (next_row(w));
  };
  if (w.empty) {
    return true;
  }
  if constexpr (contains(Mask, ScalarType::ComplexFloat)) {
    if (type == ScalarType::ComplexFloat) {
      run(Tag<float>{});
    }
  }
  if constexpr (contains(Mask, ScalarType::ComplexDouble)) {
    if (type == ScalarType::ComplexDouble) {
      run(Tag<double>{});
    }
  }
  if constexpr (contains(Mask, ScalarType::ComplexHalf)) {
    if (type == ScalarType::ComplexHalf) {
      run(Tag<Half>{});
    }
  }
  return true;
}

// Whether `out` is complex, which it cannot be when no complex dtype is selected.
template <TypeMask Mask>
inline bool is_complex(const Tensor& out) {
  return (Mask & kComplexMask) != 0 && is_complex(out.scalar_type());
}

}  // namespace gen_kernels
