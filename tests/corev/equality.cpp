// Random calls of each CORE-V kernel and of its portable twin: the outputs must be equal, byte for
// byte. The same program runs on the host (instruction models) and on the core.
//
// Prints a line an operator: name, cases, differing cases, cases refused by both, calls that found
// no temporary memory (those run on the portable kernel). Exit code 1 when anything differs.
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <stdio.h>

#include <cstdint>
#include <cstring>
#include <optional>

#ifndef CASES
#define CASES 200
#endif
#ifndef SEED
#define SEED 1
#endif

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;

// A kernel and its twin have one signature; OPERATOR declares both and a pair of pointers.
#define OPERATOR(name, ...)                                  \
  namespace cortex_m::native {                               \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }                                                          \
  namespace gen_kernels::corev::native {                     \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }
#define INTS ArrayRef<int64_t>
#define MAYBE const std::optional<Tensor>&
OPERATOR(quantized_conv2d_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS, int64_t,
         int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_conv2d_nhwc_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS, int64_t,
         int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_depthwise_conv2d_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         int64_t, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_depthwise_conv2d_nhwc_out, const Tensor&, const Tensor&, MAYBE, INTS, INTS, INTS,
         int64_t, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t, const Tensor&)
OPERATOR(quantized_linear_out, const Tensor&, const Tensor&, MAYBE, MAYBE, int64_t, int64_t,
         int64_t, INTS, INTS, int64_t, int64_t)
OPERATOR(quantized_batch_matmul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t,
         int64_t, int64_t, const Tensor&)
OPERATOR(quantized_avg_pool2d_out, const Tensor&, INTS, INTS, INTS, bool, int64_t, int64_t, int64_t,
         const Tensor&)
OPERATOR(quantized_max_pool2d_out, const Tensor&, INTS, INTS, INTS, INTS, bool, int64_t, int64_t,
         int64_t, int64_t)
OPERATOR(quantized_add_out, const Tensor&, int64_t, int64_t, int64_t, const Tensor&, int64_t,
         int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)
OPERATOR(quantized_mul_out, const Tensor&, int64_t, const Tensor&, int64_t, int64_t, int64_t,
         int64_t)
OPERATOR(minimum_out, const Tensor&, const Tensor&)
OPERATOR(maximum_out, const Tensor&, const Tensor&)
OPERATOR(quantized_activation_out, const Tensor&, const Tensor&)

namespace {

uint64_t state = SEED;

uint32_t random32() {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<uint32_t>(state >> 33) ^ static_cast<uint32_t>(state >> 11);
}
int32_t between(int32_t low, int32_t high) {
  return low + static_cast<int32_t>(random32() %
                                    (static_cast<uint32_t>(high) - static_cast<uint32_t>(low) + 1));
}
bool chance(int percent) { return between(0, 99) < percent; }

int64_t zero_point() {
  const int32_t corners[] = {-128, 127, 0, -128, between(-128, 127), between(-128, 127)};
  return corners[between(0, 5)];
}
int32_t multiplier() {
  const int32_t corners[] = {1 << 30, INT32_MAX, (1 << 30) + between(0, 100)};
  return chance(25) ? corners[between(0, 2)]
                    : (1 << 30) + static_cast<int32_t>(random32() & 0x3fffffff);
}

constexpr size_t kPool = 24 * 1024;
alignas(16) uint8_t pool[kPool];
alignas(16) uint8_t temp_pool[16 * 1024];
size_t used = 0;
size_t temp_size = sizeof temp_pool;

// Memory for one case; every tensor's data begins at a random byte.
uint8_t* take(size_t size, bool any_byte) {
  used = (used + 15) & ~size_t{15};
  used += any_byte ? static_cast<size_t>(between(0, 3)) : 0;
  uint8_t* at = pool + used;
  used += size;
  if (used + 64 > kPool) {
    printf("pool too small\n");
    __builtin_trap();
  }
  return at;
}

struct Made {
  TensorImpl::SizesType sizes[4];
  TensorImpl::DimOrderType order[4];
  TensorImpl::StridesType strides[4];
  alignas(TensorImpl) uint8_t impl[sizeof(TensorImpl)];
  size_t bytes;

