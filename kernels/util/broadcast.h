// Operands that broadcast to one shape: their common dtype, and the walk over them.
#pragma once

#include "util/promote.h"

namespace gen_kernels {

// An operand: a tensor or a number.
struct Operand {
  const Tensor* tensor = nullptr;
  const Scalar* scalar = nullptr;

  Operand(const Tensor& t) : tensor(&t) {}  // NOLINT: implicit on purpose
  Operand(const Scalar& s) : scalar(&s) {}  // NOLINT: implicit on purpose
};

GEN_KERNELS_NOINLINE inline ScalarType result_type(const Operand* in, size_t n) {
  ResultType r;
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor != nullptr) {
      r.add(*in[k].tensor);
    } else {
      r.add(*in[k].scalar);
    }
  }
  return r.get();
}

// Lays the walk over `out` in its memory order, the operands broadcast to it, which
// they do; operand 0 of the walk is `out`, numbers have no place yet.
GEN_KERNELS_NOINLINE inline void lay_walk(Walk& w, const Tensor& out, const Operand* in, size_t n) {
  w.operands = n + 1;
  w.at[0] = mutable_bytes(out);
  for (size_t k = 0; k < n; ++k) {
    w.at[k + 1] = in[k].tensor == nullptr ? nullptr : const_cast<char*>(const_bytes(*in[k].tensor));
  }
  for (size_t i = rank(out); i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    ptrdiff_t stride[kMaxOperands];
    stride[0] = stride_at(out, d) * out.element_size();
    for (size_t k = 0; k < n; ++k) {
      const Tensor* t = in[k].tensor;
      stride[k + 1] = 0;
      // Dims align at the last one; those missing in front or of size one repeat.
      const ptrdiff_t td = t == nullptr ? -1 : static_cast<ptrdiff_t>(d) + t->dim() - out.dim();
      if (td >= 0 && t->sizes().data()[td] != 1) {
        stride[k + 1] = t->strides().data()[td] * t->element_size();
      }
    }
    add_axis(w, size_at(out, d), stride);
  }
}

// The shape that the operands broadcast to; false when they do not fit together.
GEN_KERNELS_NOINLINE inline bool broadcast_shape(Shape& shape, const Operand* in, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor != nullptr && rank(*in[k].tensor) > shape.rank) {
      shape.rank = rank(*in[k].tensor);
    }
  }
  if (shape.rank > kMaxDims) {
    return false;
  }
  for (size_t d = 0; d < shape.rank; ++d) {
    SizesType size = 1;
    for (size_t k = 0; k < n; ++k) {
      const Tensor* t = in[k].tensor;
      // Dims align at the last one; a dim that is missing in front is of size one.
      const size_t own = t == nullptr ? 0 : d + rank(*t) - shape.rank;
      if (t == nullptr || own >= rank(*t) || t->sizes().data()[own] == 1) {
        continue;
      }
      if (size != 1 && size != t->sizes().data()[own]) {
        return false;
      }
      size = t->sizes().data()[own];
    }
    shape.sizes[d] = size;
  }
  return true;
}

// Resizes `out` to the operands' broadcast shape and lays the walk over it.
inline bool plan_walk(Walk& w, Tensor& out, const Operand* in, size_t n) {
  Shape shape;
  if (!broadcast_shape(shape, in, n) || !resize_out(out, shape)) {
    return false;
  }
  lay_walk(w, out, in, n);
  return true;
}

}  // namespace gen_kernels
