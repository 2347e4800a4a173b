// Random calls of each CORE-V kernel and of its portable twin: the outputs must be equal, byte for
// byte. The same program runs on the host (instruction models) and on the core.
//
// What the operator families share: random numbers, tensors in a pool, the comparison.
#pragma once

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

// A kernel and its twin have one signature; OPERATOR declares both.
#define OPERATOR(name, ...)                                  \
  namespace cortex_m::native {                               \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }                                                          \
  namespace gen_kernels::corev::native {                     \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }
#define INTS ArrayRef<int64_t>
#define MAYBE const std::optional<Tensor>&

inline uint64_t state = SEED;

inline uint32_t random32() {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<uint32_t>(state >> 33) ^ static_cast<uint32_t>(state >> 11);
}
inline int32_t between(int32_t low, int32_t high) {
  return low + static_cast<int32_t>(random32() %
                                    (static_cast<uint32_t>(high) - static_cast<uint32_t>(low) + 1));
}
inline bool chance(int percent) { return between(0, 99) < percent; }

inline int64_t zero_point() {
  const int32_t corners[] = {-128, 127, 0, -128, between(-128, 127), between(-128, 127)};
  return corners[between(0, 5)];
}
inline int32_t multiplier() {
  const int32_t corners[] = {1 << 30, INT32_MAX, (1 << 30) + between(0, 100)};
  return chance(25) ? corners[between(0, 2)]
                    : (1 << 30) + static_cast<int32_t>(random32() & 0x3fffffff);
}

inline constexpr size_t kPool = 256 * 1024;
alignas(16) inline uint8_t pool[kPool];
alignas(16) inline uint8_t temp_pool[32 * 1024];
inline size_t used = 0;
inline size_t temp_size = sizeof temp_pool;

// Memory for one case; every tensor's data begins at a random byte.
inline uint8_t* take(size_t size, bool any_byte) {
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
inline Tensor make(Made& made, ScalarType type, int rank, const int32_t* sizes, bool last,
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

inline Tensor fill(const Tensor& t) {
  auto* data = t.mutable_data_ptr<int8_t>();
  const int kind = between(0, 9);
  const int32_t constant = between(-128, 127);
  for (size_t i = 0; i < t.nbytes(); ++i) {
    const int32_t extreme = chance(50) ? -128 : 127;
    data[i] = static_cast<int8_t>(kind == 0 ? constant : kind == 1 ? extreme : between(-128, 127));
  }
  return t;
}

inline Tensor bytes(Made& made, int rank, const int32_t* sizes, bool last = false) {
  return fill(make(made, ScalarType::Char, rank, sizes, last));
}

struct Counts {
  int cases = 0;
  int wrong = 0;
  int refused = 0;
};

// Runs both kernels on an out tensor like `shape`; a kernel resizes it. Guards lie on both sides.
template <class Kernel>
inline bool run(Kernel&& kernel, const Tensor& out, uint8_t* copy, size_t size, size_t temp) {
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
  static uint8_t first[96 * 1024];
  static uint8_t second[96 * 1024];
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

inline Tensor output(Made& made, int rank, const int32_t* sizes, bool last,
                     ScalarType type = ScalarType::Char) {
  take(16, false);
  Tensor out = make(made, type, rank, sizes, last);
  take(16, false);
  return out;
}

inline Tensor ints(Made& made, int32_t count, bool multipliers, int32_t low, int32_t high) {
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
inline Bounds bounds() {
  Bounds b;
  if (chance(30)) {
    b.low = between(-128, 127);
    b.high = between(static_cast<int32_t>(b.low), 127);
  }
  return b;
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
