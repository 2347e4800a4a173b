// Cycles of int8 kernels on the core: the CORE-V kernel and its portable twin on the same call.
// Prints "kernel <name> <products> <bytes moved> <portable cycles> <CORE-V cycles> <equal>".
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

using Conv = Tensor&(KernelRuntimeContext&, const Tensor&, const Tensor&, const Maybe&, Ints, Ints,
                     Ints, int64_t, int64_t, const Tensor&, const Tensor&, int64_t, int64_t,
                     const Tensor&, Tensor&);
using Depthwise = Tensor&(KernelRuntimeContext&, const Tensor&, const Tensor&, const Maybe&, Ints,
                          Ints, Ints, int64_t, int64_t, int64_t, const Tensor&, const Tensor&,
                          int64_t, int64_t, const Tensor&, Tensor&);
using Linear = Tensor&(KernelRuntimeContext&, const Tensor&, const Tensor&, const Maybe&,
                       const Maybe&, int64_t, int64_t, int64_t, Ints, Ints, int64_t, int64_t,
                       Tensor&);
namespace cortex_m::native {
Conv quantized_conv2d_nhwc_out;
Depthwise quantized_depthwise_conv2d_nhwc_out;
Linear quantized_linear_out;
}  // namespace cortex_m::native
namespace gen_kernels::corev::native {
Conv quantized_conv2d_nhwc_out;
Depthwise quantized_depthwise_conv2d_nhwc_out;
Linear quantized_linear_out;
}  // namespace gen_kernels::corev::native
namespace portable = cortex_m::native;
namespace corev = gen_kernels::corev::native;

