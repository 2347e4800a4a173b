// cortex_m: quantized_linear, quantized_batch_matmul.
#include "cortex_m/linear.h"

namespace cortex_m::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::cortex_m;

Tensor& quantized_linear_out(KernelRuntimeContext& context, const Tensor& input,
                             const Tensor& weights, const std::optional<Tensor>& bias,
                             const std::optional<Tensor>& kernel_sum, int64_t input_offset,
                             int64_t filter_offset, int64_t output_offset,
                             ArrayRef<int64_t> requantize_multipliers,
                             ArrayRef<int64_t> requantize_shifts, int64_t activation_max,
                             int64_t activation_min, Tensor& out) {
  MatmulCall call;
  if (!prepare_linear(call, input, weights, bias, kernel_sum, input_offset, filter_offset,
                      output_offset, requantize_multipliers, requantize_shifts, activation_max,
                      activation_min, out)) {
    return fail(context, out);
  }
  matmul(call);
  return out;
}

Tensor& quantized_batch_matmul_out(KernelRuntimeContext& context, const Tensor& lhs,
                                   int64_t lhs_zero_point, const Tensor& rhs_transposed,
                                   int64_t rhs_zero_point, int64_t output_zero_point,
                                   int64_t output_multiplier, int64_t output_shift, const Tensor&,
                                   Tensor& out) {
  MatmulCall call;
  if (!prepare_batch(call, lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point,
                     output_multiplier, output_shift, out)) {
    return fail(context, out);
  }
  batch_matmul(call, static_cast<int32_t>(size_at(out, 0)));
  return out;
}

}  // namespace cortex_m::native
