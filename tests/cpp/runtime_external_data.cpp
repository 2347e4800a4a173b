// SPDX-License-Identifier: BSD-3-Clause
//
// External data: what a .ptd file holds, and a program that takes its constants from it. Prints the
// same with ExecuTorch's own runtime.
//
//   runtime_external_data model.pte data.ptd operator...
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
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
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;

namespace {

uint32_t checksum(const void* data, size_t size) {
  uint32_t sum = 2166136261u;
  for (size_t i = 0; i < size; ++i) {
    sum = (sum ^ static_cast<const uint8_t*>(data)[i]) * 16777619u;
  }
  return sum;
}

/// Prints the tensors that an operator gets.
void show(KernelRuntimeContext&, Span<EValue*> args) {
  std::printf("call");
  for (size_t i = 0; i + 2 < args.size(); ++i) {
    if (args[i]->isTensor()) {
      const Tensor& tensor = args[i]->toTensor();
      std::printf(" %zu:%08x", tensor.nbytes(), checksum(tensor.const_data_ptr(), tensor.nbytes()));
    }
  }
  std::printf("\n");
}

struct File {
  explicit File(const char* path) : data(static_cast<uint8_t*>(std::aligned_alloc(64, 1 << 24))) {
    std::FILE* file = std::fopen(path, "rb");
    size = file == nullptr ? 0 : std::fread(data, 1, 1 << 24, file);
    if (file != nullptr) {
      std::fclose(file);
    }
  }
  ~File() { std::free(data); }
  File(const File&) = delete;

  uint8_t* data;
  size_t size;
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  runtime_init();
  const File model(argv[1]);
  const File weights(argv[2]);
  BufferDataLoader weights_loader(weights.data, weights.size);
  Result<FlatTensorDataMap> map = FlatTensorDataMap::load(&weights_loader);
  std::printf("load map 0x%02x\n", unsigned(map.error()));
  if (!map.ok()) {
    return 1;
  }
  const uint32_t keys = map->get_num_keys().get();
  for (uint32_t i = 0; i <= keys; ++i) {
    const auto key = map->get_key(i);
    std::printf("key 0x%02x %s\n", unsigned(key.error()), key.ok() ? *key : "");
    const char* name = key.ok() ? *key : "no such key";
    const auto layout = map->get_tensor_layout(name);
    std::printf("  layout 0x%02x", unsigned(layout.error()));
    if (layout.ok()) {
      std::printf(" type %d nbytes %zu dims %zu first %d", int(layout->scalar_type()),
                  layout->nbytes(), layout->sizes().size(), int(layout->sizes()[0]));
    }
    const auto data = map->get_data(name);
    std::printf(" data 0x%02x", unsigned(data.error()));
    if (data.ok()) {
      std::printf(" %zu %08x", data->size(), checksum(data->data(), layout->nbytes()));
      std::vector<uint8_t> copy(layout->nbytes());
      std::printf(" into 0x%02x", unsigned(map->load_data_into(name, copy.data(), copy.size())));
      std::printf(" %08x", checksum(copy.data(), copy.size()));
    }
    std::printf("\n");
  }
  BufferDataLoader not_weights(model.data, model.size);
  std::printf("not a map %d\n", FlatTensorDataMap::load(&not_weights).ok());

  static std::vector<Kernel> kernels;
  for (int i = 3; i < argc; ++i) {
    kernels.emplace_back(argv[i], show);
  }
  if (register_kernels({kernels.data(), kernels.size()}) != Error::Ok) {
    return 2;
  }
  BufferDataLoader loader(model.data, model.size);
  Result<Program> program = Program::load(&loader);
  const char* name = *program->get_method_name(0);
  const auto meta = program->method_meta(name);
  std::vector<std::vector<uint8_t>> memory;
  std::vector<Span<uint8_t>> buffers;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    memory.emplace_back(static_cast<size_t>(*meta->memory_planned_buffer_size(i)));
    buffers.emplace_back(memory.back().data(), memory.back().size());
  }
  std::vector<uint8_t> pool(1 << 16);
  MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
  HierarchicalAllocator planned({buffers.data(), buffers.size()});
  MemoryManager manager(&allocator, &planned);
  std::printf("without data 0x%02x\n", unsigned(program->load_method(name, &manager).error()));
  allocator.reset();
  Result<Method> method = program->load_method(name, &manager, nullptr, &*map);
  std::printf("load_method 0x%02x\n", unsigned(method.error()));
  if (!method.ok()) {
    return 1;
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
  return 0;
}
