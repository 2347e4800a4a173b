// cortex_m: softmax over int8, in fixed point.
#include "cortex_m/softmax.h"

namespace cortex_m::native {

using namespace ::gen_kernels::cortex_m;

Tensor& softmax_out(KernelRuntimeContext& context, const Tensor& input, int64_t dim,
                    int64_t input_zero_point, int64_t output_zero_point, int64_t input_multiplier,
                    int64_t input_shift, int64_t, Tensor& out) {
  SoftmaxCall call;
  if (!prepare_softmax(call, input, dim, input_zero_point, output_zero_point, input_multiplier,
                       input_shift, out)) {
    return fail(context, out);
  }
  softmax(call);
  return out;
}

}  // namespace cortex_m::native
