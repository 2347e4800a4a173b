// quantized_decomposed: mixed_mm, mixed_linear (float activations, int8 weights), and add.
#include "quantized/affine.h"

namespace gen_kernels::quantized {
namespace {

constexpr char kMixedMm[] = "quantized_decomposed::mixed_mm.out";
constexpr char kMixedLinear[] = "quantized_decomposed::mixed_linear.out";
constexpr char kAdd[] = "quantized_decomposed::add.out";
using Activations = Types<float, Half>;

template <const char* Op>
bool check(const Tensor& input, const Tensor& weight, const Tensor& scales,
           const std::optional<Tensor>& zero_points, const Tensor& out) {
  return contains(kMask<Op, Activations>, input.scalar_type()) &&
         input.scalar_type() == scales.scalar_type() &&
         contains(kMask<Op, Activations>, out.scalar_type()) &&
         weight.scalar_type() == ScalarType::Char && !zero_points.has_value() && input.dim() == 2 &&
         weight.dim() == 2 && out.dim() == 2 && is_contiguous(input) && is_contiguous(weight) &&
         is_contiguous(scales);
}

bool resize_matrix(Tensor& out, size_t rows, size_t columns) {
  const SizesType sizes[] = {static_cast<SizesType>(rows), static_cast<SizesType>(columns)};
  return resize_out(out, ArrayRef<SizesType>(sizes, 2)) && is_contiguous(out);
}

template <const char* Op>
float element(const Tensor& t, size_t at) {
  return load_float<kMask<Op, Activations>>(const_bytes(t) + at * element_size(t), t.scalar_type());
}
template <const char* Op>
void store(Tensor& out, size_t at, float value) {
  store_real<kMask<Op, Activations>>(mutable_bytes(out) + at * element_size(out), out.scalar_type(),
                                     value);
}

}  // namespace
}  // namespace gen_kernels::quantized

namespace torch::executor::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::quantized;

// out = input (m, k) @ (weight (k, n) * scales (k, 1))
Tensor& quantized_mixed_mm_out(KernelRuntimeContext& context, const Tensor& input,
                               const Tensor& weight, const Tensor& weight_scales,
                               const std::optional<Tensor>& weight_zero_points, Tensor& out) {
  if (!check<kMixedMm>(input, weight, weight_scales, weight_zero_points, out) ||
      weight_scales.dim() != 1 || out.scalar_type() != input.scalar_type() ||
      size_at(input, 1) != size_at(weight, 0) || size_at(weight_scales, 0) != size_at(weight, 0) ||
      !resize_matrix(out, size_at(input, 0), size_at(weight, 1))) {
    return fail(context, out);
  }
  const size_t inner = size_at(input, 1);
  const size_t columns = size_at(weight, 1);
  for (size_t i = 0; i < numel(out); ++i) {
    const size_t m = i / columns;
    const int8_t* column = const_data<int8_t>(weight) + i % columns;
    float sum = 0.0F;
    for (size_t k = 0; k < inner; ++k) {
      sum += element<kMixedMm>(input, m * inner + k) * static_cast<float>(column[k * columns]) *
             element<kMixedMm>(weight_scales, k);
    }
    store<kMixedMm>(out, i, sum);
  }
  return out;
}

// out = input (m, k) @ (weight (n, k) * scales).T, a scale for each row, or for each group of a row
Tensor& quantized_mixed_linear_out(KernelRuntimeContext& context, const Tensor& input,
                                   const Tensor& weight, const Tensor& weight_scales,
                                   const std::optional<Tensor>& weight_zero_points,
                                   std::optional<ScalarType> dtype, Tensor& out) {
  if (!check<kMixedLinear>(input, weight, weight_scales, weight_zero_points, out) ||
      weight_scales.dim() < 1 || weight_scales.dim() > 2 ||
      size_at(input, 1) != size_at(weight, 1) || size_at(weight_scales, 0) != size_at(weight, 0) ||
      (dtype.has_value() && *dtype != out.scalar_type()) ||
      !resize_matrix(out, size_at(input, 0), size_at(weight, 0))) {
    return fail(context, out);
  }
  const size_t inner = size_at(input, 1);
  const size_t columns = size_at(weight, 0);
  const size_t groups = weight_scales.dim() == 2 ? size_at(weight_scales, 1) : 1;
  if (groups == 0) {
    return fail(context, out);
  }
  const size_t group = (inner + groups - 1) / groups;
  for (size_t i = 0; i < numel(out); ++i) {
    const size_t m = i / columns;
    const size_t n = i % columns;
    const int8_t* row = const_data<int8_t>(weight) + n * inner;
    float sum = 0.0F;
    for (size_t k = 0, g = 0; k < inner; ++g) {
      const size_t end = k + group < inner ? k + group : inner;
      float part = 0.0F;
      for (; k < end; ++k) {
        part += element<kMixedLinear>(input, m * inner + k) * static_cast<float>(row[k]);
      }
      sum += part * element<kMixedLinear>(weight_scales, n * groups + g);
    }
    store<kMixedLinear>(out, i, sum);
  }
  return out;
}

// Dequantise both, add as floats, quantise.
Tensor& quantized_add_out(KernelRuntimeContext& context, const Tensor& a, double a_scale,
                          int64_t a_zero_point, int64_t, int64_t, const Tensor& b, double b_scale,
                          int64_t b_zero_point, int64_t, int64_t, double out_scale,
                          int64_t out_zero_point, int64_t out_quant_min, int64_t out_quant_max,
                          Tensor& out) {
  constexpr TypeMask kTypes = kMask<kAdd, Integers>;
  const ScalarType type = a.scalar_type();
  Shape shape = shape_of(a);
  if (!contains(kTypes, type) || b.scalar_type() != type || out.scalar_type() != type ||
      out_quant_min > out_quant_max || !in_range(type, out_quant_min, out_quant_max) ||
      !broadcast_into(shape, b.sizes()) || !resize_out(out, shape)) {
    return fail(context, out);
  }
  const float a_step = to_float(a_scale);
  const float b_step = to_float(b_scale);
  const auto a_zero = static_cast<float>(a_zero_point);
  const auto b_zero = static_cast<float>(b_zero_point);
  const Quantizer quantize(reciprocal(out_scale), out_zero_point, out_quant_min, out_quant_max);
  const size_t size = element_size(out);
  Walk w;
  w.operands = 3;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(a));
  w.at[2] = const_cast<char*>(const_bytes(b));
  const auto stride_of = [&](const Tensor& t, size_t d) {
    const size_t skip = rank(out) - rank(t);
    return d < skip || size_at(t, d - skip) == 1
               ? 0
               : stride_at(t, d - skip) * static_cast<ptrdiff_t>(size);
  };
  for (size_t i = rank(out); i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {stride_at(out, d) * static_cast<ptrdiff_t>(size), stride_of(a, d),
                                stride_of(b, d)};
    add_axis(w, size_at(out, d), stride);
  }
  if (w.empty) {
    return out;
  }
  do {
    char* to = w.at[0];
    const char* left = w.at[1];
    const char* right = w.at[2];
    for (size_t i = w.row(); i-- > 0; to += w.step(0), left += w.step(1), right += w.step(2)) {
      const float x = (static_cast<float>(load_integer<kTypes>(left, type)) - a_zero) * a_step;
      const float y = (static_cast<float>(load_integer<kTypes>(right, type)) - b_zero) * b_step;
      store_integer<kTypes>(to, type, quantize(x + y));
    }
  } while (next_row(w));
  return out;
}

}  // namespace torch::executor::native
