// SPDX-License-Identifier: BSD-3-Clause
//
// Backends and the delegates of a method. From the method allocator come one array of Delegate
// (32 bytes each on a 32-bit machine, 56 on a 64-bit one), and for each delegate its CompileSpecs
// (12 and 24 bytes each), then what the backend itself takes.
#include <executorch/runtime/backend/interface.h>

#include <new>

#include "method_state.h"

namespace executorch::runtime {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;

namespace {
Backend g_backends[GEN_KERNELS_MAX_BACKENDS];
size_t g_backend_count = 0;
}  // namespace

BackendInterface::~BackendInterface() = default;

BackendInterface* get_backend_class(const char* name) {
  for (size_t i = 0; i < g_backend_count; ++i) {
    if (strcmp(g_backends[i].name, name) == 0) {
      return g_backends[i].backend;
    }
  }
  return nullptr;
}

Error register_backend(const Backend& backend) {
  ET_CHECK_OR_RETURN_ERROR(get_backend_class(backend.name) == nullptr, InvalidArgument,
                           "Backend %s is registered already", backend.name);
  ET_CHECK_OR_RETURN_ERROR(g_backend_count < GEN_KERNELS_MAX_BACKENDS, Internal,
                           "More than %d backends", GEN_KERNELS_MAX_BACKENDS);
  g_backends[g_backend_count++] = backend;
  return Error::Ok;
}

size_t get_num_registered_backends() { return g_backend_count; }

Result<const char*> get_backend_name(size_t index) {
  ET_CHECK_OR_RETURN_ERROR(index < g_backend_count, InvalidArgument, "No backend %zu", index);
  return g_backends[index].name;
}

Error set_option(const char* backend_name, const Span<BackendOption> backend_options) {
  BackendInterface* backend = get_backend_class(backend_name);
  BackendOptionContext context;
  return backend == nullptr ? Error::NotFound : backend->set_option(context, backend_options);
}

Error get_option(const char* backend_name, Span<BackendOption> backend_options) {
  BackendInterface* backend = get_backend_class(backend_name);
  BackendOptionContext context;
  return backend == nullptr ? Error::NotFound : backend->get_option(context, backend_options);
}

namespace internal {

struct Delegate {
  const BackendInterface* backend = nullptr;  ///< Null until init() has succeeded.
  DelegateHandle* handle = nullptr;
  FreeableBuffer processed;
};
static_assert(sizeof(Delegate) == (sizeof(void*) == 4 ? 32 : 56));

namespace {

Result<FreeableBuffer> load_processed(const MethodState& state, const uint8_t* delegate) {
  const uint8_t* where = flat::field_table(delegate, schema::delegate::kProcessed);
  ET_CHECK_OR_RETURN_ERROR(where != flat::kNothing, InvalidProgram, "A delegate has no data");
  const uint32_t index = flat::field_u32(where, schema::processed::kIndex);
  if (flat::field_u8(where, schema::processed::kLocation) == schema::processed::kLocationSegment) {
    return ProgramReader::load_segment(state.program, index);
  }
  const uint8_t* all =
      flat::field_vector(ProgramReader::root(state.program), schema::program::kBackendDelegateData);
  ET_CHECK_OR_RETURN_ERROR(index < flat::vector_size(all), NotFound, "No delegate data %" PRIu32,
                           index);
  const uint8_t* data =
      flat::field_vector(flat::vector_table(all, index), schema::buffer::kStorage);
  return FreeableBuffer(flat::vector_data(data), flat::vector_size(data), nullptr);
}

Result<ArrayRef<CompileSpec>> make_compile_specs(MemoryAllocator& pool, const uint8_t* delegate) {
  const uint8_t* all = flat::field_vector(delegate, schema::delegate::kCompileSpecs);
  const uint32_t count = flat::vector_size(all);
  auto* specs = pool.allocateList<CompileSpec>(count);
  if (specs == nullptr && count != 0) {
    return Error::MemoryAllocationFailed;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint8_t* entry = flat::vector_table(all, i);
    const uint8_t* value = flat::field_vector(entry, schema::compile_spec::kValue);
    new (&specs[i])
        CompileSpec{flat::string_data(flat::field_vector(entry, schema::compile_spec::kKey)),
                    {const_cast<uint8_t*>(flat::vector_data(value)), flat::vector_size(value)}};
  }
  return ArrayRef<CompileSpec>(specs, count);
}

Error init_delegate(MethodState& state, const uint8_t* table, const char* method_name,
                    const NamedDataMap* named_data, const LoadBackendOptionsMap* options,
                    Delegate* delegate) {
  new (delegate) Delegate();
  const char* id = flat::string_data(flat::field_vector(table, schema::delegate::kId));
  const BackendInterface* backend = get_backend_class(id);
  ET_CHECK_OR_RETURN_ERROR(backend != nullptr && backend->is_available(), NotFound,
                           "Backend %s is not registered or not available", id);
  const Result<ArrayRef<CompileSpec>> specs =
      make_compile_specs(*state.memory.method_allocator(), table);
  if (!specs.ok()) {
    return specs.error();
  }
  Result<FreeableBuffer> processed = load_processed(state, table);
  if (!processed.ok()) {
    return processed.error();
  }
  delegate->~Delegate();
  new (delegate) Delegate{nullptr, nullptr, std::move(*processed)};
  BackendInitContext context(
      state.memory.method_allocator(), state.tracer, method_name, named_data,
      options == nullptr ? Span<const BackendOption>() : options->get_options(id));
  const Result<DelegateHandle*> handle = backend->init(context, &delegate->processed, specs.get());
  if (!handle.ok()) {
    return handle.error();
  }
  delegate->handle = handle.get();
  delegate->backend = backend;
  return Error::Ok;
}

}  // namespace

Error init_delegates(MethodState& state, const NamedDataMap* named_data,
                     const LoadBackendOptionsMap* options) {
  if (named_data == nullptr) {
    const Result<const NamedDataMap*> own = state.program.get_named_data_map();
    named_data = own.ok() ? own.get() : nullptr;
  }
  const uint8_t* all = flat::field_vector(state.plan, schema::plan::kDelegates);
  const char* method_name = flat::string_data(flat::field_vector(state.plan, schema::plan::kName));
  auto* delegates = state.memory.method_allocator()->allocateList<Delegate>(flat::vector_size(all));
  if (delegates == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  state.delegates = delegates;
  for (; state.n_delegates < flat::vector_size(all); ++state.n_delegates) {
    Delegate* delegate = &delegates[state.n_delegates];
    const Error error = init_delegate(state, flat::vector_table(all, state.n_delegates),
                                      method_name, named_data, options, delegate);
    if (error != Error::Ok) {
      delegate->~Delegate();
      return error;
    }
  }
  return Error::Ok;
}

Error execute_delegate(MethodState& state, uint32_t index, Span<EValue*> args) {
  const Delegate& delegate = state.delegates[index];
  BackendExecutionContext context(
      state.tracer, state.memory.temp_allocator(),
      flat::string_data(flat::field_vector(state.plan, schema::plan::kName)));
  return delegate.backend->execute(context, delegate.handle, args);
}

void destroy_delegates(MethodState& state) {
  for (Delegate& delegate : Span<Delegate>(state.delegates, state.n_delegates)) {
    delegate.backend->destroy(delegate.handle);
    delegate.~Delegate();
  }
}

}  // namespace internal
}  // namespace executorch::runtime
