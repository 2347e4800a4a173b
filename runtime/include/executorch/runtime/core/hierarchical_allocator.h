// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <stddef.h>
#include <stdint.h>

namespace executorch::runtime {

/// The planned buffers of a method: the exporter decided what lies where in each.
class HierarchicalAllocator final {
 public:
  /// The spans, and what they point to, must outlive the allocator.
  explicit HierarchicalAllocator(Span<Span<uint8_t>> buffers) : buffers_(buffers) {}
  HierarchicalAllocator(Span<Span<uint8_t>> buffers, Span<const etensor::Device> devices)
      : buffers_(buffers), devices_(devices) {
    ET_CHECK(devices.size() == buffers.size());
  }

  /// The address of `size_bytes` bytes at `offset_bytes` of buffer `memory_id`, counted from 0.
  /// InvalidArgument without such a buffer, MemoryAllocationFailed when it is too small.
  ET_NODISCARD Result<void*> get_offset_address(uint32_t memory_id, size_t offset_bytes,
                                                size_t size_bytes) {
    ET_CHECK_OR_RETURN_ERROR(memory_id < buffers_.size(), InvalidArgument,
                             "No planned buffer %" PRIu32, memory_id);
    const Span<uint8_t> buffer = buffers_[memory_id];
    ET_CHECK_OR_RETURN_ERROR(
        offset_bytes <= buffer.size() && size_bytes <= buffer.size() - offset_bytes,
        MemoryAllocationFailed, "Planned buffer %" PRIu32 " has %zu bytes, %zu at %zu needed",
        memory_id, buffer.size(), size_bytes, offset_bytes);
    return static_cast<void*>(buffer.data() + offset_bytes);
  }

  /// The same for a place that is known to be there. Not in ExecuTorch.
  void* address(uint32_t memory_id, size_t offset_bytes) const {
    return buffers_[memory_id].data() + offset_bytes;
  }

  Span<const etensor::Device> planned_buffer_devices() const { return devices_; }

 private:
  Span<Span<uint8_t>> buffers_;
  Span<const etensor::Device> devices_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::HierarchicalAllocator;
}
