// box<&kernel>: the adapter from a boxed call to a typed kernel, deduced from its C++ type.
#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace torch::executor {
using ::executorch::aten::ArrayRef;
using ::executorch::aten::MemoryFormat;
using ::executorch::aten::Scalar;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::KernelRuntimeContext;
using TensorList = ArrayRef<Tensor>;
}  // namespace torch::executor

using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;

template <class T>
struct Unboxed {
  static T get(EValue& e) { return e.to<T>(); }
};
template <class T>
struct Unboxed<std::optional<T>> {
  static std::optional<T> get(EValue& e) { return e.toOptional<T>(); }
};
template <>
struct Unboxed<executorch::aten::ArrayRef<int64_t>> {
  static executorch::aten::ArrayRef<int64_t> get(EValue& e) { return e.toIntList(); }
};
template <>
struct Unboxed<executorch::aten::ArrayRef<double>> {
  static executorch::aten::ArrayRef<double> get(EValue& e) { return e.toDoubleList(); }
};
template <>
struct Unboxed<executorch::aten::ArrayRef<bool>> {
  static executorch::aten::ArrayRef<bool> get(EValue& e) { return e.toBoolList(); }
};
template <>
struct Unboxed<executorch::aten::ArrayRef<executorch::aten::Tensor>> {
  static executorch::aten::ArrayRef<executorch::aten::Tensor> get(EValue& e) {
    return e.toTensorList();
  }
};
template <>
struct Unboxed<executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>> {
  static executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>> get(EValue& e) {
    return e.toListOptionalTensor();
  }
};

template <class... Args, class R, size_t... I>
void call(R (*kernel)(KernelRuntimeContext&, Args...), KernelRuntimeContext& context,
          executorch::runtime::Span<EValue*> stack, std::index_sequence<I...>) {
  // A mutable reference parameter (Tensor&) needs an lvalue to bind to.
  std::tuple<std::decay_t<Args>...> values{Unboxed<std::decay_t<Args>>::get(*stack[I])...};
  kernel(context, std::get<I>(values)...);
}

template <class... Args, class R>
void dispatch_boxed(R (*kernel)(KernelRuntimeContext&, Args...), KernelRuntimeContext& context,
                    executorch::runtime::Span<EValue*> stack) {
  call(kernel, context, stack, std::make_index_sequence<sizeof...(Args)>{});
}

template <auto kernel>
void box(KernelRuntimeContext& context, executorch::runtime::Span<EValue*> stack) {
  dispatch_boxed(kernel, context, stack);
}
