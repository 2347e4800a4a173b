// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantized_transpose_conv2d and its nhwc form. What does not fit runs
// on the portable kernel.
//
// Output pixels that lie a stride apart see the same taps: each such phase is a convolution of its
// own with stride 1, done as matrix products.
#include "cortex_m/transpose_conv.h"

#include "corev/checks.h"
#include "corev/matrix.h"
#include "corev/scratch.h"

namespace gen_kernels::corev {

using cortex_m::Dims;
using cortex_m::Image;
using cortex_m::TransposeConv;

namespace {

// The taps along one axis that the outputs `phase`, `phase + stride`, ... see.
struct Taps {
  int32_t first = 0;
  int32_t step = 1;   // from a tap to the next
  int32_t count = 0;  // may be 0
  int32_t down = 0;   // and from its input to the next one's, backwards
};

Taps taps_of(int32_t phase, int32_t padding, int32_t dilation, int32_t stride, int32_t kernel) {
  Taps taps;
  for (int32_t k = 0; k < kernel; ++k) {
    if ((phase + padding - k * dilation) % stride == 0) {
      if (taps.count == 0) {
        taps.first = k;
      } else if (taps.count == 1) {
        taps.step = k - taps.first;
      }
      ++taps.count;
    }
  }
  taps.down = taps.step * dilation / stride;
  return taps;
}

// The most taps that a phase has.
int32_t most_taps(int32_t dilation, int32_t stride, int32_t kernel) {
  int32_t a = stride;
  for (int32_t b = dilation; b != 0;) {  // the greatest common divisor
    const int32_t rest = a % b;
    a = b;
    b = rest;
  }
  const int32_t apart = stride / a;
  return (kernel + apart - 1) / apart;
}

struct Phases {
  const TransposeConv& call;
  int32_t* bias;
  const Four* fours;
  int8_t* weight;
  int8_t* rows;
  Finish finish;

  // The weights of a phase, output channel by output channel, and its biases.
  void weights(const Taps& down, const Taps& across, int32_t inner) const {
    const int32_t channels = call.input.channels;
    const int32_t filter = call.kernel.h * call.kernel.w * channels;
    const int32_t used = down.count * across.count * channels;
    int8_t* to = weight;
    for (int32_t o = 0; o < call.output.channels; ++o) {
      for (int32_t i = 0; i < down.count; ++i) {
        const int32_t row = down.first + i * down.step;
        for (int32_t j = 0; j < across.count; ++j, to += channels) {
          const int32_t tap = row * call.kernel.w + across.first + j * across.step;
          copy(to, call.weight + o * filter + tap * channels, channels);
        }
      }
      fill(to, 0, inner - used);
      to += inner - used;
      bias[o] = (call.bias != nullptr ? call.bias[o] : 0) +
                call.input_offset * sum_bytes(to - inner, inner);
    }
  }

  // The inputs of one output pixel in the order of the weights; outside is the zero point.
  void gather(int8_t* to, const int8_t* image, int32_t y, int32_t x, const Taps& down,
              const Taps& across) const {
    const Image& in = call.input;
    const int32_t channels = in.channels;
    int32_t row = (y + call.padding.h - down.first * call.dilation.h) / call.stride.h;
    const int32_t start = (x + call.padding.w - across.first * call.dilation.w) / call.stride.w;
    for (int32_t i = down.count; i > 0; --i, row -= down.down) {
      const bool outside = row < 0 || row >= in.height;
      int32_t column = start;
      for (int32_t j = across.count; j > 0; --j, column -= across.down, to += channels) {
        if (outside || column < 0 || column >= in.width) {
          fill(to, -call.input_offset, channels);
        } else {
          copy(to, image + (row * in.width + column) * channels, channels);
        }
      }
    }
  }

