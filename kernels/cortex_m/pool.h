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

// The reference's average: the mean of the dequantised values, quantised again, in single
// precision.
struct Average {
  // Most values in a window for which the sum decides (beyond, rounding errors reach every mean).
  static constexpr int32_t kMostTaps = 256;

  int32_t zero;
  float scale;
  bool plain;

  // The mean of a window step by step as the reference does it; `at` is its first element.
  int32_t by_floats(const int8_t* at, const Image& in, Taps rows, Taps columns) const;
  // The same by integers, for `plain` windows of which the mean lies half-way between two integers:
  // `twice` is twice the mean less the zero point. `Bits::top` gives the place of a word's first 1.
  template <class Bits>
  int32_t half_way(int32_t twice, const int8_t* at, const Image& in, Taps rows, Taps columns) const;
};

// Means of windows with `count` values by whole numbers. The reference adds and divides floats,
// each step within 2^-24 of the magnitude reached: the mean of integers below 2^8 is known within
// (count + 5) * 2^-16. Farther from a half than that, whole numbers decide.
struct Mean {
  int32_t count = 0;
  uint32_t inverse = 0;  // of 2 * count, times 2^32, rounded up: exact for the dividends here
  uint32_t near = 0;     // remainders up to this are near a half
  uint32_t span = 0;     // of the remainders that are not

  void set(int32_t count_) {
    if (count != count_) {
      const auto twice = 2 * static_cast<uint32_t>(count_);
      count = count_;
      inverse = UINT32_MAX / twice + 1;
      near = static_cast<uint32_t>((count_ + 5) * count_) >> 15;
      span = twice - 1 - 2 * near;
    }
  }

  // What a window's dividend begins with: add twice its values.
  int32_t start() const { return 257 * count; }
  // A window's mean less `remainder` halves, from its dividend.
  int32_t divide(int32_t dividend, uint32_t& remainder) const {
    const auto quotient =
        static_cast<uint32_t>((uint64_t{static_cast<uint32_t>(dividend)} * inverse) >> 32);
    remainder = static_cast<uint32_t>(dividend) - 2 * quotient * static_cast<uint32_t>(count);
    return static_cast<int32_t>(quotient) - 128;
  }
  // Whether that is the reference's too.
  bool decides(uint32_t remainder) const { return remainder - near - 1 < span; }
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
  const int64_t steps = span + (ceil_mode ? stride - 1 : 0);
  if (steps < 0) {
    return -1;
  }
  // Below 2^32: pads and strides are at most 2^24.
  int64_t count = int64_t{static_cast<uint32_t>(steps) / static_cast<uint32_t>(stride)} + 1;
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
  if (call.input.height < 1 || call.input.width < 1) {
    return false;
  }
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

// What to add to a number to round it, half to even, to a multiple of 2^places; its low word is
// enough. `sticky`: it is a little larger than said.
inline int32_t rounding(uint32_t low, int32_t places, bool sticky) {
  const uint32_t unit = uint32_t{1} << places;
  const uint32_t up = (unit >> 1) - 1 + (sticky ? 1 : (low >> places) & 1);
  return static_cast<int32_t>(((low + up) & (0 - unit)) - low);
}

struct PlainBits {
  static int32_t top(uint32_t word) { return 31 - __builtin_clz(word); }
};

template <class Bits>
GEN_KERNELS_NOINLINE inline int32_t Average::half_way(int32_t twice, const int8_t* at,
                                                      const Image& in, Taps rows,
                                                      Taps columns) const {
  // All numbers in units of the scale's last digit: a product with the scale is `value * mantissa`,
  // the sum so far `total * mantissa + error`. Each step rounds to 24 digits.
  const uint32_t mantissa = (float_bits(scale) & 0x7fffffU) | 0x800000U;
  int32_t total = 0;
  int32_t error = 0;
  for (int32_t i = rows.first; i < rows.last; ++i) {
    const int8_t* value = at + i * in.row_stride + columns.first * in.column_stride;
    for (int32_t j = columns.last - columns.first; j > 0; --j, value += in.column_stride) {
      const int32_t plus = *value - zero;
      if (plus == 0) {
        continue;
      }
      const bool first = (total | error) == 0;  // then the sum is the product, rounded already
      const uint32_t product = static_cast<uint32_t>(plus < 0 ? -plus : plus) * mantissa;
      if (const int32_t places = Bits::top(product) - 23; places > 0) {
        const int32_t change = rounding(product, places, false);
        error += plus < 0 ? -change : change;
      }
      total += plus;
      if (first) {
        continue;
      }
      const auto size = static_cast<uint32_t>(total < 0 ? -total : total);
      const int32_t rest = total < 0 ? -error : error;
      const uint64_t sum = uint64_t{size} * mantissa + static_cast<uint64_t>(int64_t{rest});
      const auto high = static_cast<uint32_t>(sum >> 8);  // below 2^40; a total of 0 has no digits
      if (const int32_t places = Bits::top(high | 1) - 15; total != 0 && places > 0) {
        const int32_t change = rounding(static_cast<uint32_t>(sum), places, false);
        error += total < 0 ? -change : change;
      }
    }
  }
  // The quotient by the count, and how far it is then from `size` halves; times 8.
  const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
  const int32_t rest = 8 * (twice < 0 ? -error : error);
  const int32_t part = rest / count;
  const int32_t floor = part - (rest < part * count ? 1 : 0);
  const auto size = static_cast<uint32_t>(twice < 0 ? -twice : twice);
  const uint64_t mean = uint64_t{size} * 4 * mantissa + static_cast<uint64_t>(int64_t{floor});
  const int32_t places = Bits::top(static_cast<uint32_t>(mean >> 8)) - 15;
  const int32_t off = floor + rounding(static_cast<uint32_t>(mean), places, rest != floor * count);
  // The quotient by the scale rounds to the half itself when it is within half a unit of its last
  // place; then the even neighbour counts. (Around 1/2 no other quotient is that close.)
  const auto away = static_cast<uint32_t>(off < 0 ? -off : off);
  const auto whole = static_cast<int32_t>(size >> 1);
  const bool even = away <= (size == 1 ? 0 : mantissa >> (22 - Bits::top(size)));
  const int32_t magnitude = whole + (even ? whole & 1 : off > 0 ? 1 : 0);
  return (twice < 0 ? -magnitude : magnitude) + zero;
}

template <class Bits = PlainBits>
GEN_KERNELS_NOINLINE inline void average_pool(const PoolCall& call, const Average& average) {
  const Image& in = call.input;
  Mean mean;
  each_window(call, [&](Taps rows, Taps columns, const int8_t* at, int8_t* out) {
    const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
    const bool whole = average.plain && count <= Average::kMostTaps;
    if (whole) {
      mean.set(count);
    }
    for (int32_t c = in.channels; c > 0; --c) {
      int32_t value = 0;
      uint32_t remainder = 1;
      if (whole) {
        int32_t sum = 0;
        const int8_t* row = at + rows.first * in.row_stride + columns.first * in.column_stride;
        for (int32_t i = rows.last - rows.first; i > 0; --i, row += in.row_stride) {
          const int8_t* from = row;
          for (int32_t j = columns.last - columns.first; j > 0; --j, from += in.column_stride) {
            sum += *from;
          }
        }
        value = mean.divide(mean.start() + 2 * sum, remainder);
      }
      if (remainder == 0) {
        value = average.half_way<Bits>(2 * (value - average.zero) - 1, at, in, rows, columns);
      } else if (!whole || !mean.decides(remainder)) {
        value = average.by_floats(at, in, rows, columns);
      }
      *out = static_cast<int8_t>(value);
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
