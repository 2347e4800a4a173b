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

// What lies behind `count` bytes that are set to `value`.
__attribute__((noinline)) int8_t* fill_to(int8_t* to, int32_t value, int32_t count) {
  fill(to, value, count);
  return to + count;
}

// A window of an image: where its first tap is, maybe outside.
struct Window {
  const int8_t* from;
  int32_t row, column;
};

// A window's inputs as a row, in the order of the weights; padding is the zero point.
__attribute__((noinline)) void gather_any(const ConvCall& call, int8_t* to, const Window& window) {
  const Image& in = call.input;
  const int32_t taps = call.group_channels;
  const int32_t width = call.kernel.w * taps;
  const int32_t padding = -call.input_offset;
  const Taps columns =
      cortex_m::taps_inside(window.column, call.kernel.w, call.dilation.w, in.width);
  const int32_t before = columns.first * taps;
  const int32_t after = width - columns.last * taps;
  const int32_t inside = width - before - after;
  const int32_t gap = call.dilation.w * in.channels;
  const bool run = gap == taps;
  const int32_t pieces = run && inside > 0 ? 1 : columns.last - columns.first;
  const int32_t piece = run ? inside : taps;
  const int8_t* from = window.from + columns.first * gap;
  int32_t row = window.row;
  for (int32_t i = call.kernel.h; i > 0; --i) {
    if (row < 0 || row >= in.height) {
      to = fill_to(to, padding, width);
    } else {
      to = fill_to(to, padding, before);
      const int8_t* at = from;
      for (int32_t j = pieces; j > 0; --j, at += gap, to += piece) {
        copy(to, at, piece);
      }
      to = fill_to(to, padding, after);
    }
    row += call.dilation.h;
    from += call.dilation.h * in.width * in.channels;
  }
}

// The same where all taps are inside and each of `rows` rows is one run of `width` bytes.
void gather_inside(int8_t* to, const int8_t* from, int32_t rows, int32_t width, int32_t below) {
  if (width == 4) {
    int32_t left = rows;
#if GEN_KERNELS_COREV
    if (left >= 2) {
      uint32_t a;
      uint32_t b;
      asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 4)
                   ".insn r 0x2b, 3, 0x02, %[a], %[from], %[below]\n"
                   ".insn r 0x2b, 3, 0x02, %[b], %[from], %[below]\n"
                   ".insn s 0x2b, 2, %[a], 4(%[to])\n"
                   ".insn s 0x2b, 2, %[b], 4(%[to])\n" GEN_KERNELS_LOOP_END
                   : [a] "=&r"(a), [b] "=&r"(b), [from] "+&r"(from), [to] "+&r"(to)
                   : [n] "r"(left >> 1), [below] "r"(below)
                   : "memory");
      left &= 1;
    }
#endif
    for (; left > 0; --left) {
      store_word(to, load_word(from, below));
    }
    return;
  }
  for (; rows > 0; --rows, from += below, to += width) {
    copy(to, from, width);
  }
}

// Weights of `count` output channels from `first` on as rows of `inner` bytes, zeros behind `taps`.
// `by_channel`: they are a depthwise convolution's of one input channel, (tap, output channel).
void turn(int8_t* to, const ConvCall& call, int32_t first, int32_t count, int32_t taps,
          int32_t inner, bool by_channel) {
  const int32_t step = by_channel ? call.output_channels : 1;
  const int8_t* channel = call.weight + (by_channel ? first : first * taps);
  for (; count > 0; --count, channel += by_channel ? 1 : taps) {
    const int8_t* from = channel;
    int32_t left = taps;
    for (; left >= 4; left -= 4) {
      const uint32_t a = load_byte(from, step);
      const uint32_t b = load_byte(from, step);
      const uint32_t c = load_byte(from, step);
      const uint32_t d = load_byte(from, step);
      store_word(to, packhi_b(packlo_b(0, b, a), d, c));
    }
    for (; left > 0; --left) {
      *to++ = static_cast<int8_t>(load_byte(from, step));
    }
    for (int32_t k = taps; k < inner; ++k) {
      *to++ = 0;
    }
  }
}

// A padded copy of the image, for `call` to read instead.
void add_border(ConvCall& call, int8_t* to, int32_t bytes) {
  Image& in = call.input;
  const int8_t* from = call.in;
  const int32_t wide = in.width + 2 * call.padding.w;
  const int32_t pitch = in.width * in.channels;
  call.in = to;
  fill(to, -call.input_offset, bytes);
  to += (call.padding.h * wide + call.padding.w) * in.channels;
  for (int32_t n = 0; n < in.batch; ++n, to += 2 * call.padding.h * wide * in.channels) {
    for (int32_t y = 0; y < in.height; ++y, to += wide * in.channels, from += pitch) {
      copy(to, from, pitch);
    }
  }
  in.height += 2 * call.padding.h;
  in.width = wide;
  call.padding = {0, 0};
}

