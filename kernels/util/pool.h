// What the 2d pools share: shapes, and a pool as a walk over windows.
#pragma once

#include "util/convolution.h"

namespace gen_kernels {

struct PoolArgs {
  IntArrayRef kernel;
  IntArrayRef stride;  // Empty: the kernel.
  IntArrayRef padding;
  IntArrayRef dilation;
  bool ceil_mode;
};

// A walk whose operands are input, output and, if `indices` is there, indices. In bytes.
struct Pool {
  Windows windows;
  ptrdiff_t input_step[2];  // Width, height.
};

// Understands a pool of (N,) C, H, W and finds the result's shape. False when arguments do not fit.
GEN_KERNELS_NOINLINE inline bool pool_shape(Pool& pool, Shape& shape, const Tensor& input,
                                            const PoolArgs& args) {
  const size_t dims = rank(input);
  if (dims < 3 || dims > 4 || args.kernel.size() == 0) return false;
  for (size_t d = 0; d < dims - 2; ++d) {
    if (size_at(input, d) == 0 && (d > 0 || dims == 3)) return false;
    shape.push(static_cast<int64_t>(size_at(input, d)));
  }
  for (size_t d = 0; d < 2; ++d) {
    const int32_t kernel = parameter(args.kernel, d, 2, 0);
    const int32_t stride = parameter(args.stride, d, 2, kernel);
    const int32_t padding = parameter(args.padding, d, 2, 0);
    const int32_t dilation = parameter(args.dilation, d, 2, 1);
    const auto inputs = static_cast<int32_t>(size_at(input, dims - 2 + d));
    if (kernel < 1 || stride < 1 || padding < 0 || dilation < 1) return false;
    const int32_t reach = dilation * (kernel - 1) + 1;
    if (padding * 2 > reach || inputs < 1 || inputs > INT32_MAX / 4) return false;
    const int32_t slack = inputs + padding * 2 - reach;
    if (slack < (args.ceil_mode ? 1 - stride : 0)) return false;
    int32_t outputs = (slack + (args.ceil_mode ? stride - 1 : 0)) / stride + 1;
    // The last window must begin inside the input or its left padding.
    if (args.ceil_mode && (outputs - 1) * stride >= inputs + padding) --outputs;
    if (outputs < 1) return false;
    shape.push(outputs);
    Axis& axis = pool.windows.axes[1 - d];
    axis.inputs = inputs;
    axis.kernel = kernel;
    axis.stride = stride;
    axis.offset = -padding;
    axis.tap_stride = dilation;
  }
  return true;
}

// Starts the walk over resized outputs.
GEN_KERNELS_NOINLINE inline void start(Pool& pool, const Tensor& input, const Tensor& output,
                                       const Tensor* indices) {
  Walk& w = pool.windows.walk;
  const auto in_element = static_cast<ptrdiff_t>(element_size(input));
  const auto out_element = static_cast<ptrdiff_t>(element_size(output));
  w.operands = indices == nullptr ? 2 : 3;
  w.at[0] = const_cast<char*>(const_bytes(input));
  w.at[1] = mutable_bytes(output);
  if (indices != nullptr) w.at[2] = mutable_bytes(*indices);
  add_loop(w, 1, 0, 0, 0, 0);
  const size_t dims = rank(input);
  for (size_t i = 0; i < dims; ++i) {
    const size_t dim = dims - 1 - i;
    const ptrdiff_t in_step = stride_at(input, dim) * in_element;
    if (i == 2) add_loop(w, 1, 0, 0, 0, 0);  // No third spatial dimension.
    if (i < 2) pool.input_step[i] = in_step;
    add_loop(w, size_at(output, dim), i < 2 ? 0 : in_step, stride_at(output, dim) * out_element,
             indices == nullptr ? 0 : stride_at(*indices, dim) * ptrdiff_t{sizeof(int64_t)}, 0);
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
