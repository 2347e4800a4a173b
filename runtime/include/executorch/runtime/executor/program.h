// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/method_meta.h>
#include <executorch/runtime/executor/pte_data_map.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/compiler.h>
#include <stdint.h>

/// 1: load() and load_method() check every offset, index, size and shape of a program, once, so
/// that a damaged file gives an error. 0: they trust it, and are smaller and faster.
#ifndef ET_ENABLE_PROGRAM_VERIFICATION
#define ET_ENABLE_PROGRAM_VERIFICATION 1
#endif

namespace executorch::runtime {

class LoadBackendOptionsMap;

namespace internal {
struct MethodState;
struct ProgramReader;
/// Finds the data of a tensor that is kept outside the program. Linked only into images that give
/// load_method() a NamedDataMap.
Error load_external(MethodState& state, uint32_t index, const NamedDataMap* named_data);
using ExternalLoader = decltype(&load_external);
}  // namespace internal

/// A program (.pte): constants and methods. It must stay, at its address, while any of its methods
/// is in use.
class Program final {
 public:
  /// Kept for compatibility: with ET_ENABLE_PROGRAM_VERIFICATION programs are always checked.
  enum class Verification : uint8_t { Minimal, InternalConsistency };

  static constexpr uint32_t kMaxSupportedSchemaVersion = 0;
  /// The program's first byte must lie at a multiple of this; constants are aligned relative to it.
  static constexpr size_t kMinimumAlignment = 16;

  /// `loader` must outlive the program.
  ET_NODISCARD static Result<Program> load(DataLoader* loader,
                                           Verification verification = Verification::Minimal);
  ET_DEPRECATED ET_NODISCARD static Result<Program> Load(
      DataLoader* loader, Verification verification = Verification::Minimal) {
    return load(loader, verification);
  }

  Program(Program&&) noexcept = default;
  ~Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  Program& operator=(Program&&) = delete;

  /// `nbytes` bytes of constant number `buffer_idx`.
  Result<const void*> get_constant_buffer_data(size_t buffer_idx, size_t nbytes) const;
  /// The named data inside the program; NotFound when there is none.
  Result<const NamedDataMap*> get_named_data_map() const;

  size_t num_methods() const;
  Result<const char*> get_method_name(size_t method_index) const;
  Result<MethodMeta> method_meta(const char* method_name) const;

  /// Makes a method ready to run. Kernels come from `kernel_registry`, or from the registry when
  /// that is empty; tensors kept outside the program come from `named_data_map`.
  Result<Method> load_method(const char* method_name, MemoryManager* memory_manager,
                             EventTracer* event_tracer = nullptr,
                             const NamedDataMap* named_data_map = nullptr,
                             const LoadBackendOptionsMap* backend_options = nullptr,
                             Span<const Kernel> kernel_registry = {}) const {
    return load_method(method_name, *memory_manager, event_tracer, named_data_map,
                       named_data_map == nullptr ? nullptr : &internal::load_external,
                       backend_options, kernel_registry);
  }

  enum HeaderStatus { CompatibleVersion, IncompatibleVersion, NotPresent, ShortData };
  static constexpr size_t kMinHeadBytes = 64;
  /// What the first bytes of a file, at least kMinHeadBytes, say about it.
  static HeaderStatus check_header(const void* data, size_t size);

 private:
  friend class Result<Program>;
  friend struct internal::MethodState;
  friend struct internal::ProgramReader;
  friend class internal::PteDataMap;

  explicit Program(DataLoader* loader) : loader_(loader) {}
  /// Loads and checks what all methods share.
  Error open();
  /// Checks the values of a method's table ExecutionPlan.
  Error check_values(const uint8_t* plan);
  Error check_tensor(const uint8_t* table, const uint8_t* buffer_sizes);

  Result<Method> load_method(const char* method_name, MemoryManager& memory_manager,
                             EventTracer* event_tracer, const NamedDataMap* named_data_map,
                             internal::ExternalLoader load_external,
                             const LoadBackendOptionsMap* backend_options,
                             Span<const Kernel> kernel_registry) const;

  /// The part of the file that table DataSegment `index` names.
  struct Segment {
    size_t offset;
    size_t size;
  };
  Error find_segment(size_t index, Segment& segment) const;
  /// Fills an empty buffer.
  Error load_piece(const Segment& piece, DataLoader::SegmentInfo::Type type, size_t index,
                   FreeableBuffer& buffer) const;
  /// Where constant number `index`, of `nbytes` bytes, is.
  Error find_constant(size_t index, size_t nbytes, const void*& address) const;
  Result<FreeableBuffer> load_segment(DataLoader::SegmentInfo::Type type, size_t index) const;
  /// Fills `buffer` with the initial state of a mutable tensor.
  Error load_initial_state(size_t segments_index, size_t offset_index, size_t size,
                           void* buffer) const;

  FreeableBuffer data_;
  FreeableBuffer constants_;
  DataLoader* loader_;
  const uint8_t* root_ = nullptr;
  size_t segment_base_ = 0;  ///< 0: the file has no segments.
  /// Whether all tensors are known to be constants, or inside the planned buffers that the program
  /// declares, and nothing else is special about them.
  bool is_plain_ = false;
  // Made when it is asked for, so that programs without backends do not link its code.
  alignas(internal::PteDataMap) mutable uint8_t named_data_[sizeof(internal::PteDataMap)] = {};
};

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Program;
}
