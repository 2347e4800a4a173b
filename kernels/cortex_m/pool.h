// A checked int8 pooling call, and the portable kernels that run it.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

struct PoolCall {
  Image input;
  Image output;
  Pair kernel, stride, padding;
  const int8_t* in;
  int8_t* out;
};

// The reference's average: the mean of the dequantised values, quantised again,
// in single precision.
struct Average {
  // Most values in a window for which the sum decides (beyond, rounding errors reach every mean).
  static constexpr int32_t kMostTaps = 256;

  int32_t zero;
  float scale;
  bool plain;

  // The mean of a window from its sum of (value - zero); `at` is its first element for the exact
  // way.
  int32_t operator()(int32_t sum, const int8_t* at, const Image& in, Taps rows, Taps columns) const;
  // Step by step as the reference does it.
  int32_t by_floats(const int8_t* at, const Image& in, Taps rows, Taps columns) const;
};

// multiplier * 2^(shift - 31), rounded to float.
float pool_scale(int64_t multiplier, int64_t shift);

// Check arguments, resize `out`, fill `call`. False: bad arguments.
bool prepare(PoolCall& call, Dims dims, const Tensor& input, ArrayRef<int64_t> kernel,
             ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, bool ceil_mode, Tensor& out);
bool prepare_average(PoolCall& call, Average& average, Dims dims, const Tensor& input,
                     ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                     bool ceil_mode, int64_t zero_point, int64_t multiplier, int64_t shift,
                     Tensor& out);
bool prepare_max(PoolCall& call, Dims dims, const Tensor& input, ArrayRef<int64_t> kernel,
                 ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                 bool ceil_mode, int64_t input_zero_point, int64_t output_zero_point,
                 int64_t activation_min, int64_t activation_max, Tensor& out);

void average_pool(const PoolCall& call, const Average& average);
void max_pool(const PoolCall& call, int32_t low, int32_t high);

// Calls window(rows, columns, window origin in channel 0, output element in channel 0) for each
// window.
template <class Window>
void each_window(const PoolCall& call, Window&& window) {
  const Image& in = call.input;
  const Image& to = call.output;
  for (int32_t n = 0; n < to.batch; ++n) {
    for (int32_t y = 0; y < to.height; ++y) {
      const int32_t row = y * call.stride.h - call.padding.h;
      const Taps rows = taps_inside(row, call.kernel.h, 1, in.height);
      for (int32_t x = 0; x < to.width; ++x) {
        const int32_t column = x * call.stride.w - call.padding.w;
        window(rows, taps_inside(column, call.kernel.w, 1, in.width),
               call.in + n * in.batch_stride + row * in.row_stride + column * in.column_stride,
               call.out + n * to.batch_stride + y * to.row_stride + x * to.column_stride);
      }
    }
  }
}

}  // namespace gen_kernels::cortex_m
