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

// Check arguments, resize `out`, fill `call` (batches: for the first one). False: bad arguments.
bool prepare_linear(MatmulCall& call, const Tensor& input, const Tensor& weights,
                    const std::optional<Tensor>& bias, const std::optional<Tensor>& kernel_sum,
                    int64_t input_offset, int64_t filter_offset, int64_t output_offset,
                    ArrayRef<int64_t> multipliers, ArrayRef<int64_t> shifts, int64_t activation_max,
                    int64_t activation_min, Tensor& out);
bool prepare_batch(MatmulCall& call, const Tensor& lhs, int64_t lhs_offset,
                   const Tensor& rhs_transposed, int64_t rhs_offset, int64_t output_offset,
                   int64_t multiplier, int64_t shift, Tensor& out);

void matmul(const MatmulCall& call);

}  // namespace gen_kernels::cortex_m
