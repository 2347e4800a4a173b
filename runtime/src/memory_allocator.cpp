// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/memory_allocator.h>

namespace executorch::runtime {

void* MemoryAllocator::bump(size_t size, size_t alignment) {
  if (!isPowerOf2(alignment)) {
    ET_LOG(Error, "Alignment %zu is not a power of 2", alignment);
    return nullptr;
  }
  const size_t padding = -reinterpret_cast<uintptr_t>(cur_) & (alignment - 1);
  const size_t available = size_ - static_cast<size_t>(cur_ - begin_);
  if (begin_ == nullptr || padding > available || size > available - padding) {
    ET_LOG(Error, "%zu bytes wanted, %zu left", padding + size, available);
    return nullptr;
  }
  uint8_t* piece = cur_ + padding;
  cur_ = piece + size;
  if (cur_ > high_) {
    high_ = cur_;
  }
  return piece;
}

void FreeableBuffer::Free() {
  if (data_ != 0 && free_ != nullptr) {
    if (is_number_) {
      free_uint64_(context_, data_, size_);
    } else {
      free_(context_, const_cast<void*>(data()), size_);
    }
  }
  data_ = 0;
  size_ = 0;
}

}  // namespace executorch::runtime
