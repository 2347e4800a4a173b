// A checked int8 transposed convolution, and the portable kernel that runs it.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {
struct TransposeConv {
  Image input;
  Image output;
  Pair kernel, stride, padding, dilation;
  const int8_t* in;
  const int8_t* weight;  // (output channel, row, column, input channel)
  const int32_t* bias;
  const int32_t* multiplier;
  const int32_t* shift;
  int32_t input_offset;
  Requant requant;
  int8_t* out;
};

// The input position that tap `k` of output position `at` reads, or -1 when it falls between or
// outside.
inline int32_t source(int32_t at, int32_t padding, int32_t k, int32_t dilation, int32_t stride,
                      int32_t size) {
  const int32_t position = at + padding - k * dilation;
  if (position < 0 || position % stride != 0) {
    return -1;
  }
  return position / stride < size ? position / stride : -1;
}

GEN_KERNELS_NOINLINE inline void transpose_conv(const TransposeConv& call) {
  const Image& in = call.input;
  const Image& to = call.output;
  const int32_t filter = call.kernel.h * call.kernel.w * in.channels;
  for (int32_t n = 0; n < to.batch; ++n) {
    for (int32_t y = 0; y < to.height; ++y) {
      for (int32_t x = 0; x < to.width; ++x) {
        int8_t* out = call.out + n * to.batch_stride + y * to.row_stride + x * to.column_stride;
        for (int32_t o = 0; o < to.channels; ++o) {
          int32_t sum = call.bias != nullptr ? call.bias[o] : 0;
          for (int32_t i = 0; i < call.kernel.h; ++i) {
            const int32_t row =
                source(y, call.padding.h, i, call.dilation.h, call.stride.h, in.height);
            for (int32_t j = 0; row >= 0 && j < call.kernel.w; ++j) {
              const int32_t column =
                  source(x, call.padding.w, j, call.dilation.w, call.stride.w, in.width);
              if (column < 0) {
                continue;
              }
              const int8_t* a =
                  call.in + n * in.batch_stride + row * in.row_stride + column * in.column_stride;
              const int8_t* b = call.weight + o * filter + (i * call.kernel.w + j) * in.channels;
              for (int32_t c = 0; c < in.channels; ++c, a += in.channel_stride) {
                sum = wrap_add(sum, wrap_mul(wrap_add(*a, call.input_offset), b[c]));
              }
            }
          }
          *out = call.requant(sum, call.multiplier[o], call.shift[o]);
          out += to.channel_stride;
        }
      }
    }
  }
}

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare(TransposeConv& call, Dims dims, const Tensor& input,
                                         const Tensor& weight, const std::optional<Tensor>& bias,
                                         ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                         ArrayRef<int64_t> output_padding,
                                         ArrayRef<int64_t> dilation, int64_t input_offset,
                                         int64_t output_offset, const Tensor& multipliers,
                                         const Tensor& shifts, int64_t activation_min,
                                         int64_t activation_max, Tensor& out) {
  Pair extra;
  if (!is_int8(input) || !is_int8(weight) || !is_int8(out) || input.dim() != 4 ||
      weight.dim() != 4 || out.dim() != 4 || !is_contiguous(weight) ||
      !read_pair(stride, 1, call.stride) || !read_pair(padding, 0, call.padding) ||
      !read_pair(dilation, 1, call.dilation) || !read_pair(output_padding, 0, extra) ||
      !fits(input_offset, output_offset, activation_min, activation_max)) {
    return false;
  }
  call.input = image_of(input, dims);
  const auto* size = weight.sizes().data();
  call.kernel = {size[1], size[2]};
  const auto outputs = static_cast<size_t>(size[0]);
  // As in PyTorch, the extra rows and columns must be fewer than a stride or a dilation.
  if (call.kernel.h < 1 || call.kernel.w < 1 || call.input.channels < 1 ||
      size[3] != call.input.channels || call.input.height < 1 || call.input.width < 1 ||
      (extra.h >= call.stride.h && extra.h >= call.dilation.h) ||
      (extra.w >= call.stride.w && extra.w >= call.dilation.w) || !is_int32(multipliers) ||
      !is_int32(shifts) || numel(multipliers) < outputs || numel(shifts) < outputs ||
      (bias.has_value() && (!is_int32(*bias) || numel(*bias) < outputs))) {
    return false;
  }
  const auto extent = [](int32_t in, int32_t step, int32_t pad, int32_t gap, int32_t taps,
                         int32_t more) -> int64_t {
    return int64_t{in - 1} * step - 2 * int64_t{pad} + int64_t{gap} * (taps - 1) + more + 1;
  };
  const int64_t height = extent(call.input.height, call.stride.h, call.padding.h, call.dilation.h,
                                call.kernel.h, extra.h);
  const int64_t width = extent(call.input.width, call.stride.w, call.padding.w, call.dilation.w,
                               call.kernel.w, extra.w);
  if (!resize_image(out, dims, call.input.batch, size[0], height, width)) {
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

}  // namespace gen_kernels::cortex_m
