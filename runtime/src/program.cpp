// SPDX-License-Identifier: BSD-3-Clause
//
// The program file: FlatBuffers data with the identifier "ET12". With constants or delegates kept
// in segments, an extended header stands at byte 8: "eh00", its length (u32), the size of the
// FlatBuffers data (u64) and the position of the first segment (u64).
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/executor/program.h>

#include <new>

#include "features.h"
#include "method_state.h"
#include "program_schema.h"

namespace executorch::runtime {

namespace features = gen_kernels::features;
namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

namespace {

constexpr size_t kIdentifierOffset = 4;
constexpr size_t kHeaderOffset = 8;

constexpr uint32_t letters(const char (&text)[5]) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i) {
    number = number << 8 | static_cast<uint8_t>(text[i]);
  }
  return number;
}

/// What stands at byte 8, perhaps. The sizes are numbers of 64 bits.
struct ExtendedHeader {
  uint32_t magic;
  uint32_t length;
  uint8_t program_size[8];
  uint8_t segment_base[8];
};

/// Reads a 64-bit number as a size; false when it is beyond this machine.
bool read_size(const uint8_t* at, size_t& size) {
  const auto number = flat::load<uint64_t>(at);
  size = static_cast<size_t>(number);
  return size == number;
}

}  // namespace

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  if (size < kMinHeadBytes) {
    return ShortData;
  }
  const uint8_t* identifier = static_cast<const uint8_t*>(data) + kIdentifierOffset;
  if (memcmp(identifier, "ET12", 4) == 0) {
    return CompatibleVersion;
  }
  return identifier[0] == 'E' && identifier[1] == 'T' ? IncompatibleVersion : NotPresent;
}

Error Program::load_piece(const Segment& piece, DataLoader::SegmentInfo::Type type, size_t index,
                          FreeableBuffer& buffer) const {
  Result<FreeableBuffer> data =
      loader_->load(piece.offset, piece.size, DataLoader::SegmentInfo(type, index));
  if (!data.ok()) {
    return data.error();
  }
  new (&buffer) FreeableBuffer(std::move(*data));
  return Error::Ok;
}

Error Program::find_segment(size_t index, Segment& segment) const {
  const uint8_t* segments = flat::field_vector(root_, schema::program::kSegments);
  ET_CHECK_OR_RETURN_ERROR(segment_base_ != 0 && index < flat::vector_size(segments), NotFound,
                           "No segment %zu", index);
  const uint8_t* entry = flat::vector_table(segments, index);
  ET_CHECK_OR_RETURN_ERROR(
      read_size(flat::field(entry, schema::segment::kOffset), segment.offset) &&
          read_size(flat::field(entry, schema::segment::kSize), segment.size) &&
          !__builtin_add_overflow(segment.offset, segment_base_, &segment.offset),
      InvalidProgram, "Segment %zu is out of range", index);
  return Error::Ok;
}

Result<FreeableBuffer> Program::load_segment(DataLoader::SegmentInfo::Type type,
                                             size_t index) const {
  Segment segment;
  ET_CHECK_OK_OR_RETURN_ERROR(find_segment(index, segment));
  return loader_->load(segment.offset, segment.size, DataLoader::SegmentInfo(type, index));
}

