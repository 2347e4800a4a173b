// quantized_decomposed: dequantize_per_tensor, dequantize_per_channel, dequantize_per_token.
#include "quantized/affine.h"

namespace gen_kernels::quantized {
namespace {

constexpr char kPerTensor[] = "quantized_decomposed::dequantize_per_tensor.out";
constexpr char kPerTensorTensor[] = "quantized_decomposed::dequantize_per_tensor.Tensor_out";
constexpr char kPerChannel[] = "quantized_decomposed::dequantize_per_channel.out";
constexpr char kPerToken[] = "quantized_decomposed::dequantize_per_token.out";

template <const char* Op>
bool check(const Tensor& input, ScalarType dtype, ScalarType out_dtype, Tensor& out) {
  return contains(kMask<Op, Integers>, input.scalar_type()) && input.scalar_type() == dtype &&
         contains(kMask<Op, FloatOutputs>, out_dtype) && out.scalar_type() == out_dtype &&
         resize_out_like(out, input);
}

// Integers of up to this magnitude, and differences of two, are exact as floats.
constexpr int64_t kExact = 1 << 23;

// Per tensor, PyTorch converts to the output's dtype first: each step rounds to it.
template <const char* Op>
Tensor& per_tensor(KernelRuntimeContext& context, const Tensor& input, double scale,
                   int64_t zero_point, ScalarType dtype, std::optional<ScalarType> wanted,
                   Tensor& out) {
  const ScalarType type = wanted.value_or(ScalarType::Float);
  if (!check<Op>(input, dtype, type, out)) {
    return fail(context, out);
  }
  const float step = to_float(scale);
  const bool exact = dtype != ScalarType::Int && zero_point < kExact && zero_point > -kExact;
  Walk w;
  start_walk(w, out, input, nullptr, nullptr, Along::kChannel, 0);
  if (w.empty) {
    return out;
  }
  do {
    char* to = w.at[0];
    const char* from = w.at[1];
    for (size_t i = w.row(); i-- > 0; to += w.step(0), from += w.step(1)) {
      const int32_t value = load_integer<kMask<Op, Integers>>(from, dtype);
      if (type == ScalarType::Float && exact) {
        store_real<kMask<Op, Types<float>>>(
            to, type, scale_integer(value - static_cast<int32_t>(zero_point), step));
      } else if (contains(kMask<Op, FloatOutputs>, ScalarType::Double) &&
                 type == ScalarType::Double) {
        store_real<kMask<Op, Types<double>>>(
            to, type, (static_cast<double>(value) - static_cast<double>(zero_point)) * scale);
      } else {
        const float zero = rounded_to(type, static_cast<float>(zero_point));
        const float difference =
            rounded_to(type, rounded_to(type, static_cast<float>(value)) - zero);
        store_real<kMask<Op, FloatOutputs>>(to, type, difference * step);
      }
    }
  } while (next_row(w));
  return out;
}

template <const char* Op>
Tensor& along_axis(KernelRuntimeContext& context, const Tensor& input, const Tensor& scales,
                   const Tensor* zero_points, Along along, size_t axis, ScalarType dtype,
                   ScalarType type, Tensor& out) {
  if (!parameters_fit(input, scales, zero_points, along, axis) ||
      !check<Op>(input, dtype, type, out)) {
    return fail(context, out);
  }
  Walk w;
  start_walk(w, out, input, &scales, zero_points, along, axis);
  if (w.empty) {
    return out;
  }
  const bool wide = scales.scalar_type() == ScalarType::Double;
  do {
    char* to = w.at[0];
    const char* from = w.at[1];
    const char* scale = w.at[2];
    const char* zero = w.at[3];
    for (size_t i = w.row(); i-- > 0;
         to += w.step(0), from += w.step(1), scale += w.step(2), zero += w.step(3)) {
      const int64_t difference =
          load_integer<kMask<Op, Integers>>(from, dtype) -
          (zero_points != nullptr ? zero_point_value(zero, zero_points->scalar_type()) : 0);
      if (wide) {
        store_real<kMask<Op, FloatOutputs>>(
            to, type, static_cast<double>(difference) * *reinterpret_cast<const double*>(scale));
      } else {
        const float step = *reinterpret_cast<const float*>(scale);
        const bool exact = difference <= kExact && difference >= -kExact;
        store_real<kMask<Op, FloatOutputs>>(
            to, type,
            exact ? scale_integer(static_cast<int32_t>(difference), step)
                  : static_cast<float>(difference) * step);
      }
    }
  } while (next_row(w));
  return out;
}

}  // namespace
}  // namespace gen_kernels::quantized

namespace torch::executor::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::quantized;

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t, int64_t, ScalarType dtype,
                                  std::optional<ScalarType> out_dtype, Tensor& out) {
  return per_tensor<kPerTensor>(context, input, scale, zero_point, dtype, out_dtype, out);
}

Tensor& dequantize_per_tensor_tensor_args_out(KernelRuntimeContext& context, const Tensor& input,
                                              const Tensor& scale, const Tensor& zero_point,
                                              int64_t, int64_t, ScalarType dtype,
                                              std::optional<ScalarType> out_dtype, Tensor& out) {
  if (numel(scale) != 1 || numel(zero_point) != 1 || !is_scale(scale.scalar_type()) ||
      !is_zero_point(zero_point.scalar_type())) {
    return fail(context, out);
  }
  return per_tensor<kPerTensorTensor>(
      context, input, scale_value(scale),
      zero_point_value(zero_point.const_data_ptr(), zero_point.scalar_type()), dtype, out_dtype,
      out);
}

Tensor& dequantize_per_channel_out(KernelRuntimeContext& context, const Tensor& input,
                                   const Tensor& scales, const std::optional<Tensor>& zero_points,
                                   int64_t axis, int64_t quant_min, int64_t quant_max,
                                   ScalarType dtype, std::optional<ScalarType> out_dtype,
                                   Tensor& out) {
  if (rank(input) == 0 || !wrap_dim(axis, rank(input)) || !in_range(dtype, quant_min, quant_max)) {
    return fail(context, out);
  }
  return along_axis<kPerChannel>(
      context, input, scales, zero_points.has_value() ? &*zero_points : nullptr, Along::kChannel,
      static_cast<size_t>(axis), dtype, out_dtype.value_or(ScalarType::Float), out);
}

Tensor& dequantize_per_token_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& scales, const Tensor& zero_points, int64_t, int64_t,
                                 ScalarType dtype, ScalarType output_dtype, Tensor& out) {
  return along_axis<kPerToken>(context, input, scales, &zero_points, Along::kToken, 0, dtype,
                               output_dtype, out);
}

}  // namespace torch::executor::native
