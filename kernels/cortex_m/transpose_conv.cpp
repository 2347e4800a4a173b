// cortex_m: quantized_transpose_conv2d and its nhwc form.
#include "cortex_m/transpose_conv.h"

namespace cortex_m::native {

using ::gen_kernels::cortex_m::Dims;
using ::gen_kernels::cortex_m::fail;
using ::gen_kernels::cortex_m::prepare;
using ::gen_kernels::cortex_m::transpose_conv;
using ::gen_kernels::cortex_m::TransposeConv;

Tensor& quantized_transpose_conv2d_out(
    KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
    const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
    ArrayRef<int64_t> output_padding, ArrayRef<int64_t> dilation, int64_t input_offset,
    int64_t output_offset, const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
    int64_t activation_min, int64_t activation_max, const Tensor&, const Tensor&, Tensor& out) {
  TransposeConv call;
  if (!prepare(call, Dims::kNchw, input, weight, bias, stride, padding, output_padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  transpose_conv(call);
  return out;
}

Tensor& quantized_transpose_conv2d_nhwc_out(
    KernelRuntimeContext& context, const Tensor& input, const Tensor& weight,
    const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
    ArrayRef<int64_t> output_padding, ArrayRef<int64_t> dilation, int64_t input_offset,
    int64_t output_offset, const Tensor& requantize_multipliers, const Tensor& requantize_shifts,
    int64_t activation_min, int64_t activation_max, const Tensor&, const Tensor&, Tensor& out) {
  TransposeConv call;
  if (!prepare(call, Dims::kNhwc, input, weight, bias, stride, padding, output_padding, dilation,
               input_offset, output_offset, requantize_multipliers, requantize_shifts,
               activation_min, activation_max, out)) {
    return fail(context, out);
  }
  transpose_conv(call);
  return out;
}

}  // namespace cortex_m::native
