// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/evalue.h>

#include <new>

namespace executorch::runtime {

namespace {
template <typename T>
constexpr bool kMayBeMissing = false;
template <typename T>
constexpr bool kMayBeMissing<std::optional<T>> = true;
}  // namespace

template <typename T>
Result<executorch::aten::ArrayRef<T>> BoxedEvalueList<T>::tryGet() const {
  for (uint32_t i = 0; wrapped_ != nullptr && i < size_; ++i) {
    if (wrapped_[i] == nullptr) {
      if constexpr (kMayBeMissing<T>) {
        new (&unwrapped_[i]) T();
        continue;
      }
      return Error::InvalidState;
    }
    const Result<T> item = wrapped_[i]->template tryTo<T>();
    if (!item.ok()) {
      return item.error();
    }
    new (&unwrapped_[i]) T(item.get());
  }
  return executorch::aten::ArrayRef<T>(unwrapped_, size_);
}

template <typename T>
executorch::aten::ArrayRef<T> BoxedEvalueList<T>::get() const {
  // Lists that a program makes hold plain values: the common case needs no Result.
  return wrapped_ == nullptr ? executorch::aten::ArrayRef<T>(unwrapped_, size_) : tryGet().get();
}

template class BoxedEvalueList<int64_t>;
template class BoxedEvalueList<executorch::aten::Tensor>;
template class BoxedEvalueList<std::optional<executorch::aten::Tensor>>;

}  // namespace executorch::runtime
