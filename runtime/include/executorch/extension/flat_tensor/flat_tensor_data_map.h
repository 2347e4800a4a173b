// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_layout.h>

#include <utility>

namespace executorch::extension {

/// A .ptd file: tensors by name, kept outside a program.
class FlatTensorDataMap final : public runtime::NamedDataMap {
 public:
  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;

  /// `loader` must outlive the map. InvalidExternalData for a file of another kind, or a damaged
  /// one.
  static runtime::Result<FlatTensorDataMap> load(runtime::DataLoader* loader);

  FlatTensorDataMap(FlatTensorDataMap&&) noexcept = default;
  ~FlatTensorDataMap() override = default;

  ET_NODISCARD runtime::Result<const runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  ET_NODISCARD runtime::Result<runtime::FreeableBuffer> get_data(
      std::string_view key) const override;
  /// InvalidArgument when the data has not `size` bytes.
  ET_NODISCARD runtime::Error load_data_into(std::string_view key, void* buffer,
                                             size_t size) const override;
  ET_NODISCARD runtime::Result<uint32_t> get_num_keys() const override;
  ET_NODISCARD runtime::Result<const char*> get_key(uint32_t index) const override;

 private:
  FlatTensorDataMap(runtime::DataLoader* loader, runtime::FreeableBuffer&& data,
                    const uint8_t* root, size_t segment_base)
      : data_(std::move(data)), loader_(loader), root_(root), segment_base_(segment_base) {}

  struct Place {
    size_t offset;
    size_t size;
    size_t segment;
  };
  const uint8_t* find(std::string_view key) const;
  runtime::Result<Place> place(std::string_view key) const;

  runtime::FreeableBuffer data_;
  runtime::DataLoader* loader_;
  const uint8_t* root_;
  size_t segment_base_;
};

}  // namespace executorch::extension
