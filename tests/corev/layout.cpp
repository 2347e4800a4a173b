// transpose, pad.
#include "harness.h"

OPERATOR(transpose_out, const Tensor&, INTS)
OPERATOR(pad_out, const Tensor&, INTS, INTS, int64_t)

namespace {

void transpose(Counts& counts) {
  used = 0;
  Made made[2];
  const int32_t rank = between(1, 4);
  int32_t sizes[4];
  int32_t result[4];
  int64_t perm[4];
  for (int32_t d = 0; d < rank; ++d) {
    sizes[d] = between(1, rank == 4 ? 6 : rank == 3 ? 11 : 40);
    const int32_t at = between(0, d);  // a random order
    perm[d] = perm[at];
    perm[at] = d;
  }
  for (int32_t d = 0; d < rank; ++d) {
    result[d] = sizes[perm[d]];
    perm[d] -= chance(20) ? rank : 0;
  }
  const bool last = rank == 4 && chance(40);
  const ScalarType type = chance(70) ? ScalarType::Char : ScalarType::Float;
  const Tensor input = fill(make(made[0], type, rank, sizes, last));
  Tensor out = output(made[1], rank, result, chance(80) ? last : rank == 4 && !last, type);
#define TRANSPOSE(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, input, INTS(perm, static_cast<size_t>(rank)), out); }
  compare(counts, out, TRANSPOSE(cortex_m::native::transpose_out),
          TRANSPOSE(gen_kernels::corev::native::transpose_out));
}

void pad(Counts& counts) {
  used = 0;
  Made made[2];
  const int32_t rank = chance(80) ? 4 : between(1, 3);
  const bool last = rank == 4 && chance(60);
  int32_t sizes[4];
  int32_t result[4];
  int64_t before[4] = {};
  int64_t after[4] = {};
  const bool none = chance(15);
  for (int32_t d = 0; d < rank; ++d) {
    sizes[d] = between(1, rank == 4 && d == 0 ? 2 : rank == 1 ? 60 : 5);
  }
  // As the kernel: images count as channels-last by their order, one channel or one pixel.
  static constexpr int kPhysical[] = {0, 3, 1, 2};
  const bool nhwc = rank == 4 && (last || sizes[1] == 1 || (sizes[2] == 1 && sizes[3] == 1));
  for (int32_t d = 0; d < rank; ++d) {
    const int32_t at = nhwc ? kPhysical[d] : d + 4 - rank;
    before[at] = none ? 0 : between(chance(10) ? -2 : 0, d == 0 ? 1 : 2);
    after[at] = none ? 0 : between(chance(10) ? -2 : 0, d == 0 ? 1 : 2);
    const auto size = static_cast<int32_t>(sizes[d] + before[at] + after[at]);
    result[d] = size < 0 ? 0 : size;
  }
  const Tensor input = bytes(made[0], rank, sizes, last);
  Tensor out = output(made[1], rank, result, last);
  const int64_t value = zero_point();
#define PAD(kernel) \
  [&](KernelRuntimeContext& c) { kernel(c, input, INTS(before, 4), INTS(after, 4), value, out); }
  compare(counts, out, PAD(cortex_m::native::pad_out), PAD(gen_kernels::corev::native::pad_out));
}

}  // namespace

int test_layout() {
  int wrong = 0;
  wrong += many("transpose", [](Counts& c) { transpose(c); });
  wrong += many("pad", [](Counts& c) { pad(c); });
  return wrong;
}
