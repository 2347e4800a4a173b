// quantized_decomposed: quantize_per_tensor, quantize_per_channel, quantize_per_token.
#include "quantized/affine.h"

namespace gen_kernels::quantized {
namespace {

constexpr char kPerTensor[] = "quantized_decomposed::quantize_per_tensor.out";
constexpr char kPerTensorTensor[] = "quantized_decomposed::quantize_per_tensor.Tensor_out";
constexpr char kPerChannel[] = "quantized_decomposed::quantize_per_channel.out";
constexpr char kPerToken[] = "quantized_decomposed::quantize_per_token.out";

template <const char* Op>
bool check(const Tensor& input, int64_t low, int64_t high, ScalarType dtype, Tensor& out) {
  return contains(kMask<Op, FloatInputs>, input.scalar_type()) &&
         contains(kMask<Op, Integers>, dtype) && out.scalar_type() == dtype && low <= high &&
         in_range(dtype, low, high) && resize_out_like(out, input);
}

template <const char* Op>
Tensor& per_tensor(KernelRuntimeContext& context, const Tensor& input, double scale,
                   int64_t zero_point, int64_t low, int64_t high, ScalarType dtype, Tensor& out) {
  if (!check<Op>(input, low, high, dtype, out)) {
    return fail(context, out);
  }
  const Quantizer quantize(reciprocal(scale), zero_point, low, high);
  Walk w;
  start_walk(w, out, input, nullptr, nullptr, Along::kChannel, 0);
  if (w.empty) {
    return out;
  }
  do {
    char* to = w.at[0];
    const char* from = w.at[1];
    for (size_t i = w.row(); i-- > 0; to += w.step(0), from += w.step(1)) {
      store_integer<kMask<Op, Integers>>(
          to, dtype, quantize(load_float<kMask<Op, FloatInputs>>(from, input.scalar_type())));
    }
  } while (next_row(w));
  return out;
}

// The nearest integer, halves to even.
double round_to_even(double value) {
  constexpr double kInteger = 4503599627370496.0;  // 2^52: every double beyond is an integer
  const double magnitude = value < 0 ? -value : value;
  if (!(magnitude < kInteger)) {
    return value;
  }
  volatile double shifted = magnitude + kInteger;
  const double rounded = shifted - kInteger;
  return value < 0 ? -rounded : rounded;
}
float round_to_even(float value) { return round_even(value); }

// One value with its own scale, in the precision of the scales. Per token the zero point is added
// before rounding, per channel after.
template <class Real>
int64_t quantize_one(float x, Real scale, int64_t zero_point, Along along, int64_t low,
                     int64_t high) {
  const Real scaled = static_cast<Real>(x) * (Real{1} / scale);
  const auto zero = static_cast<Real>(zero_point);
  const Real value =
      along == Along::kToken ? round_to_even(scaled + zero) : round_to_even(scaled) + zero;
  if (!(value == value)) {
    return 0;
  }
  return value <= static_cast<Real>(low)    ? low
         : value >= static_cast<Real>(high) ? high
                                            : static_cast<int64_t>(value);
}

template <const char* Op>
Tensor& along_axis(KernelRuntimeContext& context, const Tensor& input, const Tensor& scales,
                   const Tensor& zero_points, Along along, size_t axis, int64_t low, int64_t high,
                   ScalarType dtype, Tensor& out) {
  if (!parameters_fit(input, scales, &zero_points, along, axis) ||
      !check<Op>(input, low, high, dtype, out)) {
    return fail(context, out);
  }
  Walk w;
  start_walk(w, out, input, &scales, &zero_points, along, axis);
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
      const float x = load_float<kMask<Op, FloatInputs>>(from, input.scalar_type());
      const int64_t zero_point = zero_point_value(zero, zero_points.scalar_type());
      const int64_t value = wide ? quantize_one(x, *reinterpret_cast<const double*>(scale),
                                                zero_point, along, low, high)
                                 : quantize_one(x, *reinterpret_cast<const float*>(scale),
                                                zero_point, along, low, high);
      store_integer<kMask<Op, Integers>>(to, dtype, value);
    }
  } while (next_row(w));
  return out;
}

}  // namespace
}  // namespace gen_kernels::quantized

namespace torch::executor::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::quantized;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  return per_tensor<kPerTensor>(context, input, scale, zero_point, quant_min, quant_max, dtype,
                                out);
}

Tensor& quantize_per_tensor_tensor_args_out(KernelRuntimeContext& context, const Tensor& input,
                                            const Tensor& scale, const Tensor& zero_point,
                                            int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                            Tensor& out) {
  if (numel(scale) != 1 || numel(zero_point) != 1 || !is_scale(scale.scalar_type()) ||
      !is_zero_point(zero_point.scalar_type())) {
    return fail(context, out);
  }
  return per_tensor<kPerTensorTensor>(
      context, input, scale_value(scale),
      zero_point_value(zero_point.const_data_ptr(), zero_point.scalar_type()), quant_min, quant_max,
      dtype, out);
}

Tensor& quantize_per_channel_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& scales, const Tensor& zero_points, int64_t axis,
                                 int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                 Tensor& out) {
  if (rank(input) == 0 || !wrap_dim(axis, rank(input))) {
    return fail(context, out);
  }
  return along_axis<kPerChannel>(context, input, scales, zero_points, Along::kChannel,
                                 static_cast<size_t>(axis), quant_min, quant_max, dtype, out);
}

Tensor& quantize_per_token_out(KernelRuntimeContext& context, const Tensor& input,
                               const Tensor& scales, const Tensor& zero_points, int64_t quant_min,
                               int64_t quant_max, ScalarType dtype, Tensor& out) {
  return along_axis<kPerToken>(context, input, scales, zero_points, Along::kToken, 0, quant_min,
                               quant_max, dtype, out);
}

}  // namespace torch::executor::native
