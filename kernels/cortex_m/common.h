// What the int8 operators share: images with any memory layout, windows, and
// element-wise walks.
//
// The arithmetic is that of the operators' reference definitions in ExecuTorch
// 1.5.1 (backends/cortex_m/ops/operators.py), integer for integer.
#pragma once

#include <optional>

#include "util/quant.h"
#include "util/tensor.h"

namespace gen_kernels::cortex_m {

inline Tensor& fail(KernelRuntimeContext& context, Tensor& out) {
  context.fail(Error::InvalidArgument);
  return out;
}

inline bool is_int8(const Tensor& t) { return t.scalar_type() == ScalarType::Char; }
inline bool is_int32(const Tensor& t) { return t.scalar_type() == ScalarType::Int; }

// Whether an argument fits 32 bits; larger ones would wrap in silence.
inline bool fits(int64_t value) { return value == static_cast<int32_t>(value); }
template <class... T>
inline bool fits(int64_t value, T... more) {
  return fits(value) && fits(more...);
}

// Order of an image's dimensions in its shape: images are (N, C, H, W) for most
// operators, (N, H, W, C) for those whose name ends in nhwc.
enum class Dims { kNchw, kNhwc };

// A 4-d int8 tensor by its extents and strides (elements), whatever its layout.
struct Image {
  int32_t batch, channels, height, width;
  int32_t batch_stride, channel_stride, row_stride, column_stride;
};

inline Image image_of(const Tensor& t, Dims dims) {
  const size_t c = dims == Dims::kNchw ? 1 : 3;
  const size_t h = dims == Dims::kNchw ? 2 : 1;
  const auto* size = t.sizes().data();
  const auto* stride = t.strides().data();
  return {size[0], size[c], size[h], size[h + 1], stride[0], stride[c], stride[h], stride[h + 1]};
}

inline bool resize_image(Tensor& out, Dims dims, int64_t n, int64_t c, int64_t h, int64_t w) {
  Shape shape;
  const bool nchw = dims == Dims::kNchw;
  return h >= 0 && w >= 0 && shape.push(n) && shape.push(nchw ? c : h) &&
         shape.push(nchw ? h : w) && shape.push(nchw ? w : c) && resize_out(out, shape);
}

// Two positive or non-negative numbers of a list that may have one (then it counts twice).
struct Pair {
  int32_t h = 0;
  int32_t w = 0;
};

inline bool read_pair(ArrayRef<int64_t> list, int64_t least, Pair& pair) {
  if (list.size() != 1 && list.size() != 2) {
    return false;
  }
  const int64_t h = list.data()[0];
  const int64_t w = list.data()[list.size() - 1];
  constexpr int64_t kMost = 1 << 24;
  pair = {static_cast<int32_t>(h), static_cast<int32_t>(w)};
  return h >= least && w >= least && h <= kMost && w <= kMost;
}

// The taps of a window that fall inside [0, size): those `first` <= k < `last`.
struct Taps {
  int32_t first;
  int32_t last;
};

inline Taps taps_inside(int32_t origin, int32_t taps, int32_t dilation, int32_t size) {
  int32_t first = 0;
  while (first < taps && origin + first * dilation < 0) {
    ++first;
  }
  int32_t last = taps;
  while (last > first && origin + (last - 1) * dilation >= size) {
    --last;
  }
  return {first, last};
}

// Walks `out` and its inputs, broadcast against it, row by row: row(Walk&). False when shapes do
// not fit. Operand 0 is `out`; elements are of the tensors' own sizes.
template <class Row>
inline bool walk_rows(Tensor& out, const Tensor* const* inputs, size_t count, Row&& row) {
  Walk w;
  w.operands = count + 1;
  w.at[0] = mutable_bytes(out);
  const size_t n = rank(out);
  for (size_t k = 0; k < count; ++k) {
    if (rank(*inputs[k]) > n) {
      return false;
    }
    w.at[k + 1] = const_cast<char*>(const_bytes(*inputs[k]));
  }
  for (size_t i = n; i-- > 0;) {  // innermost in memory first
    const size_t d = out.dim_order().data()[i];
    ptrdiff_t stride[kMaxOperands];
    stride[0] = stride_at(out, d) * static_cast<ptrdiff_t>(element_size(out));
    for (size_t k = 0; k < count; ++k) {
      const Tensor& in = *inputs[k];
      const size_t skip = n - rank(in);
      const bool fixed = d < skip || size_at(in, d - skip) == 1;
      if (!fixed && size_at(in, d - skip) != size_at(out, d)) {
        return false;
      }
      stride[k + 1] =
          fixed ? 0 : stride_at(in, d - skip) * static_cast<ptrdiff_t>(element_size(in));
    }
    add_axis(w, size_at(out, d), stride);
  }
  if (w.empty) {
    return true;
  }
  do {
    row(w);
  } while (next_row(w));
  return true;
}

}  // namespace gen_kernels::cortex_m

namespace cortex_m::native {
using ::gen_kernels::ArrayRef;
using ::gen_kernels::KernelRuntimeContext;
using ::gen_kernels::ScalarType;
using ::gen_kernels::Tensor;
}  // namespace cortex_m::native
