// SPDX-License-Identifier: BSD-3-Clause
//
// External tensors: FlatBuffers data with the identifier "FT01" (ExecuTorch's flat_tensor.fbs). At
// byte 8 a header: "FH01", its length (u32), then as u64 where the FlatBuffers data goes on behind
// it and for how many bytes, the position of the first segment and the size of all segments.
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/runtime/executor/program.h>

#include "flat.h"

namespace executorch::extension {

namespace flat = gen_kernels::flat;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::TensorLayout;

namespace {

namespace root {
enum : uint8_t { kVersion, kSegments, kNamedData };
}
namespace segment {
enum : uint8_t { kOffset, kSize };
}
namespace entry {
enum : uint8_t { kKey, kSegmentIndex, kLayout };
}
namespace layout {
enum : uint8_t { kScalarType, kSizes, kDimOrder };
}

using flat::Kind;
enum Type : uint8_t { kRoot, kSegment, kEntry, kLayoutType };
constexpr flat::Field kFields[] = {
    {root::kSegments, Kind::Tables, kSegment},
    {root::kNamedData, Kind::Tables, kEntry},
    {root::kVersion, Kind::Word},
    {segment::kOffset, Kind::Long},
    {segment::kSize, Kind::Long},
    {entry::kKey, Kind::String},
    {entry::kLayout, Kind::Table, kLayoutType},
    {entry::kSegmentIndex, Kind::Word},
    {layout::kSizes, Kind::Words},
    {layout::kDimOrder, Kind::Bytes},
    {layout::kScalarType, Kind::Byte},
};
constexpr uint8_t kFirst[] = {0, 3, 5, 8, 11};
constexpr flat::Schema kSchema = {kFields, kFirst};

constexpr size_t kHeadBytes = 64;

std::string_view string_of(const uint8_t* table, uint8_t id) {
  const uint8_t* text = flat::field_vector(table, id);
  return {flat::string_data(text), flat::vector_size(text)};
}

}  // namespace

Result<FlatTensorDataMap> FlatTensorDataMap::load(DataLoader* loader) {
  const DataLoader::SegmentInfo external(DataLoader::SegmentInfo::Type::External);
  uint64_t numbers[4];
  {
    const Result<FreeableBuffer> head = loader->load(0, kHeadBytes, external);
    if (!head.ok()) {
      return head.error();
    }
    const auto* bytes = static_cast<const uint8_t*>(head->data());
    uint32_t length;
    memcpy(&length, bytes + 12, sizeof(length));
    memcpy(numbers, bytes + 16, sizeof(numbers));
    ET_CHECK_OR_RETURN_ERROR(memcmp(bytes + 8, "FH01", 4) == 0 && length >= 40, InvalidExternalData,
                             "No external data: the header is missing");
  }
  const uint64_t end = numbers[0] + numbers[1];
  ET_CHECK_OR_RETURN_ERROR(numbers[0] <= end && end <= SIZE_MAX && numbers[2] <= SIZE_MAX,
                           InvalidExternalData, "Bad header");
  Result<FreeableBuffer> data = loader->load(0, static_cast<size_t>(end), external);
  if (!data.ok()) {
    return data.error();
  }
  const auto* bytes = static_cast<const uint8_t*>(data->data());
  ET_CHECK_OR_RETURN_ERROR(data->size() >= 8 && memcmp(bytes + 4, "FT01", 4) == 0,
                           InvalidExternalData, "No external data: the identifier is missing");
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(bytes) % 8 == 0, InvalidArgument,
                           "External data must lie at a multiple of 8");
  if constexpr (ET_ENABLE_PROGRAM_VERIFICATION) {
    ET_CHECK_OR_RETURN_ERROR(flat::verify(kSchema, bytes, data->size()), InvalidExternalData,
                             "The external data is damaged");
  }
  const uint8_t* table = bytes + flat::load<uint32_t>(bytes);
  return FlatTensorDataMap(loader, std::move(*data), table, static_cast<size_t>(numbers[2]));
}

const uint8_t* FlatTensorDataMap::find(std::string_view key) const {
  const uint8_t* entries = flat::field_vector(root_, root::kNamedData);
  for (uint32_t i = 0; i < flat::vector_size(entries); ++i) {
    const uint8_t* candidate = flat::vector_table(entries, i);
    if (string_of(candidate, entry::kKey) == key) {
      return candidate;
    }
  }
  return nullptr;
}

Result<const TensorLayout> FlatTensorDataMap::get_tensor_layout(std::string_view key) const {
  const uint8_t* found = find(key);
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, NotFound, "No data of that name");
  const uint8_t* shape = flat::field_table(found, entry::kLayout);
  ET_CHECK_OR_RETURN_ERROR(shape != nullptr, NotFound, "The data is no tensor");
  const uint8_t* sizes = flat::field_vector(shape, layout::kSizes);
  const uint8_t* dim_order = flat::field_vector(shape, layout::kDimOrder);
  return TensorLayout::create(
      {reinterpret_cast<const int32_t*>(flat::vector_data(sizes)), flat::vector_size(sizes)},
      {flat::vector_data(dim_order), flat::vector_size(dim_order)},
      static_cast<executorch::aten::ScalarType>(flat::field_u8(shape, layout::kScalarType)));
}

Result<FlatTensorDataMap::Place> FlatTensorDataMap::place(std::string_view key) const {
  const uint8_t* found = find(key);
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, NotFound, "No data of that name");
  const uint8_t* segments = flat::field_vector(root_, root::kSegments);
  const uint32_t index = flat::field_u32(found, entry::kSegmentIndex);
  ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(segments), InvalidExternalData,
                           "No segment %" PRIu32, index);
  const uint8_t* table = flat::vector_table(segments, index);
  const uint64_t offset = flat::field_u64(table, segment::kOffset);
  const uint64_t size = flat::field_u64(table, segment::kSize);
  ET_CHECK_OR_RETURN_ERROR(offset <= SIZE_MAX - segment_base_ && size <= SIZE_MAX,
                           InvalidExternalData, "Segment %" PRIu32 " is out of range", index);
  return Place{segment_base_ + static_cast<size_t>(offset), static_cast<size_t>(size), index};
}

Result<FreeableBuffer> FlatTensorDataMap::get_data(std::string_view key) const {
  const Result<Place> where = place(key);
  if (!where.ok()) {
    return where.error();
  }
  return loader_->load(
      where->offset, where->size,
      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External, where->segment));
}

Error FlatTensorDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const Result<Place> where = place(key);
  if (!where.ok()) {
    return where.error();
  }
  ET_CHECK_OR_RETURN_ERROR(size <= where->size, InvalidArgument, "There are %zu bytes, not %zu",
                           where->size, size);
  return loader_->load_into(
      where->offset, size,
      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External, where->segment), buffer);
}

Result<uint32_t> FlatTensorDataMap::get_num_keys() const {
  return flat::vector_size(flat::field_vector(root_, root::kNamedData));
}

Result<const char*> FlatTensorDataMap::get_key(uint32_t index) const {
  const uint8_t* entries = flat::field_vector(root_, root::kNamedData);
  ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(entries), InvalidArgument, "No key %" PRIu32,
                           index);
  return string_of(flat::vector_table(entries, index), entry::kKey).data();
}

}  // namespace executorch::extension
