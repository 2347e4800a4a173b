// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/assert.h>
#include <stddef.h>
#include <stdint.h>

#include <array>

namespace executorch::runtime {

/// A view of `size()` consecutive constant elements that somebody else owns.
template <typename T>
class ArrayRef final {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;

  /* implicit */ constexpr ArrayRef() : data_(nullptr), size_(0) {}
  /* implicit */ constexpr ArrayRef(const T& element) : data_(&element), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end)
      : data_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <size_t N>
  /* implicit */ constexpr ArrayRef(const std::array<T, N>& array)
      : data_(array.data()), size_(N) {}
  template <size_t N>
  /* implicit */ constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}

  constexpr iterator begin() const { return data_; }
  constexpr iterator end() const { return data_ + size_; }
  constexpr const_iterator cbegin() const { return data_; }
  constexpr const_iterator cend() const { return data_ + size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr const T& operator[](size_t index) const { return data_[index]; }

  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  const T& at(size_t index) const {
    ET_CHECK(index < size_);
    return data_[index];
  }

  bool equals(ArrayRef other) const {
    if (size_ != other.size_) {
      return false;
    }
    for (size_t i = 0; i < size_; ++i) {
      if (data_[i] != other.data_[i]) {
        return false;
      }
    }
    return true;
  }

  /// The `count` elements from `start` on.
  ArrayRef<T> slice(size_t start, size_t count) const {
    ET_CHECK(start <= size_ && count <= size_ - start);
    return ArrayRef<T>(data_ + start, count);
  }
  /// Everything from `start` on.
  ArrayRef<T> slice(size_t start) const { return slice(start, size_ - start); }

 private:
  const T* data_;
  size_t size_;
};

template <typename T>
ArrayRef<T> makeArrayRef(const T& element) {
  return element;
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return ArrayRef<T>(data, size);
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* begin, const T* end) {
  return ArrayRef<T>(begin, end);
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& array) {
  return array;
}
template <typename T>
ArrayRef<T> makeArrayRef(const ArrayRef<T>& other) {
  return other;
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const T (&array)[N]) {
  return ArrayRef<T>(array);
}

template <typename T>
bool operator==(ArrayRef<T> left, ArrayRef<T> right) {
  return left.equals(right);
}
template <typename T>
bool operator!=(ArrayRef<T> left, ArrayRef<T> right) {
  return !left.equals(right);
}

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::ArrayRef;
using ::executorch::runtime::IntArrayRef;
using ::executorch::runtime::makeArrayRef;
}  // namespace torch::executor
