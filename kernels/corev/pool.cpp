// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantized_avg_pool2d, quantized_max_pool2d and their
// nhwc forms: four channels a word. Images with other layouts run on the portable kernel.
#include "cortex_m/pool.h"

#include "corev/corev.h"

namespace gen_kernels::corev {

using cortex_m::Average;
using cortex_m::Dims;
using cortex_m::Image;
using cortex_m::Mean;
using cortex_m::PoolCall;
using cortex_m::Taps;

namespace {

// Whether channels are neighbours in memory, at least four of them.
bool by_words(const PoolCall& call) {
  return call.input.channels >= 4 && call.input.channel_stride == 1 &&
         call.output.channel_stride == 1;
}

// Calls group(c) for groups of four channels; the last may overlap the one before.
template <class Group>
GEN_KERNELS_INLINE void each_group(int32_t channels, Group group) {
  const int32_t last = channels - 4;
  for (int32_t c = 0;; c = c < last - 4 ? c + 4 : last) {
    group(c);  // once in the text, so that it is inlined
    if (c == last) {
      return;
    }
  }
}

struct CorevBits {
  static int32_t top(uint32_t word) { return last_bit(word); }
};

// Dividends of four channels.
struct Sums {
  int32_t c0, c1, c2, c3;
};

// Adds twice the bytes of words in a large window: `runs` rows of `length`, in a hardware loop.
__attribute__((noinline)) Sums add_rows(int32_t start, const int8_t* row, int32_t runs,
                                        int32_t row_step, int32_t length, int32_t step) {
  Sums s{start, start, start, start};
  for (; runs > 0; --runs, row += row_step) {
    const int8_t* at = row;
    int32_t count = length;
#if GEN_KERNELS_COREV
    uint32_t a;
    uint32_t b;
    const int32_t pairs = count >> 1;
#define DOT(d, word, ones) ".insn r 0x7b, 1, 0x54, %[" #d "], %[" #word "], %[" #ones "]\n"
    asm volatile(
        GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 10)
        ".insn r 0x2b, 3, 0x02, %[a], %[at], %[step]\n"
        ".insn r 0x2b, 3, 0x02, %[b], %[at], %[step]\n" DOT(s0, a, one0) DOT(s1, a, one1)
            DOT(s2, a, one2) DOT(s3, a, one3) DOT(s0, b, one0) DOT(s1, b, one1) DOT(s2, b, one2)
                DOT(s3, b, one3) GEN_KERNELS_LOOP_END
        : [s0] "+&r"(s.c0), [s1] "+&r"(s.c1), [s2] "+&r"(s.c2), [s3] "+&r"(s.c3), [a] "=&r"(a),
          [b] "=&r"(b), [at] "+&r"(at)
        : [n] "r"(pairs), [step] "r"(step), [one0] "r"(0x00000002U), [one1] "r"(0x00000200U),
          [one2] "r"(0x00020000U), [one3] "r"(0x02000000U)
        : "memory");
#undef DOT
    count &= 1;
#endif
    for (; count > 0; --count) {
      const uint32_t word = load_word(at, step);
      s.c0 = sdotsp_b(s.c0, word, 0x00000002U);
      s.c1 = sdotsp_b(s.c1, word, 0x00000200U);
      s.c2 = sdotsp_b(s.c2, word, 0x00020000U);
      s.c3 = sdotsp_b(s.c3, word, 0x02000000U);
    }
  }
  return s;
}

void average_words(const PoolCall& call, const Average& average) {
  const Image& in = call.input;
  GEN_KERNELS_PATH("words");
  Mean mean;
  cortex_m::each_window(call, [&](Taps rows, Taps columns, const int8_t* origin, int8_t* out) {
    const int32_t count = (rows.last - rows.first) * (columns.last - columns.first);
    mean.set(count);
    // Rows that follow each other make one run: a window as wide as the image.
    const int32_t step = in.column_stride;
    const int32_t width = columns.last - columns.first;
    const bool whole = width * step == in.row_stride;
    const int32_t runs = whole ? 1 : rows.last - rows.first;
    const int32_t length = whole ? count : width;
    const int32_t first = rows.first * in.row_stride + columns.first * step;
    const auto finish = [&](int32_t dividend, const int8_t* at) {
      uint32_t remainder;
      const int32_t value = mean.divide(dividend, remainder);
      if (mean.decides(remainder)) {
        return value;
      }
      return remainder == 0 ? average.half_way<CorevBits>(2 * (value - average.zero) - 1, at, in,
                                                          rows, columns)
                            : average.by_floats(at, in, rows, columns);
    };
    each_group(in.channels, [&](int32_t c) {
      const int8_t* corner = origin + c;
      int32_t s0 = mean.start();
      int32_t s1 = s0;
      int32_t s2 = s0;
      int32_t s3 = s0;
      const int8_t* row = corner + first;
      if (length >= 8) {
        const Sums s = add_rows(s0, row, runs, in.row_stride, length, step);
        s0 = s.c0;
        s1 = s.c1;
        s2 = s.c2;
        s3 = s.c3;
      } else {
        for (int32_t i = runs; i > 0; --i, row += in.row_stride) {
          const int8_t* at = row;
          for (int32_t j = length; j > 0; --j) {
            const uint32_t word = load_word(at, step);
            s0 = sdotsp_b(s0, word, 0x00000002U);
            s1 = sdotsp_b(s1, word, 0x00000200U);
            s2 = sdotsp_b(s2, word, 0x00020000U);
            s3 = sdotsp_b(s3, word, 0x02000000U);
          }
        }
      }
      out[c] = static_cast<int8_t>(finish(s0, corner));
      out[c + 1] = static_cast<int8_t>(finish(s1, corner + 1));
      out[c + 2] = static_cast<int8_t>(finish(s2, corner + 2));
      out[c + 3] = static_cast<int8_t>(finish(s3, corner + 3));
    });
  });
}

void run_average(const PoolCall& call, const Average& average) {
  const int64_t taps = int64_t{call.kernel.h} * call.kernel.w;
  by_words(call) && average.plain&& taps <= Average::kMostTaps
      ? average_words(call, average)
      : cortex_m::average_pool<CorevBits>(call, average);
}

void max_words(const PoolCall& call, int32_t low, int32_t high) {
  const Image& in = call.input;
  GEN_KERNELS_PATH("words");
  const uint32_t lows = static_cast<uint32_t>(low & 0xff) * 0x01010101U;
  const uint32_t highs = static_cast<uint32_t>(high & 0xff) * 0x01010101U;
  cortex_m::each_window(call, [&](Taps rows, Taps columns, const int8_t* origin, int8_t* out) {
    each_group(in.channels, [&](int32_t c) {
      uint32_t most = 0x80808080U;
      for (int32_t i = rows.first; i < rows.last; ++i) {
        const int8_t* at = origin + c + i * in.row_stride + columns.first * in.column_stride;
        for (int32_t j = columns.last - columns.first; j > 0; --j) {
          most = max_b(most, load_word(at, in.column_stride));
        }
      }
      int8_t* to = out + c;
      store_word(to, min_b(max_b(most, lows), highs));
    });
  });
}

void run_max(const PoolCall& call, int32_t low, int32_t high) {
  // Bounds beyond int8 do not fit the bytes of a word.
  by_words(call) && low >= INT8_MIN&& low <= INT8_MAX&& high >= INT8_MIN&& high <= INT8_MAX
      ? max_words(call, low, high)
      : cortex_m::max_pool(call, low, high);
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;

Tensor& quantized_avg_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> padding, bool ceil_mode, int64_t zero_point,
                                 int64_t multiplier, int64_t shift, const Tensor&, Tensor& out) {
  PoolCall call;
  Average average;
  if (!cortex_m::prepare_average(call, average, Dims::kNchw, input, kernel_size, stride, padding,
                                 ceil_mode, zero_point, multiplier, shift, out)) {
    return fail(context, out);
  }
  run_average(call, average);
  return out;
}

Tensor& quantized_avg_pool2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, bool ceil_mode, int64_t zero_point,
                                      int64_t multiplier, int64_t shift, const Tensor&,
                                      Tensor& out) {
  PoolCall call;
  Average average;
  if (!cortex_m::prepare_average(call, average, Dims::kNhwc, input, kernel_size, stride, padding,
                                 ceil_mode, zero_point, multiplier, shift, out)) {
    return fail(context, out);
  }
  run_average(call, average);
  return out;
}

Tensor& quantized_max_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                 bool ceil_mode, int64_t input_zero_point,
                                 int64_t output_zero_point, int64_t activation_min,
                                 int64_t activation_max, Tensor& out) {
  PoolCall call;
  if (!cortex_m::prepare_max(call, Dims::kNchw, input, kernel_size, stride, padding, dilation,
                             ceil_mode, input_zero_point, output_zero_point, activation_min,
                             activation_max, out)) {
    return fail(context, out);
  }
  run_max(call, static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max));
  return out;
}

Tensor& quantized_max_pool2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                      bool ceil_mode, int64_t input_zero_point,
                                      int64_t output_zero_point, int64_t activation_min,
                                      int64_t activation_max, Tensor& out) {
  PoolCall call;
  if (!cortex_m::prepare_max(call, Dims::kNhwc, input, kernel_size, stride, padding, dilation,
                             ceil_mode, input_zero_point, output_zero_point, activation_min,
                             activation_max, out)) {
    return fail(context, out);
  }
  run_max(call, static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max));
  return out;
}

}  // namespace gen_kernels::corev::native
