// cortex_m: softmax over int8, in fixed point.
//
// The reference works in single precision: x = (q - zero) * scale, then
// round(256 * exp(x - max) / sum) - 128. Here x - max is that float; exp, the sum
// and the quotient are fixed point, closer to the true value than the
// reference's own error.
#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {
namespace {

// 2^-fraction for a fraction of 32 binary digits, as a number of 31 digits in (2^30, 2^31].
uint32_t exp2_negative(uint32_t fraction) {
  // Taylor terms of 2^-f = exp(-f ln 2), by Horner: 1 - y (1 - y/2 (1 - y/3 (...))), y = f ln 2.
  const auto high = [](uint32_t a, uint32_t b) {
    return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
  };
  const uint32_t y = high(fraction, 0xb17217f8U);  // ln 2 in 32 digits
  constexpr uint32_t kOne = 0x80000000U;
  static constexpr uint32_t kInverse[] = {0x13b13b14U, 0x15555555U, 0x1745d174U, 0x1999999aU,
                                          0x1c71c71cU, 0x20000000U, 0x24924925U, 0x2aaaaaabU,
                                          0x33333333U, 0x40000000U, 0x55555555U, 0x80000000U};
  uint32_t value = kOne;  // 1/13 ... 1/2 in 32 digits
  for (const uint32_t inverse : kInverse) {
    value = kOne - high(high(y, inverse), value);
  }
  return kOne - high(y, value);
}

// exp(x) in 31 digits, for a float x <= 0.
uint32_t exp_fixed(float x) {
  const uint32_t bits = float_bits(x);
  const int exponent =
      static_cast<int>((bits >> 23) & 0xff) - 127 - 23;  // |x| = mantissa * 2^exponent
  const uint32_t mantissa = (bits & 0x7fffffU) | 0x800000U;
  if (exponent < -60 || exponent > -18) {
    return exponent < -60 ? 0x80000000U : 0U;  // exp(-64) is below the last digit
  }
  // |x| log2(e) with 32 binary digits: 24 * 32 digits, then a shift.
  const uint64_t product = mantissa * uint64_t{0xb8aa3b29U};  // log2(e) in 31 digits
  const int shift = exponent + 1;
  const uint64_t power = shift >= 0 ? product << shift : product >> -shift;
  const auto whole = static_cast<uint32_t>(power >> 32);
  return whole > 31 ? 0 : exp2_negative(static_cast<uint32_t>(power)) >> whole;
}

}  // namespace
}  // namespace gen_kernels::cortex_m

namespace cortex_m::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::cortex_m;

Tensor& softmax_out(KernelRuntimeContext& context, const Tensor& input, int64_t dim,
                    int64_t input_zero_point, int64_t output_zero_point, int64_t input_multiplier,
                    int64_t input_shift, int64_t, Tensor& out) {
  if (!is_int8(input) || !is_int8(out) || !wrap_dim(dim, rank(input)) ||
      output_zero_point != INT8_MIN || input_multiplier <= 0 || input_shift < -900 ||
      input_shift > 900 || input_zero_point > (1 << 20) || input_zero_point < -(1 << 20) ||
      !resize_out_like(out, input)) {
    return fail(context, out);
  }
  // The scale is multiplier * 2^(shift - 31 - 26): exact as a double, rounded to float by the
  // product.
  const auto magnitude = static_cast<uint64_t>(input_multiplier);
  const int lead = __builtin_clzll(magnitude);
  const float scale = internal::pack_float(
      false, 63 - lead + static_cast<int>(input_shift) - 31 - 26, magnitude << lead, false);
  const auto zero = static_cast<int32_t>(input_zero_point);
  const auto axis = static_cast<size_t>(dim);
  const size_t n = rank(input);
  const size_t length = n == 0 ? 1 : size_at(input, axis);
  const ptrdiff_t step = n == 0 ? 1 : stride_at(input, axis);
  const ptrdiff_t out_step = n == 0 ? 1 : stride_at(out, axis);
  // Lines along `dim`: the walk goes over all other dimensions.
  Walk w;
  w.operands = 2;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(input));
  w.empty = length == 0;
  for (size_t i = n; i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {stride_at(out, d), stride_at(input, d)};
    if (d != axis) {
      add_axis(w, size_at(out, d), stride);
    }
  }
  if (w.empty) {
    return out;
  }
  const auto softmax = [&](const int8_t* from, int8_t* to) {
    int32_t most = INT8_MIN;
    for (size_t i = 0; i < length; ++i) {
      const int32_t value = from[static_cast<ptrdiff_t>(i) * step];
      most = value > most ? value : most;
    }
    const float top = scale_integer(most - zero, scale);
    const auto power = [&](size_t i) {
      return exp_fixed(scale_integer(from[static_cast<ptrdiff_t>(i) * step] - zero, scale) - top);
    };
    uint64_t sum = 0;
    for (size_t i = 0; i < length; ++i) {
      sum += power(i);
    }
    for (size_t i = 0; i < length; ++i) {
      const uint64_t scaled = uint64_t{power(i)} << 8;
      uint64_t quotient = scaled / sum;
      const uint64_t rest = 2 * (scaled - quotient * sum);
      quotient += rest > sum || (rest == sum && (quotient & 1) != 0) ? 1 : 0;
      to[static_cast<ptrdiff_t>(i) * out_step] =
          static_cast<int8_t>(clamp(static_cast<int32_t>(quotient) + INT8_MIN, INT8_MIN, INT8_MAX));
    }
  };
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      const auto at = static_cast<ptrdiff_t>(i);
      softmax(reinterpret_cast<const int8_t*>(w.at[1] + at * w.step(1)),
              reinterpret_cast<int8_t*>(w.at[0] + at * w.step(0)));
    }
  } while (next_row(w));
  return out;
}

}  // namespace cortex_m::native
