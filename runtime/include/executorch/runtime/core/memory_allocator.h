// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/profiler.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

namespace executorch::runtime {

/// Hands out pieces of one buffer, in order, and takes them back all at once (reset). It remembers
/// the most that was in use at any time.
class MemoryAllocator {
 public:
  static constexpr size_t kDefaultAlignment = alignof(void*);

  /// `base_address` may be null when `size` is 0.
  MemoryAllocator(uint32_t size, uint8_t* base_address)
      : begin_(base_address), cur_(base_address), high_(base_address), size_(size) {
    ET_CHECK_MSG(base_address != nullptr || size == 0, "A size without a buffer");
  }
  virtual ~MemoryAllocator() = default;

  /// `size` bytes at a multiple of `alignment`, a power of two; null when they do not fit.
  virtual void* allocate(size_t size, size_t alignment = kDefaultAlignment) {
    return bump(size, alignment);
  }

  template <typename T>
  T* allocateInstance(size_t alignment = alignof(T)) {
    return static_cast<T*>(allocate(sizeof(T), alignment));
  }
  template <typename T>
  T* allocateList(size_t count, size_t alignment = alignof(T)) {
    return count > SIZE_MAX / sizeof(T) ? nullptr
                                        : static_cast<T*>(allocate(count * sizeof(T), alignment));
  }

  virtual uint8_t* base_address() const { return begin_; }
  virtual uint32_t size() const { return size_; }
  virtual size_t used_size() const { return static_cast<size_t>(cur_ - begin_); }
  virtual size_t free_size() const { return size_ - static_cast<size_t>(cur_ - begin_); }
  virtual void reset() { cur_ = begin_; }

  /// The most bytes in use at any time, alignment included. Not in ExecuTorch.
  size_t high_water_mark() const { return static_cast<size_t>(high_ - begin_); }

  void enable_profiling(const char*) {}

 protected:
  int32_t prof_id() const { return -1; }
  static constexpr bool isPowerOf2(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
  }
  static uint8_t* alignPointer(void* pointer, size_t alignment) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    return reinterpret_cast<uint8_t*>((address + alignment - 1) & ~(alignment - 1));
  }

 private:
  // Not virtual itself: a class whose first virtual function is inline has its type information
  // wherever it is used, also in code that is compiled with RTTI.
  void* bump(size_t size, size_t alignment);

  uint8_t* const begin_;
  uint8_t* cur_;
  uint8_t* high_;
  uint32_t const size_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::MemoryAllocator;
}
