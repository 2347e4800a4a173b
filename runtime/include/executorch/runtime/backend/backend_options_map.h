// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <string.h>

namespace executorch::runtime {

/// Settings by backend, for load_method(). It keeps the spans, not what they point to.
class LoadBackendOptionsMap final {
 public:
  /// InvalidArgument for a bad name, or more than 8 backends.
  Error set_options(const char* backend_id, Span<BackendOption> options) {
    if (backend_id == nullptr || *backend_id == '\0' || strlen(backend_id) >= kMaxBackendIdLength) {
      return Error::InvalidArgument;
    }
    size_t i = 0;
    while (i < size_ && strcmp(entries_[i].backend_id, backend_id) != 0) {
      ++i;
    }
    if (i == kMaxBackends) {
      return Error::InvalidArgument;
    }
    if (i == size_) {
      ++size_;
    }
    memcpy(entries_[i].backend_id, backend_id, strlen(backend_id) + 1);
    entries_[i].options = options;
    return Error::Ok;
  }
  template <typename Builder>
  Error set_options(Builder& builder) {
    return set_options(builder.backend_id(), builder.view());
  }

  /// Empty without settings for this backend.
  Span<const BackendOption> get_options(const char* backend_id) const {
    for (size_t i = 0; backend_id != nullptr && i < size_; ++i) {
      if (strcmp(entries_[i].backend_id, backend_id) == 0) {
        return {entries_[i].options.data(), entries_[i].options.size()};
      }
    }
    return {};
  }
  bool has_options(const char* backend_id) const {
    for (size_t i = 0; backend_id != nullptr && i < size_; ++i) {
      if (strcmp(entries_[i].backend_id, backend_id) == 0) {
        return true;
      }
    }
    return false;
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kMaxBackends = 8;
  static constexpr size_t kMaxBackendIdLength = 64;
  struct Entry {
    char backend_id[kMaxBackendIdLength] = {};
    Span<BackendOption> options;
  };
  Entry entries_[kMaxBackends];
  size_t size_ = 0;
};

}  // namespace executorch::runtime
