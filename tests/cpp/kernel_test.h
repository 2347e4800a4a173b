// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors for tests of kernels, and what a kernel must have made of them. Each failure is printed
// and counted.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace kernel_test {

using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::TensorShapeDynamism;
using Context = executorch::runtime::KernelRuntimeContext;

inline int failures = 0;

template <class T>
constexpr ScalarType kType = ScalarType::Undefined;
template <>
constexpr ScalarType kType<float> = ScalarType::Float;
template <>
constexpr ScalarType kType<Half> = ScalarType::Half;
template <>
constexpr ScalarType kType<int8_t> = ScalarType::Char;
template <>
constexpr ScalarType kType<uint8_t> = ScalarType::Byte;
template <>
constexpr ScalarType kType<int32_t> = ScalarType::Int;
template <>
constexpr ScalarType kType<int64_t> = ScalarType::Long;
// A Bool element is a byte of 0 or 1.
struct Bool {
  uint8_t value;
};
template <>
constexpr ScalarType kType<Bool> = ScalarType::Bool;

inline double number(float v) { return v; }
inline double number(Half v) { return static_cast<float>(v); }
inline double number(int8_t v) { return v; }
inline double number(uint8_t v) { return v; }
inline double number(int32_t v) { return v; }
inline double number(int64_t v) { return static_cast<double>(v); }
inline double number(Bool v) { return v.value; }

// A tensor and its memory, with guard bytes behind it.
template <class T>
struct Box {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides;
  std::vector<unsigned char> memory;
  TensorImpl impl;
  Tensor tensor;

  static constexpr size_t kGuard = 32;

  static size_t count(const std::vector<int32_t>& sizes) {
    size_t n = 1;
    for (const int32_t size : sizes) {
      n *= static_cast<size_t>(size);
    }
    return n;
  }
  static std::vector<uint8_t> row_major(size_t rank) {
    std::vector<uint8_t> order(rank);
    for (size_t d = 0; d < rank; ++d) {
      order[d] = static_cast<uint8_t>(d);
    }
    return order;
  }
  static std::vector<int32_t> strides_of(const std::vector<int32_t>& sizes,
                                         const std::vector<uint8_t>& order) {
    std::vector<int32_t> strides(sizes.size());
    int32_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = stride;
      stride *= sizes[order[i]];
    }
    return strides;
  }

  // Elements in memory order. Results may shrink: the sizes are bounds.
  Box(std::vector<int32_t> shape, std::vector<T> values, std::vector<uint8_t> dim_order = {})
      : sizes(std::move(shape)),
        order(dim_order.empty() ? row_major(sizes.size()) : std::move(dim_order)),
        strides(strides_of(sizes, order)),
        memory(count(sizes) * sizeof(T) + kGuard, 0xA5),
        impl(kType<T>, static_cast<ssize_t>(sizes.size()), sizes.data(), memory.data(),
             order.data(), strides.data(), TensorShapeDynamism::DYNAMIC_BOUND),
        tensor(&impl) {
    if (!values.empty()) {
      std::memcpy(memory.data(), values.data(), values.size() * sizeof(T));
    }
  }
  explicit Box(std::vector<int32_t> shape) : Box(std::move(shape), {}) {}
  Box(const Box&) = delete;

  bool guard_intact() const {
    bool intact = true;
    for (size_t i = memory.size() - kGuard; i < memory.size(); ++i) {
      intact = intact && memory[i] == 0xA5;
    }
    return intact;
  }
};

inline void report(const char* file, int line, const char* what) {
  std::printf("%s:%d: %s\n", file, line, what);
  ++failures;
}

// The kernel succeeded with these sizes and these elements, in memory order.
template <class T>
void expect(const char* file, int line, Context& context, const Box<T>& out,
            std::vector<int32_t> sizes, std::vector<double> values) {
  if (context.failure_state() != Error::Ok) {
    report(file, line, "the kernel failed");
    return;
  }
  const auto actual = out.tensor.sizes();
  bool same = actual.size() == sizes.size() && out.guard_intact() &&
              static_cast<size_t>(out.tensor.numel()) == values.size();
  for (size_t d = 0; same && d < sizes.size(); ++d) {
    same = actual[d] == sizes[d];
  }
  for (size_t i = 0; same && i < values.size(); ++i) {
    T element;
    std::memcpy(&element, out.memory.data() + i * sizeof(T), sizeof(T));
    const double value = number(element);
    same = value == values[i] || (std::isnan(value) && std::isnan(values[i]));
    if (!same) {
      std::printf("  element %zu is %g, not %g\n", i, value, values[i]);
    }
  }
  if (!same) {
    report(file, line, "wrong result");
  }
}

// The kernel failed and touched nothing behind the output.
template <class T>
void expect_failure(const char* file, int line, Context& context, const Box<T>& out) {
  if (context.failure_state() == Error::Ok) {
    report(file, line, "the kernel did not fail");
  }
  if (!out.guard_intact()) {
    report(file, line, "written behind the output");
  }
}

}  // namespace kernel_test

#define EXPECT(out, ...) kernel_test::expect(__FILE__, __LINE__, context, out, __VA_ARGS__)
#define EXPECT_FAILURE(out) kernel_test::expect_failure(__FILE__, __LINE__, context, out)
