// cortex_m: quantize_per_tensor, dequantize_per_tensor (float <-> int8).
#include "cortex_m/common.h"

namespace cortex_m::native {

using namespace ::gen_kernels;
using ::gen_kernels::cortex_m::fail;
using ::gen_kernels::cortex_m::walk_rows;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  if (input.scalar_type() != ScalarType::Float || dtype != ScalarType::Char ||
      out.scalar_type() != dtype || quant_min < INT8_MIN || quant_max > INT8_MAX ||
      quant_min > quant_max || !resize_out_like(out, input)) {
    return fail(context, out);
  }
  const Quantizer quantize(reciprocal(scale), zero_point, quant_min, quant_max);
  const Tensor* const inputs[] = {&input};
  const bool ok = walk_rows(out, inputs, 1, [&](const Walk& w) {
    const char* from = w.at[1];
    auto* to = reinterpret_cast<int8_t*>(w.at[0]);
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      *to = static_cast<int8_t>(quantize(*reinterpret_cast<const float*>(from)));
    }
  });
  return ok ? out : fail(context, out);
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t, int64_t, ScalarType dtype,
                                  Tensor& out) {
  constexpr int64_t kExact = 1 << 23;  // the difference must be exact as a float
  if (input.scalar_type() != ScalarType::Char || dtype != ScalarType::Char ||
      out.scalar_type() != ScalarType::Float || zero_point > kExact || zero_point < -kExact ||
      !resize_out_like(out, input)) {
    return fail(context, out);
  }
  const float step = to_float(scale);
  const auto zero = static_cast<int32_t>(zero_point);
  const Tensor* const inputs[] = {&input};
  const bool ok = walk_rows(out, inputs, 1, [&](const Walk& w) {
    const auto* from = reinterpret_cast<const int8_t*>(w.at[1]);
    char* to = w.at[0];
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      *reinterpret_cast<float*>(to) = scale_integer(*from - zero, step);
    }
  });
  return ok ? out : fail(context, out);
}

}  // namespace cortex_m::native
