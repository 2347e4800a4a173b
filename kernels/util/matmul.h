// Matrix products: a walk over the elements of the result, a dot product each.
#pragma once

#include "util/dot.h"
#include "util/view.h"

namespace gen_kernels {

// The walk's operands are the result's element, a row of the first matrix, a column of the second
// and, if there is one, the addend's element.
struct Product {
  Walk walk;
  Run inner;
};

// Resizes `out` to (batches of) a times b and lays the walk; `dims` is the rank of all of them.
// `addend` broadcasts to the result. False when the arguments do not fit.
GEN_KERNELS_NOINLINE inline bool set_up(Product& p, const Tensor& a, const Tensor& b,
                                        const Tensor* addend, Tensor& out, size_t dims) {
  const ScalarType type = a.scalar_type();
  if (rank(a) != dims || rank(b) != dims) return false;
  if (b.scalar_type() != type || out.scalar_type() != type) return false;
  View left = view_of(a);
  View right = view_of(b);
  const size_t row = dims - 2;
  const size_t column = dims - 1;
  if (left.sizes[column] != right.sizes[row]) return false;
  if (dims == 3 && left.sizes[0] != right.sizes[0]) return false;
  Shape shape = shape_of(a);
  shape.sizes[column] = right.sizes[column];
  if (!resize_out(out, shape)) return false;
  p.inner = {right.sizes[row], left.strides[column], right.strides[row]};
  left.strides[column] = 0;
  right.strides[row] = 0;
  const View to = view_of(out);
  View other = to;
  for (size_t d = 0; addend != nullptr && d < dims; ++d) {
    other.data = const_cast<char*>(const_bytes(*addend));
    other.strides[d] = 0;
    const size_t own = d + rank(*addend) - dims;  // Wraps where the addend has no such dim.
    if (own < rank(*addend) && addend->sizes().data()[own] != 1) {
      if (addend->sizes().data()[own] != to.sizes[d]) return false;
      other.strides[d] = stride_at(*addend, own) * static_cast<ptrdiff_t>(to.element);
    }
  }
  const View* const views[kMaxOperands] = {&to, &left, &right, &other};
  lay_views(p.walk, views, addend == nullptr ? 3 : 4);
  return true;
}

// Computes one element of the result; `at` is the place of each operand.
using ProductCell = void (*)(const void* context, const Run& inner, char* const* at);

GEN_KERNELS_NOINLINE inline void multiply(Product& p, ProductCell cell, const void* context) {
  Walk& w = p.walk;
  if (w.empty) return;
  do {
    char* at[kMaxOperands];
    for (size_t k = 0; k < w.operands; ++k) at[k] = w.at[k];
    for (size_t n = w.row(); n > 0; --n) {
      cell(context, p.inner, at);
      for (size_t k = 0; k < w.operands; ++k) at[k] += w.step(k);
    }
  } while (next_row(w));
}

template <class T>
inline Dot<T> dot_of(const Run& inner, char* const* at) {
  Dot<T> dot;
  const Run once{1, 0, 0};
  do {
    dot.run(at[1], at[2], once, inner);
  } while (dot.again());
  return dot;
}

template <class T>
void product_cell(const void*, const Run& inner, char* const* at) {
  *reinterpret_cast<T*>(at[0]) = static_cast<T>(dot_of<T>(inner, at).value());
}

}  // namespace gen_kernels