// Inline: it is called once.
[[gnu::always_inline]] inline Error Program::open() {
  size_t size = 0;
  {
    FreeableBuffer head;
    ET_CHECK_OK_OR_RETURN_ERROR(
        load_piece({0, kMinHeadBytes}, DataLoader::SegmentInfo::Type::Program, 0, head));
    alignas(8) ExtendedHeader header;
    memcpy(&header, static_cast<const uint8_t*>(head.data()) + kHeaderOffset, sizeof(header));
    if (header.magic == letters("eh00")) {
      ET_CHECK_OR_RETURN_ERROR(header.length >= sizeof(header) &&
                                   read_size(header.program_size, size) &&
                                   read_size(header.segment_base, segment_base_),
                               InvalidProgram, "Bad extended header");
    } else {
      const Result<size_t> all = loader_->size();
      if (!all.ok()) {
        return all.error();
      }
      size = all.get();
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      load_piece({0, size}, DataLoader::SegmentInfo::Type::Program, 0, data_));
  const auto* bytes = static_cast<const uint8_t*>(data_.data());
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(bytes) % kMinimumAlignment == 0,
                           InvalidArgument, "The program must lie at a multiple of %zu",
                           kMinimumAlignment);
  // The checks see to it that there are 8 bytes.
  if constexpr (ET_ENABLE_PROGRAM_VERIFICATION) {
    ET_CHECK_OR_RETURN_ERROR(flat::verify(schema::kProgram, bytes, size), InvalidProgram,
                             "The program is damaged");
  }
  ET_CHECK_OR_RETURN_ERROR(flat::load<uint32_t>(bytes + kIdentifierOffset) == letters("ET12"),
                           InvalidProgram, "No program: the identifier is missing");
  root_ = bytes + flat::load<uint32_t>(bytes);
  ET_CHECK_OR_RETURN_ERROR(
      flat::field_u32(root_, schema::program::kVersion) <= kMaxSupportedSchemaVersion,
      InvalidProgram, "The program is of a later version");
  // One offset alone is a placeholder: no constants.
  const uint8_t* constants = flat::field_table(root_, schema::program::kConstantSegment);
  if (flat::vector_size(flat::field_vector(constants, schema::subsegments::kOffsets)) > 1) {
    Segment segment;
    const uint32_t index = flat::field_u32(constants, schema::subsegments::kSegmentIndex);
    ET_CHECK_OK_OR_RETURN_ERROR(find_segment(index, segment));
    ET_CHECK_OK_OR_RETURN_ERROR(
        load_piece(segment, DataLoader::SegmentInfo::Type::Constant, index, constants_));
  }
  if constexpr (ET_ENABLE_PROGRAM_VERIFICATION) {
    const uint8_t* plans = flat::field_vector(root_, schema::program::kExecutionPlan);
    is_plain_ = true;
    for (uint32_t i = 0; i < flat::vector_size(plans); ++i) {
      ET_CHECK_OK_OR_RETURN_ERROR(check_values(flat::vector_table(plans, i)));
    }
  }
  return Error::Ok;
}

Result<Program> Program::load(DataLoader* loader, Verification) {
  // Made where the caller gets it.
  Result<Program> program(std::in_place, loader);
  const Error error = program->open();
  if (error != Error::Ok) {
    program.fail(error);
  }
  return program;
}

Error Program::load_initial_state(size_t segments_index, size_t offset_index, size_t size,
                                  void* buffer) const {
  const uint8_t* all = flat::field_vector(root_, schema::program::kMutableDataSegments);
  ET_CHECK_OR_RETURN_ERROR(segments_index < flat::vector_size(all), NotFound,
                           "No mutable data segment %zu", segments_index);
  const uint8_t* entry = flat::vector_table(all, segments_index);
  const uint8_t* offsets = flat::field_vector(entry, schema::subsegments::kOffsets);
  ET_CHECK_OR_RETURN_ERROR(offset_index < flat::vector_size(offsets), NotFound,
                           "No mutable data %zu", offset_index);
  const size_t index = flat::field_u32(entry, schema::subsegments::kSegmentIndex);
  Segment segment;
  ET_CHECK_OK_OR_RETURN_ERROR(find_segment(index, segment));
  size_t offset;
  ET_CHECK_OR_RETURN_ERROR(read_size(flat::vector_data(offsets) + 8 * offset_index, offset) &&
                               offset <= segment.size && size <= segment.size - offset,
                           InvalidProgram, "Mutable data %zu is out of range", offset_index);
  return loader_->load_into(segment.offset + offset, size,
                            DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Mutable, index),
                            buffer);
}

