// quantized_conv2d, quantized_conv2d_nhwc, quantized_depthwise_conv2d,
// quantized_depthwise_conv2d_nhwc.
#include "harness.h"

OPERATOR(quantized_conv2d_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS, int64_t,
         int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_conv2d_nhwc_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS, int64_t,
         int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_depthwise_conv2d_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         int64_t, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_depthwise_conv2d_nhwc_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         int64_t, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)

namespace {

void convolution(Counts& counts, bool depthwise, bool nhwc) {
  used = 0;
  const int32_t groups = depthwise || chance(70) ? 1 : between(2, 3);
  const int32_t inner = chance(50) ? 4 * between(1, 4) : between(1, 11);
  int32_t channels = groups * inner;
  int32_t outputs = groups * between(1, 13);
  int32_t kernel[] = {between(1, 4), between(1, 5)};
  if (chance(50)) {
    kernel[0] = kernel[1] = chance(50) ? 1 : 3;
  }
  if (depthwise) {
    channels = chance(20) ? 1 : between(1, 13);
    outputs = channels * (chance(70) ? 1 : between(1, channels == 1 ? 12 : 3));
  }
  const bool plain = chance(40);
  const int64_t stride[] = {plain ? 1 : between(1, 3), plain ? 1 : between(1, 3)};
  const int64_t padding[] = {plain ? kernel[0] / 2 : between(0, 3),
                             plain ? kernel[1] / 2 : between(0, 3)};
  const int64_t dilation[] = {plain || chance(70) ? 1 : 2, plain || chance(70) ? 1 : 2};
  const int32_t batch = chance(80) ? 1 : 2;
  int32_t size[2];
  int32_t out_size[2];
  for (int i = 0; i < 2; ++i) {
    const auto span = static_cast<int32_t>(dilation[i] * (kernel[i] - 1) + 1 - 2 * padding[i]);
    size[i] =
        between(span > 1 ? span : 1, (span > 1 ? span : 1) + (depthwise && chance(10) ? 25 : 7));
    out_size[i] = static_cast<int32_t>((size[i] - span) / stride[i] + 1);
  }
  Made made[7];
  const int32_t nchw[] = {batch, channels, size[0], size[1]};
  const int32_t physical[] = {batch, size[0], size[1], channels};
  const bool last = !nhwc && chance(92);
  const Tensor input = nhwc ? bytes(made[0], 4, physical) : bytes(made[0], 4, nchw, last);
  const int32_t ohwi[] = {depthwise ? 1 : outputs, kernel[0], kernel[1],
                          depthwise ? outputs : inner};
  const Tensor weight = bytes(made[1], 4, ohwi);
  const bool huge = chance(3);
  std::optional<Tensor> bias;
  if (chance(80)) {
    bias =
        ints(made[2], outputs, false, huge ? INT32_MIN / 2 : -30000, huge ? INT32_MAX / 2 : 30000);
  }
  const Tensor multipliers = ints(made[3], outputs, true, 0, 0);
  const bool wide = chance(5);
  const Tensor shifts = ints(made[4], outputs, false, wide ? -25 : -11, wide ? 3 : -4);
  const int64_t input_offset = -zero_point();
  const int64_t output_offset = chance(50) ? -128 : zero_point();
  const Bounds limits = bounds();
  const int32_t out_nchw[] = {batch, outputs, out_size[0], out_size[1]};
  const int32_t out_physical[] = {batch, out_size[0], out_size[1], outputs};
  Tensor out = nhwc ? output(made[5], 4, out_physical, false) : output(made[5], 4, out_nchw, last);
  const int32_t none[] = {0};
  const Tensor scratch = make(made[6], ScalarType::Char, 1, none, false);
  const INTS s(stride, 2);
  const INTS p(padding, 2);
  const INTS d(dilation, 2);
#define CONV(kernel)                                                                          \
  [&](KernelRuntimeContext& c) {                                                              \
    kernel(c, input, weight, bias, s, p, d, input_offset, output_offset, multipliers, shifts, \
           limits.low, limits.high, scratch, out);                                            \
  }
#define DEPTHWISE(kernel)                                                                    \
  [&](KernelRuntimeContext& c) {                                                             \
    kernel(c, input, weight, bias, s, p, d, outputs / channels, input_offset, output_offset, \
           multipliers, shifts, limits.low, limits.high, scratch, out);                      \
  }
  namespace portable = cortex_m::native;
  namespace corev = gen_kernels::corev::native;
  if (depthwise && nhwc) {
    compare(counts, out, DEPTHWISE(portable::quantized_depthwise_conv2d_nhwc_out),
            DEPTHWISE(corev::quantized_depthwise_conv2d_nhwc_out));
  } else if (depthwise) {
    compare(counts, out, DEPTHWISE(portable::quantized_depthwise_conv2d_out),
            DEPTHWISE(corev::quantized_depthwise_conv2d_out));
  } else if (nhwc) {
    compare(counts, out, CONV(portable::quantized_conv2d_nhwc_out),
            CONV(corev::quantized_conv2d_nhwc_out));
  } else {
    compare(counts, out, CONV(portable::quantized_conv2d_out), CONV(corev::quantized_conv2d_out));
  }
}

}  // namespace

int test_conv() {
  int wrong = 0;
  wrong += many("quantized_conv2d", [](Counts& c) { convolution(c, false, false); });
  wrong += many("quantized_conv2d_nhwc", [](Counts& c) { convolution(c, false, true); });
  wrong += many("quantized_depthwise_conv2d", [](Counts& c) { convolution(c, true, false); });
  wrong += many("quantized_depthwise_conv2d_nhwc", [](Counts& c) { convolution(c, true, true); });
  return wrong;
}
