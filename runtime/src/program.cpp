// SPDX-License-Identifier: BSD-3-Clause
//
// The program file: FlatBuffers data with the identifier "ET12". With constants or delegates kept
// in segments, an extended header stands at byte 8: "eh00", its length (u32), the size of the
// FlatBuffers data (u64) and the position of the first segment (u64).
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/executor/program.h>

#include <new>

#include "method_state.h"
#include "program_schema.h"

namespace executorch::runtime {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

namespace {

constexpr size_t kIdentifierOffset = 4;
constexpr size_t kHeaderOffset = 8;
constexpr uint32_t kHeaderMinimumLength = 24;

bool has_magic(const uint8_t* at, const char* magic) { return memcmp(at, magic, 4) == 0; }

/// A 64-bit number of the file as a size; false when it is beyond this machine.
bool to_size(uint64_t number, size_t& size) {
  size = static_cast<size_t>(number);
  return size == number;
}

}  // namespace

Program::HeaderStatus Program::check_header(const void* data, size_t size) {
  if (size < kMinHeadBytes) {
    return ShortData;
  }
  const uint8_t* identifier = static_cast<const uint8_t*>(data) + kIdentifierOffset;
  if (has_magic(identifier, "ET12")) {
    return CompatibleVersion;
  }
  return identifier[0] == 'E' && identifier[1] == 'T' ? IncompatibleVersion : NotPresent;
}

Result<Program> Program::load(DataLoader* loader, Verification) {
  size_t program_size = 0;
  size_t segment_base = 0;
  {
    const Result<FreeableBuffer> head = loader->load(
        0, kMinHeadBytes, DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program));
    if (!head.ok()) {
      return head.error();
    }
    const uint8_t* header = static_cast<const uint8_t*>(head->data()) + kHeaderOffset;
    if (has_magic(header, "eh00")) {
      uint32_t length;
      uint64_t sizes[2];
      memcpy(&length, header + 4, sizeof(length));
      memcpy(sizes, header + 8, sizeof(sizes));
      ET_CHECK_OR_RETURN_ERROR(length >= kHeaderMinimumLength && to_size(sizes[0], program_size) &&
                                   to_size(sizes[1], segment_base),
                               InvalidProgram, "Bad extended header");
    } else {
      const Result<size_t> size = loader->size();
      if (!size.ok()) {
        return size.error();
      }
      program_size = size.get();
    }
  }

  Result<FreeableBuffer> data = loader->load(
      0, program_size, DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Program));
  if (!data.ok()) {
    return data.error();
  }
  const uint8_t* bytes = static_cast<const uint8_t*>(data->data());
  ET_CHECK_OR_RETURN_ERROR(reinterpret_cast<uintptr_t>(bytes) % kMinimumAlignment == 0,
                           InvalidArgument, "The program must lie at a multiple of %zu",
                           kMinimumAlignment);
  ET_CHECK_OR_RETURN_ERROR(
      program_size >= kIdentifierOffset + 4 && has_magic(bytes + kIdentifierOffset, "ET12"),
      InvalidProgram, "No program: the identifier is missing");
  if constexpr (ET_ENABLE_PROGRAM_VERIFICATION) {
    ET_CHECK_OR_RETURN_ERROR(flat::verify(schema::kProgram, bytes, program_size), InvalidProgram,
                             "The program is damaged");
  }
  const uint8_t* root = bytes + flat::load<uint32_t>(bytes);
  ET_CHECK_OR_RETURN_ERROR(
      flat::field_u32(root, schema::program::kVersion) <= kMaxSupportedSchemaVersion,
      InvalidProgram, "The program is of a later version");

  Program program(loader, segment_base, std::move(*data), root);
  // One offset alone is a placeholder: no constants.
  const uint8_t* constants = flat::field_table(root, schema::program::kConstantSegment);
  if (constants != nullptr &&
      flat::vector_size(flat::field_vector(constants, schema::subsegments::kOffsets)) > 1) {
    Result<FreeableBuffer> segment =
        program.load_segment(DataLoader::SegmentInfo::Type::Constant,
                             flat::field_u32(constants, schema::subsegments::kSegmentIndex));
    ET_CHECK_OK_OR_RETURN_ERROR(segment.error());
    new (&program.constants_) FreeableBuffer(std::move(*segment));
  }
  return program;
}

Error Program::find_segment(size_t index, Segment& segment) const {
  const uint8_t* segments = flat::field_vector(root_, schema::program::kSegments);
  ET_CHECK_OR_RETURN_ERROR(segment_base_ != 0 && index < flat::vector_size(segments), NotFound,
                           "No segment %zu", index);
  const uint8_t* entry = flat::vector_table(segments, index);
  ET_CHECK_OR_RETURN_ERROR(
      to_size(flat::field_u64(entry, schema::segment::kOffset), segment.offset) &&
          to_size(flat::field_u64(entry, schema::segment::kSize), segment.size) &&
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
  ET_CHECK_OR_RETURN_ERROR(to_size(flat::vector_u64(offsets, offset_index), offset) &&
                               offset <= segment.size && size <= segment.size - offset,
                           InvalidProgram, "Mutable data %zu is out of range", offset_index);
  return loader_->load_into(segment.offset + offset, size,
                            DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Mutable, index),
                            buffer);
}

Result<const void*> Program::get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const {
  const uint8_t* base = static_cast<const uint8_t*>(constants_.data());
  size_t offset = 0;
  size_t size = constants_.size();
  if (base != nullptr) {
    const uint8_t* offsets = flat::field_vector(
        flat::field_table(root_, schema::program::kConstantSegment), schema::subsegments::kOffsets);
    ET_CHECK_OR_RETURN_ERROR(buffer_idx < flat::vector_size(offsets) &&
                                 to_size(flat::vector_u64(offsets, buffer_idx), offset),
                             InvalidArgument, "No constant %zu", buffer_idx);
  } else {
    // Older files keep each constant in the FlatBuffers data.
    const uint8_t* buffers = flat::field_vector(root_, schema::program::kConstantBuffer);
    ET_CHECK_OR_RETURN_ERROR(buffer_idx < flat::vector_size(buffers), InvalidProgram,
                             "No constant %zu", buffer_idx);
    const uint8_t* storage =
        flat::field_vector(flat::vector_table(buffers, buffer_idx), schema::buffer::kStorage);
    base = flat::vector_data(storage);
    size = flat::vector_size(storage);
  }
  ET_CHECK_OR_RETURN_ERROR(offset <= size && nbytes <= size - offset, InvalidArgument,
                           "Constant %zu has not %zu bytes", buffer_idx, nbytes);
  return static_cast<const void*>(base + offset);
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
  auto* state = memory_manager.method_allocator()->allocateInstance<internal::MethodState>();
  if (state == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  new (state) internal::MethodState(*this, meta->plan_, memory_manager, event_tracer);
  const Error error = state->load(named_data_map, load_external, backend_options, kernel_registry);
  if (error != Error::Ok) {
    state->~MethodState();
    return error;
  }
  return Method(state);
}

}  // namespace executorch::runtime
