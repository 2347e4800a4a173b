// SPDX-License-Identifier: BSD-3-Clause
//
// Backends run delegated parts of a program. Their support is linked only into images that call
// register_backend().
#pragma once

#include <executorch/runtime/backend/backend_execution_context.h>
#include <executorch/runtime/backend/backend_init_context.h>
#include <executorch/runtime/backend/backend_option_context.h>
#include <executorch/runtime/backend/backend_options_map.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <stddef.h>

/// Backends that can be registered.
#ifndef GEN_KERNELS_MAX_BACKENDS
#define GEN_KERNELS_MAX_BACKENDS 4
#endif

namespace executorch::runtime {

struct SizedBuffer {
  void* buffer;
  size_t nbytes;
};

/// A setting that the exporter gave a delegate. It points into the program.
struct CompileSpec {
  const char* key;
  SizedBuffer value;
};

using DelegateHandle = void;

class BackendInterface {
 public:
  virtual ~BackendInterface() = 0;

  /// Whether the backend can run here.
  ET_NODISCARD virtual bool is_available() const = 0;

  /// Prepares one delegate from the bytes that the exporter made. `processed` stays as long as the
  /// method, unless it is freed; the compile specs are gone when init() returns, their values stay.
  ET_NODISCARD virtual Result<DelegateHandle*> init(BackendInitContext& context,
                                                    FreeableBuffer* processed,
                                                    ArrayRef<CompileSpec> compile_specs) const = 0;

  /// Runs it. `args` are the delegate's inputs, then its outputs.
  ET_NODISCARD virtual Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                                     Span<EValue*> args) const = 0;

  ET_NODISCARD virtual Error set_option(BackendOptionContext&, const Span<BackendOption>&) {
    return Error::Ok;
  }
  ET_NODISCARD virtual Error get_option(BackendOptionContext&, Span<BackendOption>&) {
    return Error::Ok;
  }

  /// Called for each handle when the method is destroyed.
  virtual void destroy(DelegateHandle*) const {}
};

struct Backend {
  const char* name;
  BackendInterface* backend;
};

/// Both the name and the backend must stay. InvalidArgument for a name that is registered already,
/// Internal when GEN_KERNELS_MAX_BACKENDS are.
ET_NODISCARD Error register_backend(const Backend& backend);

/// Null when there is none of this name.
BackendInterface* get_backend_class(const char* name);
size_t get_num_registered_backends();
Result<const char*> get_backend_name(size_t index);

/// Passed on to the backend; NotFound without one of this name.
Error set_option(const char* backend_name, const Span<BackendOption> backend_options);
Error get_option(const char* backend_name, Span<BackendOption> backend_options);

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Backend;
using ::executorch::runtime::CompileSpec;
using ::executorch::runtime::DelegateHandle;
using ::executorch::runtime::get_backend_class;
using ::executorch::runtime::register_backend;
using ::executorch::runtime::SizedBuffer;
using PyTorchBackendInterface = ::executorch::runtime::BackendInterface;
}  // namespace torch::executor
