// A checked int8 convolution call, and the portable kernels that run it.
//
// In a header, since the CORE-V kernels share the checks and fall back on them.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

struct ConvCall {
  Image input;
  Image output;
  Pair kernel, stride, padding, dilation;
  int32_t output_channels;
  int32_t group_channels;  // input channels that one output channel sees
  int32_t groups;
  const int8_t* in;
  const int8_t* weight;  // (output channel, row, column, input channel); depthwise: (row, column,
                         // output channel)
  const int32_t* bias;   // an output channel; null: zeros
  const int32_t* multiplier;
  const int32_t* shift;
  int32_t input_offset;  // added to every input value: the negated zero point
  Requant requant;
  int8_t* out;
};

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare(ConvCall& call, Dims dims, bool depthwise,
                                         const Tensor& input, const Tensor& weight,
                                         const std::optional<Tensor>& bias,
                                         ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                         ArrayRef<int64_t> dilation, int64_t input_offset,
                                         int64_t output_offset, const Tensor& multipliers,
                                         const Tensor& shifts, int64_t activation_min,
                                         int64_t activation_max, Tensor& out) {
  if (!is_int8(input) || !is_int8(weight) || !is_int8(out) || input.dim() != 4 ||
      weight.dim() != 4 || out.dim() != 4 || !is_contiguous(weight) ||
      !read_pair(stride, 1, call.stride) || !read_pair(padding, 0, call.padding) ||
      !read_pair(dilation, 1, call.dilation) ||
      !fits(input_offset, output_offset, activation_min, activation_max)) {
    return false;
  }
  call.input = image_of(input, dims);
  const auto* size = weight.sizes().data();
  call.kernel = {size[1], size[2]};
  call.output_channels = depthwise ? size[3] : size[0];
  call.group_channels = depthwise ? 1 : size[3];
  const int32_t channels = call.input.channels;
  if (call.kernel.h < 1 || call.kernel.w < 1 || call.group_channels < 1 || channels < 1 ||
      channels % call.group_channels != 0 || (depthwise && size[0] != 1)) {
    return false;
  }
  call.groups = channels / call.group_channels;
  const auto n = static_cast<size_t>(call.output_channels);
  if (call.output_channels % call.groups != 0 || !is_int32(multipliers) || !is_int32(shifts) ||
      numel(multipliers) < n || numel(shifts) < n ||
      (bias.has_value() && (!is_int32(*bias) || numel(*bias) < n))) {
    return false;
  }
  const auto extent = [](int32_t in, int32_t pad, int32_t gap, int32_t taps,
                         int32_t step) -> int64_t {
    const int64_t span = int64_t{in} + 2 * int64_t{pad} - int64_t{gap} * (taps - 1) - 1;
    // Below 2^32: pads are at most 2^24.
    return span < 0 ? -1 : int64_t{static_cast<uint32_t>(span) / static_cast<uint32_t>(step)} + 1;
  };
  const int64_t height =
      extent(call.input.height, call.padding.h, call.dilation.h, call.kernel.h, call.stride.h);
  const int64_t width =
      extent(call.input.width, call.padding.w, call.dilation.w, call.kernel.w, call.stride.w);
  if (!resize_image(out, dims, call.input.batch, call.output_channels, height, width)) {
    return false;
  }
  call.output = image_of(out, dims);
  call.in = const_data<int8_t>(input);
  call.weight = const_data<int8_t>(weight);
  call.bias = bias.has_value() ? const_data<int32_t>(*bias) : nullptr;
  call.multiplier = const_data<int32_t>(multipliers);
  call.shift = const_data<int32_t>(shifts);
  call.input_offset = static_cast<int32_t>(input_offset);
  call.requant = {static_cast<int32_t>(output_offset), static_cast<int32_t>(activation_min),
                  static_cast<int32_t>(activation_max)};
  call.out = mutable_data<int8_t>(out);
  return true;
}

// Calls pixel(window rows, window columns, first input row, first input column, output element)
// for each output pixel: only the taps inside the image count, padding is the zero point.
template <class Pixel>
inline void each_pixel(const ConvCall& call, Pixel&& pixel) {
  const Image& in = call.input;
  const Image& to = call.output;
  for (int32_t n = 0; n < to.batch; ++n) {
    for (int32_t y = 0; y < to.height; ++y) {
      const int32_t row = y * call.stride.h - call.padding.h;
      const Taps rows = taps_inside(row, call.kernel.h, call.dilation.h, in.height);
      for (int32_t x = 0; x < to.width; ++x) {
        const int32_t column = x * call.stride.w - call.padding.w;
        const Taps columns = taps_inside(column, call.kernel.w, call.dilation.w, in.width);
        pixel(rows, columns, n * in.batch_stride + row * in.row_stride + column * in.column_stride,
              call.out + n * to.batch_stride + y * to.row_stride + x * to.column_stride);
      }
    }
  }
}

