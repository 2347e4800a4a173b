// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/named_data_map.h>

namespace executorch::runtime {

class Program;

namespace internal {

/// The named data inside a program, which backends use. It points to the program.
class PteDataMap final : public NamedDataMap {
 public:
  explicit PteDataMap(const Program* program) : program_(program) {}

  /// NotImplemented: the program keeps no layouts.
  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view key) const override;
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override;
  /// NotImplemented.
  ET_NODISCARD Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  ET_NODISCARD Result<uint32_t> get_num_keys() const override;
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override;

 private:
  const Program* program_;
};

}  // namespace internal
}  // namespace executorch::runtime
