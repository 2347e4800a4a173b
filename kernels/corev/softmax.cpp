// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernel for cortex_m: softmax. Powers are computed once and kept in temporary memory; the
// portable kernel, which runs when there is none, computes them twice.
#include "cortex_m/softmax.h"

#include "corev/scale.h"
#include "corev/scratch.h"

namespace gen_kernels::corev {
namespace {

// Differences of values by the float steps of the reference, in units of the scale's last digit,
// and their powers. For scales from 2^-41 to 2^23.
struct Powers {
  uint32_t mantissa;
  uint32_t places;  // of the difference times log2(e), more than 32

  explicit Powers(float scale)
      : mantissa((float_bits(scale) & 0x7fffffU) | 0x800000U),
        places(149 - (float_bits(scale) >> 23)) {}

  static bool takes(float scale) {
    const uint32_t field = float_bits(scale) >> 23;
    return field >= 86 && field <= 149;
  }
  // Rounded to the 24 digits of a float, half to even.
  static GEN_KERNELS_INLINE uint32_t rounded(uint32_t value) {
    const int32_t extra = last_bit(value | 1) - 23;
    if (extra <= 0) {
      return value;
    }
    const uint32_t unit = uint32_t{1} << extra;
    return (value + (unit >> 1) - 1 + ((value >> extra) & 1)) & (0 - unit);
  }
  GEN_KERNELS_INLINE uint32_t scaled(int32_t value) const {
    const uint32_t size = rounded(static_cast<uint32_t>(value < 0 ? -value : value) * mantissa);
    return value < 0 ? 0 - size : size;
  }
  // exp((value - most) * scale), where `top` is the scaled `most`.
  GEN_KERNELS_INLINE uint32_t operator()(int32_t value, uint32_t top) const {
    const uint64_t product = uint64_t{rounded(top - scaled(value))} * cortex_m::kLog2E;
    return cortex_m::exp2_fixed(product >> places);
  }
};

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;
using cortex_m::SoftmaxCall;

Tensor& softmax_out(KernelRuntimeContext& context, const Tensor& input, int64_t dim,
                    int64_t input_zero_point, int64_t output_zero_point, int64_t input_multiplier,
                    int64_t input_shift, int64_t, Tensor& out) {
  SoftmaxCall call;
  if (!cortex_m::prepare_softmax(call, input, dim, input_zero_point, output_zero_point,
                                 input_multiplier, input_shift, out)) {
    return fail(context, out);
  }
  Scratch scratch;
  if (!is_byte(input_zero_point) || !Powers::takes(call.scale) ||
      !scratch.reserve(context, call.length * sizeof(uint32_t))) {
    cortex_m::softmax(call);
    return out;
  }
  GEN_KERNELS_PATH("kept powers");
  auto* powers = reinterpret_cast<uint32_t*>(scratch.take(call.length * sizeof(uint32_t)));
  const Powers power(call.scale);
  const int32_t zero = call.zero;
  const ptrdiff_t step = call.step;
  const size_t length = call.length;
  cortex_m::each_line(call, [&](const int8_t* from, int8_t* to) {
    const int32_t most = cortex_m::largest(from, length, step);
    const uint32_t top = power.scaled(most - zero);
    uint64_t sum = 0;
    for (size_t i = 0; i < length; ++i, from += step) {
      // The largest have the power 1.
      powers[i] = *from == most ? 0x80000000U : power(*from - zero, top);
      sum += powers[i];
    }
    const cortex_m::Share share(sum);
    for (size_t i = 0; i < length; ++i, to += call.out_step) {
      *to = share(powers[i]);
    }
  });
  return out;
}

}  // namespace gen_kernels::corev::native
