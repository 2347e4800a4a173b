// cortex_m: quantize_per_tensor, dequantize_per_tensor (float <-> int8).
#include "cortex_m/quantize.h"

namespace cortex_m::native {

using namespace ::gen_kernels;
using ::gen_kernels::cortex_m::fail;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  const bool ok =
      gen_kernels::cortex_m::prepare_quantize(input, quant_min, quant_max, dtype, out) &&
      gen_kernels::cortex_m::quantize(
          Quantizer(reciprocal(scale), zero_point, quant_min, quant_max), input, out);
  return ok ? out : fail(context, out);
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t, int64_t, ScalarType dtype,
                                  Tensor& out) {
  const bool ok = gen_kernels::cortex_m::prepare_dequantize(input, zero_point, dtype, out) &&
                  gen_kernels::cortex_m::dequantize(to_float(scale),
                                                    static_cast<int32_t>(zero_point), input, out);
  return ok ? out : fail(context, out);
}

}  // namespace cortex_m::native
