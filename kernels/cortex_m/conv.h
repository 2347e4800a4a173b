// A checked int8 convolution call, and the portable kernels that run it.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

struct ConvCall {
  Image input;
  Image output;
  Pair kernel, stride, padding, dilation;
  int32_t output_channels;
  int32_t group_channels;  // input channels that one output channel sees
  int32_t groups;
  const int8_t* in;
  const int8_t* weight;  // (output channel, row, column, input channel); depthwise: (row, column,
                         // output channel)
  const int32_t* bias;   // an output channel; null: zeros
  const int32_t* multiplier;
  const int32_t* shift;
  int32_t input_offset;  // added to every input value: the negated zero point
  Requant requant;
  int8_t* out;
};

// Checks the arguments, resizes `out` and fills `call`. False: bad arguments.
bool prepare(ConvCall& call, Dims dims, bool depthwise, const Tensor& input, const Tensor& weight,
             const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
             ArrayRef<int64_t> dilation, int64_t input_offset, int64_t output_offset,
             const Tensor& multipliers, const Tensor& shifts, int64_t activation_min,
             int64_t activation_max, Tensor& out);

void conv(const ConvCall& call);
void depthwise(const ConvCall& call);

}  // namespace gen_kernels::cortex_m
