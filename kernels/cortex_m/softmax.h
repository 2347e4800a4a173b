// The int8 softmax in fixed point: checks, arithmetic, and the portable kernel.
//
// The reference works in single precision: x = (q - zero) * scale, then
// round(256 * exp(x - max) / sum) - 128. Here x - max is that float; exp, the sum
// and the quotient are fixed point, closer to the true value than the
// reference's own error.
#pragma once

#include "cortex_m/common.h"
#include "util/fmath.h"

namespace gen_kernels::cortex_m {

// A checked call: lines along one dimension.
struct SoftmaxCall {
  Walk lines;  // over the other dimensions; operand 0 is the output, 1 the input
  size_t length;
  ptrdiff_t step, out_step;  // along a line
  float scale;
  int32_t zero;
};

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare_softmax(SoftmaxCall& call, const Tensor& input,
                                                 int64_t dim, int64_t input_zero_point,
                                                 int64_t output_zero_point,
                                                 int64_t input_multiplier, int64_t input_shift,
                                                 Tensor& out) {
  if (!is_int8(input) || !is_int8(out) || !wrap_dim(dim, rank(input)) ||
      output_zero_point != INT8_MIN || input_multiplier <= 0 || input_shift < -900 ||
      input_shift > 900 || input_zero_point > (1 << 20) || input_zero_point < -(1 << 20) ||
      !resize_out_like(out, input)) {
    return false;
  }
  // The scale is multiplier * 2^(shift - 31 - 26): exact as a double, rounded to float by the
  // product.
  const auto magnitude = static_cast<uint64_t>(input_multiplier);
  const int lead = __builtin_clzll(magnitude);
  call.scale = internal::pack_float(false, 63 - lead + static_cast<int>(input_shift) - 31 - 26,
                                    magnitude << lead, false);
  if (float_bits(call.scale) >= 0x72000000U) {
    return false;  // 2^101: values would overflow
  }
  call.zero = static_cast<int32_t>(input_zero_point);
  const auto axis = static_cast<size_t>(dim);
  const size_t n = rank(input);
  call.length = n == 0 ? 1 : size_at(input, axis);
  call.step = n == 0 ? 1 : stride_at(input, axis);
  call.out_step = n == 0 ? 1 : stride_at(out, axis);
  Walk& w = call.lines;
  w.operands = 2;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(input));
  w.empty = call.length == 0;
  for (size_t i = n; i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {stride_at(out, d), stride_at(input, d)};
    if (d != axis) {
      add_axis(w, size_at(out, d), stride);
    }
  }
  return true;
}

// Calls line(input, output) for each line.
template <class Line>
void each_line(SoftmaxCall& call, Line&& line) {
  Walk& w = call.lines;
  if (w.empty) {
    return;
  }
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      const auto at = static_cast<ptrdiff_t>(i);
      line(reinterpret_cast<const int8_t*>(w.at[1] + at * w.step(1)),
           reinterpret_cast<int8_t*>(w.at[0] + at * w.step(0)));
    }
  } while (next_row(w));
}

inline int32_t largest(const int8_t* from, size_t length, ptrdiff_t step) {
  int32_t most = INT8_MIN;
  for (; length > 0; --length, from += step) {
    most = *from > most ? *from : most;
  }
  return most;
}

// 2^-power in 31 digits, for a power with 32 binary places.
inline uint32_t exp2_fixed(uint64_t power) {
  const auto whole = static_cast<uint32_t>(power >> 32);
  const auto fraction = static_cast<uint32_t>(power);
  if (whole > 31) {
    return 0;
  }
  // 2^-fraction = 2^(1 - fraction) / 2
  const uint32_t value =
      fraction == 0 ? 0x80000000U : 0x40000000U + (soft::exp2_part(0 - fraction) >> 2);
  return value >> whole;
}

inline constexpr uint32_t kLog2E = 0xb8aa3b29U;  // log2(e) in 31 digits

// exp(x) in 31 digits, for a float x <= 0.
inline uint32_t exp_fixed(float x) {
  const uint32_t bits = float_bits(x);
  const int exponent =
      static_cast<int>((bits >> 23) & 0xff) - 127 - 23;  // |x| = mantissa * 2^exponent
  const uint32_t mantissa = (bits & 0x7fffffU) | 0x800000U;
  if (exponent < -60 || exponent > -18) {
    return exponent < -60 ? 0x80000000U : 0U;  // exp(-32) is below the last digit
  }
  // |x| log2(e): 24 * 32 digits, then a shift.
  return exp2_fixed((mantissa * uint64_t{kLog2E}) >> (-1 - exponent));
}

// What each power of a line becomes: its share of their sum, which is 2^31 or more.
class Share {
 public:
  explicit Share(uint64_t sum)
      : sum_(sum),
        places_(32 - __builtin_clzll(sum)),
        divisor_(static_cast<uint32_t>(sum >> (places_ + 8))) {}

  int8_t operator()(uint32_t power) const {
    // 24 digits of the sum give the quotient within one.
    uint32_t quotient = (power >> places_) / divisor_;
    auto rest = static_cast<int64_t>((uint64_t{power} << 8) - quotient * sum_);
    const auto sum = static_cast<int64_t>(sum_);
    if (rest < 0) {
      --quotient;
      rest += sum;
    } else if (rest >= sum) {
      ++quotient;
      rest -= sum;
    }
    rest *= 2;
    quotient += rest > sum || (rest == sum && (quotient & 1) != 0) ? 1 : 0;
    return static_cast<int8_t>(
        clamp(static_cast<int32_t>(quotient) + INT8_MIN, INT8_MIN, INT8_MAX));
  }

 private:
  uint64_t sum_;
  int places_;
  uint32_t divisor_;
};

GEN_KERNELS_NOINLINE inline void softmax(SoftmaxCall& call) {
  each_line(call, [&](const int8_t* from, int8_t* to) {
    const float top = scale_integer(largest(from, call.length, call.step) - call.zero, call.scale);
    const auto power = [&](size_t i) {
      const int32_t value = from[static_cast<ptrdiff_t>(i) * call.step];
      return exp_fixed(scale_integer(value - call.zero, call.scale) - top);
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < call.length; ++i) {
      sum += power(i);
    }
    const Share share(sum);
    for (size_t i = 0; i < call.length; ++i) {
      to[static_cast<ptrdiff_t>(i) * call.out_step] = share(power(i));
    }
  });
}

}  // namespace gen_kernels::cortex_m
