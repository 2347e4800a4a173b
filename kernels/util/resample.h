// What the resampling operators share: sizes, scales, and places in images.
#pragma once

#include <optional>

#include "util/tensor.h"

namespace gen_kernels {

// Addresses in an N, C, H, W tensor of any dim order.
struct Image {
  char* data;
  ptrdiff_t stride[4];  // bytes

  explicit Image(const Tensor& t) : data(const_cast<char*>(const_bytes(t))) {
    for (size_t d = 0; d < 4; ++d) stride[d] = stride_at(t, d) * t.element_size();
  }

  char* at(size_t n, size_t c, size_t y, size_t x) const {
    return data + static_cast<ptrdiff_t>(n) * stride[0] + static_cast<ptrdiff_t>(c) * stride[1] +
           static_cast<ptrdiff_t>(y) * stride[2] + static_cast<ptrdiff_t>(x) * stride[3];
  }
};

// Resizes `out` to the size asked for or the one that the scales give, exactly one of which is
// there. `given` gets the scales, or 0.
GEN_KERNELS_NOINLINE inline bool resample_size(const Tensor& in,
                                               const std::optional<IntArrayRef>& size,
                                               const std::optional<ArrayRef<double>>& scales,
                                               double (&given)[2], Tensor& out) {
  if (rank(in) != 4 || size.has_value() == scales.has_value()) return false;
  if (size.has_value() ? size->size() != 2 : scales->size() != 2) return false;
  Shape shape = shape_of(in);
  shape.rank = 2;
  for (size_t d = 0; d < 2; ++d) {
    const int32_t inputs = static_cast<int32_t>(size_at(in, 2 + d));
    given[d] = size.has_value() ? 0 : scales->data()[d];
    const double scaled = inputs * given[d];
    if (!(scaled < INT32_MAX)) return false;
    const int64_t outputs = size.has_value() ? size->data()[d] : static_cast<int64_t>(scaled);
    if (inputs < 1 || outputs < 1 || !shape.push(outputs)) return false;
  }
  return resize_out(out, shape);
}

// Input elements an output element, in C.
template <class C>
C source_scale(size_t inputs, size_t outputs, bool align_corners, double given) {
  if (align_corners) {
    return outputs > 1 ? static_cast<C>(inputs - 1) / static_cast<C>(outputs - 1) : C{};
  }
  if (given > 0) return static_cast<C>(1 / given);
  return static_cast<C>(inputs) / static_cast<C>(outputs);
}

}  // namespace gen_kernels
