// A checked int8 matrix product, and the portable kernel that runs it.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

// out[m][n] = requantised bias[n] + sum_k (left[m][k] + left_offset) * (right[n][k] + right_offset)
struct MatmulCall {
  const int8_t* left;
  const int8_t* right;
  const int32_t* bias;  // null: zeros
  int32_t rows, columns, inner;
  int32_t left_offset, right_offset;
  int32_t multiplier, shift;
  Requant requant;
  int8_t* out;
};

GEN_KERNELS_NOINLINE inline void matmul(const MatmulCall& call) {
  const int8_t* row = call.left;
  int8_t* out = call.out;
  const int32_t inner = call.inner;
  const int32_t row_offset = call.left_offset;
  const int32_t column_offset = call.right_offset;
  for (int32_t m = 0; m < call.rows; ++m, row += inner) {
    const int8_t* column = call.right;
    for (int32_t n = 0; n < call.columns; ++n) {
      int32_t sum = call.bias != nullptr ? call.bias[n] : 0;
      const int8_t* a = row;
      for (int32_t k = inner; k > 0; --k) {
        sum =
            wrap_add(sum, wrap_mul(wrap_add(*a++, row_offset), wrap_add(*column++, column_offset)));
      }
      *out++ = call.requant(sum, call.multiplier, call.shift);
    }
  }
}

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments. In its one caller:
// passing all arguments on takes as long as looking at them.
__attribute__((always_inline)) inline bool prepare_linear(
    MatmulCall& call, const Tensor& input, const Tensor& weights, const std::optional<Tensor>& bias,
    const std::optional<Tensor>& kernel_sum, int64_t input_offset, int64_t filter_offset,
    int64_t output_offset, ArrayRef<int64_t> multipliers, ArrayRef<int64_t> shifts,
    int64_t activation_max, int64_t activation_min, Tensor& out) {
  const std::optional<Tensor>& sums = kernel_sum.has_value() ? kernel_sum : bias;
  if (!is_int8(input) || !is_int8(weights) || !is_int8(out) || input.dim() < 1 ||
      weights.dim() != 2 || multipliers.empty() || shifts.empty() ||
      !fits(input_offset, filter_offset, output_offset, activation_max, activation_min) ||
      !fits(multipliers.data()[0], shifts.data()[0]) ||
      (sums.has_value() && (!is_int32(*sums) || numel(*sums) < size_at(weights, 0)))) {
    return false;
  }
  // Numbers first: what is called below would have to keep them.
  // A kernel sum holds bias + input_offset * sum(weights + filter_offset) already: only the
  // filter offset is left to add to the weights.
  call.left_offset = kernel_sum.has_value() ? 0 : static_cast<int32_t>(input_offset);
  call.right_offset = static_cast<int32_t>(filter_offset);
  call.multiplier = static_cast<int32_t>(multipliers.data()[0]);
  call.shift = static_cast<int32_t>(shifts.data()[0]);
  call.requant = {static_cast<int32_t>(output_offset), static_cast<int32_t>(activation_min),
                  static_cast<int32_t>(activation_max)};
  call.bias = sums.has_value() ? const_data<int32_t>(*sums) : nullptr;
  const SizesType* size = input.sizes().data();
  const auto columns = static_cast<SizesType>(size_at(weights, 0));
  const SizesType* own = out.sizes().data();
  bool resized = rank(out) == rank(input);
  size_t rows = columns == 0 ? 0 : 1;
  Shape shape;
  for (size_t d = rank(input) - 1; d > 0; --d) {
    rows *= static_cast<size_t>(*size);
    resized = resized && *own++ == *size;
    shape.sizes[shape.rank++] = *size++;
  }
  shape.sizes[shape.rank++] = columns;
  resized = resized && *own == columns;
  call.rows = static_cast<int32_t>(rows);
  call.columns = columns;
  call.inner = *size;
  call.left = const_data<int8_t>(input);
  call.right = const_data<int8_t>(weights);
  const StridesType* stride = weights.strides().data();
  const bool rows_follow = stride[1] == 1 && stride[0] == call.inner;
  if (call.inner != weights.sizes().data()[1] || !is_contiguous(input) ||
      !(rows_follow || is_contiguous(weights)) || !(resized || resize_out(out, shape)) ||
      !is_contiguous(out)) {
    return false;
  }
  call.out = mutable_data<int8_t>(out);
  return true;
}

// Checks the arguments, resizes `out` and fills `call` for the first batch. False: bad arguments.
__attribute__((always_inline)) inline bool prepare_batch(
    MatmulCall& call, const Tensor& lhs, int64_t lhs_offset, const Tensor& rhs_transposed,
    int64_t rhs_offset, int64_t output_offset, int64_t multiplier, int64_t shift, Tensor& out) {
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

// One product after the other.
inline void batch_matmul(MatmulCall call, int32_t batches) {
  for (; batches > 0; --batches) {
    matmul(call);
    call.left += call.rows * call.inner;
    call.right += call.columns * call.inner;
    call.out += call.rows * call.columns;
  }
}

}  // namespace gen_kernels::cortex_m
