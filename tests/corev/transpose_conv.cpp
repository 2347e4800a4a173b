// quantized_transpose_conv2d, quantized_transpose_conv2d_nhwc.
#include "harness.h"

OPERATOR(quantized_transpose_conv2d_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         INTS, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&,
         const Tensor&)
OPERATOR(quantized_transpose_conv2d_nhwc_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         INTS, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&,
         const Tensor&)

namespace {

void transpose_conv(Counts& counts, bool nhwc) {
  used = 0;
  const int32_t channels = chance(50) ? 4 * between(1, 3) : between(1, 9);
  const int32_t outputs = between(1, 11);
  int64_t stride[2];
  int64_t padding[2];
  int64_t extra[2];
  int64_t dilation[2];
  int32_t kernel[2];
  int32_t size[2];
  int32_t result[2];
  for (int i = 0; i < 2; ++i) {
    kernel[i] = between(1, 4);
    size[i] = between(1, 5);
    stride[i] = between(1, 3);
    dilation[i] = chance(80) ? 1 : 2;
    do {
      padding[i] = between(0, 2);
      const auto most = static_cast<int32_t>(stride[i] > dilation[i] ? stride[i] : dilation[i]);
      extra[i] = chance(60) ? 0 : between(0, most - 1);
      result[i] = static_cast<int32_t>((size[i] - 1) * stride[i] - 2 * padding[i] +
                                       dilation[i] * (kernel[i] - 1) + extra[i] + 1);
    } while (result[i] < 1);
  }
  const int32_t batch = chance(80) ? 1 : 2;
  const bool last = !nhwc && chance(92);
  Made made[7];
  const int32_t nchw[] = {batch, channels, size[0], size[1]};
  const int32_t physical[] = {batch, size[0], size[1], channels};
  const Tensor input = nhwc ? bytes(made[0], 4, physical) : bytes(made[0], 4, nchw, last);
  const int32_t ohwi[] = {outputs, kernel[0], kernel[1], channels};
  const Tensor weight = bytes(made[1], 4, ohwi);
  std::optional<Tensor> bias;
  if (chance(80)) {
    const bool huge = chance(3);
    bias =
        ints(made[2], outputs, false, huge ? INT32_MIN / 2 : -30000, huge ? INT32_MAX / 2 : 30000);
  }
  const Tensor multipliers = ints(made[3], outputs, true, 0, 0);
  const bool wide = chance(5);
  const Tensor shifts = ints(made[4], outputs, false, wide ? -25 : -11, wide ? 3 : -4);
  const int64_t input_offset = -zero_point();
  const int64_t output_offset = chance(50) ? -128 : zero_point();
  const Bounds limits = bounds();
  const int32_t out_nchw[] = {batch, outputs, result[0], result[1]};
  const int32_t out_physical[] = {batch, result[0], result[1], outputs};
  Tensor out = nhwc ? output(made[5], 4, out_physical, false) : output(made[5], 4, out_nchw, last);
  const int32_t none[] = {0};
  const Tensor scratch = make(made[6], ScalarType::Char, 1, none, false);
#define TRANSPOSE_CONV(kernel)                                                              \
  [&](KernelRuntimeContext& c) {                                                            \
    kernel(c, input, weight, bias, INTS(stride, 2), INTS(padding, 2), INTS(extra, 2),       \
           INTS(dilation, 2), input_offset, output_offset, multipliers, shifts, limits.low, \
           limits.high, scratch, scratch, out);                                             \
  }
  if (nhwc) {
    compare(counts, out, TRANSPOSE_CONV(cortex_m::native::quantized_transpose_conv2d_nhwc_out),
            TRANSPOSE_CONV(gen_kernels::corev::native::quantized_transpose_conv2d_nhwc_out));
  } else {
    compare(counts, out, TRANSPOSE_CONV(cortex_m::native::quantized_transpose_conv2d_out),
            TRANSPOSE_CONV(gen_kernels::corev::native::quantized_transpose_conv2d_out));
  }
}

}  // namespace

int test_transpose_conv() {
  int wrong = 0;
  wrong += many("quantized_transpose_conv2d", [](Counts& c) { transpose_conv(c, false); });
  wrong += many("quantized_transpose_conv2d_nhwc", [](Counts& c) { transpose_conv(c, true); });
  return wrong;
}
