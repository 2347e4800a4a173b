// cortex_m: quantized_linear, quantized_batch_matmul.
#include "cortex_m/linear.h"

namespace gen_kernels::cortex_m {

void matmul(const MatmulCall& call) {
  const int8_t* row = call.left;
  int8_t* out = call.out;
  for (int32_t m = 0; m < call.rows; ++m, row += call.inner) {
    const int8_t* column = call.right;
    for (int32_t n = 0; n < call.columns; ++n, column += call.inner) {
      int32_t sum = call.bias != nullptr ? call.bias[n] : 0;
      for (int32_t k = 0; k < call.inner; ++k) {
        sum = wrap_add(sum, wrap_mul(wrap_add(row[k], call.left_offset),
                                     wrap_add(column[k], call.right_offset)));
      }
      *out++ = call.requant(sum, call.multiplier, call.shift);
    }
  }
}

bool prepare_linear(MatmulCall& call, const Tensor& input, const Tensor& weights,
                    const std::optional<Tensor>& bias, const std::optional<Tensor>& kernel_sum,
                    int64_t input_offset, int64_t filter_offset, int64_t output_offset,
                    ArrayRef<int64_t> multipliers, ArrayRef<int64_t> shifts, int64_t activation_max,
                    int64_t activation_min, Tensor& out) {
  if (!is_int8(input) || !is_int8(weights) || !is_int8(out) || input.dim() < 1 ||
      weights.dim() != 2 || !is_contiguous(input) || !is_contiguous(weights) ||
      multipliers.empty() || shifts.empty() ||
      !fits(input_offset, filter_offset, output_offset, activation_max, activation_min) ||
      !fits(multipliers.data()[0], shifts.data()[0])) {
    return false;
  }
  const size_t inner = size_at(input, rank(input) - 1);
  const size_t columns = size_at(weights, 0);
  const std::optional<Tensor>& sums = kernel_sum.has_value() ? kernel_sum : bias;
  Shape shape = shape_of(input);
  shape.sizes[shape.rank - 1] = static_cast<SizesType>(columns);
  if (size_at(weights, 1) != inner ||
      (sums.has_value() && (!is_int32(*sums) || numel(*sums) < columns)) ||
      !resize_out(out, shape) || !is_contiguous(out)) {
    return false;
  }
  call.left = const_data<int8_t>(input);
  call.right = const_data<int8_t>(weights);
  call.bias = sums.has_value() ? const_data<int32_t>(*sums) : nullptr;
  call.inner = static_cast<int32_t>(inner);
  call.columns = static_cast<int32_t>(columns);
  call.rows = columns == 0 ? 0 : static_cast<int32_t>(numel(out) / columns);
  // A kernel sum holds bias + input_offset * sum(weights + filter_offset) already: only the
  // filter offset is left to add to the weights.
  call.left_offset = kernel_sum.has_value() ? 0 : static_cast<int32_t>(input_offset);
  call.right_offset = static_cast<int32_t>(filter_offset);
  call.multiplier = static_cast<int32_t>(multipliers.data()[0]);
  call.shift = static_cast<int32_t>(shifts.data()[0]);
  call.requant = {static_cast<int32_t>(output_offset), static_cast<int32_t>(activation_min),
                  static_cast<int32_t>(activation_max)};
  call.out = mutable_data<int8_t>(out);
  return true;
}

bool prepare_batch(MatmulCall& call, const Tensor& lhs, int64_t lhs_offset,
                   const Tensor& rhs_transposed, int64_t rhs_offset, int64_t output_offset,
                   int64_t multiplier, int64_t shift, Tensor& out) {
  if (!is_int8(lhs) || !is_int8(rhs_transposed) || !is_int8(out) || lhs.dim() != 3 ||
      rhs_transposed.dim() != 3 || out.dim() != 3 || !is_contiguous(lhs) ||
      !is_contiguous(rhs_transposed) || size_at(lhs, 0) != size_at(rhs_transposed, 0) ||
      size_at(lhs, 2) != size_at(rhs_transposed, 2) ||
      !fits(lhs_offset, rhs_offset, output_offset, multiplier, shift)) {
    return false;
  }
  Shape shape = shape_of(lhs);
  shape.sizes[2] = static_cast<SizesType>(size_at(rhs_transposed, 1));
  if (!resize_out(out, shape) || !is_contiguous(out)) {
    return false;
  }
  call.left = const_data<int8_t>(lhs);
  call.right = const_data<int8_t>(rhs_transposed);
  call.bias = nullptr;
  call.rows = shape.sizes[1];
  call.columns = shape.sizes[2];
  call.inner = static_cast<int32_t>(size_at(lhs, 2));
  call.left_offset = static_cast<int32_t>(lhs_offset);
  call.right_offset = static_cast<int32_t>(rhs_offset);
  call.multiplier = static_cast<int32_t>(multiplier);
  call.shift = static_cast<int32_t>(shift);
  call.requant = {static_cast<int32_t>(output_offset), INT8_MIN, INT8_MAX};
  call.out = mutable_data<int8_t>(out);
  return true;
}

}  // namespace gen_kernels::cortex_m

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
  for (size_t batch = size_at(out, 0); batch-- > 0;) {
    matmul(call);
    call.left += call.rows * call.inner;
    call.right += call.columns * call.inner;
    call.out += call.rows * call.columns;
  }
  return out;
}

}  // namespace cortex_m::native
