// What the 2d pools share: shapes, and a pool as a walk over windows.
#pragma once

#include "util/convolution.h"

namespace gen_kernels {

// The place of the kernel's size among a pool's parameters.
inline constexpr size_t kKernel = kExtra;

struct PoolArgs {
  IntArrayRef lists[kParameters];  // No stride: the kernel.
  bool ceil_mode;
};

// A walk whose operands are input, output and, if `indices` is there, indices. In bytes.
struct Pool {
  Windows windows;
  ptrdiff_t input_step[2];  // Width, height.
};

// Understands a pool of (N,) C, H, W and finds the result's shape. False when arguments do not fit.
GEN_KERNELS_NOINLINE inline bool pool_shape(Pool& pool, Shape& shape, const Tensor& input,
                                            PoolArgs args) {
  const size_t dims = rank(input);
  if (dims < 3 || dims > 4 || args.lists[kKernel].size() == 0) return false;
  if (args.lists[kStride].size() == 0) args.lists[kStride] = args.lists[kKernel];
  shape = shape_of(input);
  if (shape.sizes[dims - 3] == 0) return false;
  for (size_t d = 0; d < 2; ++d) {
    int32_t p[kParameters] = {1, 0, 1, 1};
    SizesType& size = shape.sizes[dims - 2 + d];
    const int32_t inputs = size;
    if (!read_parameters(args.lists, d, 2, p) || inputs < 1 || inputs > INT32_MAX / 4) return false;
    const int32_t reach = p[kDilation] * (p[kKernel] - 1) + 1;
    if (p[kPadding] * 2 > reach) return false;
    int32_t slack = inputs + p[kPadding] * 2 - reach;
    if (args.ceil_mode) slack += p[kStride] - 1;
    if (slack < 0) return false;
    size = slack / p[kStride] + 1;
    // The last window must begin inside the input or its left padding.
    if (args.ceil_mode && (size - 1) * p[kStride] >= inputs + p[kPadding] && --size == 0) {
      return false;
    }
    Axis& axis = pool.windows.axes[1 - d];
    axis.inputs = inputs;
    axis.kernel = p[kKernel];
    axis.stride = p[kStride];
    axis.offset = -p[kPadding];
    axis.tap_stride = p[kDilation];
  }
  return true;
}

// Starts the walk over resized outputs, the last of which may be null.
GEN_KERNELS_NOINLINE inline void start(Pool& pool, const Tensor& input, const Tensor& output,
                                       const Tensor* indices) {
  Walk& w = pool.windows.walk;
  const View in = view_of(input);
  const View out = view_of(output);
  View places = out;  // Ignored when there are none.
  if (indices != nullptr) places = view_of(*indices);
  w.operands = 3;
  w.at[0] = in.data;
  w.at[1] = out.data;
  w.at[2] = places.data;
  add_loop(w, 1, 0, 0, 0, 0);
  for (size_t i = 0; i < in.rank; ++i) {
    const size_t dim = in.rank - 1 - i;
    ptrdiff_t step = in.strides[dim];
    if (i == 2) add_loop(w, 1, 0, 0, 0, 0);  // No third spatial dimension.
    if (i < 2) {
      pool.input_step[i] = step;
      step = 0;
    }
    add_loop(w, out.size(dim), step, out.strides[dim], places.strides[dim], 0);
  }
}

// Calls visit(const T& value, row, column) for the elements of the window.
template <class T, class F>
void for_each_tap(const Pool& pool, const char* image, const Taps* taps, F visit) {
  const char* line = image + taps[1].input * pool.input_step[1];
  for (int32_t i = 0, row = taps[1].input; i < taps[1].count; ++i, row += taps[1].input_step) {
    const char* p = line + taps[0].input * pool.input_step[0];
    for (int32_t j = 0, column = taps[0].input; j < taps[0].count;
         ++j, column += taps[0].input_step) {
      visit(*reinterpret_cast<const T*>(p), row, column);
      p += taps[0].input_step * pool.input_step[0];
    }
    line += taps[1].input_step * pool.input_step[1];
  }
}

}  // namespace gen_kernels
