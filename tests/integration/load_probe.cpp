// Loads every method of every model in exactly the method pool that was computed for it, and in
// one that is a step smaller. Kernels and backends are stand-ins: only loading is looked at.
//
// Prints "METHOD-NUMBER exact less used": the errors of the two loads, and the bytes in use after
// the first one. The test writes models.S (the models) and table.h (kTable, kKernels).
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>
#include <platform.h>
#include <stdio.h>

#include <optional>

using namespace executorch::runtime;
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;

namespace {

struct Row {
  const uint8_t* model;
  const uint8_t* model_end;
  const uint8_t* data;  ///< A .ptd file, or null.
  const uint8_t* data_end;
  const char* method;
  uint32_t pool;
};

void stand_in(KernelRuntimeContext&, Span<EValue*>) {}

class AnyBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                               ArrayRef<CompileSpec>) const override {
    return static_cast<DelegateHandle*>(nullptr);
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
};

#include "table.h"

[[gnu::section(".noinit")]] alignas(16) uint8_t g_pool[64 * 1024];
[[gnu::section(".noinit")]] alignas(16) uint8_t g_planned[512 * 1024];

Error load(const Row& row, const Program& program, const NamedDataMap* data, uint32_t pool_size,
           size_t& used) {
  MemoryAllocator pool(pool_size, g_pool);
  const auto meta = program.method_meta(row.method);
  if (!meta.ok()) {
    return meta.error();
  }
  Span<uint8_t> spans[4];
  uint8_t* next = g_planned;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto size = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
    spans[i] = {next, size};
    next += (size + 15) / 16 * 16;
  }
  HierarchicalAllocator planned({spans, meta->num_memory_planned_buffers()});
  MemoryManager manager(&pool, &planned);
  const Result<Method> method = program.load_method(row.method, &manager, nullptr, data);
  used = pool.used_size();
  return method.error();
}

}  // namespace

int main() {
  runtime_init();
  static AnyBackend backend;
  (void)register_backend({"XnnpackBackend", &backend});
  (void)register_kernels({kKernels, sizeof(kKernels) / sizeof(kKernels[0])});
  unsigned number = 0;
  for (const Row& row : kTable) {
    BufferDataLoader loader(row.model, static_cast<size_t>(row.model_end - row.model));
    const Result<Program> program = Program::load(&loader);
    if (!program.ok()) {
      printf("%u program 0x%x\n", number++, static_cast<unsigned>(program.error()));
      continue;
    }
    BufferDataLoader data_loader(row.data, static_cast<size_t>(row.data_end - row.data));
    std::optional<Result<FlatTensorDataMap>> data;
    if (row.data != nullptr) {
      data.emplace(FlatTensorDataMap::load(&data_loader));
      if (!data->ok()) {
        printf("%u data 0x%x\n", number++, static_cast<unsigned>(data->error()));
        continue;
      }
    }
    const NamedDataMap* map = data ? &data->get() : nullptr;
    size_t used = 0;
    size_t ignored = 0;
    const Error exact = load(row, *program, map, row.pool, used);
    const Error less = load(row, *program, map, row.pool - 1, ignored);
    printf("%u 0x%x 0x%x %u\n", number++, static_cast<unsigned>(exact), static_cast<unsigned>(less),
           static_cast<unsigned>(used));
  }
  return 0;
}
