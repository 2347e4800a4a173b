// Pools, element-wise kernels, and what moves bytes: cycles a result.
#include "bench.h"

KERNEL(quantized_avg_pool2d_nhwc_out, const Tensor&, Ints, Ints, Ints, bool, int64_t, int64_t,
       int64_t, const Tensor&)
KERNEL(quantized_max_pool2d_nhwc_out, const Tensor&, Ints, Ints, Ints, Ints, bool, int64_t, int64_t,
       int64_t, int64_t)
KERNEL(quantized_add_out, const Tensor&, int64_t, int64_t, int64_t, const Tensor&, int64_t, int64_t,
       int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)
KERNEL(quantized_mul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t, int64_t, int64_t)
KERNEL(minimum_out, const Tensor&, const Tensor&)
KERNEL(quantized_activation_out, const Tensor&, const Tensor&)
KERNEL(quantize_per_tensor_out, const Tensor&, double, int64_t, int64_t, int64_t, ScalarType)
KERNEL(dequantize_per_tensor_out, const Tensor&, double, int64_t, int64_t, int64_t, ScalarType)
KERNEL(softmax_out, const Tensor&, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)
KERNEL(transpose_out, const Tensor&, Ints)
KERNEL(pad_out, const Tensor&, Ints, Ints, int64_t)

namespace {

template <class A, class B>
void each(const char* name, const Tensor& in, const Tensor& out, A&& a, B&& b) {
  measure(name, "element", static_cast<uint32_t>(out.numel()), in.nbytes() + out.nbytes(), out, a,
          b);
}

void pooling(const char* name, bool average, int32_t channels, int32_t size, int64_t kernel) {
  used = 0;
  Made made[2];
  const auto result = static_cast<int32_t>(size / kernel);
  const Tensor x = make(made[0], ScalarType::Char, {1, size, size, channels});
  Tensor out = make(made[1], ScalarType::Char, {1, result, result, channels});
  const int64_t kernels[] = {kernel, kernel};
  const int64_t zeros[] = {0, 0};
  const int64_t ones[] = {1, 1};
  const Ints k(kernels, 2);
  const Ints none(zeros, 2);
  if (average) {
    each(name, x, out,
         CALL(quantized_avg_pool2d_nhwc_out, x, k, k, none, false, -128, 1814813824, -5, x, out));
  } else {
    each(name, x, out,
         CALL(quantized_max_pool2d_nhwc_out, x, k, k, none, Ints(ones, 2), false, -128, -128, -128,
              127, out));
  }
}

void pairs() {
  used = 0;
  Made made[4];
  const Tensor a = make(made[0], ScalarType::Char, {1, 64, 64});
  const Tensor b = make(made[1], ScalarType::Char, {1, 64, 64});
  const Tensor table = make(made[2], ScalarType::Char, {256});
  Tensor out = make(made[3], ScalarType::Char, {1, 64, 64});
  each("add", a, out,
       CALL(quantized_add_out, a, 3, 1500406475, -1, b, -4, 1300000000, -2, 5, 1400000000, -17,
            -128, 127, out));
  each("mul", a, out, CALL(quantized_mul_out, a, 3, b, -4, 5, 1500406475, -7, out));
  each("minimum", a, out, CALL(minimum_out, a, b, out));
  each("activation", a, out, CALL(quantized_activation_out, a, table, out));
}

void floats() {
  used = 0;
  Made made[3];
  const Tensor x = make(made[0], ScalarType::Float, {1, 1000});
  Tensor q = make(made[1], ScalarType::Char, {1, 1000});
  Tensor y = make(made[2], ScalarType::Float, {1, 1000});
  for (ssize_t i = 0; i < x.numel(); ++i) {
    x.mutable_data_ptr<float>()[i] =
        static_cast<float>(static_cast<int32_t>(next() & 0xffff) - 0x8000) * 0.01F;
  }
  each("quantize", x, q,
       CALL(quantize_per_tensor_out, x, 2.822781801223755, 68, -128, 127, ScalarType::Char, q));
  each("dequantize", q, y,
       CALL(dequantize_per_tensor_out, q, 0.15429316461086273, 23, -128, 127, ScalarType::Char, y));
}

void moves() {
  used = 0;
  Made made[4];
  const Tensor x = make(made[0], ScalarType::Char, {1, 25, 5, 64});
  Tensor same = make(made[1], ScalarType::Char, {1, 25, 5, 64});
  Tensor turned = make(made[2], ScalarType::Char, {1, 64, 25, 5});
  Tensor wider = make(made[3], ScalarType::Char, {1, 27, 7, 64});
  each("softmax_rows_of_64", x, same, CALL(softmax_out, x, 3, 5, -128, 1500406475, 22, 0, same));
  const int64_t perm[] = {0, 3, 1, 2};
  each("transpose_nhwc_to_nchw", x, turned, CALL(transpose_out, x, Ints(perm, 4), turned));
  const int64_t pads[] = {0, 1, 1, 0};
  const int64_t none[] = {0, 0, 0, 0};
  each("pad_nothing", x, same, CALL(pad_out, x, Ints(none, 4), Ints(none, 4), -128, same));
  each("pad_border", x, wider, CALL(pad_out, x, Ints(pads, 4), Ints(pads, 4), -128, wider));
}

}  // namespace

void others() {
  pooling("avg_pool_2x2_32", true, 32, 16, 2);
  pooling("avg_pool_12x12_64", true, 64, 12, 12);
  pooling("max_pool_2x2_32", false, 32, 16, 2);
  pairs();
  floats();
  moves();
}
