// softmax.
#include "harness.h"

OPERATOR(softmax_out, const Tensor&, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)

namespace {

void softmax(Counts& counts) {
  used = 0;
  Made made[2];
  const int32_t rank = between(1, 4);
  int32_t sizes[4];
  for (int32_t d = 0; d < rank; ++d) {
    sizes[d] = between(1, rank == 1 ? 300 : rank == 2 ? 20 : 7);
  }
  const bool last = rank == 4 && chance(50);
  const Tensor input = bytes(made[0], rank, sizes, last);
  Tensor out = output(made[1], rank, sizes, last);
  const int64_t dim = chance(50) ? -1 : between(-rank, rank - 1);
  const int64_t zero = chance(95) ? zero_point() : between(-1000, 1000);
  const int64_t m = multiplier();
  const int64_t shift = chance(95) ? between(14, 30) : between(-900, 900);
#define SOFTMAX(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, input, dim, zero, -128, m, shift, 0, out); }
  compare(counts, out, SOFTMAX(cortex_m::native::softmax_out),
          SOFTMAX(gen_kernels::corev::native::softmax_out));
}

}  // namespace

int test_softmax() {
  return many("softmax", [](Counts& c) { softmax(c); });
}
