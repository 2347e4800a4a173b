// SPDX-License-Identifier: BSD-3-Clause
//
// Runs every test case of a bundled program with real kernels and compares the outputs.
#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>

#include "RegisterKernels.h"
#include "memory_plan.h"

using namespace executorch::runtime;
namespace bundled = executorch::bundled_program;

namespace {
alignas(16) uint8_t method_pool[gen_kernels::memory_plan::kMethodPoolSize];
alignas(16) uint8_t planned_pool[gen_kernels::memory_plan::kPlannedPoolSize];
}  // namespace

int main(int, char** argv) {
  runtime_init();
  if (gen_kernels::register_all_kernels() != Error::Ok) {
    return 2;
  }
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr) {
    return 2;
  }
  alignas(64) static uint8_t data[1 << 20];
  const size_t size = std::fread(data, 1, sizeof(data), file);
  std::fclose(file);
  const void* program_data = nullptr;
  size_t program_size = 0;
  std::printf("is bundled %d\n", bundled::is_bundled_program(data, size));
  std::printf("cut 0x%02x\n",
              unsigned(bundled::get_program_data(data, size / 2, &program_data, &program_size)));
  if (bundled::get_program_data(data, size, &program_data, &program_size) != Error::Ok) {
    return 3;
  }
  executorch::extension::BufferDataLoader loader(program_data, program_size);
  Result<Program> program = Program::load(&loader);
  std::printf("load 0x%02x\n", unsigned(program.error()));
  if (!program.ok()) {
    return 4;
  }
  Span<uint8_t> buffers[] = {{planned_pool, sizeof(planned_pool)}};
  HierarchicalAllocator planned({buffers, 1});
  MemoryAllocator allocator(sizeof(method_pool), method_pool);
  MemoryManager manager(&allocator, &planned);
  Result<Method> method = program->load_method("forward", &manager);
  std::printf("load_method 0x%02x\n", unsigned(method.error()));
  if (!method.ok()) {
    return 5;
  }
  for (size_t i = 0;; ++i) {
    const Error set = bundled::load_bundled_input(*method, data, i);
    std::printf("input %zu 0x%02x\n", i, unsigned(set));
    if (set != Error::Ok) {
      return 0;
    }
    std::printf("execute 0x%02x\n", unsigned(method->execute()));
    std::printf("outputs 0x%02x\n",
                unsigned(bundled::verify_method_outputs(*method, data, i, 1e-5, 1e-6)));
    auto* first = const_cast<float*>(method->get_output(0).toTensor().const_data_ptr<float>());
    first[0] += 1;
    std::printf("spoilt 0x%02x\n",
                unsigned(bundled::verify_method_outputs(*method, data, i, 1e-5, 1e-6)));
  }
}
