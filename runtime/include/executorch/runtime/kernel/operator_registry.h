// SPDX-License-Identifier: BSD-3-Clause
//
// The registry of kernels. It keeps no copies: a registered table stays where it is, in flash when
// it is constexpr, and must live as long as the program.
#pragma once

#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/platform.h>
#include <string.h>

/// Tables that can be registered; each costs three words of RAM.
#ifndef GEN_KERNELS_MAX_TABLES
#define GEN_KERNELS_MAX_TABLES 8
#endif

/// Kernels that register_kernel() can take one by one; RAM is spent only where it is called.
#ifndef GEN_KERNELS_MAX_SINGLE_KERNELS
#define GEN_KERNELS_MAX_SINGLE_KERNELS 16
#endif

namespace executorch::runtime {

class KernelRuntimeContext;

/// A kernel with its arguments boxed: the schema's arguments, the out arguments, then the result.
using OpFunction = void (*)(KernelRuntimeContext&, Span<EValue*>);

/// The part of a tensor argument that selects a specialised kernel.
struct TensorMeta {
  executorch::aten::ScalarType dtype_;
  Span<executorch::aten::DimOrderType> dim_order_;

  TensorMeta() = default;
  TensorMeta(executorch::aten::ScalarType dtype, Span<executorch::aten::DimOrderType> order)
      : dtype_(dtype), dim_order_(order) {}
  bool equals(const TensorMeta& other) const {
    return dtype_ == other.dtype_ &&
           ArrayRef<executorch::aten::DimOrderType>(dim_order_.data(), dim_order_.size()) ==
               ArrayRef<executorch::aten::DimOrderType>(other.dim_order_.data(),
                                                        other.dim_order_.size());
  }
  bool operator==(const TensorMeta& other) const { return equals(other); }
  bool operator!=(const TensorMeta& other) const { return !equals(other); }
};

/// The tensor arguments that a kernel is written for: "v1/" and, for each, "dtype;dim order",
/// joined by "|"; or null for the fallback, which takes everything.
struct KernelKey {
 public:
  constexpr KernelKey() = default;
  /* implicit */ constexpr KernelKey(const char* kernel_key_data)
      : kernel_key_data_(kernel_key_data) {}

  bool is_fallback() const { return kernel_key_data_ == nullptr; }
  const char* data() const { return kernel_key_data_; }
  bool equals(const KernelKey& other) const {
    if (is_fallback() || other.is_fallback()) {
      return is_fallback() == other.is_fallback();
    }
    return strcmp(kernel_key_data_, other.kernel_key_data_) == 0;
  }
  bool operator==(const KernelKey& other) const { return equals(other); }
  bool operator!=(const KernelKey& other) const { return !equals(other); }

 private:
  const char* kernel_key_data_ = nullptr;
};

struct Kernel {
  const char* name_;  ///< "namespace::operator.overload"
  KernelKey kernel_key_;
  OpFunction op_;

  constexpr Kernel() : name_(nullptr), op_(nullptr) {}
  constexpr explicit Kernel(const char* name, OpFunction func) : name_(name), op_(func) {}
  constexpr explicit Kernel(const char* name, KernelKey key, OpFunction func)
      : name_(name), kernel_key_(key), op_(func) {}
};

namespace internal {
constexpr size_t kKernelKeyBufSize = 659;

/// Writes the kernel key of these tensors; InvalidArgument when it does not fit.
Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size);
}  // namespace internal

/// Adds a table of kernels; sorted by name (strcmp) it is searched by halving, else in order.
/// Nothing is copied: the table must stay. RegistrationAlreadyRegistered when it holds a name and
/// key twice or that another table holds, RegistrationExceedingMaxKernels when
/// GEN_KERNELS_MAX_TABLES tables are registered; then nothing is added.
ET_NODISCARD Error register_kernels(const Span<const Kernel> kernels);

/// Adds a copy of one kernel, of at most GEN_KERNELS_MAX_SINGLE_KERNELS.
ET_NODISCARD Error register_kernel(const Kernel& kernel);

/// The kernel for these tensors: one whose key equals theirs, else the fallback, else
/// OperatorMissing.
Result<OpFunction> get_op_function_from_registry(const char* name,
                                                 Span<const TensorMeta> meta_list = {});
/// The same in `kernel_list` alone, or in the registry when that is empty.
Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_list);
bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list = {});

/// The table registered first. (Tables are not copied together, so there is no list of all.)
Span<const Kernel> get_registered_kernels();

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Kernel;
using ::executorch::runtime::KernelKey;
using ::executorch::runtime::KernelRuntimeContext;
using ::executorch::runtime::OpFunction;
using ::executorch::runtime::TensorMeta;
}  // namespace torch::executor
