// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>

#include <new>
#include <utility>

namespace executorch::runtime {

/// A value, or the reason why there is none. Test ok() before reading the value: reading a missing
/// value stops the program.
template <typename T>
class Result final {
 public:
  typedef T value_type;

  /// A failure. Error::Ok is no failure: it becomes Error::Internal.
  /* implicit */ Result(Error error)
      : error_(error == Error::Ok ? Error::Internal : error), has_value_(false) {}
  /* implicit */ Result(const T& value) : value_(value), has_value_(true) {}
  /* implicit */ Result(T&& value) : value_(std::move(value)), has_value_(true) {}
  Result(Result&& other) noexcept : has_value_(other.has_value_) {
    if (has_value_) {
      new (&value_) T(std::move(other.value_));
    } else {
      error_ = other.error_;
    }
  }
  ~Result() {
    if (has_value_) {
      value_.~T();
    }
  }
  Result() = delete;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  Result& operator=(Result&&) = delete;

  ET_NODISCARD bool ok() const { return has_value_; }
  ET_NODISCARD Error error() const { return has_value_ ? Error::Ok : error_; }

  T& get() {
    ET_CHECK(has_value_);
    return value_;
  }
  const T& get() const {
    ET_CHECK(has_value_);
    return value_;
  }
  T& operator*() & { return get(); }
  const T& operator*() const& { return get(); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &get(); }

  /// Makes the value where it stays. Not in ExecuTorch.
  template <typename... Arguments>
  explicit Result(std::in_place_t, Arguments&&... arguments)
      : value_(std::forward<Arguments>(arguments)...), has_value_(true) {}
  /// Takes a value back. Not in ExecuTorch.
  void fail(Error error) {
    value_.~T();
    error_ = error;
    has_value_ = false;
  }

 private:
  union {
    T value_;
    Error error_;
  };
  bool has_value_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Result;
}

/// The value of a Result, or leaves the function with its error. A printf format and its arguments
/// may follow.
#define ET_UNWRAP(result, ...)       \
  ({                                 \
    auto et_result = (result);       \
    if (!et_result.ok()) {           \
      ET_LOG(Error, "" __VA_ARGS__); \
      return et_result.error();      \
    }                                \
    std::move(*et_result);           \
  })

/// Declares `name` with the value of a Result, or leaves the function with its error.
#define ET_ASSIGN_OR_RETURN(name, result, ...) \
  auto et_result_##name = (result);            \
  if (!et_result_##name.ok()) {                \
    ET_LOG(Error, "" __VA_ARGS__);             \
    return et_result_##name.error();           \
  }                                            \
  auto name = std::move(*et_result_##name)
