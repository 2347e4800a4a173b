// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/assert.h>
#include <stddef.h>
#include <stdint.h>

namespace executorch::runtime {

/// A view of `size()` consecutive, writable elements that somebody else owns.
template <typename T>
class Span final {
 public:
  using value_type = T;
  using iterator = T*;
  using size_type = size_t;

  /* implicit */ constexpr Span() noexcept : data_(nullptr), size_(0) {}
  constexpr Span(T* data, size_t size) : data_(data), size_(size) {}
  constexpr Span(T* begin, T* end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <size_t N>
  /* implicit */ constexpr Span(T (&array)[N]) : data_(array), size_(N) {}
  /* implicit */ constexpr Span(T& element) : data_(&element), size_(1) {}

  constexpr iterator begin() const noexcept { return data_; }
  constexpr iterator end() const noexcept { return data_ + size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr T& operator[](size_t index) const { return data_[index]; }

 private:
  T* data_;
  size_t size_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Span;
}
