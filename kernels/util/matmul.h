// Matrix products: a walk over the elements of the result, a dot product each.
#pragma once

#include "util/dot.h"
#include "util/tensor.h"

namespace gen_kernels {

// The walk's operands are a row of the first matrix, a column of the second, the result's element
// and, if there is one, the addend's.
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
  const size_t row = dims - 2;
  const size_t column = dims - 1;
  if (size_at(a, column) != size_at(b, row)) return false;
  if (dims == 3 && size_at(a, 0) != size_at(b, 0)) return false;
  Shape shape = shape_of(a);
  shape.sizes[column] = b.sizes().data()[column];
  if (!resize_out(out, shape)) return false;
  Walk& w = p.walk;
  w.operands = addend == nullptr ? 3 : 4;
  w.at[0] = const_cast<char*>(const_bytes(a));
  w.at[1] = const_cast<char*>(const_bytes(b));
  w.at[2] = mutable_bytes(out);
  if (addend != nullptr) w.at[3] = const_cast<char*>(const_bytes(*addend));
  const auto element = static_cast<ptrdiff_t>(element_size(a));
  p.inner = {b.sizes().data()[row], stride_at(a, column) * element, stride_at(b, row) * element};
  for (size_t d = dims; d-- > 0;) {
    ptrdiff_t stride[kMaxOperands] = {d == column ? 0 : stride_at(a, d) * element,
                                      d == row ? 0 : stride_at(b, d) * element,
                                      stride_at(out, d) * element, 0};
    if (addend != nullptr && d + rank(*addend) >= dims) {
      const size_t own = d + rank(*addend) - dims;
      const size_t size = size_at(*addend, own);
      if (size != 1 && size != size_at(out, d)) return false;
      if (size != 1) stride[3] = stride_at(*addend, own) * element;
    }
    add_axis(w, size_at(out, d), stride);
  }
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
    dot.run(at[0], at[1], once, inner);
  } while (dot.again());
  return dot;
}

template <class T>
void product_cell(const void*, const Run& inner, char* const* at) {
  *reinterpret_cast<T*>(at[2]) = static_cast<T>(dot_of<T>(inner, at).value());
}

}  // namespace gen_kernels
