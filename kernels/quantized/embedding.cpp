// quantized_decomposed: embedding_byte, embedding_4bit, embedding_2bit.
#include "quantized/affine.h"

namespace gen_kernels::quantized {
namespace {

constexpr char kByte[] = "quantized_decomposed::embedding_byte.out";
constexpr char kByteDtype[] = "quantized_decomposed::embedding_byte.dtype_out";
constexpr char k2Bit[] = "quantized_decomposed::embedding_2bit.out";
constexpr char k2BitDtype[] = "quantized_decomposed::embedding_2bit.dtype_out";
constexpr char k4Bit[] = "quantized_decomposed::embedding_4bit.out";
constexpr char k4BitDtype[] = "quantized_decomposed::embedding_4bit.dtype_out";

// Value `j` of a packed row: two bits from the low end up, four bits from the high end down.
int32_t unpack(const uint8_t* row, size_t j, unsigned bits) {
  if (bits == 2) {
    return static_cast<int32_t>((row[j / 4] >> (2 * (j % 4))) & 3U) - 2;
  }
  return static_cast<int32_t>((row[j / 2] >> (j % 2 == 0 ? 4 : 0)) & 15U) - 8;
}

struct Call {
  const Tensor& weight;
  const Tensor& scales;
  const Tensor* zero_points;
  const Tensor& indices;
  unsigned bits;
};

template <const char* Op>
Tensor& embedding(KernelRuntimeContext& context, const Call& call, std::optional<ScalarType> dtype,
                  Tensor& out) {
  constexpr TypeMask kScales = kMask<Op, FloatInputs>;
  constexpr TypeMask kOutputs = kMask<Op, FloatOutputs>;
  const Tensor& weight = call.weight;
  const Tensor& scales = call.scales;
  const ScalarType type = scales.scalar_type();
  const bool is_signed = weight.scalar_type() == ScalarType::Char;
  const ScalarType index_type = call.indices.scalar_type();
  if (weight.dim() != 2 || (!is_signed && weight.scalar_type() != ScalarType::Byte) ||
      (is_signed && call.bits != 8) || !is_contiguous(weight) || scales.dim() < 1 ||
      scales.dim() > 2 || !contains(kScales, type) || !is_contiguous(scales) ||
      size_at(scales, 0) != size_at(weight, 0) ||
      (call.zero_points != nullptr &&
       (call.zero_points->scalar_type() != type || numel(*call.zero_points) != numel(scales) ||
        !is_contiguous(*call.zero_points))) ||
      !is_zero_point(index_type) || !is_contiguous(call.indices) ||
      !contains(kOutputs, out.scalar_type()) ||
      (dtype.has_value() && *dtype != out.scalar_type())) {
    return fail(context, out);
  }
  const size_t packed = size_at(weight, 1);
  const size_t length = packed * 8 / call.bits;
  const size_t groups = scales.dim() == 2 ? size_at(scales, 1) : 1;
  Shape shape = shape_of(call.indices);
  if (groups == 0 || length % groups != 0 || !shape.push(static_cast<int64_t>(length)) ||
      !resize_out(out, shape) || !is_contiguous(out)) {
    return fail(context, out);
  }
  const size_t group = length / groups;
  const size_t size = element_size(scales);
  const size_t out_size = element_size(out);
  char* to = mutable_bytes(out);
  for (size_t i = 0; i < numel(call.indices); ++i) {
    const int64_t index =
        zero_point_value(const_bytes(call.indices) + i * element_size(call.indices), index_type);
    if (index < 0 || index >= static_cast<int64_t>(size_at(weight, 0))) {
      return fail(context, out);
    }
    const auto line = static_cast<size_t>(index);
    const auto* row = const_data<uint8_t>(weight) + line * packed;
    for (size_t j = 0; j < length; ++j, to += out_size) {
      const int32_t code =
          call.bits == 8 ? (is_signed ? static_cast<int8_t>(row[j]) : static_cast<int32_t>(row[j]))
                         : unpack(row, j, call.bits);
      const size_t at = (line * groups + j / group) * size;
      auto value = static_cast<float>(code);
      if (call.zero_points != nullptr) {
        value = rounded_to(type,
                           value - load_float<kScales>(const_bytes(*call.zero_points) + at, type));
      }
      value = rounded_to(type, value * load_float<kScales>(const_bytes(scales) + at, type));
      store_real<kOutputs>(to, out.scalar_type(), value);
    }
  }
  return out;
}

}  // namespace
}  // namespace gen_kernels::quantized

