// What the normalisations share: moments of a set of elements, and out = in * scale + shift.
#pragma once

#include "util/fmath.h"
#include "util/reduce.h"
#include "util/view.h"

namespace gen_kernels {

template <class C>
struct Moments {
  C mean;
  C variance;  // Biased: divided by the count.
};

template <TypeMask Mask, class C>
GEN_KERNELS_NOINLINE inline Moments<C> moments(Walk& w, const char* from, ScalarType type,
                                               size_t count) {
  State<C> state{C{}};
  fold_all<Mask, C>(w, from, type, add_sum<C>, state);
  const C n = static_cast<C>(count);
  State<C> squares{C{}, state.value / n};
  fold_all<Mask, C>(w, from, type, add_squares<C>, squares);
  return {squares.other, squares.value / n};
}

// Operands 0 and 1 of the walk are input and output.
template <class T>
GEN_KERNELS_NOINLINE inline void scale_and_shift(Walk& w, const char* from, char* to,
                                                 OpMath<T> scale, OpMath<T> shift) {
  if (w.empty) return;
  w.at[0] = const_cast<char*>(from);
  w.at[1] = to;
  do {
    const char* in = w.at[0];
    char* out = w.at[1];
    for (size_t n = w.row(); n > 0; --n, in += w.step(0), out += w.step(1)) {
      const OpMath<T> x = static_cast<OpMath<T>>(*reinterpret_cast<const T*>(in));
      *reinterpret_cast<T*>(out) = static_cast<T>(x * scale + shift);
    }
  } while (next_row(w));
}

// Element i of an optional vector, which may be of T or of its compute type.
template <class T>
GEN_KERNELS_NOINLINE inline OpMath<T> parameter_or(const Tensor* t, size_t i, OpMath<T> otherwise) {
  using C = OpMath<T>;
  if (t == nullptr) return otherwise;
  if (std::is_same_v<T, C> || t->scalar_type() == kScalarType<C>) return const_data<C>(*t)[i];
  return static_cast<C>(const_data<T>(*t)[i]);
}

inline const Tensor* pointer_to(const std::optional<Tensor>& t) {
  return t.has_value() ? &*t : nullptr;
}

// Stores a statistic, to a tensor of T or of its compute type.
template <class T>
inline void store_parameter(const Tensor& t, char* to, OpMath<T> value) {
  using C = OpMath<T>;
  if (t.scalar_type() == kScalarType<C>) {
    *reinterpret_cast<C*>(to) = value;
  } else {
    *reinterpret_cast<T*>(to) = static_cast<T>(value);
  }
}

template <class T>
inline void store_parameter(const Tensor& t, size_t i, OpMath<T> value) {
  store_parameter<T>(t, mutable_bytes(t) + static_cast<ptrdiff_t>(i) * t.element_size(), value);
}

// True when the tensor, if it is there, may be read so: of this dtype or, beside Half and BFloat16,
// Float.
GEN_KERNELS_NOINLINE inline bool is_parameter(const Tensor* t, ScalarType type, size_t n) {
  if (t == nullptr) return true;
  const ScalarType own = t->scalar_type();
  return (own == type || (own == ScalarType::Float && type != ScalarType::Double)) &&
         numel(*t) == n;
}

// The same for a result, which gets the shape. There is none when n is 0.
inline bool resize_parameter(Tensor& t, ScalarType type, const Shape& shape) {
  return is_parameter(&t, type, numel(t)) && resize_out(t, shape);
}

}  // namespace gen_kernels
