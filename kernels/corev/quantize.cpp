// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantize_per_tensor, dequantize_per_tensor, by integers on the bits
// of the floats. Scales far from 1 run on the portable kernels.
#include "cortex_m/quantize.h"

#include "corev/scale.h"

namespace gen_kernels::corev {
namespace {

// Numbers as 2^20ths: the product of two mantissas, cut; what the reference's rounding of the
// product to 24 digits can change, and the cut digits, are less than kNear of them.
constexpr int32_t kPlaces = 20;
constexpr uint32_t kNear = 16;

struct Fast {
  uint32_t mantissa;  // of 1 / scale, from bit 31
  uint32_t places;    // less a float's exponent field: the places to shift their product by
  int32_t zero, low, high;

  Fast(float inverse, int32_t zero_, int32_t low_, int32_t high_)
      : mantissa((float_bits(inverse) << 8) | 0x80000000U),
        places(127 + 127 + 30 - kPlaces - (float_bits(inverse) >> 23)),
        zero(zero_),
        low(low_),
        high(high_) {}

  // False: near a half, or not a number; then `quantize` decides.
  GEN_KERNELS_INLINE bool operator()(uint32_t bits, int32_t& result) const {
    const int32_t sign = static_cast<int32_t>(bits) >> 31;
    const uint32_t field = (bits << 1) >> 24;
    const uint32_t shift = places - field;
    int32_t magnitude = 0;
    if (static_cast<int32_t>(shift) < 2) {  // at least 2^9: beyond all results
      if (field == 0xff) {
        return false;
      }
      magnitude = 1 << 9;
    } else if (shift < 32) {
      const auto product =
          static_cast<uint32_t>((uint64_t{(bits << 8) | 0x80000000U} * mantissa) >> 32);
      const uint32_t rounded = (product >> shift) + (1U << (kPlaces - 1)) + kNear;
      if ((rounded << (32 - kPlaces)) < ((2 * kNear) << (32 - kPlaces))) {
        return false;
      }
      magnitude = static_cast<int32_t>(rounded >> kPlaces);
    }
    result = min(max((magnitude ^ sign) - sign + zero, low), high);
    return true;
  }
};

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

Tensor& quantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  if (!cortex_m::prepare_quantize(input, quant_min, quant_max, dtype, out)) {
    return cortex_m::fail(context, out);
  }
  const float inverse = reciprocal(scale);
  const Quantizer exact(inverse, zero_point, quant_min, quant_max);
  if (!is_moderate(inverse) || !is_byte(zero_point)) {
    return cortex_m::quantize(exact, input, out) ? out : cortex_m::fail(context, out);
  }
  GEN_KERNELS_PATH("integers");
  const Fast fast(inverse, static_cast<int32_t>(zero_point), static_cast<int32_t>(quant_min),
                  static_cast<int32_t>(quant_max));
  const Tensor* const inputs[] = {&input};
  const bool ok = cortex_m::walk_rows(out, inputs, 1, [&](const Walk& w) {
    const char* from = w.at[1];
    char* to = w.at[0];
    const ptrdiff_t from_step = w.step(1);
    const ptrdiff_t to_step = w.step(0);
    const Fast near = fast;  // a copy: a byte that is stored could change what lies in memory
    for (size_t left = w.row(); left > 0; --left, from += from_step, to += to_step) {
      const uint32_t bits = *reinterpret_cast<const uint32_t*>(from);
      int32_t result;
      if (!near(bits, result)) {
        result = static_cast<int32_t>(exact(float_from_bits(bits)));
      }
      *to = static_cast<char>(result);
    }
  });
  return ok ? out : cortex_m::fail(context, out);
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t, int64_t, ScalarType dtype,
                                  Tensor& out) {
  if (!cortex_m::prepare_dequantize(input, zero_point, dtype, out)) {
    return cortex_m::fail(context, out);
  }
  const float step = to_float(scale);
  const auto zero = static_cast<int32_t>(zero_point);
  if (!is_moderate(step) || !is_byte(zero_point)) {
    return cortex_m::dequantize(step, zero, input, out) ? out : cortex_m::fail(context, out);
  }
  GEN_KERNELS_PATH("integers");
  const Scale times(step);
  const Tensor* const inputs[] = {&input};
  const bool ok = cortex_m::walk_rows(out, inputs, 1, [&](const Walk& w) {
    const char* from = w.at[1];
    char* to = w.at[0];
    const ptrdiff_t from_step = w.step(1);
    const ptrdiff_t to_step = w.step(0);
    const int32_t offset = zero;
    const Scale exact = times;  // a copy: what is stored could change what lies in memory
    for (size_t left = w.row(); left > 0; --left, from += from_step, to += to_step) {
      *reinterpret_cast<uint32_t*>(to) = exact(static_cast<int8_t>(*from) - offset);
    }
  });
  return ok ? out : cortex_m::fail(context, out);
}

}  // namespace gen_kernels::corev::native
