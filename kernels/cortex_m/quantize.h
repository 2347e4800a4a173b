// Checks of quantize_per_tensor and dequantize_per_tensor, and the portable kernels.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

// Checks the arguments and resizes `out`. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare_quantize(const Tensor& input, int64_t quant_min,
                                                  int64_t quant_max, ScalarType dtype,
                                                  Tensor& out) {
  return input.scalar_type() == ScalarType::Float && dtype == ScalarType::Char &&
         out.scalar_type() == dtype && quant_min >= INT8_MIN && quant_max <= INT8_MAX &&
         quant_min <= quant_max && resize_out_like(out, input);
}

GEN_KERNELS_NOINLINE inline bool prepare_dequantize(const Tensor& input, int64_t zero_point,
                                                    ScalarType dtype, Tensor& out) {
  constexpr int64_t kExact = 1 << 23;  // the difference must be exact as a float
  return input.scalar_type() == ScalarType::Char && dtype == ScalarType::Char &&
         out.scalar_type() == ScalarType::Float && zero_point <= kExact && zero_point >= -kExact &&
         resize_out_like(out, input);
}

GEN_KERNELS_NOINLINE inline bool quantize(const Quantizer& exact, const Tensor& input,
                                          Tensor& out) {
  const Tensor* const inputs[] = {&input};
  return walk_rows(out, inputs, 1, [&](const Walk& w) {
    const char* from = w.at[1];
    auto* to = reinterpret_cast<int8_t*>(w.at[0]);
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      *to = static_cast<int8_t>(exact(*reinterpret_cast<const float*>(from)));
    }
  });
}

GEN_KERNELS_NOINLINE inline bool dequantize(float scale, int32_t zero, const Tensor& input,
                                            Tensor& out) {
  const Tensor* const inputs[] = {&input};
  return walk_rows(out, inputs, 1, [&](const Walk& w) {
    const auto* from = reinterpret_cast<const int8_t*>(w.at[1]);
    char* to = w.at[0];
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      *reinterpret_cast<float*>(to) = scale_integer(*from - zero, scale);
    }
  });
}

}  // namespace gen_kernels::cortex_m