Error Program::find_constant(size_t index, size_t nbytes, const void*& address) const {
  const auto* base = static_cast<const uint8_t*>(constants_.data());
  size_t offset = 0;
  size_t size = constants_.size();
  if (base != nullptr) {
    const uint8_t* offsets = flat::field_vector(
        flat::field_table(root_, schema::program::kConstantSegment), schema::subsegments::kOffsets);
    ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(offsets) &&
                                 read_size(flat::vector_data(offsets) + 8 * index, offset),
                             InvalidArgument, "No constant %zu", index);
  } else {
    // Older files keep each constant in the FlatBuffers data.
    ET_CHECK_OR_RETURN_ERROR(features::kInlineConstants, NotSupported,
                             "This build has no constants in the FlatBuffers data");
    const uint8_t* buffers = flat::field_vector(root_, schema::program::kConstantBuffer);
    ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(buffers), InvalidProgram, "No constant %zu",
                             index);
    const uint8_t* storage =
        flat::field_vector(flat::vector_table(buffers, index), schema::buffer::kStorage);
    base = flat::vector_data(storage);
    size = flat::vector_size(storage);
  }
  ET_CHECK_OR_RETURN_ERROR(offset <= size && nbytes <= size - offset, InvalidArgument,
                           "Constant %zu has not %zu bytes", index, nbytes);
  address = base + offset;
  return Error::Ok;
}

Result<const void*> Program::get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const {
  const void* address;
  ET_CHECK_OK_OR_RETURN_ERROR(find_constant(buffer_idx, nbytes, address));
  return address;
}

Result<const NamedDataMap*> Program::get_named_data_map() const {
  ET_CHECK_OR_RETURN_ERROR(
      flat::vector_size(flat::field_vector(root_, schema::program::kNamedData)) != 0, NotFound,
      "The program has no named data");
  return static_cast<const NamedDataMap*>(new (named_data_) internal::PteDataMap(this));
}

size_t Program::num_methods() const {
  return flat::vector_size(flat::field_vector(root_, schema::program::kExecutionPlan));
}

Result<const char*> Program::get_method_name(size_t method_index) const {
  const uint8_t* plans = flat::field_vector(root_, schema::program::kExecutionPlan);
  ET_CHECK_OR_RETURN_ERROR(method_index < flat::vector_size(plans), InvalidArgument,
                           "No method %zu", method_index);
  return flat::string_data(
      flat::field_vector(flat::vector_table(plans, method_index), schema::plan::kName));
}

Result<MethodMeta> Program::method_meta(const char* method_name) const {
  const uint8_t* plans = flat::field_vector(root_, schema::program::kExecutionPlan);
  for (size_t i = 0; method_name != nullptr && i < flat::vector_size(plans); ++i) {
    const uint8_t* plan = flat::vector_table(plans, i);
    if (strcmp(flat::string_data(flat::field_vector(plan, schema::plan::kName)), method_name) ==
        0) {
      return MethodMeta(plan);
    }
  }
  ET_LOG(Error, "No method of that name");
  return Error::InvalidArgument;
}

Result<Method> Program::load_method(const char* method_name, MemoryManager& memory_manager,
                                    EventTracer* event_tracer, const NamedDataMap* named_data_map,
                                    internal::ExternalLoader load_external,
                                    const LoadBackendOptionsMap* backend_options,
                                    Span<const Kernel> kernel_registry) const {
  internal::event_tracer_create_event_block(event_tracer, "Default");
  const internal::EventTracerProfileMethodScope scope(event_tracer, "Program::load_method");
  const Result<MethodMeta> meta = method_meta(method_name);
  ET_CHECK_OK_OR_RETURN_ERROR(meta.error());
  internal::MethodState* state = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(
      internal::MethodState::load({*this, meta->plan_, memory_manager, event_tracer, named_data_map,
                                   load_external, backend_options, kernel_registry},
                                  state));
  return Method(state);
}

}  // namespace executorch::runtime
