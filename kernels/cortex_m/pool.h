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

// Positions of a pooling window along one axis; as PyTorch, a last window that
// would start in the padding after the image is dropped.
inline int64_t pooled(int32_t in, int32_t kernel, int32_t stride, int32_t padding, int32_t dilation,
                      bool ceil_mode) {
  const int64_t span = int64_t{in} + 2 * int64_t{padding} - int64_t{dilation} * (kernel - 1) - 1;
  if (span + (ceil_mode ? stride - 1 : 0) < 0) {
    return -1;
  }
  int64_t count = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  if (ceil_mode && (count - 1) * stride >= int64_t{in} + padding) {
    --count;
  }
  return count;
}

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare(PoolCall& call, Dims dims, const Tensor& input,
                                         ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
                                         ArrayRef<int64_t> padding, bool ceil_mode, Tensor& out) {
  if (!is_int8(input) || !is_int8(out) || input.dim() != 4 || out.dim() != 4 ||
      !read_pair(kernel, 1, call.kernel) ||
      !read_pair(stride.empty() ? kernel : stride, 1, call.stride) ||
      !read_pair(padding, 0, call.padding) || 2 * call.padding.h > call.kernel.h ||
      2 * call.padding.w > call.kernel.w) {
    return false;
  }
  call.input = image_of(input, dims);
  const int64_t height =
      pooled(call.input.height, call.kernel.h, call.stride.h, call.padding.h, 1, ceil_mode);
  const int64_t width =
      pooled(call.input.width, call.kernel.w, call.stride.w, call.padding.w, 1, ceil_mode);
  if (height < 1 || width < 1 ||
      !resize_image(out, dims, call.input.batch, call.input.channels, height, width)) {
    return false;
  }
  call.output = image_of(out, dims);
  call.in = const_data<int8_t>(input);
  call.out = mutable_data<int8_t>(out);
  return true;
}

// multiplier * 2^(shift - 31), rounded to float.
inline float pool_scale(int64_t multiplier, int64_t shift) {
  // multiplier * 2^shift / 2^31 is exact as a double; the reference multiplies floats by it.
  if (multiplier == 0 || shift > 200 || shift < -200) {
    return 0.0F;
  }
  const bool negative = multiplier < 0;
  const uint64_t magnitude =
      negative ? 0 - static_cast<uint64_t>(multiplier) : static_cast<uint64_t>(multiplier);
  const int lead = __builtin_clzll(magnitude);
  return internal::pack_float(negative, 63 - lead + static_cast<int>(shift) - 31, magnitude << lead,
                              false);
}

GEN_KERNELS_NOINLINE inline int32_t Average::by_floats(const int8_t* at, const Image& in, Taps rows,
                                                       Taps columns) const {
  float sum = 0.0F;
  for (int32_t i = rows.first; i < rows.last; ++i) {
    for (int32_t j = columns.first; j < columns.last; ++j) {
      sum += static_cast<float>(at[i * in.row_stride + j * in.column_stride] - zero) * scale;
    }
  }
  const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
  const float value =
      round_even(sum / static_cast<float>(count) / scale) + static_cast<float>(zero);
  return value >= 127.0F   ? 127
         : value > -128.0F ? static_cast<int32_t>(value)
         : value == value  ? -128
                           : 0;
}

GEN_KERNELS_NOINLINE inline int32_t Average::operator()(int32_t sum, const int8_t* at,
                                                        const Image& in, Taps rows,
                                                        Taps columns) const {
  const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
  // The reference adds and divides floats, each step within 2^-24 of the magnitude reached: the
  // mean of integers below 2^8 is known within (count + 5) * 2^-16. Farther from a half than
  // that, whole numbers decide; at a half, only its own rounding errors tell.
  if (plain && count <= kMostTaps) {
    int32_t quotient = sum / count;
    int32_t rest = sum - quotient * count;
    if (rest < 0) {
      rest += count;
      --quotient;
    }
    const int32_t twice =
        2 * rest - count;  // the distance to the half, in units of 1 / (2 * count)
    const int32_t distance = twice < 0 ? -twice : twice;
    if (distance * (1 << 15) > (count + 5) * count) {
      return clamp(quotient + (twice > 0 ? 1 : 0) + zero, INT8_MIN, INT8_MAX);
    }
  }
  return by_floats(at, in, rows, columns);
}

GEN_KERNELS_NOINLINE inline void average_pool(const PoolCall& call, const Average& average) {
  const Image& in = call.input;
  each_window(call, [&](Taps rows, Taps columns, const int8_t* at, int8_t* out) {
    const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
    for (int32_t c = 0; c < in.channels; ++c) {
      int32_t sum = 0;
      for (int32_t i = rows.first; i < rows.last; ++i) {
        for (int32_t j = columns.first; j < columns.last; ++j) {
          sum += at[i * in.row_stride + j * in.column_stride];
        }
      }
      *out = static_cast<int8_t>(average(sum - count * average.zero, at, in, rows, columns));
      at += in.channel_stride;
      out += call.output.channel_stride;
    }
  });
}

GEN_KERNELS_NOINLINE inline void max_pool(const PoolCall& call, int32_t low, int32_t high) {
  const Image& in = call.input;
  each_window(call, [&](Taps rows, Taps columns, const int8_t* at, int8_t* out) {
    for (int32_t c = 0; c < in.channels; ++c) {
      int32_t most = INT8_MIN;
      for (int32_t i = rows.first; i < rows.last; ++i) {
        for (int32_t j = columns.first; j < columns.last; ++j) {
          const int32_t value = at[i * in.row_stride + j * in.column_stride];
          most = value > most ? value : most;
        }
      }
      *out = static_cast<int8_t>(clamp(most, low, high));
      at += in.channel_stride;
      out += call.output.channel_stride;
    }
  });
}

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare_average(PoolCall& call, Average& average, Dims dims,
                                                 const Tensor& input, ArrayRef<int64_t> kernel,
                                                 ArrayRef<int64_t> stride,
                                                 ArrayRef<int64_t> padding, bool ceil_mode,
                                                 int64_t zero_point, int64_t multiplier,
                                                 int64_t shift, Tensor& out) {
  if (zero_point < -(1 << 20) || zero_point > (1 << 20) ||
      multiplier != static_cast<int32_t>(multiplier) ||
      !prepare(call, dims, input, kernel, stride, padding, ceil_mode, out)) {
    return false;
  }
  average.zero = static_cast<int32_t>(zero_point);
  average.scale = pool_scale(multiplier, shift);
  // The bound on rounding errors holds for int8 zero points and scales far from the ends of the
  // range.
  average.plain = zero_point >= INT8_MIN && zero_point <= INT8_MAX && multiplier != 0 &&
                  shift > -60 && shift < 60;
  return true;
}

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare_max(PoolCall& call, Dims dims, const Tensor& input,
                                             ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
                                             ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                             bool ceil_mode, int64_t input_zero_point,
                                             int64_t output_zero_point, int64_t activation_min,
                                             int64_t activation_max, Tensor& out) {
  Pair gap;
  return input_zero_point == output_zero_point && !ceil_mode && read_pair(dilation, 1, gap) &&
         gap.h == 1 && gap.w == 1 && fits(activation_min, activation_max) &&
         prepare(call, dims, input, kernel, stride, padding, false, out);
}

}  // namespace gen_kernels::cortex_m
