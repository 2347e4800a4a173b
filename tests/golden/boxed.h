// Calls kernels through the registry, with boxed arguments, and checks what they were given.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "RegisterKernels.h"

using executorch::aten::ArrayRef;
using executorch::aten::DimOrderType;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::StridesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using executorch::runtime::TensorMeta;

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                        \
    }                                                                      \
  } while (false)

// A tensor of four elements whose identity is its address.
struct Data {
  explicit Data(ScalarType type = ScalarType::Float, ssize_t dim = 1)
      : impl(type, dim, sizes, bytes, order, strides), tensor(&impl) {}

  SizesType sizes[2] = {4, 1};
  DimOrderType order[2] = {0, 1};
  StridesType strides[2] = {1, 1};
  alignas(8) char bytes[32] = {};
  TensorImpl impl;
  Tensor tensor;
};

inline bool same(const Tensor& a, const Data& b) { return a.const_data_ptr() == b.bytes; }

// The kernel that was called last; each kernel of a check says its name.
inline const char* called = "";

inline bool was_called(const char* name) {
  const bool result = std::strcmp(called, name) == 0;
  called = "";
  return result;
}

// Calls an operator with `stack`, the return slot included, and returns how it failed.
template <size_t kSize>
Error call(const char* name, EValue* (&stack)[kSize], Span<const TensorMeta> metas = {}) {
  auto function = executorch::runtime::get_op_function_from_registry(name, metas);
  if (!function.ok()) return function.error();
  KernelRuntimeContext context;
  (*function)(context, Span<EValue*>(stack, kSize));
  return context.failure_state();
}

#if !defined(GEN_KERNELS_NO_REGISTER_ALL)
// Registers twice, as several parts of a program may do.
inline void register_kernels_twice() {
  executorch::runtime::runtime_init();
  CHECK(gen_kernels::register_all_kernels() == Error::Ok);
  CHECK(gen_kernels::register_all_kernels() == Error::Ok);
}
#endif
