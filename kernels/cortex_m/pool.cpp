// cortex_m: quantized_avg_pool2d, quantized_max_pool2d and their nhwc forms.
#include "cortex_m/pool.h"

namespace cortex_m::native {

using namespace ::gen_kernels::cortex_m;

Tensor& quantized_avg_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> padding, bool ceil_mode, int64_t zero_point,
                                 int64_t multiplier, int64_t shift, const Tensor&, Tensor& out) {
  PoolCall call;
  Average average;
  if (!prepare_average(call, average, Dims::kNchw, input, kernel_size, stride, padding, ceil_mode,
                       zero_point, multiplier, shift, out)) {
    return fail(context, out);
  }
  average_pool(call, average);
  return out;
}

Tensor& quantized_avg_pool2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, bool ceil_mode, int64_t zero_point,
                                      int64_t multiplier, int64_t shift, const Tensor&,
                                      Tensor& out) {
  PoolCall call;
  Average average;
  if (!prepare_average(call, average, Dims::kNhwc, input, kernel_size, stride, padding, ceil_mode,
                       zero_point, multiplier, shift, out)) {
    return fail(context, out);
  }
  average_pool(call, average);
  return out;
}

Tensor& quantized_max_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                                 ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                 bool ceil_mode, int64_t input_zero_point,
                                 int64_t output_zero_point, int64_t activation_min,
                                 int64_t activation_max, Tensor& out) {
  PoolCall call;
  if (!prepare_max(call, Dims::kNchw, input, kernel_size, stride, padding, dilation, ceil_mode,
                   input_zero_point, output_zero_point, activation_min, activation_max, out)) {
    return fail(context, out);
  }
  max_pool(call, static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max));
  return out;
}

Tensor& quantized_max_pool2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                      bool ceil_mode, int64_t input_zero_point,
                                      int64_t output_zero_point, int64_t activation_min,
                                      int64_t activation_max, Tensor& out) {
  PoolCall call;
  if (!prepare_max(call, Dims::kNhwc, input, kernel_size, stride, padding, dilation, ceil_mode,
                   input_zero_point, output_zero_point, activation_min, activation_max, out)) {
    return fail(context, out);
  }
  max_pool(call, static_cast<int32_t>(activation_min), static_cast<int32_t>(activation_max));
  return out;
}

}  // namespace cortex_m::native