  TensorImpl* get() { return reinterpret_cast<TensorImpl*>(impl); }
};

// A tensor of `rank` sizes; `last`: an image with its channels (dimension 1) innermost.
Tensor make(Made& made, ScalarType type, int rank, const int32_t* sizes, bool last,
            bool any_byte = true) {
  static constexpr uint8_t kLast[] = {0, 2, 3, 1};
  size_t count = 1;
  for (int i = rank; i-- > 0;) {
    const int d = last ? kLast[i] : i;
    made.order[i] = static_cast<uint8_t>(d);
    made.sizes[d] = sizes[d];
    made.strides[d] = static_cast<int32_t>(count);
    count *= static_cast<size_t>(sizes[d] > 0 ? sizes[d] : 1);
  }
  made.bytes = count * (type == ScalarType::Char ? 1 : 4);
  new (made.impl)
      TensorImpl(type, rank, made.sizes, take(made.bytes, any_byte && type == ScalarType::Char),
                 made.order, made.strides);
  return Tensor(made.get());
}

Tensor fill(const Tensor& t) {
  auto* data = t.mutable_data_ptr<int8_t>();
  const int kind = between(0, 9);
  const int32_t constant = between(-128, 127);
  for (ssize_t i = 0; i < t.numel(); ++i) {
    const int32_t extreme = chance(50) ? -128 : 127;
    data[i] = static_cast<int8_t>(kind == 0 ? constant : kind == 1 ? extreme : between(-128, 127));
  }
  return t;
}

Tensor bytes(Made& made, int rank, const int32_t* sizes, bool last = false) {
  return fill(make(made, ScalarType::Char, rank, sizes, last));
}

struct Counts {
  int cases = 0;
  int wrong = 0;
  int refused = 0;
};

// Runs both kernels on an out tensor like `shape`; a kernel resizes it. Guards lie on both sides.
template <class Kernel>
bool run(Kernel&& kernel, const Tensor& out, uint8_t* copy, size_t size, size_t temp) {
  auto* data = static_cast<uint8_t*>(out.mutable_data_ptr());
  memset(data - 8, 0x5a, size + 16);
  MemoryAllocator allocator(static_cast<uint32_t>(temp), temp_pool);
  memset(temp_pool, 0xa5, sizeof temp_pool);
  KernelRuntimeContext context(nullptr, temp > 0 ? &allocator : nullptr);
  kernel(context);
  memcpy(copy, data - 8, size + 16);
  return context.failure_state() == Error::Ok;
}

template <class Portable, class Corev>
void compare(Counts& counts, const Tensor& out, Portable&& portable, Corev&& corev) {
  const auto size = static_cast<size_t>(out.nbytes());
  static uint8_t first[8 * 1024];
  static uint8_t second[8 * 1024];
  if (size + 16 > sizeof first) {
    __builtin_trap();
  }
  const bool a = run(portable, out, first, size, 0);
  // One call in eight has too little temporary memory.
  const bool b =
      run(corev, out, second, size, chance(12) ? static_cast<size_t>(between(0, 64)) : temp_size);
  ++counts.cases;
  counts.refused += !a && !b ? 1 : 0;
  counts.wrong += a != b || (a && memcmp(first, second, size + 16) != 0) ? 1 : 0;
}

Tensor output(Made& made, int rank, const int32_t* sizes, bool last) {
  take(16, false);
  Tensor out = make(made, ScalarType::Char, rank, sizes, last);
  take(16, false);
  return out;
}

Tensor ints(Made& made, int32_t count, bool multipliers, int32_t low, int32_t high) {
  const int32_t sizes[] = {count};
  Tensor t = make(made, ScalarType::Int, 1, sizes, false);
  for (int32_t i = 0; i < count; ++i) {
    t.mutable_data_ptr<int32_t>()[i] = multipliers ? multiplier() : between(low, high);
  }
  return t;
}

struct Bounds {
  int64_t low = -128;
  int64_t high = 127;
};
Bounds bounds() {
  Bounds b;
  if (chance(30)) {
    b.low = between(-128, 127);
    b.high = between(static_cast<int32_t>(b.low), 127);
  }
  return b;
}

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
    size[i] = between(span > 1 ? span : 1, (span > 1 ? span : 1) + 7);
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

void linear(Counts& counts) {
  used = 0;
  Made made[6];
  const int32_t rows = between(1, 6);
  const int32_t inner = chance(60) ? 4 * between(1, 16) : between(1, 40);
  const int32_t columns = between(1, 20);
  const int32_t left[] = {rows, inner};
  const int32_t right[] = {columns, inner};
  const int32_t result[] = {rows, columns};
  const Tensor x = bytes(made[0], 2, left);
  const Tensor w = bytes(made[1], 2, right);
  std::optional<Tensor> bias;
  std::optional<Tensor> sums;
  const int kind = between(0, 2);
  if (kind == 0) {
    bias = ints(made[2], columns, false, -30000, 30000);
  } else if (kind == 1) {
    sums = ints(made[2], columns, false, -300000, 300000);
  }
  const int64_t offset = chance(40) ? 128 : -zero_point();
  const int64_t filter = chance(90) ? 0 : between(-128, 127);
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

void pool2d(Counts& counts, bool average) {
  used = 0;
  Made made[3];
  const int64_t kernel[] = {between(1, 5), between(1, 5)};
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
  const int32_t channels = between(1, 17);
  const int32_t batch = chance(80) ? 1 : 2;
  const bool last = chance(90);
  const int32_t in_sizes[] = {batch, channels, size[0], size[1]};
  const int32_t out_sizes[] = {batch, channels, out_size[0], out_size[1]};
  const Tensor input = bytes(made[0], 4, in_sizes, last);
  Tensor out = output(made[1], 4, out_sizes, last);
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
  if (average) {
    compare(counts, out, AVERAGE(cortex_m::native::quantized_avg_pool2d_out),
            AVERAGE(gen_kernels::corev::native::quantized_avg_pool2d_out));
  } else {
    compare(counts, out, MAXIMUM(cortex_m::native::quantized_max_pool2d_out),
            MAXIMUM(gen_kernels::corev::native::quantized_max_pool2d_out));
  }
}

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

template <class One>
int many(const char* name, One&& one) {
  Counts counts;
  for (int i = 0; i < CASES; ++i) {
    one(counts);
  }
  printf("%s cases %d wrong %d refused %d\n", name, counts.cases, counts.wrong, counts.refused);
  return counts.wrong;
}

}  // namespace

int main() {
  int wrong = 0;
  wrong += many("quantized_conv2d", [](Counts& c) { convolution(c, false, false); });
  wrong += many("quantized_conv2d_nhwc", [](Counts& c) { convolution(c, false, true); });
  wrong += many("quantized_depthwise_conv2d", [](Counts& c) { convolution(c, true, false); });
  wrong += many("quantized_depthwise_conv2d_nhwc", [](Counts& c) { convolution(c, true, true); });
  wrong += many("quantized_linear", [](Counts& c) { linear(c); });
  wrong += many("quantized_batch_matmul", [](Counts& c) { batch_matmul(c); });
  wrong += many("quantized_avg_pool2d", [](Counts& c) { pool2d(c, true); });
  wrong += many("quantized_max_pool2d", [](Counts& c) { pool2d(c, false); });
  wrong += many("quantized_add", [](Counts& c) { elementwise(c, 0); });
  wrong += many("quantized_mul", [](Counts& c) { elementwise(c, 1); });
  wrong += many("minimum", [](Counts& c) { elementwise(c, 2); });
  wrong += many("maximum", [](Counts& c) { elementwise(c, 3); });
  wrong += many("quantized_activation", [](Counts& c) { elementwise(c, 4); });
  printf("%s\n", wrong == 0 ? "equal" : "DIFFERENT");
  return wrong == 0 ? 0 : 1;
}
