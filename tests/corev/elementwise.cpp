// quantized_add, quantized_mul, minimum, maximum, quantized_activation.
#include "harness.h"

OPERATOR(quantized_add_out, const Tensor&, int64_t, int64_t, int64_t, const Tensor&, int64_t,
         int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)
OPERATOR(quantized_mul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t, int64_t,
         int64_t)
OPERATOR(minimum_out, const Tensor&, const Tensor&)
OPERATOR(maximum_out, const Tensor&, const Tensor&)
OPERATOR(quantized_activation_out, const Tensor&, const Tensor&)

namespace {

void elementwise(Counts& counts, int which) {
  used = 0;
  Made made[4];
  const bool last = chance(50);
  int32_t a_sizes[] = {between(1, 2), between(1, 9), between(1, 5), between(1, 6)};
  int32_t b_sizes[] = {a_sizes[0], a_sizes[1], a_sizes[2], a_sizes[3]};
  if (chance(30)) {
    b_sizes[0] = b_sizes[2] = b_sizes[3] = 1;
  }
  const Tensor a = bytes(made[0], 4, a_sizes, last);
  const Tensor b = bytes(made[1], 4, b_sizes, last);
  const int32_t table_size[] = {256};
  const Tensor table = bytes(made[2], 1, table_size);
  Tensor out = output(made[3], 4, a_sizes, last);
  const int64_t zeros[] = {zero_point(), zero_point(), zero_point()};
  const int64_t m[] = {multiplier(), multiplier(), multiplier()};
  const int64_t s[] = {between(-6, chance(90) ? 0 : 1), between(-6, 0), between(-24, -14)};
  const Bounds limits = bounds();
  const int64_t mul_shift = between(-12, 2);
#define ADD(kernel)                                                                               \
  [&](KernelRuntimeContext& c) {                                                                  \
    kernel(c, a, zeros[0], m[0], s[0], b, zeros[1], m[1], s[1], zeros[2], m[2], s[2], limits.low, \
           limits.high, out);                                                                     \
  }
#define MUL(kernel)                                                      \
  [&](KernelRuntimeContext& c) {                                         \
    kernel(c, a, zeros[0], b, zeros[1], zeros[2], m[2], mul_shift, out); \
  }
#define PLAIN(kernel) [&](KernelRuntimeContext& c) { kernel(c, a, b, out); }
#define TABLE(kernel) [&](KernelRuntimeContext& c) { kernel(c, a, table, out); }
  namespace portable = cortex_m::native;
  namespace corev = gen_kernels::corev::native;
  switch (which) {
    case 0:
      return compare(counts, out, ADD(portable::quantized_add_out), ADD(corev::quantized_add_out));
    case 1:
      return compare(counts, out, MUL(portable::quantized_mul_out), MUL(corev::quantized_mul_out));
    case 2:
      return compare(counts, out, PLAIN(portable::minimum_out), PLAIN(corev::minimum_out));
    case 3:
      return compare(counts, out, PLAIN(portable::maximum_out), PLAIN(corev::maximum_out));
    default:
      return compare(counts, out, TABLE(portable::quantized_activation_out),
                     TABLE(corev::quantized_activation_out));
  }
}

}  // namespace

int test_elementwise() {
  int wrong = 0;
  wrong += many("quantized_add", [](Counts& c) { elementwise(c, 0); });
  wrong += many("quantized_mul", [](Counts& c) { elementwise(c, 1); });
  wrong += many("minimum", [](Counts& c) { elementwise(c, 2); });
  wrong += many("maximum", [](Counts& c) { elementwise(c, 3); });
  wrong += many("quantized_activation", [](Counts& c) { elementwise(c, 4); });
  return wrong;
}
