// Matrix products: one walk over batches, rows and columns, a dot product each.
#pragma once

#include "util/dot.h"
#include "util/tensor.h"

namespace gen_kernels {

// output[b][i][j] = dot(a[b][i][:], b[b][:][j]), i < rows, j < columns; steps in bytes.
struct Product {
  struct Side {
    char* data;
    ptrdiff_t batch;
    ptrdiff_t row;
    ptrdiff_t column;
  };
  int32_t batches = 1;
  int32_t rows;
  int32_t inner;
  int32_t columns;
  Side a;
  Side b;
  Side addend{};
  Side output;
};

inline Product::Side side(const Tensor& t) {
  const auto element = static_cast<ptrdiff_t>(element_size(t));
  const size_t n = rank(t);
  return {const_cast<char*>(const_bytes(t)), n < 3 ? 0 : stride_at(t, 0) * element,
          stride_at(t, n - 2) * element, stride_at(t, n - 1) * element};
}

// Understands a (batches of) matrix product, and resizes out. False when the arguments do not fit.
GEN_KERNELS_NOINLINE inline bool set_up(Product& p, const Tensor& a, const Tensor& b, Tensor& out,
                                        size_t dims) {
  if (rank(a) != dims || rank(b) != dims) return false;
  const size_t r = dims - 2;
  const ScalarType type = a.scalar_type();
  if (b.scalar_type() != type || out.scalar_type() != type) return false;
  if (size_at(a, r + 1) != size_at(b, r)) return false;
  Shape shape;
  if (dims == 3) {
    if (size_at(a, 0) != size_at(b, 0)) return false;
    shape.push(a.size(0));
    p.batches = shape.sizes[0];
  }
  shape.push(static_cast<int64_t>(size_at(a, r)));
  shape.push(static_cast<int64_t>(size_at(b, r + 1)));
  if (!resize_out(out, shape)) return false;
  p.rows = shape.sizes[r];
  p.columns = shape.sizes[r + 1];
  p.inner = static_cast<int32_t>(size_at(b, r));
  p.a = side(a);
  p.b = side(b);
  p.output = side(out);
  return true;
}

// Store turns a dot product and its addend's place into an output element.
template <class T, class Store>
void multiply(Product p, Store store) {
  const Run run{p.inner, p.a.column, p.b.row};
  for (; p.batches > 0; --p.batches) {
    const char* a = p.a.data;
    for (int32_t i = 0; i < p.rows; ++i) {
      const char* b = p.b.data;
      const char* addend = p.addend.data + i * p.addend.row;
      char* output = p.output.data + i * p.output.row;
      for (int32_t j = 0; j < p.columns; ++j) {
        Dot<T> dot;
        do {
          dot.run(a, b, {1, 0, 0}, run);
        } while (dot.again());
        *reinterpret_cast<T*>(output) = static_cast<T>(store(dot, addend));
        b += p.b.column;
        output += p.output.column;
        addend += p.addend.column;
      }
      a += p.a.row;
    }
    p.a.data += p.a.batch;
    p.b.data += p.b.batch;
    p.output.data += p.output.batch;
  }
}

}  // namespace gen_kernels
