// cortex_m: quantized_add, quantized_mul, quantized_div, quantized_activation,
// minimum, maximum.
#include "cortex_m/common.h"

namespace cortex_m::native {

using namespace ::gen_kernels;
using ::gen_kernels::cortex_m::fail;
using ::gen_kernels::cortex_m::fits;
using ::gen_kernels::cortex_m::is_int8;
using ::gen_kernels::cortex_m::walk_rows;

namespace {

// CMSIS-NN's left shift of int8 operands before an addition.
constexpr int kAddShift = 20;

// Resizes `out` to the broadcast shape of a and b, then out = f(a, b) element by element.
template <class T, class F>
Tensor& binary(KernelRuntimeContext& context, const Tensor& a, const Tensor& b, Tensor& out, F f) {
  Shape shape = shape_of(a);
  if (a.scalar_type() != kScalarType<T> || b.scalar_type() != kScalarType<T> ||
      out.scalar_type() != kScalarType<T> || !broadcast_into(shape, b.sizes()) ||
      !resize_out(out, shape)) {
    return fail(context, out);
  }
  const Tensor* const inputs[] = {&a, &b};
  const bool ok = walk_rows(out, inputs, 2, [&](const Walk& w) {
    char* to = w.at[0];
    const char* from_a = w.at[1];
    const char* from_b = w.at[2];
    for (size_t i = w.row(); i-- > 0; to += w.step(0), from_a += w.step(1), from_b += w.step(2)) {
      *reinterpret_cast<T*>(to) =
          f(*reinterpret_cast<const T*>(from_a), *reinterpret_cast<const T*>(from_b));
    }
  });
  return ok ? out : fail(context, out);
}

template <class T>
Tensor& divide(KernelRuntimeContext& context, const Tensor& a, int32_t a_zero, const Tensor& b,
               int32_t b_zero, int32_t out_zero, float scale, Tensor& out) {
  return binary<T>(context, a, b, out, [=](int32_t x, int32_t y) {
    const int32_t divisor = y - b_zero;
    const float quotient =
        divisor == 0 ? 0.0F : static_cast<float>(x - a_zero) / static_cast<float>(divisor);
    const float value = round_even(quotient * scale) + static_cast<float>(out_zero);
    constexpr auto kLow = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<T>::max());
    return static_cast<T>(!(value > kLow) ? kLow : value > kHigh ? kHigh : value);
  });
}

}  // namespace

Tensor& quantized_add_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, int64_t self_multiplier, int64_t self_shift,
                          const Tensor& other, int64_t other_zero_point, int64_t other_multiplier,
                          int64_t other_shift, int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, int64_t activation_min, int64_t activation_max,
                          Tensor& out) {
  if (!fits(self_zero_point, self_multiplier, self_shift, other_zero_point, other_multiplier,
            other_shift) ||
      !fits(output_zero_point, output_multiplier, output_shift, activation_min, activation_max)) {
    return fail(context, out);
  }
  struct Operand {
    int32_t zero, multiplier, shift;
    int32_t operator()(int8_t value) const {
      return requantize(wrap_mul(wrap_add(value, -zero), 1 << kAddShift), multiplier, shift);
    }
  };
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  const Operand left{i32(self_zero_point), i32(self_multiplier), i32(self_shift)};
  const Operand right{i32(other_zero_point), i32(other_multiplier), i32(other_shift)};
  const Requant requant{i32(output_zero_point), i32(activation_min), i32(activation_max)};
  const int32_t multiplier = i32(output_multiplier);
  const int32_t shift = i32(output_shift);
  return binary<int8_t>(context, self, other, out, [=](int8_t a, int8_t b) {
    return requant(wrap_add(left(a), right(b)), multiplier, shift);
  });
}

Tensor& quantized_mul_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, const Tensor& other, int64_t other_zero_point,
                          int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, Tensor& out) {
  if (!fits(self_zero_point, other_zero_point, output_zero_point, output_multiplier,
            output_shift)) {
    return fail(context, out);
  }
  const auto a_zero = static_cast<int32_t>(self_zero_point);
  const auto b_zero = static_cast<int32_t>(other_zero_point);
  const Requant requant{static_cast<int32_t>(output_zero_point), INT8_MIN, INT8_MAX};
  const auto multiplier = static_cast<int32_t>(output_multiplier);
  const auto shift = static_cast<int32_t>(output_shift);
  return binary<int8_t>(context, self, other, out, [=](int8_t a, int8_t b) {
    return requant(wrap_mul(wrap_add(a, -a_zero), wrap_add(b, -b_zero)), multiplier, shift);
  });
}

Tensor& quantized_div_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, const Tensor& other, int64_t other_zero_point,
                          int64_t output_zero_point, double output_scale, Tensor& out) {
  constexpr int64_t kExact = 1 << 23;
  const auto exact = [](int64_t zero) { return zero <= kExact && zero >= -kExact; };
  if (!same_shape(self, other) || !exact(self_zero_point) || !exact(other_zero_point) ||
      !exact(output_zero_point)) {
    return fail(context, out);
  }
  const auto a_zero = static_cast<int32_t>(self_zero_point);
  const auto b_zero = static_cast<int32_t>(other_zero_point);
  const auto out_zero = static_cast<int32_t>(output_zero_point);
  const float scale = to_float(output_scale);
  return is_int8(self)
             ? divide<int8_t>(context, self, a_zero, other, b_zero, out_zero, scale, out)
             : divide<int16_t>(context, self, a_zero, other, b_zero, out_zero, scale, out);
}

Tensor& quantized_activation_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& lut, Tensor& out) {
  if (!is_int8(input) || !is_int8(out) || !is_int8(lut) || numel(lut) != 256 ||
      !is_contiguous(lut) || !resize_out_like(out, input)) {
    return fail(context, out);
  }
  const int8_t* table = const_data<int8_t>(lut) + 128;
  const Tensor* const inputs[] = {&input};
  const bool ok = walk_rows(out, inputs, 1, [&](const Walk& w) {
    const auto* from = reinterpret_cast<const int8_t*>(w.at[1]);
    auto* to = reinterpret_cast<int8_t*>(w.at[0]);
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      *to = table[*from];
    }
  });
  return ok ? out : fail(context, out);
}

Tensor& minimum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return binary<int8_t>(context, self, other, out,
                        [](int8_t a, int8_t b) { return a < b ? a : b; });
}

Tensor& maximum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return binary<int8_t>(context, self, other, out,
                        [](int8_t a, int8_t b) { return a > b ? a : b; });
}

}  // namespace cortex_m::native
