// quantized_avg_pool2d, quantized_max_pool2d and their nhwc forms.
#include "harness.h"

OPERATOR(quantized_avg_pool2d_out, const Tensor&, INTS, INTS, INTS, bool, int64_t, int64_t, int64_t,
         const Tensor&)
OPERATOR(quantized_avg_pool2d_nhwc_out, const Tensor&, INTS, INTS, INTS, bool, int64_t, int64_t,
         int64_t, const Tensor&)
OPERATOR(quantized_max_pool2d_out, const Tensor&, INTS, INTS, INTS, INTS, bool, int64_t, int64_t,
         int64_t, int64_t)
OPERATOR(quantized_max_pool2d_nhwc_out, const Tensor&, INTS, INTS, INTS, INTS, bool, int64_t,
         int64_t, int64_t, int64_t)

namespace {

void pool2d(Counts& counts, bool average, bool nhwc) {
  used = 0;
  Made made[3];
  const bool large = chance(4);  // about as many values as whole numbers decide
  const int64_t kernel[] = {large ? between(15, 17) : between(1, 5),
                            large ? between(14, 17) : between(1, 5)};
  const int64_t stride[] = {between(1, 3), between(1, 3)};
  const int64_t padding[] = {between(0, static_cast<int32_t>(kernel[0] / 2)),
                             between(0, static_cast<int32_t>(kernel[1] / 2))};
  int32_t size[2];
  int32_t out_size[2];
  for (int i = 0; i < 2; ++i) {
    const auto least = static_cast<int32_t>(kernel[i]);
    size[i] = chance(30) ? least : between(least, least + 6);
    out_size[i] = static_cast<int32_t>((size[i] + 2 * padding[i] - kernel[i]) / stride[i] + 1);
  }
  const int32_t channels = between(1, large ? 5 : 17);
  const int32_t batch = chance(80) ? 1 : 2;
  const bool last = !nhwc && chance(90);
  const int32_t nchw[] = {batch, channels, size[0], size[1]};
  const int32_t physical[] = {batch, size[0], size[1], channels};
  const int32_t out_nchw[] = {batch, channels, out_size[0], out_size[1]};
  const int32_t out_physical[] = {batch, out_size[0], out_size[1], channels};
  const Tensor input = bytes(made[0], 4, nhwc ? physical : nchw, last);
  Tensor out = output(made[1], 4, nhwc ? out_physical : out_nchw, last);
  const int64_t zero = zero_point();
  const int64_t m = multiplier();
  const int64_t s = between(-10, 1);
  const Bounds limits = bounds();
  const int64_t one[] = {1, 1};
  const INTS k(kernel, 2);
  const INTS st(stride, 2);
  const INTS p(padding, 2);
#define AVERAGE(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, input, k, st, p, false, zero, m, s, input, out); }
#define MAXIMUM(kernel)                                                                        \
  [&](KernelRuntimeContext& c) {                                                               \
    kernel(c, input, k, st, p, INTS(one, 2), false, zero, zero, limits.low, limits.high, out); \
  }
  namespace portable = cortex_m::native;
  namespace corev = gen_kernels::corev::native;
  if (average && nhwc) {
    compare(counts, out, AVERAGE(portable::quantized_avg_pool2d_nhwc_out),
            AVERAGE(corev::quantized_avg_pool2d_nhwc_out));
  } else if (average) {
    compare(counts, out, AVERAGE(portable::quantized_avg_pool2d_out),
            AVERAGE(corev::quantized_avg_pool2d_out));
  } else if (nhwc) {
    compare(counts, out, MAXIMUM(portable::quantized_max_pool2d_nhwc_out),
            MAXIMUM(corev::quantized_max_pool2d_nhwc_out));
  } else {
    compare(counts, out, MAXIMUM(portable::quantized_max_pool2d_out),
            MAXIMUM(corev::quantized_max_pool2d_out));
  }
}

}  // namespace

int test_pool() {
  int wrong = 0;
  wrong += many("quantized_avg_pool2d", [](Counts& c) { pool2d(c, true, false); });
  wrong += many("quantized_avg_pool2d_nhwc", [](Counts& c) { pool2d(c, true, true); });
  wrong += many("quantized_max_pool2d", [](Counts& c) { pool2d(c, false, false); });
  wrong += many("quantized_max_pool2d_nhwc", [](Counts& c) { pool2d(c, false, true); });
  return wrong;
}
