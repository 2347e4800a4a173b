// quantize_per_tensor, dequantize_per_tensor.
#include <cmath>

#include "harness.h"

OPERATOR(quantize_per_tensor_out, const Tensor&, double, int64_t, int64_t, int64_t, ScalarType)
OPERATOR(dequantize_per_tensor_out, const Tensor&, double, int64_t, int64_t, int64_t, ScalarType)

namespace {

float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// A scale as models have it, sometimes a power of two, sometimes any double.
double any_scale() {
  const int kind = between(0, 19);
  if (kind == 0) {
    const uint64_t bits = uint64_t{random32()} << 32 | random32();
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  const double value = kind < 5 ? 1.0 : 1.0 + random32() * 0x1p-32;
  return std::ldexp(value, between(-12, 4));
}

// Floats around the range, halves and their neighbours, any bits.
float any_float(double scale) {
  const int kind = between(0, 15);
  if (kind == 0) {
    return from_bits(random32());
  }
  if (kind == 1) {
    static constexpr uint32_t kSpecial[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                            0x7fc00000, 0xffc00001, 1,          0x80000001,
                                            0x7f7fffff, 0x00800000, 0x7f800001};
    return from_bits(kSpecial[between(0, 10)]);
  }
  const double step = kind < 8 ? between(-600, 600) * 0.5 : between(-300000, 300000) * 0.001;
  const auto value = static_cast<float>(step * scale);
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return kind < 6 ? from_bits(bits + static_cast<uint32_t>(between(-2, 2))) : value;
}

void quantize(Counts& counts) {
  used = 0;
  Made made[2];
  const int32_t sizes[] = {between(1, 2), between(1, 9), between(1, 5), between(1, 6)};
  const bool last = chance(50);
  const Tensor input = make(made[0], ScalarType::Float, 4, sizes, last);
  const double scale = any_scale();
  for (ssize_t i = 0; i < input.numel(); ++i) {
    input.mutable_data_ptr<float>()[i] = any_float(scale);
  }
  Tensor out = output(made[1], 4, sizes, chance(90) ? last : !last);
  const int64_t zero = chance(95) ? zero_point() : between(-1000, 1000);
  const Bounds limits = bounds();
#define QUANTIZE(kernel)                                                           \
  [&](KernelRuntimeContext& c) {                                                   \
    kernel(c, input, scale, zero, limits.low, limits.high, ScalarType::Char, out); \
  }
  compare(counts, out, QUANTIZE(cortex_m::native::quantize_per_tensor_out),
          QUANTIZE(gen_kernels::corev::native::quantize_per_tensor_out));
}

void dequantize(Counts& counts) {
  used = 0;
  Made made[2];
  const int32_t sizes[] = {between(1, 2), between(1, 9), between(1, 5), between(1, 6)};
  const bool last = chance(50);
  const Tensor input = bytes(made[0], 4, sizes, last);
  const double scale = any_scale();
  Tensor out = output(made[1], 4, sizes, chance(90) ? last : !last, ScalarType::Float);
  const int64_t zero = chance(95) ? zero_point() : between(-1000, 1000);
#define DEQUANTIZE(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, input, scale, zero, -128, 127, ScalarType::Char, out); }
  compare(counts, out, DEQUANTIZE(cortex_m::native::dequantize_per_tensor_out),
          DEQUANTIZE(gen_kernels::corev::native::dequantize_per_tensor_out));
}

}  // namespace

int test_quantize() {
  int wrong = 0;
  wrong += many("quantize_per_tensor", [](Counts& c) { quantize(c); });
  wrong += many("dequantize_per_tensor", [](Counts& c) { dequantize(c); });
  return wrong;
}
