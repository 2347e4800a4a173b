// What the measurements share: tensors in a pool, both kernels on the same call.
#pragma once

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <stdio.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

#include "platform.h"

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;
using Ints = ArrayRef<int64_t>;
using Maybe = std::optional<Tensor>;

alignas(16) inline uint8_t pool[192 * 1024];
alignas(16) inline uint8_t temp[64 * 1024];
inline uint8_t first[16 * 1024];
inline size_t used = 0;
inline uint32_t seed = 1;

struct Made {
  int32_t sizes[4], strides[4];
  uint8_t order[4];
  alignas(TensorImpl) uint8_t impl[sizeof(TensorImpl)];
};

inline uint32_t next() {  // xorshift32, as published by Marsaglia
  seed ^= seed << 13;
  seed ^= seed >> 17;
  return seed ^= seed << 5;
}

inline Tensor make(Made& made, ScalarType type, std::initializer_list<int32_t> sizes) {
  int32_t count = 1;
  const auto rank = static_cast<int>(sizes.size());
  for (int d = rank; d-- > 0;) {
    made.order[d] = static_cast<uint8_t>(d);
    made.sizes[d] = sizes.begin()[d];
    made.strides[d] = count;
    count *= made.sizes[d];
  }
  const size_t size = static_cast<size_t>(count) * (type == ScalarType::Char ? 1 : 4);
  uint8_t* data = pool + used;
  used += (size + 15) & ~size_t{15};
  for (size_t i = 0; i < size; ++i) {
    data[i] = static_cast<uint8_t>(next());
  }
  return Tensor(new (made.impl) TensorImpl(type, rank, made.sizes, data, made.order, made.strides));
}

inline void set(const Tensor& t, int32_t low, uint32_t span) {
  for (ssize_t i = 0; i < t.numel(); ++i) {
    t.mutable_data_ptr<int32_t>()[i] = low + static_cast<int32_t>(next() % span);
  }
}

struct Cost {
  unsigned long cycles, instructions;
};

template <class F>
Cost cost(F&& call) {
  MemoryAllocator allocator(sizeof temp, temp);
  KernelRuntimeContext context(nullptr, &allocator);
  const uint64_t cycles = platform_cycles();
  const uint64_t instructions = platform_instret();
  call(context);
  return {static_cast<unsigned long>(platform_cycles() - cycles),
          static_cast<unsigned long>(platform_instret() - instructions)};
}

// Prints "kernel <name> <kind> <work> <bytes> <portable cycles, instructions> <CORE-V cycles,
// instructions> <equal>"; the work is products ("mac") or results ("element").
template <class A, class B>
void measure(const char* name, const char* kind, uint32_t work, size_t bytes, const Tensor& out,
             A&& a, B&& b) {
  const Cost slow = cost(a);
  const size_t size = out.nbytes();
  memcpy(first, out.const_data_ptr(), size);
  memset(out.mutable_data_ptr(), 0, size);
  const Cost fast = cost(b);
  const bool equal = memcmp(first, out.const_data_ptr(), size) == 0;
  printf("kernel %s %s %lu %lu %lu %lu %lu %lu %d\n", name, kind, static_cast<unsigned long>(work),
         static_cast<unsigned long>(bytes), slow.cycles, slow.instructions, fast.cycles,
         fast.instructions, equal);
}

// A call of both kernels: CALL(name, arguments...).
#define CALL(name, ...)                                                     \
  [&](KernelRuntimeContext& c) { cortex_m::native::name(c, __VA_ARGS__); }, \
      [&](KernelRuntimeContext& c) { gen_kernels::corev::native::name(c, __VA_ARGS__); }

// Declares a kernel and its twin, which have one signature.
#define KERNEL(name, ...)                                    \
  namespace cortex_m::native {                               \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }                                                          \
  namespace gen_kernels::corev::native {                     \
  Tensor& name(KernelRuntimeContext&, __VA_ARGS__, Tensor&); \
  }