namespace torch::executor::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::quantized;

Tensor& quantized_embedding_byte_out(KernelRuntimeContext& context, const Tensor& weight,
                                     const Tensor& weight_scales,
                                     const std::optional<Tensor>& weight_zero_points, int64_t,
                                     int64_t, const Tensor& indices, Tensor& out) {
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<kByte>(context, {weight, weight_scales, zero_points, indices, 8}, std::nullopt,
                          out);
}

Tensor& quantized_embedding_byte_dtype_out(KernelRuntimeContext& context, const Tensor& weight,
                                           const Tensor& weight_scales,
                                           const std::optional<Tensor>& weight_zero_points, int64_t,
                                           int64_t, const Tensor& indices,
                                           std::optional<ScalarType> dtype, Tensor& out) {
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<kByteDtype>(context, {weight, weight_scales, zero_points, indices, 8}, dtype,
                               out);
}

Tensor& quantized_embedding_2bit_out(KernelRuntimeContext& context, const Tensor& weight,
                                     const Tensor& weight_scales,
                                     const std::optional<Tensor>& weight_zero_points,
                                     int64_t weight_quant_min, int64_t weight_quant_max,
                                     const Tensor& indices, Tensor& out) {
  if (weight_quant_min != -2 || weight_quant_max != 1) {
    return fail(context, out);
  }
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<k2Bit>(context, {weight, weight_scales, zero_points, indices, 2}, std::nullopt,
                          out);
}

Tensor& quantized_embedding_2bit_dtype_out(KernelRuntimeContext& context, const Tensor& weight,
                                           const Tensor& weight_scales,
                                           const std::optional<Tensor>& weight_zero_points,
                                           int64_t weight_quant_min, int64_t weight_quant_max,
                                           const Tensor& indices, std::optional<ScalarType> dtype,
                                           Tensor& out) {
  if (weight_quant_min != -2 || weight_quant_max != 1) {
    return fail(context, out);
  }
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<k2BitDtype>(context, {weight, weight_scales, zero_points, indices, 2}, dtype,
                               out);
}

Tensor& quantized_embedding_4bit_out(KernelRuntimeContext& context, const Tensor& weight,
                                     const Tensor& weight_scales,
                                     const std::optional<Tensor>& weight_zero_points,
                                     int64_t weight_quant_min, int64_t weight_quant_max,
                                     const Tensor& indices, Tensor& out) {
  if (weight_quant_min != -8 || weight_quant_max != 7) {
    return fail(context, out);
  }
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<k4Bit>(context, {weight, weight_scales, zero_points, indices, 4}, std::nullopt,
                          out);
}

Tensor& quantized_embedding_4bit_dtype_out(KernelRuntimeContext& context, const Tensor& weight,
                                           const Tensor& weight_scales,
                                           const std::optional<Tensor>& weight_zero_points,
                                           int64_t weight_quant_min, int64_t weight_quant_max,
                                           const Tensor& indices, std::optional<ScalarType> dtype,
                                           Tensor& out) {
  if (weight_quant_min != -8 || weight_quant_max != 7) {
    return fail(context, out);
  }
  const Tensor* zero_points = weight_zero_points.has_value() ? &*weight_zero_points : nullptr;
  return embedding<k4BitDtype>(context, {weight, weight_scales, zero_points, indices, 4}, dtype,
                               out);
}

}  // namespace torch::executor::native
