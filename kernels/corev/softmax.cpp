// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernel for cortex_m: softmax. Powers are computed once and kept in temporary memory; the
// portable kernel, which runs when there is none, computes them twice.
#include "cortex_m/softmax.h"

#include "corev/scale.h"
#include "corev/scratch.h"

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
  if (!is_byte(input_zero_point) || !is_moderate(call.scale) ||
      !scratch.reserve(context, call.length * sizeof(uint32_t))) {
    cortex_m::softmax(call);
    return out;
  }
  GEN_KERNELS_PATH("kept powers");
  auto* powers = reinterpret_cast<uint32_t*>(scratch.take(call.length * sizeof(uint32_t)));
  const Scale times(call.scale);
  cortex_m::each_line(call, [&](const int8_t* from, int8_t* to) {
    const int32_t most = cortex_m::largest(from, call.length, call.step);
    const float top = float_from_bits(times(most - call.zero));
    uint64_t sum = 0;
    for (size_t i = 0; i < call.length; ++i, from += call.step) {
      // The largest have the power 1.
      powers[i] = *from == most
                      ? 0x80000000U
                      : cortex_m::exp_fixed(float_from_bits(times(*from - call.zero)) - top);
      sum += powers[i];
    }
    const cortex_m::Share share(sum);
    for (size_t i = 0; i < call.length; ++i, to += call.out_step) {
      *to = share(powers[i]);
    }
  });
  return out;
}

}  // namespace gen_kernels::corev::native
