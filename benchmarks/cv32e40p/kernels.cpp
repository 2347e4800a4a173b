// Cycles of int8 kernels on the core: the CORE-V kernel and its portable twin on the same call.
// Convolutions and matrix products here, the others in others.cpp.
#include "bench.h"

KERNEL(quantized_conv2d_nhwc_out, const Tensor&, const Tensor&, const Maybe&, Ints, Ints, Ints,
       int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
KERNEL(quantized_depthwise_conv2d_nhwc_out, const Tensor&, const Tensor&, const Maybe&, Ints, Ints,
       Ints, int64_t, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t,
       const Tensor&)
KERNEL(quantized_transpose_conv2d_nhwc_out, const Tensor&, const Tensor&, const Maybe&, Ints, Ints,
       Ints, Ints, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&,
       const Tensor&)
KERNEL(quantized_linear_out, const Tensor&, const Tensor&, const Maybe&, const Maybe&, int64_t,
       int64_t, int64_t, Ints, Ints, int64_t, int64_t)
KERNEL(quantized_batch_matmul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t, int64_t,
       int64_t, const Tensor&)

void others();
void functions();

namespace {

struct Size {
  int32_t height, width;
};

void convolution(const char* name, int32_t channels, int32_t outputs, int32_t kernel, Size size,
                 bool depthwise, int32_t shift, int64_t zero) {
  used = 0;
  Made made[6];
  const Tensor x = make(made[0], ScalarType::Char, {1, size.height, size.width, channels});
  const Tensor w = depthwise ? make(made[1], ScalarType::Char, {1, kernel, kernel, outputs})
                             : make(made[1], ScalarType::Char, {outputs, kernel, kernel, channels});
  const Tensor multipliers = make(made[2], ScalarType::Int, {outputs});
  const Tensor shifts = make(made[3], ScalarType::Int, {outputs});
  const Maybe bias = make(made[4], ScalarType::Int, {outputs});
  set(multipliers, 1 << 30, 1U << 30);
  set(shifts, shift, 1);
  set(*bias, -5000, 10000);
  Tensor out = make(made[5], ScalarType::Char, {1, size.height, size.width, outputs});
  const int64_t ones[] = {1, 1};
  const int64_t pads[] = {kernel / 2, kernel / 2};
  const Ints one(ones, 2);
  const Ints pad(pads, 2);
  const auto products = static_cast<uint32_t>(size.height * size.width * outputs * kernel * kernel *
                                              (depthwise ? 1 : channels));
  const size_t bytes = x.nbytes() + w.nbytes() + out.nbytes();
  if (depthwise) {
    measure(name, "mac", products, bytes, out,
            CALL(quantized_depthwise_conv2d_nhwc_out, x, w, bias, one, pad, one, 1, 128, zero,
                 multipliers, shifts, -128, 127, x, out));
  } else {
    measure(name, "mac", products, bytes, out,
            CALL(quantized_conv2d_nhwc_out, x, w, bias, one, pad, one, 128, zero, multipliers,
                 shifts, -128, 127, x, out));
  }
}

// Stride 2: the image becomes twice as large.
void transposed(const char* name, int32_t channels, int32_t outputs, int32_t kernel, int32_t size) {
  used = 0;
  Made made[6];
  const Tensor x = make(made[0], ScalarType::Char, {1, size, size, channels});
  const Tensor w = make(made[1], ScalarType::Char, {outputs, kernel, kernel, channels});
  const Tensor multipliers = make(made[2], ScalarType::Int, {outputs});
  const Tensor shifts = make(made[3], ScalarType::Int, {outputs});
  const Maybe bias = make(made[4], ScalarType::Int, {outputs});
  set(multipliers, 1 << 30, 1U << 30);
  set(shifts, -9, 1);
  set(*bias, -5000, 10000);
  const int32_t pad = (kernel - 1) / 2;
  const int32_t extra = 1 + 2 * pad - (kernel - 1);
  Tensor out = make(made[5], ScalarType::Char, {1, 2 * size, 2 * size, outputs});
  const int64_t twos[] = {2, 2};
  const int64_t pads[] = {pad, pad};
  const int64_t extras[] = {extra, extra};
  const int64_t ones[] = {1, 1};
  const auto products = static_cast<uint32_t>(size * size * outputs * kernel * kernel * channels);
  measure(
      name, "mac", products, x.nbytes() + w.nbytes() + out.nbytes(), out,
      CALL(quantized_transpose_conv2d_nhwc_out, x, w, bias, Ints(twos, 2), Ints(pads, 2),
           Ints(extras, 2), Ints(ones, 2), 128, -128, multipliers, shifts, -128, 127, x, x, out));
}

void linear(const char* name, int32_t inner, int32_t outputs) {
  used = 0;
  Made made[4];
  const Tensor x = make(made[0], ScalarType::Char, {1, inner});
  const Tensor w = make(made[1], ScalarType::Char, {outputs, inner});
  const Maybe bias = make(made[2], ScalarType::Int, {outputs});
  set(*bias, -5000, 10000);
  Tensor out = make(made[3], ScalarType::Char, {1, outputs});
  const int64_t m[] = {1500406475};
  const int64_t s[] = {-9};
  measure(name, "mac", static_cast<uint32_t>(inner * outputs),
          x.nbytes() + w.nbytes() + out.nbytes(), out,
          CALL(quantized_linear_out, x, w, bias, Maybe(), 128, 0, -128, Ints(m, 1), Ints(s, 1), 127,
               -128, out));
}

void matmul(const char* name, int32_t rows, int32_t inner, int32_t columns, int64_t right_zero) {
  used = 0;
  Made made[3];
  const Tensor x = make(made[0], ScalarType::Char, {1, rows, inner});
  const Tensor w = make(made[1], ScalarType::Char, {1, columns, inner});
  Tensor out = make(made[2], ScalarType::Char, {1, rows, columns});
  measure(name, "mac", static_cast<uint32_t>(rows * inner * columns),
          x.nbytes() + w.nbytes() + out.nbytes(), out,
          CALL(quantized_batch_matmul_out, x, 3, w, right_zero, -4, 1500406475, -10, x, out));
}

void products() {
  transposed("transpose_conv_3x3_32_to_32", 32, 32, 3, 8);
  transposed("transpose_conv_4x4_16_to_16", 16, 16, 4, 10);
  matmul("batch_matmul_32_64_32", 32, 64, 32, 0);
  matmul("batch_matmul_32_64_32_zero_points", 32, 64, 32, -5);
}

}  // namespace

int main() {
  convolution("conv_3x3_32_to_32", 32, 32, 3, {8, 8}, false, -9, -128);
  convolution("conv_3x3_64_to_64", 64, 64, 3, {6, 6}, false, -9, -128);
  convolution("conv_3x3_32_to_32_no_relu", 32, 32, 3, {8, 8}, false, -9, 5);
  convolution("conv_1x1_32_to_32", 32, 32, 1, {12, 12}, false, -8, -128);
  convolution("conv_1x1_64_to_64", 64, 64, 1, {10, 10}, false, -8, -128);
  convolution("conv_1x1_32_to_32_25x5", 32, 32, 1, {25, 5}, false, -8, -128);
  convolution("conv_1x1_64_to_64_25x5", 64, 64, 1, {25, 5}, false, -8, -128);
  convolution("conv_1x1_32_to_32_16x16", 32, 32, 1, {16, 16}, false, -8, -128);
  convolution("conv_1x1_64_to_64_16x16", 64, 64, 1, {16, 16}, false, -8, -128);
  convolution("conv_1x1_32_to_32_16x16_shift_7", 32, 32, 1, {16, 16}, false, -7, -128);
  convolution("conv_1x1_128_to_128", 128, 128, 1, {6, 6}, false, -8, -128);
  convolution("conv_1x1_256_to_64", 256, 64, 1, {6, 6}, false, -9, -128);
  convolution("depthwise_3x3_32", 32, 32, 3, {16, 16}, true, -6, -128);
  convolution("depthwise_3x3_16_large", 16, 16, 3, {30, 30}, true, -6, -128);
  convolution("depthwise_3x3_32_shift_8", 32, 32, 3, {16, 16}, true, -8, -128);
  convolution("depthwise_3x3_32_no_relu", 32, 32, 3, {16, 16}, true, -6, 5);
  linear("linear_64_to_12", 64, 12);
  linear("linear_256_to_64", 256, 64);
  linear("linear_512_to_64", 512, 64);
  linear("linear_1024_to_64", 1024, 64);
  products();
  others();
  functions();
  return 0;
}
