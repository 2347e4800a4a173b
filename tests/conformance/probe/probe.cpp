// Loads every method of a model in ExecuTorch's own runtime and says what the runtime asked for.
//
//   probe MODEL KERNELS [DATA.ptd|-] [no-temp]
//
// KERNELS is a text file, a line "name<TAB>key" for each kernel to register (an empty key: the
// fallback). Backends are stand-ins that accept everything. Output, a line each:
//
//   method NAME ERROR          load_method's result
//   alloc  KIND SIZE ALIGN     each allocation, in order; KIND: method or temp
//   reset  KIND                what was allocated is given back
//   used   BYTES               of the method pool, after the method is loaded

#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace executorch::runtime;
using executorch::extension::FileDataLoader;
using executorch::extension::FlatTensorDataMap;

namespace {

class Recorder final : public MemoryAllocator {
 public:
  Recorder(const char* kind, std::vector<uint8_t>& pool)
      : MemoryAllocator(static_cast<uint32_t>(pool.size()), pool.data()), kind_(kind) {}

  void* allocate(size_t size, size_t alignment) override {
    std::printf("alloc %s %zu %zu\n", kind_, size, alignment);
    return MemoryAllocator::allocate(size, alignment);
  }

  void reset() override {
    std::printf("reset %s\n", kind_);
    MemoryAllocator::reset();
  }

 private:
  const char* kind_;
};

class AnyBackend final : public BackendInterface {
 public:
  bool is_available() const override { return true; }
  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer*,
                               ArrayRef<CompileSpec>) const override {
    return reinterpret_cast<DelegateHandle*>(1);
  }
  Error execute(BackendExecutionContext&, DelegateHandle*, Span<EValue*>) const override {
    return Error::Ok;
  }
  void destroy(DelegateHandle*) const override {}
};

void kernel(KernelRuntimeContext&, Span<EValue*>) {}

}  // namespace

int main(int argc, char** argv) {
  runtime_init();
  static AnyBackend backend;
  for (const char* name : {"XnnpackBackend", "EthosUBackend", "CoreMLBackend"}) {
    (void)register_backend({name, &backend});
  }
  static std::vector<std::string> strings;
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    strings.push_back(line.substr(0, tab));
    strings.push_back(line.substr(tab + 1));
  }
  for (size_t i = 0; i < strings.size(); i += 2) {
    const char* key = strings[i + 1].c_str();
    const Kernel one[] = {*key ? Kernel(strings[i].c_str(), KernelKey(key), kernel)
                               : Kernel(strings[i].c_str(), kernel)};
    if (register_kernels({one, 1}) != Error::Ok) {
      return 2;
    }
  }
  auto loader = FileDataLoader::from(argv[1]);
  auto program = Program::load(&loader.get());
  if (!program.ok()) {
    std::printf("program 0x%x\n", static_cast<unsigned>(program.error()));
    return 1;
  }
  std::unique_ptr<FileDataLoader> data;
  std::unique_ptr<FlatTensorDataMap> map;
  if (argc > 3 && std::strcmp(argv[3], "-") != 0) {
    data = std::make_unique<FileDataLoader>(std::move(FileDataLoader::from(argv[3]).get()));
    map = std::make_unique<FlatTensorDataMap>(std::move(FlatTensorDataMap::load(data.get()).get()));
  }
  for (size_t i = 0; i < program->num_methods(); ++i) {
    const char* name = program->get_method_name(i).get();
    auto meta = program->method_meta(name);
    std::vector<std::vector<uint8_t>> buffers;
    std::vector<Span<uint8_t>> spans;
    for (size_t b = 0; b < meta->num_memory_planned_buffers(); ++b) {
      buffers.emplace_back(static_cast<size_t>(meta->memory_planned_buffer_size(b).get()));
      spans.emplace_back(buffers.back().data(), buffers.back().size());
    }
    HierarchicalAllocator planned({spans.data(), spans.size()});
    std::vector<uint8_t> method_pool(64 << 20), temp_pool(64 << 20);
    Recorder method_allocator("method", method_pool), temp_allocator("temp", temp_pool);
    MemoryManager manager(&method_allocator, &planned, argc > 4 ? nullptr : &temp_allocator);
    auto method = program->load_method(name, &manager, nullptr, map.get());
    std::printf("used %zu\n", method_allocator.used_size());
    std::printf("method %s 0x%x\n", name, static_cast<unsigned>(method.error()));
  }
  return 0;
}