  void run(int32_t first_row, int32_t first_column, const Taps& down, const Taps& across) const {
    const Image& in = call.input;
    const Image& to = call.output;
    const int32_t used = down.count * across.count * in.channels;
    const int32_t inner = used == 0 ? 4 : (used + 3) & ~3;
    weights(down, across, inner);
    fill(rows, 0, 4 * inner);
    Product product{rows,   weight,      bias,  fours,   false,
                    0,      to.channels, inner, nullptr, call.stride.w * to.channels,
                    finish, false};
    for (int32_t n = 0; n < to.batch; ++n) {
      const int8_t* image = call.in + n * in.height * in.width * in.channels;
      for (int32_t y = first_row; y < to.height; y += call.stride.h) {
        for (int32_t x = first_column; x < to.width;) {
          product.out = call.out + ((n * to.height + y) * to.width + x) * to.channels;
          product.rows = 0;
          for (; product.rows < 4 && x < to.width; x += call.stride.w) {
            gather(rows + product.rows++ * inner, image, y, x, down, across);
          }
          multiply(product);
        }
      }
    }
  }
};

// False: take the portable kernel.
bool phases(KernelRuntimeContext& context, const TransposeConv& call) {
  const Image& in = call.input;
  const Image& to = call.output;
  const int32_t outputs = to.channels;
  if (!is_dense(in) || !is_dense(to) || outputs < 4 ||
      !rescales_fast(call, outputs, call.kernel.h * call.kernel.w * in.channels)) {
    return false;
  }
  const int32_t high = min(call.stride.h, to.height);
  const int32_t wide = min(call.stride.w, to.width);
  const int32_t most = most_taps(call.dilation.h, call.stride.h, call.kernel.h) *
                       most_taps(call.dilation.w, call.stride.w, call.kernel.w) * in.channels;
  const int32_t inner = (most + 3) & ~3;
  const auto bias_bytes = static_cast<size_t>(outputs) * sizeof(int32_t);
  const auto table_bytes = static_cast<size_t>((outputs + 3) >> 2) * sizeof(Four);
  const auto weight_bytes = static_cast<size_t>(outputs * inner);
  const auto row_bytes = static_cast<size_t>(4 * inner);
  Scratch scratch;
  if (!scratch.reserve(context, bias_bytes + table_bytes + weight_bytes + row_bytes)) {
    return false;
  }
  auto* bias = reinterpret_cast<int32_t*>(scratch.take(bias_bytes));
  auto* table = reinterpret_cast<Four*>(scratch.take(table_bytes));
  int8_t* weight = scratch.take(weight_bytes);
  GEN_KERNELS_PATH("phases");
  const Finish finish = finish_of(call.requant);
  channels_of(table, call.multiplier, call.shift, outputs, finish);
  const Phases all{call, bias, table, weight, scratch.take(row_bytes), finish};
  for (int32_t y = 0; y < high; ++y) {
    const Taps down = taps_of(y, call.padding.h, call.dilation.h, call.stride.h, call.kernel.h);
    for (int32_t x = 0; x < wide; ++x) {
      all.run(y, x, down,
              taps_of(x, call.padding.w, call.dilation.w, call.stride.w, call.kernel.w));
    }
  }
  return true;
}

void run(KernelRuntimeContext& context, const TransposeConv& call) {
  if (!phases(context, call)) {
    cortex_m::transpose_conv(call);
  }
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;

Tensor& quantized_transpose_conv2d_out(
    KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
    const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
    ArrayRef<int64_t> output_padding, ArrayRef<int64_t> dilation, int64_t input_offset,
    int64_t output_offset, const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
    int64_t activation_min, int64_t activation_max, const Tensor&, const Tensor&, Tensor& out) {
  TransposeConv call;
  if (!cortex_m::prepare(call, Dims::kNchw, input, weight, bias, stride, padding, output_padding,
                         dilation, input_offset, output_offset, requantize_multipliers,
                         requantize_shifts, activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run(context, call);
  return out;
}

Tensor& quantized_transpose_conv2d_nhwc_out(
    KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
    const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
    ArrayRef<int64_t> output_padding, ArrayRef<int64_t> dilation, int64_t input_offset,
    int64_t output_offset, const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
    int64_t activation_min, int64_t activation_max, const Tensor&, const Tensor&, Tensor& out) {
  TransposeConv call;
  if (!cortex_m::prepare(call, Dims::kNhwc, input, weight, bias, stride, padding, output_padding,
                         dilation, input_offset, output_offset, requantize_multipliers,
                         requantize_shifts, activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run(context, call);
  return out;
}

}  // namespace gen_kernels::corev::native