namespace {

alignas(16) uint8_t pool[192 * 1024];
alignas(16) uint8_t temp[64 * 1024];
uint8_t first[16 * 1024];
size_t used = 0;
uint32_t seed = 1;

struct Made {
  int32_t sizes[4], strides[4];
  uint8_t order[4];
  alignas(TensorImpl) uint8_t impl[sizeof(TensorImpl)];
};

uint32_t next() { return (seed = seed * 1664525U + 1013904223U) >> 8; }

Tensor make(Made& made, ScalarType type, std::initializer_list<int32_t> sizes) {
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

void set(const Tensor& t, int32_t low, uint32_t span) {
  for (ssize_t i = 0; i < t.numel(); ++i) {
    t.mutable_data_ptr<int32_t>()[i] = low + static_cast<int32_t>(next() % span);
  }
}

template <class F>
uint64_t cycles(F&& call) {
  MemoryAllocator allocator(sizeof temp, temp);
  KernelRuntimeContext context(nullptr, &allocator);
  const uint64_t start = platform_cycles();
  call(context);
  return platform_cycles() - start;
}

template <class A, class B>
void measure(const char* name, uint32_t products, size_t bytes, const Tensor& out, A&& a, B&& b) {
  const uint64_t slow = cycles(a);
  const size_t size = out.nbytes();
  memcpy(first, out.const_data_ptr(), size);
  memset(out.mutable_data_ptr(), 0, size);
  const uint64_t fast = cycles(b);
  const bool equal = memcmp(first, out.const_data_ptr(), size) == 0;
  printf("kernel %s %lu %lu %lu %lu %d\n", name, static_cast<unsigned long>(products),
         static_cast<unsigned long>(bytes), static_cast<unsigned long>(slow),
         static_cast<unsigned long>(fast), equal);
}

void convolution(const char* name, int32_t channels, int32_t outputs, int32_t kernel, int32_t size,
                 bool depthwise, int32_t shift, int64_t zero) {
  used = 0;
  Made made[6];
  const Tensor x = make(made[0], ScalarType::Char, {1, size, size, channels});
  const Tensor w = depthwise ? make(made[1], ScalarType::Char, {1, kernel, kernel, outputs})
                             : make(made[1], ScalarType::Char, {outputs, kernel, kernel, channels});
  const Tensor multipliers = make(made[2], ScalarType::Int, {outputs});
  const Tensor shifts = make(made[3], ScalarType::Int, {outputs});
  const Maybe bias = make(made[4], ScalarType::Int, {outputs});
  set(multipliers, 1 << 30, 1U << 30);
  set(shifts, shift, 1);
  set(*bias, -5000, 10000);
  Tensor out = make(made[5], ScalarType::Char, {1, size, size, outputs});
  const int64_t ones[] = {1, 1};
  const int64_t pads[] = {kernel / 2, kernel / 2};
  const Ints one(ones, 2);
  const Ints pad(pads, 2);
  const auto products =
      static_cast<uint32_t>(size * size * outputs * kernel * kernel * (depthwise ? 1 : channels));
  const size_t bytes = x.nbytes() + w.nbytes() + out.nbytes();
#define CONV(kernel)                                                                         \
  [&](KernelRuntimeContext& c) {                                                             \
    kernel(c, x, w, bias, one, pad, one, 128, zero, multipliers, shifts, -128, 127, x, out); \
  }
#define DEPTHWISE(kernel)                                                                       \
  [&](KernelRuntimeContext& c) {                                                                \
    kernel(c, x, w, bias, one, pad, one, 1, 128, zero, multipliers, shifts, -128, 127, x, out); \
  }
  if (depthwise) {
    measure(name, products, bytes, out, DEPTHWISE(portable::quantized_depthwise_conv2d_nhwc_out),
            DEPTHWISE(corev::quantized_depthwise_conv2d_nhwc_out));
  } else {
    measure(name, products, bytes, out, CONV(portable::quantized_conv2d_nhwc_out),
            CONV(corev::quantized_conv2d_nhwc_out));
  }
}

void linear(const char* name, int32_t inner, int32_t outputs) {
  used = 0;
  Made made[4];
  const Tensor x = make(made[0], ScalarType::Char, {1, inner});
  const Tensor w = make(made[1], ScalarType::Char, {outputs, inner});
  const Maybe bias = make(made[2], ScalarType::Int, {outputs});
  set(*bias, -5000, 10000);
  Tensor out = make(made[3], ScalarType::Char, {1, outputs});
  const int64_t m[] = {1500406475};
  const int64_t s[] = {-9};
#define LINEAR(kernel)                                                                    \
  [&](KernelRuntimeContext& c) {                                                          \
    kernel(c, x, w, bias, Maybe(), 128, 0, -128, Ints(m, 1), Ints(s, 1), 127, -128, out); \
  }
  measure(name, static_cast<uint32_t>(inner * outputs), x.nbytes() + w.nbytes() + out.nbytes(), out,
          LINEAR(portable::quantized_linear_out), LINEAR(corev::quantized_linear_out));
}

}  // namespace

int main() {
  convolution("conv_3x3_32_to_32", 32, 32, 3, 8, false, -9, -128);
  convolution("conv_3x3_64_to_64", 64, 64, 3, 6, false, -9, -128);
  convolution("conv_3x3_32_to_32_no_relu", 32, 32, 3, 8, false, -9, 5);
  convolution("conv_1x1_32_to_32", 32, 32, 1, 12, false, -8, -128);
  convolution("conv_1x1_64_to_64", 64, 64, 1, 10, false, -8, -128);
  convolution("conv_1x1_128_to_128", 128, 128, 1, 6, false, -8, -128);
  convolution("conv_1x1_256_to_64", 256, 64, 1, 6, false, -9, -128);
  convolution("depthwise_3x3_32", 32, 32, 3, 16, true, -6, -128);
  convolution("depthwise_3x3_16_large", 16, 16, 3, 30, true, -6, -128);
  convolution("depthwise_3x3_32_shift_8", 32, 32, 3, 16, true, -8, -128);
  convolution("depthwise_3x3_32_no_relu", 32, 32, 3, 16, true, -6, 5);
  linear("linear_64_to_12", 64, 12);
  linear("linear_256_to_64", 256, 64);
  linear("linear_512_to_64", 512, 64);
  linear("linear_1024_to_64", 1024, 64);
  return 0;
}