// All pixels, some at a time: their inputs, from `first_channel` on, are gathered into `rows`.
void multiply_gathered(const ConvCall& call, Product product, int8_t* rows, int32_t most,
                       int32_t first_channel) {
  const Image& in = call.input;
  const Image& to = call.output;
  const int32_t width = call.kernel.w * call.group_channels;
  const int32_t pitch = in.width * in.channels;
  const int32_t below = call.dilation.h * pitch;
  const int32_t right = call.stride.w * in.channels;
  const bool runs = call.kernel.w == 1 || call.dilation.w * in.channels == call.group_channels;
  // The last row and column where a window is inside.
  const int32_t last_row = in.height - 1 - (call.kernel.h - 1) * call.dilation.h;
  const int32_t last_column = in.width - 1 - (call.kernel.w - 1) * call.dilation.w;
  const int8_t* image =
      call.in + first_channel - call.padding.h * pitch - call.padding.w * in.channels;
  product.x = rows;
  product.rows = 0;
  int8_t* row_to = rows;
  for (int32_t n = 0; n < to.batch; ++n, image += in.height * pitch) {
    Window window{image, -call.padding.h, 0};
    for (int32_t y = 0; y < to.height; ++y, window.row += call.stride.h) {
      window.from = image + y * call.stride.h * pitch;
      window.column = -call.padding.w;
      const bool inside = runs && window.row >= 0 && window.row <= last_row;
      for (int32_t x = to.width; x > 0; --x) {
        if (inside && window.column >= 0 && window.column <= last_column) {
          gather_inside(row_to, window.from, call.kernel.h, width, below);
        } else {
          gather_any(call, row_to, window);
        }
        window.from += right;
        window.column += call.stride.w;
        row_to += product.inner;
        if (++product.rows == most) {
          multiply(product);
          product.out += most * to.channels;
          product.rows = 0;
          row_to = rows;
        }
      }
    }
  }
  if (product.rows > 0) {
    multiply(product);
  }
}

// A convolution as matrix products, a group after the other. Weights that have to be turned first
// are taken 32 output channels at a time, which spares memory; pixels are gathered anew for each
// 32. `by_channel`: see turn(). False: take the portable kernel.
bool dense(KernelRuntimeContext& context, const ConvCall& call, bool by_channel) {
  constexpr int32_t kTurned = 32;
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
  const int32_t most = turned ? min(outputs, kTurned) : outputs;
  const auto bias_bytes = static_cast<size_t>(most) * sizeof(int32_t);
  const auto table_bytes = static_cast<size_t>((most + 3) >> 2) * sizeof(Four);
  const size_t weight_bytes = turned ? static_cast<size_t>(most * inner) : 0;
  const int32_t pixels = inner <= 64 ? 8 : 4;  // at a time; few products make it worth while
  const size_t row_bytes = direct ? 0 : static_cast<size_t>(pixels * inner);
  // Few channels make short runs: a padded copy of the image spares them the edges.
  const bool bordered = in.channels <= 4 && (call.padding.h > 0 || call.padding.w > 0);
  const int32_t image_bytes = bordered ? in.batch * (in.height + 2 * call.padding.h) *
                                             (in.width + 2 * call.padding.w) * in.channels
                                       : 0;
  Scratch scratch;
  if (!scratch.reserve(context, bias_bytes + table_bytes + weight_bytes + row_bytes +
                                    ((static_cast<size_t>(image_bytes) + 3) & ~size_t{3}))) {
    return false;
  }
  auto* bias = reinterpret_cast<int32_t*>(scratch.take(bias_bytes));
  auto* table = reinterpret_cast<Four*>(scratch.take(table_bytes));
  int8_t* turn_to = scratch.take(weight_bytes);
  int8_t* rows = scratch.take(row_bytes);
  ConvCall source = call;
  if (bordered) {
    add_border(source, scratch.take(static_cast<size_t>(image_bytes)), image_bytes);
  }
  for (int32_t i = 0; !direct && i < pixels * inner; i += 4) {
    std::memset(rows + i, 0, 4);  // what lies behind the last tap meets weights of zero
  }
  GEN_KERNELS_PATH(direct ? "direct" : "gathered");
  const Finish finish = finish_of(call.requant);
  int32_t left = outputs;  // of the group
  int32_t first_channel = 0;
  for (int32_t o = 0, count = 0; o < call.output_channels; o += count, left -= count) {
    if (left == 0) {
      left = outputs;
      first_channel += call.group_channels;
    }
    // Not less than four are left for the next time.
    count = left <= most ? left : left - most < 4 ? most - 4 : most;
    const int8_t* weight = call.weight + o * taps;
    if (turned) {
      turn(turn_to, call, o, count, taps, inner, by_channel);
      weight = turn_to;
    }
    fold_offset(bias, call.bias != nullptr ? call.bias + o : nullptr, call.input_offset, weight,
                count, inner);
    channels_of(table, call.multiplier + o, call.shift + o, count, finish);
    const Product product{
        call.in, weight, bias,         table,       false,  in.batch * in.height * in.width,
        count,   inner,  call.out + o, to.channels, finish, false};
    if (direct) {
      multiply(product);
    } else {
      multiply_gathered(source, product, rows, pixels, first_channel);
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
