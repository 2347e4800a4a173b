// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

/// The memory that a method lives on: the pool for its bookkeeping, the planned buffers for its
/// tensors, and a pool that each kernel may use while it runs.
class MemoryManager final {
 public:
  explicit MemoryManager(MemoryAllocator* method_allocator,
                         HierarchicalAllocator* planned_memory = nullptr,
                         MemoryAllocator* temp_allocator = nullptr)
      : method_allocator_(method_allocator),
        planned_memory_(planned_memory),
        temp_allocator_(temp_allocator) {
    ET_CHECK_MSG(method_allocator != temp_allocator,
                 "method allocator cannot be the same as temp allocator");
  }

  MemoryAllocator* method_allocator() const { return method_allocator_; }
  HierarchicalAllocator* planned_memory() const { return planned_memory_; }
  MemoryAllocator* temp_allocator() const { return temp_allocator_; }
  Span<const etensor::Device> planned_buffer_devices() const {
    return planned_memory_ == nullptr ? Span<const etensor::Device>()
                                      : planned_memory_->planned_buffer_devices();
  }
  bool has_device_memory() const { return !planned_buffer_devices().empty(); }

 private:
  MemoryAllocator* method_allocator_;
  HierarchicalAllocator* planned_memory_;
  MemoryAllocator* temp_allocator_;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::MemoryManager;
}
