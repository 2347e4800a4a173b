// cortex_m: quantized_conv2d, quantized_depthwise_conv2d and their nhwc forms.
#include "cortex_m/conv.h"

namespace cortex_m::native {

using ::gen_kernels::cortex_m::conv;
using ::gen_kernels::cortex_m::ConvCall;
using ::gen_kernels::cortex_m::depthwise;
using ::gen_kernels::cortex_m::Dims;
using ::gen_kernels::cortex_m::fail;
using ::gen_kernels::cortex_m::prepare;

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
  conv(call);
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
  conv(call);
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
  depthwise(call);
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
  depthwise(call);
  return out;
}

}  // namespace cortex_m::native
