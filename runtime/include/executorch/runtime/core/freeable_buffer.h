// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>
#include <stddef.h>
#include <stdint.h>

namespace executorch::runtime {

/// A piece of memory and the function, if any, that gives it back. The memory may also be named by
/// a 64-bit number that only the loader understands.
class FreeableBuffer final {
 public:
  using FreeFn = void (*)(void* context, void* data, size_t size);
  using FreeUInt64Fn = void (*)(void* context, uint64_t data_uint64, size_t size);

  FreeableBuffer() : FreeableBuffer(nullptr, 0, nullptr) {}
  FreeableBuffer(const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : data_(reinterpret_cast<uintptr_t>(data)),
        free_(free_fn),
        context_(free_fn_context),
        size_(size) {}
  explicit FreeableBuffer(uint64_t data_uint64, size_t size, FreeUInt64Fn free_fn,
                          void* free_fn_context = nullptr)
      : data_(data_uint64),
        free_uint64_(free_fn),
        context_(free_fn_context),
        size_(size),
        is_number_(true) {}
  FreeableBuffer(FreeableBuffer&& other) noexcept
      : data_(other.data_),
        free_(other.free_),
        context_(other.context_),
        size_(other.size_),
        is_number_(other.is_number_) {
    other.data_ = 0;
    other.size_ = 0;
  }
  ~FreeableBuffer() { Free(); }
  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(FreeableBuffer&&) = delete;

  /// Gives the memory back; the buffer is empty then.
  void Free();

  size_t size() const { return size_; }
  const void* data() const {
    ET_CHECK(!is_number_);
    return reinterpret_cast<const void*>(static_cast<uintptr_t>(data_));
  }
  Result<const void*> data_safe() const {
    ET_CHECK_OR_RETURN_ERROR(!is_number_, InvalidType, "The buffer is named by a number.");
    return data();
  }
  Result<uint64_t> data_uint64_type() const {
    ET_CHECK_OR_RETURN_ERROR(is_number_, InvalidType, "The buffer is named by a pointer.");
    return data_;
  }

 private:
  uint64_t data_;  ///< The pointer or the number; 0 when there is nothing to free.
  union {
    FreeFn free_;
    FreeUInt64Fn free_uint64_;
  };
  void* context_;
  size_t size_;
  bool is_number_ = false;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::FreeableBuffer;
}
