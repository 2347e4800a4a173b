// SPDX-License-Identifier: BSD-3-Clause
//
// Delegates: a backend that records what it is asked, registered under the name that the model's
// delegates give. The same program runs with ExecuTorch's own runtime and prints the same.
//
//   runtime_backend model.pte operator...
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace executorch::runtime;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

uint32_t checksum(const void* data, size_t size) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < size; ++i) {
    sum = (sum ^ static_cast<const uint8_t*>(data)[i]) * 16777619u;
  }
  return sum;
}

class RecordingBackend final : public BackendInterface {
 public:
  bool is_available() const override { return available; }

  Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                               executorch::aten::ArrayRef<CompileSpec> specs) const override {
    std::printf("init method %s data %zu bytes %08x specs %zu named data %d\n",
                context.get_method_name(), processed->size(),
                checksum(processed->data(), processed->size()), specs.size(),
                context.get_named_data_map() != nullptr);
    for (const CompileSpec& spec : specs) {
      std::printf("  spec %s %zu bytes %08x\n", spec.key, spec.value.nbytes,
                  checksum(spec.value.buffer, spec.value.nbytes));
    }
    bool wanted = false;
    std::printf("  option 0x%02x %d\n",
                unsigned(context.get_runtime_spec<bool>("wanted").ok()
                             ? Error::Ok
                             : context.get_runtime_spec<bool>("wanted").error()),
                wanted);
    if (fail_init) {
      return Error::DelegateInvalidCompatibility;
    }
    int* handle = context.get_runtime_allocator()->allocateInstance<int>();
    *handle = ++made;
    processed->Free();
    return handle;
  }

  Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                Span<EValue*> args) const override {
    std::printf("execute handle %d method %s args %zu temp %d:", *static_cast<int*>(handle),
                context.get_method_name(), args.size(), context.allocate(16) != nullptr);
    for (EValue* arg : args) {
      std::printf(" %d", int(arg->tag));
      if (arg->isTensor()) {
        std::printf("[%zu]", arg->toTensor().nbytes());
      }
    }
    std::printf("\n");
    if (args.size() > 0 && args[args.size() - 1]->isTensor()) {
      const Tensor& out = args[args.size() - 1]->toTensor();
      std::memset(out.mutable_data_ptr(), 1, out.nbytes());
    }
    return fail_execute ? Error::DelegateInvalidHandle : Error::Ok;
  }

  void destroy(DelegateHandle* handle) const override {
    std::printf("destroy handle %d\n", *static_cast<int*>(handle));
  }

  bool available = true;
  bool fail_init = false;
  bool fail_execute = false;
  mutable int made = 0;
};

void nothing(KernelRuntimeContext&, Span<EValue*>) {}

void run(const Program& program, const LoadBackendOptionsMap* options) {
  const char* name = *program.get_method_name(0);
  const auto meta = program.method_meta(name);
  std::vector<std::vector<uint8_t>> memory;
  std::vector<Span<uint8_t>> buffers;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    memory.emplace_back(static_cast<size_t>(*meta->memory_planned_buffer_size(i)));
    buffers.emplace_back(memory.back().data(), memory.back().size());
  }
  std::vector<uint8_t> pool(1 << 16);
  std::vector<uint8_t> temp_pool(1 << 12);
  MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
  MemoryAllocator temp(static_cast<uint32_t>(temp_pool.size()), temp_pool.data());
  HierarchicalAllocator planned({buffers.data(), buffers.size()});
  MemoryManager manager(&allocator, &planned, &temp);
  Result<Method> method = program.load_method(name, &manager, nullptr, nullptr, options);
  std::printf("load_method 0x%02x\n", unsigned(method.error()));
  if (!method.ok()) {
    return;
  }
  for (size_t i = 0; i < method->inputs_size(); ++i) {
    const auto info = meta->input_tensor_meta(i);
    std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    std::vector<uint8_t> order(info->dim_order().begin(), info->dim_order().end());
    std::vector<int32_t> strides(sizes.size(), 1);
    std::vector<uint8_t> data(info->nbytes());
    TensorImpl impl(info->scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                    data.data(), order.data(), strides.data());
    std::printf("set_input 0x%02x\n", unsigned(method->set_input(Tensor(&impl), i)));
  }
  std::printf("execute 0x%02x\n", unsigned(method->execute()));
  const EValue& output = method->get_output(0);
  if (output.isTensor()) {
    std::printf("output %08x\n",
                checksum(output.toTensor().const_data_ptr(), output.toTensor().nbytes()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  runtime_init();
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr) {
    return 2;
  }
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(64, 1 << 24));
  const size_t size = std::fread(data, 1, 1 << 24, file);
  std::fclose(file);
  static std::vector<Kernel> kernels;
  for (int i = 2; i < argc; ++i) {
    kernels.emplace_back(argv[i], nothing);
  }
  if (!kernels.empty() && register_kernels({kernels.data(), kernels.size()}) != Error::Ok) {
    return 2;
  }
  executorch::extension::BufferDataLoader loader(data, size);
  Result<Program> program = Program::load(&loader);
  std::printf("load 0x%02x\n", unsigned(program.error()));
  const char* id = *program->method_meta(*program->get_method_name(0))->get_backend_name(0);
  std::printf("uses %s %d %d\n", id,
              program->method_meta(*program->get_method_name(0))->uses_backend(id),
              program->method_meta(*program->get_method_name(0))->uses_backend("none"));

  run(*program, nullptr);  // not registered
  static RecordingBackend backend;
  std::printf("register 0x%02x", unsigned(register_backend({id, &backend})));
  std::printf(" again 0x%02x found %d missing %d count %zu name %s\n",
              unsigned(register_backend({id, &backend})), get_backend_class(id) == &backend,
              get_backend_class("none") == nullptr, get_num_registered_backends(),
              *get_backend_name(0));
  std::printf("beyond 0x%02x\n", unsigned(get_backend_name(1).error()));
  backend.available = false;
  run(*program, nullptr);
  backend.available = true;
  backend.fail_init = true;
  run(*program, nullptr);
  backend.fail_init = false;
  backend.fail_execute = true;
  run(*program, nullptr);
  backend.fail_execute = false;
  BackendOptions<2> options;
  std::printf("set_option 0x%02x\n", unsigned(options.set_option("wanted", true)));
  LoadBackendOptionsMap map;
  std::printf("set_options 0x%02x 0x%02x %zu\n", unsigned(map.set_options(id, options.view())),
              unsigned(map.set_options("", options.view())), map.size());
  run(*program, &map);
  return 0;
}
