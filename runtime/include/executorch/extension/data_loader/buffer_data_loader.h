// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <stdint.h>
#include <string.h>

namespace executorch::extension {

/// A file that lies in memory as a whole, such as one linked into the firmware. Nothing is copied
/// or freed.
class BufferDataLoader final : public runtime::DataLoader {
 public:
  BufferDataLoader(const void* data, size_t size)
      : data_(static_cast<const uint8_t*>(data)), size_(size) {}

  ET_NODISCARD runtime::Result<runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                             const SegmentInfo&) const override {
    ET_CHECK_OR_RETURN_ERROR(offset <= size_ && size <= size_ - offset, InvalidArgument,
                             "%zu bytes at %zu asked for, there are %zu", size, offset, size_);
    return runtime::FreeableBuffer(data_ + offset, size, nullptr);
  }
  ET_NODISCARD runtime::Error load_into(size_t offset, size_t size, const SegmentInfo&,
                                        void* buffer) const override {
    ET_CHECK_OR_RETURN_ERROR(buffer != nullptr && offset <= size_ && size <= size_ - offset,
                             InvalidArgument, "%zu bytes at %zu asked for, there are %zu", size,
                             offset, size_);
    memcpy(buffer, data_ + offset, size);
    return runtime::Error::Ok;
  }
  ET_NODISCARD runtime::Result<size_t> size() const override { return size_; }

 private:
  const uint8_t* const data_;
  const size_t size_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::BufferDataLoader;
}