// sum + the products of `count` inputs, `step` apart and with `offset` added, and weights.
inline int32_t dot(int32_t sum, const int8_t* a, int32_t step, const int8_t* b, int32_t count,
                   int32_t offset) {
  if (step == 1) {
    for (; count >= 4; count -= 4, a += 4, b += 4) {
      sum = wrap_add(sum, wrap_mul(wrap_add(a[0], offset), b[0]));
      sum = wrap_add(sum, wrap_mul(wrap_add(a[1], offset), b[1]));
      sum = wrap_add(sum, wrap_mul(wrap_add(a[2], offset), b[2]));
      sum = wrap_add(sum, wrap_mul(wrap_add(a[3], offset), b[3]));
    }
  }
  for (; count > 0; --count, a += step) {
    sum = wrap_add(sum, wrap_mul(wrap_add(*a, offset), *b++));
  }
  return sum;
}

// The loops keep what they use in locals: a byte stored to the output might change any member.
GEN_KERNELS_NOINLINE inline void conv(const ConvCall& call) {
  const Image& in = call.input;
  const int32_t tap = call.group_channels;
  const int32_t filter = call.kernel.h * call.kernel.w * tap;
  const int32_t group_outputs = call.output_channels / call.groups;
  each_pixel(call, [&](Taps rows, Taps columns, int32_t origin, int8_t* out) {
    const int8_t* weight = call.weight;
    const int32_t step = in.channel_stride;
    const int32_t down = call.dilation.h * in.row_stride;
    const int32_t right = call.dilation.w * in.column_stride;
    const int32_t offset = call.input_offset;
    for (int32_t o = 0; o < call.output_channels; ++o, weight += filter) {
      const int8_t* start = call.in + origin + o / group_outputs * tap * step;
      int32_t sum = call.bias != nullptr ? call.bias[o] : 0;
      for (int32_t i = rows.first; i < rows.last; ++i) {
        const int8_t* a = start + i * down + columns.first * right;
        const int8_t* b = weight + (i * call.kernel.w + columns.first) * tap;
        for (int32_t j = columns.first; j < columns.last; ++j, a += right, b += tap) {
          sum = dot(sum, a, step, b, tap, offset);
        }
      }
      *out = call.requant(sum, call.multiplier[o], call.shift[o]);
      out += call.output.channel_stride;
    }
  });
}

GEN_KERNELS_NOINLINE inline void depthwise(const ConvCall& call) {
  const Image& in = call.input;
  const int32_t channels = call.output_channels;
  const int32_t copies = channels / call.groups;
  each_pixel(call, [&](Taps rows, Taps columns, int32_t origin, int8_t* out) {
    const int32_t down = call.dilation.h * in.row_stride;
    const int32_t right = call.dilation.w * in.column_stride;
    const int32_t offset = call.input_offset;
    const int32_t width = call.kernel.w * channels;
    const int8_t* start = call.in + origin + rows.first * down + columns.first * right;
    const int8_t* weight = call.weight + rows.first * width + columns.first * channels;
    const int32_t count = columns.last - columns.first;
    int32_t copy = 0;
    for (int32_t o = 0; o < channels; ++o, ++weight) {
      int32_t sum = call.bias != nullptr ? call.bias[o] : 0;
      const int8_t* row = start;
      const int8_t* weights = weight;
      for (int32_t i = rows.last - rows.first; i > 0; --i, row += down, weights += width) {
        const int8_t* a = row;
        const int8_t* b = weights;
        for (int32_t j = count; j > 0; --j, a += right, b += channels) {
          sum = wrap_add(sum, wrap_mul(wrap_add(*a, offset), *b));
        }
      }
      *out = call.requant(sum, call.multiplier[o], call.shift[o]);
      out += call.output.channel_stride;
      if (++copy == copies) {
        copy = 0;
        start += in.channel_stride;
      }
    }
  });
}

}  // namespace gen_kernels::cortex_m
