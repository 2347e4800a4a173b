// Runs models on the host, an instruction at a time, and prints which way each kernel call takes:
// "model <number>", then "<instruction> <bytes> <path>" for each: what it takes of the temporary
// memory, and "-" when its kernel reports no path.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "RegisterKernels.h"

using namespace executorch::runtime;

namespace {

const char* path = nullptr;

// Temporary memory that says what was taken of it.
struct Counted : MemoryAllocator {
  using MemoryAllocator::MemoryAllocator;
  size_t taken = 0;

  void* allocate(size_t size, size_t alignment) override {
    taken += size;
    return MemoryAllocator::allocate(size, alignment);
  }
};

std::vector<uint8_t> read(const char* name) {
  std::vector<uint8_t> data;
  if (std::FILE* file = std::fopen(name, "rb")) {
    for (int byte; (byte = std::fgetc(file)) != EOF;) {
      data.push_back(static_cast<uint8_t>(byte));
    }
    std::fclose(file);
  }
  return data;
}

// Memory that begins at a multiple of 16.
uint8_t* take(size_t size) {
  return static_cast<uint8_t*>(std::aligned_alloc(16, (size + 31) & ~size_t{15}));
}

bool run(const char* name) {
  const std::vector<uint8_t> file = read(name);
  uint8_t* data = take(file.size());
  for (size_t i = 0; i < file.size(); ++i) {
    data[i] = file[i];
  }
  executorch::extension::BufferDataLoader loader(data, file.size());
  Result<Program> program = Program::load(&loader);
  if (!program.ok()) {
    return false;
  }
  const char* method_name = *program->get_method_name(0);
  Result<MethodMeta> meta = program->method_meta(method_name);
  std::vector<Span<uint8_t>> buffers;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto size = static_cast<size_t>(*meta->memory_planned_buffer_size(i));
    buffers.emplace_back(take(size), size);
    for (uint8_t& byte : buffers.back()) {
      byte = 0;
    }
  }
  constexpr uint32_t kMethod = 4 << 20;
  constexpr uint32_t kTemp = 1 << 20;
  MemoryAllocator allocator(kMethod, take(kMethod));
  Counted temp(kTemp, take(kTemp));
  HierarchicalAllocator planned({buffers.data(), buffers.size()});
  MemoryManager manager(&allocator, &planned, &temp);
  Result<Method> method = program->load_method(method_name, &manager);
  if (!method.ok()) {
    return false;
  }
  for (int i = 0;; ++i) {
    path = nullptr;
    temp.taken = 0;
    const Error error = method->step();
    if (error == Error::EndOfMethod) {
      return true;
    }
    if (error != Error::Ok) {
      std::printf("instruction %d failed: 0x%02x\n", i, static_cast<unsigned>(error));
      return false;
    }
    std::printf("%d %zu %s\n", i, temp.taken, path != nullptr ? path : "-");
  }
}

}  // namespace

extern "C" void gen_kernels_path(const char* name) { path = name; }

int main(int count, char** names) {
  runtime_init();
  if (gen_kernels::register_all_kernels() != Error::Ok) {
    return 2;
  }
  for (int i = 1; i < count; ++i) {
    std::printf("model %d\n", i - 1);
    if (!run(names[i])) {
      return 1;
    }
  }
  return 0;
}
