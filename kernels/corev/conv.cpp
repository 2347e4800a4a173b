// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantized_conv2d, quantized_depthwise_conv2d and
// their nhwc forms. What does not fit a fast path runs on the portable kernel.
#include "cortex_m/conv.h"

#include "corev/checks.h"
#include "corev/depthwise.h"
#include "corev/matrix.h"
#include "corev/scratch.h"

namespace gen_kernels::corev {

using cortex_m::ConvCall;
using cortex_m::Dims;
using cortex_m::Image;
using cortex_m::Taps;

namespace {

// Copies a few bytes; one word, the row of a narrow window, at once.
GEN_KERNELS_INLINE int8_t* append(int8_t* to, const int8_t* from, int32_t count) {
  if (count == 4) {
    store_word(to, load_word(from));
    return to;
  }
  copy(to, from, count);
  return to + count;
}

// One output pixel's inputs as a row, in the order of the weights; padding is the zero point.
__attribute__((noinline)) void gather(const ConvCall& call, int8_t* to, int32_t n, int32_t y,
                                      int32_t x, int32_t first_channel) {
  const Image& in = call.input;
  const int32_t taps = call.group_channels;
  const int32_t width = call.kernel.w * taps;
  const int32_t padding = -call.input_offset;
  const int32_t column = x * call.stride.w - call.padding.w;
  const Taps columns = cortex_m::taps_inside(column, call.kernel.w, call.dilation.w, in.width);
  const int32_t before = columns.first * taps;
  const int32_t after = width - columns.last * taps;
  const int32_t inside = width - before - after;
  const int32_t gap = call.dilation.w * in.channels;
  const bool run = inside > 0 && (gap == taps || columns.last - columns.first == 1);
  const int32_t pitch = in.width * in.channels;
  int32_t row = y * call.stride.h - call.padding.h;
  const int8_t* from = call.in + (n * in.height + row) * pitch + column * in.channels +
                       columns.first * gap + first_channel;
  const int32_t below = call.dilation.h * pitch;
  const int32_t bottom = row + (call.kernel.h - 1) * call.dilation.h;
  if (run && inside == width && row >= 0 && bottom < in.height) {
    int32_t i = call.kernel.h;
    for (; width == 4 && i > 0; --i) {
      store_word(to, load_word(from, below));
    }
    for (; i > 0; --i, from += below) {
      to = append(to, from, width);
    }
    return;
  }
  for (int32_t i = 0; i < call.kernel.h; ++i) {
    if (row < 0 || row >= in.height || inside <= 0) {
      fill(to, padding, width);
      to += width;
    } else {
      if (before > 0) {
        fill(to, padding, before);
        to += before;
      }
      if (run) {
        to = append(to, from, inside);
      } else {
        const int8_t* at = from;
        for (int32_t j = columns.first; j < columns.last; ++j, at += gap) {
          to = append(to, at, taps);
        }
      }
      if (after > 0) {
        fill(to, padding, after);
        to += after;
      }
    }
    row += call.dilation.h;
    from += below;
  }
}

// A convolution as matrix products. `by_channel`: the weights are a depthwise convolution's of one
// input channel, (tap, output channel), to be turned first. False: take the portable kernel.
bool dense(KernelRuntimeContext& context, const ConvCall& call, bool by_channel) {
  const Image& in = call.input;
  const Image& to = call.output;
  const int32_t taps = call.kernel.h * call.kernel.w * call.group_channels;
  const int32_t outputs = call.output_channels / call.groups;
  if (!is_dense(in) || !is_dense(to) || outputs < 4 ||
      !rescales_fast(call, call.output_channels, taps)) {
    return false;
  }
  const int32_t inner = (taps + 3) & ~3;
  const bool turned = by_channel || inner != taps;
  const bool direct = !turned && call.groups == 1 && call.kernel.h == 1 && call.kernel.w == 1 &&
                      call.stride.h == 1 && call.stride.w == 1 && call.padding.h == 0 &&
                      call.padding.w == 0;
  const int32_t fours = (outputs + 3) >> 2;
  const auto bias_bytes = static_cast<size_t>(call.output_channels) * sizeof(int32_t);
  const auto table_bytes = static_cast<size_t>(call.groups * fours) * sizeof(Four);
  const size_t weight_bytes = turned ? static_cast<size_t>(call.output_channels * inner) : 0;
  const size_t row_bytes = direct ? 0 : static_cast<size_t>(4 * inner);
  // Few channels make short runs: a padded copy of the image spares them the edges.
  const bool bordered = in.channels <= 4 && (call.padding.h > 0 || call.padding.w > 0);
  const int32_t high = in.height + 2 * call.padding.h;
  const int32_t wide = in.width + 2 * call.padding.w;
  const size_t image_bytes =
      bordered ? static_cast<size_t>(in.batch * high * wide * in.channels) : 0;
  Scratch scratch;
  if (!scratch.reserve(context, bias_bytes + table_bytes + weight_bytes + row_bytes +
                                    ((image_bytes + 3) & ~size_t{3}))) {
    return false;
  }
  auto* bias = reinterpret_cast<int32_t*>(scratch.take(bias_bytes));
  auto* table = reinterpret_cast<Four*>(scratch.take(table_bytes));
  const int8_t* weight = call.weight;
  if (turned) {
    int8_t* turn = scratch.take(weight_bytes);
    weight = turn;
    const int32_t step = by_channel ? call.output_channels : 1;
    for (int32_t o = 0; o < call.output_channels; ++o) {
      const int8_t* from = by_channel ? call.weight + o : call.weight + o * taps;
      int32_t left = taps;
      for (; left >= 4; left -= 4) {
        const uint32_t a = load_byte(from, step);
        const uint32_t b = load_byte(from, step);
        const uint32_t c = load_byte(from, step);
        const uint32_t d = load_byte(from, step);
        store_word(turn, packhi_b(packlo_b(0, b, a), d, c));
      }
      for (; left > 0; --left) {
        *turn++ = static_cast<int8_t>(load_byte(from, step));
      }
      for (int32_t k = taps; k < inner; ++k) {
        *turn++ = 0;
      }
    }
  }
  fold_offset(bias, call.bias, call.input_offset, weight, call.output_channels, inner);
  const Finish finish = finish_of(call.requant);
  for (int32_t g = 0; g < call.groups; ++g) {
    channels_of(table + g * fours, call.multiplier + g * outputs, call.shift + g * outputs, outputs,
                finish);
  }
  Product product{call.in, weight, bias,     table,       false,  in.batch * in.height * in.width,
                  outputs, inner,  call.out, to.channels, finish, false};
  if (direct) {
    GEN_KERNELS_PATH("direct");
    multiply(product);
    return true;
  }
  GEN_KERNELS_PATH("gathered");
  int8_t* rows = scratch.take(row_bytes);
  ConvCall source = call;
  if (bordered) {
    int8_t* image = scratch.take(image_bytes);
    source.in = image;
    source.input.height = high;
    source.input.width = wide;
    source.padding = {0, 0};
    fill(image, -call.input_offset, static_cast<int32_t>(image_bytes));
    const int8_t* from = call.in;
    const int32_t pitch = in.width * in.channels;
    for (int32_t b = 0; b < in.batch; ++b, image += high * wide * in.channels) {
      int8_t* to = image + (call.padding.h * wide + call.padding.w) * in.channels;
      for (int32_t line = 0; line < in.height; ++line, to += wide * in.channels, from += pitch) {
        copy(to, from, pitch);
      }
    }
  }
  for (int32_t i = 0; i < 4 * inner; i += 4) {
    std::memset(rows + i, 0, 4);  // what lies behind the last tap meets weights of zero
  }
  const int32_t pixels = to.batch * to.height * to.width;
  int32_t n = 0;
  int32_t y = 0;
  int32_t x = 0;
  for (int32_t done = 0; done < pixels; done += product.rows) {
    product.rows = pixels - done < 4 ? pixels - done : 4;
    const int32_t from_n = n;
    const int32_t from_y = y;
    const int32_t from_x = x;
    for (int32_t g = 0; g < call.groups; ++g) {
      n = from_n;
      y = from_y;
      x = from_x;
      for (int32_t r = 0; r < product.rows; ++r) {
        gather(source, rows + r * inner, n, y, x, g * call.group_channels);
        if (++x == to.width) {
          x = 0;
          if (++y == to.height) {
            y = 0;
            ++n;
          }
        }
      }
      product.x = rows;
      product.w = weight + g * outputs * inner;
      product.bias = bias + g * outputs;
      product.fours = table + g * fours;
      product.out = call.out + done * to.channels + g * outputs;
      multiply(product);
    }
  }
  return true;
}

// A depthwise convolution on planes of one channel each. False: take the portable kernel.
bool planes(KernelRuntimeContext& context, const ConvCall& call) {
  const Image& in = call.input;
  const Image& to = call.output;
  Planes p;
  if (call.kernel.w > 4 || call.kernel.h > Planes::kMostRows || call.dilation.w != 1 ||
      !is_dense(in) || !is_dense(to) ||
      !rescales_fast(call, call.output_channels, call.kernel.h * call.kernel.w)) {
    return false;
  }
  p.stride = ((to.width - 1) * call.stride.w + 4 + 3) & ~3;
  p.rows = (to.height - 1) * call.stride.h + (call.kernel.h - 1) * call.dilation.h + 1;
  p.size = p.rows * p.stride;
  Scratch scratch;
  if (!scratch.reserve(context, static_cast<size_t>(4 * p.size))) {
    return false;
  }
  p.memory = scratch.take(static_cast<size_t>(4 * p.size));
  GEN_KERNELS_PATH("planes");
  depthwise(call, p);
  return true;
}

void run(KernelRuntimeContext& context, const ConvCall& call) {
  if (!dense(context, call, false)) {
    cortex_m::conv(call);
  }
}

void run_depthwise(KernelRuntimeContext& context, const ConvCall& call) {
  // With one input channel each output channel sees all of the input: a matrix product.
  if ((call.groups == 1 && dense(context, call, true)) || planes(context, call)) {
    return;
  }
  cortex_m::depthwise(call);
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;
using cortex_m::prepare;

Tensor& quantized_conv2d_out(KernelRuntimeContext& context, const Tensor& input,
                             const Tensor& weight, const std::optional<Tensor>& bias,
                             ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                             ArrayRef<int64_t> dilation, int64_t input_offset,
                             int64_t output_offset, const Tensor& requantize_multipliers,
                             const Tensor& requantize_shifts, int64_t activation_min,
                             int64_t activation_max, const Tensor&, Tensor& out) {
  ConvCall call;
  if (!prepare(call, Dims::kNchw, false, input, weight, bias, stride, padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run(context, call);
  return out;
}

Tensor& quantized_conv2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                  const Tensor& weight, const std::optional<Tensor>& bias,
                                  ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                  ArrayRef<int64_t> dilation, int64_t input_offset,
                                  int64_t output_offset, const Tensor& requantize_multipliers,
                                  const Tensor& requantize_shifts, int64_t activation_min,
                                  int64_t activation_max, const Tensor&, Tensor& out) {
  ConvCall call;
  if (!prepare(call, Dims::kNhwc, false, input, weight, bias, stride, padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run(context, call);
  return out;
}

Tensor& quantized_depthwise_conv2d_out(KernelRuntimeContext& context, const Tensor& input,
                                       const Tensor& weight, const std::optional<Tensor>& bias,
                                       ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                       ArrayRef<int64_t> dilation, int64_t, int64_t input_offset,
                                       int64_t output_offset, const Tensor& requantize_multipliers,
                                       const Tensor& requantize_shifts, int64_t activation_min,
                                       int64_t activation_max, const Tensor&, Tensor& out) {
  ConvCall call;
  if (!prepare(call, Dims::kNchw, true, input, weight, bias, stride, padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run_depthwise(context, call);
  return out;
}

Tensor& quantized_depthwise_conv2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                            const Tensor& weight, const std::optional<Tensor>& bias,
                                            ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                            ArrayRef<int64_t> dilation, int64_t,
                                            int64_t input_offset, int64_t output_offset,
                                            const Tensor& requantize_multipliers,
                                            const Tensor& requantize_shifts, int64_t activation_min,
                                            int64_t activation_max, const Tensor&, Tensor& out) {
  ConvCall call;
  if (!prepare(call, Dims::kNhwc, true, input, weight, bias, stride, padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  run_depthwise(context, call);
  return out;
}

}  // namespace gen_kernels::corev::native
