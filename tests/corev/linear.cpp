// quantized_linear, quantized_batch_matmul.
#include "harness.h"

OPERATOR(quantized_linear_out, const Tensor&, const Tensor&, MAYBE, MAYBE, int64_t, int64_t,
         int64_t, INTS, INTS, int64_t, int64_t)
OPERATOR(quantized_batch_matmul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t,
         int64_t, int64_t, const Tensor&)

namespace {

void linear(Counts& counts) {
  used = 0;
  Made made[6];
  const bool few = chance(30);  // columns of a row, of inputs from -128 or from 0 on
  const int32_t rows = few ? 1 : between(1, 6);
  const int32_t inner = few || chance(60) ? 4 * between(1, 16) : between(1, 40);
  const int32_t columns = few ? between(4, 16) : between(1, chance(80) ? 20 : 40);
  const int32_t left[] = {rows, inner};
  const int32_t right[] = {columns, inner};
  const int32_t result[] = {rows, columns};
  const Tensor x = bytes(made[0], 2, left);
  const Tensor w = bytes(made[1], 2, right);
  std::optional<Tensor> bias;
  std::optional<Tensor> sums;
  const int kind = few ? 0 : between(0, 2);
  if (kind == 0) {
    const bool huge = chance(10);
    bias =
        ints(made[2], columns, false, huge ? INT32_MIN / 2 : -30000, huge ? INT32_MAX / 2 : 30000);
  } else if (kind == 1) {
    sums = ints(made[2], columns, false, -300000, 300000);
  }
  const int64_t offset = few && chance(70) ? 128 : few ? 0 : chance(40) ? 128 : -zero_point();
  const int64_t filter = few || chance(90) ? 0 : between(-128, 127);
  const int64_t zero = zero_point();
  const int64_t m[] = {multiplier()};
  const int64_t s[] = {between(-12, chance(90) ? -1 : 2)};
  const Bounds limits = bounds();
  Tensor out = output(made[3], 2, result, false);
#define LINEAR(kernel)                                                                     \
  [&](KernelRuntimeContext& c) {                                                           \
    kernel(c, x, w, bias, sums, offset, filter, zero, INTS(m, 1), INTS(s, 1), limits.high, \
           limits.low, out);                                                               \
  }
  compare(counts, out, LINEAR(cortex_m::native::quantized_linear_out),
          LINEAR(gen_kernels::corev::native::quantized_linear_out));
}

void batch_matmul(Counts& counts) {
  used = 0;
  Made made[4];
  const int32_t batch = between(1, 3);
  const int32_t rows = between(1, 6);
  const int32_t inner = chance(60) ? 4 * between(1, 10) : between(1, 40);
  const int32_t columns = between(1, 12);
  const int32_t left[] = {batch, rows, inner};
  const int32_t right[] = {batch, columns, inner};
  const int32_t result[] = {batch, rows, columns};
  const Tensor a = bytes(made[0], 3, left);
  const Tensor b = bytes(made[1], 3, right);
  const int64_t a_offset = chance(30) ? 128 : -zero_point();
  const int64_t b_offset = chance(60) ? 0 : -zero_point();
  const int64_t zero = zero_point();
  const int64_t m = multiplier();
  const int64_t s = between(-12, 0);
  Tensor out = output(made[2], 3, result, false);
  const int32_t none[] = {0};
  const Tensor scratch = make(made[3], ScalarType::Char, 1, none, false);
#define MATMUL(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, a, a_offset, b, b_offset, zero, m, s, scratch, out); }
  compare(counts, out, MATMUL(cortex_m::native::quantized_batch_matmul_out),
          MATMUL(gen_kernels::corev::native::quantized_batch_matmul_out));
}

}  // namespace

int test_linear() {
  int wrong = 0;
  wrong += many("quantized_linear", [](Counts& c) { linear(c); });
  wrong += many("quantized_batch_matmul", [](Counts& c) { batch_matmul(c); });
  return wrong;
}
