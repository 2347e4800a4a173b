// Copies that change dtype, memory order or both, and fills.
#pragma once

#include "util/elementwise.h"
#include "util/view.h"

namespace gen_kernels {

// a -> a.
struct Identity {
  template <class C>
  static C apply(C a) {
    return a;
  }
};

// out = self with equal shapes and dtypes; the memory orders may differ.
template <TypeMask Mask>
inline bool copy_same_dtype(const Tensor& self, const Tensor& out) {
  if (!contains(Mask, self.scalar_type())) {
    return false;
  }
  if (!same_layout(out, self)) {
    copy_view<Mask>(view_of(out), view_of(self));
  } else if (out.nbytes() != 0 && out.const_data_ptr() != self.const_data_ptr()) {
    std::memcpy(mutable_bytes(out), const_bytes(self), out.nbytes());
  }
  return true;
}

// The dtype to convert by way of: the widest kind of the two.
inline ScalarType conversion_type(ScalarType a, ScalarType b) {
  return is_floating(a) || is_floating(b) ? a == ScalarType::Double || b == ScalarType::Double
                                                ? ScalarType::Double
                                                : ScalarType::Float
                                          : ScalarType::Long;
}

// out = self broadcast to the shape of `out`, converted to its dtype.
template <TypeMask Mask>
inline bool convert_into(const Tensor& self, const Tensor& out) {
  constexpr TypeMask mask = Mask & kAllMask;
  if (self.scalar_type() == out.scalar_type() && same_shape(self, out)) {
    return copy_same_dtype<Mask>(self, out);
  }
  if (!contains(Mask, self.scalar_type()) || !contains(Mask, out.scalar_type()) ||
      !broadcasts_to(self, out)) {
    return false;
  }
  if (self.scalar_type() == out.scalar_type()) {
    View from = view_of(self);
    broadcast_view(from, out.sizes());
    copy_view<Mask>(view_of(out), from);
    return true;
  }
  if constexpr (is_single(Mask)) {
    return false;
  } else {
    const Operand in = self;
    Walk w;
    lay_walk(w, out, &in, 1);
    return contains(mask, self.scalar_type()) && contains(mask, out.scalar_type()) &&
           run_blocks<mask>(w, out, &in, conversion_type(self.scalar_type(), out.scalar_type()),
                            kNoRule, kBlocks<Identity, 1, mask>, nullptr);
  }
}

// to[i] = from[i], from the dtype of `source` to the dtype of `out`: the tensors that the views are
// of.
template <TypeMask Mask>
inline bool convert_view(const View& to, const Tensor& out, const View& from,
                         const Tensor& source) {
  const Operand in = source;
  Walk w;
  w.operands = 2;
  w.at[0] = to.data;
  w.at[1] = from.data;
  for (size_t d = to.rank; d-- > 0;) {
    const ptrdiff_t stride[2] = {to.strides[d], from.strides[d]};
    add_axis(w, to.size(d), stride);
  }
  return run_blocks<Mask>(w, out, &in, conversion_type(source.scalar_type(), out.scalar_type()),
                          kNoRule, kBlocks<Identity, 1, Mask>, nullptr);
}

// Stores the number as one element of dtype `type`, which is in Mask. False when it does not fit.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool store_scalar(void* to, ScalarType type, const Scalar& s) {
  using Int = IntCompute<Mask>;
  if constexpr ((Mask & kComplexMask) != 0) {
    if (contains(Mask & kComplexMask, type)) {
      // The real part; the imaginary one is zero.
      constexpr TypeMask parts = Types<Half, float, double>::mask;
      const ScalarType part = real_type(type);
      const double values[2] = {scalar_to<double>(s), 0};
      store_block<double, parts>(to, values, part, 2);
      return true;
    }
  }
  if (!contains(Mask & kAllMask, type) || !fits<Mask>(s, type)) {
    return false;
  }
  if constexpr ((Mask & kComputedIn<double>) != 0) {
    if (type == ScalarType::Double) {
      *static_cast<double*>(to) = scalar_to<double>(s);
      return true;
    }
  }
  if constexpr ((Mask & kComputedIn<float>) != 0) {
    if (is_floating(type)) {
      store_one<float, Mask>(to, scalar_to<float>(s), type);
      return true;
    }
  }
  if constexpr ((Mask & kComputedIn<Int>) != 0) {
    store_one<Int, Mask>(to, type == ScalarType::Bool ? Int{scalar_to<bool>(s)} : scalar_to<Int>(s),
                         type);
    return true;
  }
  return false;
}

// Every element of `out` becomes the number, converted to its dtype.
template <TypeMask Mask>
inline bool fill(const Tensor& out, const Scalar& value) {
  alignas(8) char element[16];
  if (!store_scalar<Mask>(element, out.scalar_type(), value)) {
    return false;
  }
  copy_row<sizes_of(Mask)>(mutable_bytes(out), out.element_size(), element, 0, numel(out),
                           element_size(out));
  return true;
}

}  // namespace gen_kernels
