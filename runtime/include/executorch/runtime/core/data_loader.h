// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>
#include <stddef.h>

namespace executorch::runtime {

/// Where a program's bytes come from.
class DataLoader {
 public:
  /// What a piece is loaded for; a loader may place it accordingly.
  struct SegmentInfo {
    enum class Type { Program, Constant, Backend, Mutable, External };
    Type segment_type;
    size_t segment_index;
    const char* descriptor;

    SegmentInfo() = default;
    explicit SegmentInfo(Type type, size_t index = 0, const char* descriptor_ = nullptr)
        : segment_type(type), segment_index(index), descriptor(descriptor_) {}
  };

  virtual ~DataLoader() = default;

  /// `size` bytes from `offset` on.
  ET_NODISCARD virtual Result<FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo& segment_info) const = 0;
  /// The same into memory of the caller's.
  ET_NODISCARD virtual Error load_into(size_t, size_t, const SegmentInfo&, void*) const {
    return Error::NotImplemented;
  }
  /// Bytes in all.
  ET_NODISCARD virtual Result<size_t> size() const = 0;
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::DataLoader;
}
