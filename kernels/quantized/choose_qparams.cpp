// quantized_decomposed: choose_qparams, choose_qparams_per_token_asymmetric.
//
// Each step is in the input's dtype, as PyTorch computes it: Half and BFloat16
// round after each operation.
#include <tuple>

#include "quantized/affine.h"

namespace gen_kernels::quantized {
namespace {

constexpr char kTensor[] = "quantized_decomposed::choose_qparams.Tensor_out";
constexpr char kToken[] = "quantized_decomposed::choose_qparams_per_token_asymmetric.out";

struct Range {
  float low;
  float high;
  bool nan;
};

// Smallest and largest of `count` values `step` bytes apart.
template <TypeMask Mask>
Range range_of(const char* from, size_t count, ptrdiff_t step, ScalarType type) {
  Range range{load_float<Mask>(from, type), load_float<Mask>(from, type), false};
  for (size_t i = 0; i < count; ++i, from += step) {
    const float value = load_float<Mask>(from, type);
    range.nan = range.nan || !(value == value);
    range.low = value < range.low ? value : range.low;
    range.high = value > range.high ? value : range.high;
  }
  return range;
}

bool store_scale(Tensor& out, size_t at, float value) {
  if (out.scalar_type() == ScalarType::Double) {
    mutable_data<double>(out)[at] = static_cast<double>(value);
  } else if (out.scalar_type() == ScalarType::Float) {
    mutable_data<float>(out)[at] = value;
  } else {
    return false;
  }
  return true;
}

bool store_zero_point(Tensor& out, size_t at, int32_t value) {
  if (out.scalar_type() == ScalarType::Long) {
    mutable_data<int64_t>(out)[at] = value;
  } else if (out.scalar_type() == ScalarType::Int) {
    mutable_data<int32_t>(out)[at] = value;
  } else {
    return false;
  }
  return true;
}

// A float as an integer in [low, high]; NaN gives low.
int32_t to_integer(float value, int32_t low, int32_t high) {
  return value >= static_cast<float>(high) ? high
         : value > static_cast<float>(low) ? static_cast<int32_t>(value)
                                           : low;
}

}  // namespace
}  // namespace gen_kernels::quantized

namespace torch::executor::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::quantized;

std::tuple<Tensor&, Tensor&> choose_qparams_tensor_out(KernelRuntimeContext& context,
                                                       const Tensor& input, int64_t quant_min,
                                                       int64_t quant_max, double eps,
                                                       ScalarType dtype, Tensor& scale_out,
                                                       Tensor& zero_point_out) {
  const std::tuple<Tensor&, Tensor&> outs(scale_out, zero_point_out);
  constexpr TypeMask kInputs = kMask<kTensor, FloatInputs>;
  const ScalarType type = input.scalar_type();
  const SizesType one[] = {1};
  if (!contains(kInputs, type) || numel(input) == 0 || quant_min >= quant_max ||
      !in_range(dtype, quant_min, quant_max) ||
      !resize_out(scale_out, ArrayRef<SizesType>(one, 1)) ||
      !resize_out(zero_point_out, ArrayRef<SizesType>(one, 1))) {
    context.fail(Error::InvalidArgument);
    return outs;
  }
  // Memory is dense: its order does not matter here.
  const Range range = range_of<kInputs>(const_bytes(input), numel(input),
                                        static_cast<ptrdiff_t>(element_size(input)), type);
  const float low = range.low < 0 ? range.low : 0.0F;
  const float high = range.high > 0 ? range.high : 0.0F;
  const auto span = static_cast<float>(quant_max - quant_min);
  float scale = rounded_to(type, rounded_to(type, high - low) / span);
  const float least = to_float(eps);
  scale = scale > least ? scale : least;
  const float offset = round_even(low / scale);
  const auto first = static_cast<int32_t>(quant_min);
  const auto last = static_cast<int32_t>(quant_max);
  const int64_t zero = int64_t{first} - to_integer(offset, INT32_MIN, 0);
  if (range.nan || !store_scale(scale_out, 0, scale) ||
      !store_zero_point(zero_point_out, 0, zero > last ? last : static_cast<int32_t>(zero))) {
    context.fail(Error::InvalidArgument);
  }
  return outs;
}

std::tuple<Tensor&, Tensor&> choose_qparams_per_token_asymmetric_out(KernelRuntimeContext& context,
                                                                     const Tensor& input,
                                                                     ScalarType, Tensor& scale_out,
                                                                     Tensor& zero_point_out) {
  const std::tuple<Tensor&, Tensor&> outs(scale_out, zero_point_out);
  constexpr TypeMask kInputs = kMask<kToken, FloatInputs>;
  const ScalarType type = input.scalar_type();
  const size_t n = rank(input);
  Shape shape = shape_of(input);
  if (n > 0) {
    shape.sizes[n - 1] = 1;
  }
  if (!contains(kInputs, type) || n == 0 || !is_contiguous(input) ||
      !resize_out(scale_out, shape) || !resize_out(zero_point_out, shape) ||
      size_at(input, n - 1) == 0) {
    context.fail(Error::InvalidArgument);
    return outs;
  }
  const size_t length = size_at(input, n - 1);
  const auto step = static_cast<ptrdiff_t>(element_size(input));
  const auto half = [type](float value) { return rounded_to(type, value); };
  constexpr float kLow = -128.0F;
  constexpr float kHigh = 127.0F;
  const float least = half(1.1920928955078125e-07F);  // the epsilon of float
  for (size_t i = 0; i < numel(scale_out); ++i) {
    const char* line = const_bytes(input) + static_cast<ptrdiff_t>(i * length) * step;
    const Range range = range_of<kInputs>(line, length, step, type);
    const float low = range.low < 0 ? range.low : 0.0F;
    const float high = range.high > 0 ? range.high : 0.0F;
    float scale = half(half(high - low) / (kHigh - kLow));
    scale = scale < least ? least : scale;
    const float first = half(low / scale);
    const float last = half(high / scale);
    const bool from_low = half(half(kLow + first) + half(kHigh + last)) > 0;
    const float zero = from_low ? half(kLow - first) : half(kHigh - last);
    const float clamped = zero < kLow ? kLow : zero > kHigh ? kHigh : zero;
    if (range.nan || !store_scale(scale_out, i, scale) ||
        !store_zero_point(zero_point_out, i, to_integer(round_even(clamped), -128, 127))) {
      context.fail(Error::InvalidArgument);
      return outs;
    }
  }
  return outs;
}

}  // namespace torch::executor::native
