// Runs the model that calls my::softclip once and prints its outputs.

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstdio>

#include "RegisterKernels.h"
#include "memory_plan.h"

// model.S puts the file between these symbols.
extern "C" const uint8_t model_begin[], model_end[];

namespace {

namespace et = executorch::runtime;
namespace plan = gen_kernels::memory_plan;

alignas(16) uint8_t method_allocator_pool[plan::kMethodPoolSize];
alignas(16) uint8_t planned_memory[plan::kPlannedPoolSize];
alignas(16) uint8_t temp_allocator_pool[plan::kTempPoolSize == 0 ? 1 : plan::kTempPoolSize];

int fail(const char* stage, et::Error error) {
  std::printf("%s failed: error 0x%x\n", stage, static_cast<unsigned>(error));
  return 1;
}

}  // namespace

int main() {
  et::runtime_init();
  et::Error error = gen_kernels::register_all_kernels();
  if (error != et::Error::Ok) return fail("register_all_kernels", error);

  executorch::extension::BufferDataLoader loader(model_begin,
                                                 static_cast<size_t>(model_end - model_begin));
  et::Result<et::Program> program = et::Program::load(&loader);
  if (!program.ok()) return fail("Program::load", program.error());

  et::MemoryAllocator method_allocator(sizeof(method_allocator_pool), method_allocator_pool);
  et::MemoryAllocator temp_allocator(plan::kTempPoolSize, temp_allocator_pool);
  et::Span<uint8_t> planned_buffers[] = {{planned_memory, sizeof(planned_memory)}};
  et::HierarchicalAllocator planned({planned_buffers, 1});
  et::MemoryManager memory(&method_allocator, &planned, &temp_allocator);
  et::Result<et::Method> method = program->load_method("forward", &memory);
  if (!method.ok()) return fail("load_method", method.error());

  float values[] = {1.0f, -2.0f, 0.5f, 3.0f};
  int32_t sizes[] = {1, 4};
  uint8_t dim_order[] = {0, 1};
  int32_t strides[] = {4, 1};
  executorch::aten::TensorImpl input(executorch::aten::ScalarType::Float, 2, sizes, values,
                                     dim_order, strides);
  error = method->set_input(et::EValue(executorch::aten::Tensor(&input)), 0);
  if (error != et::Error::Ok) return fail("set_input", error);
  error = method->execute();
  if (error != et::Error::Ok) return fail("execute", error);

  // In millionths: printing a float brings double precision into the image.
  const float* outputs = method->get_output(0).toTensor().const_data_ptr<float>();
  for (int i = 0; i < 3; ++i) {
    std::printf("output %d: %ld millionths\n", i, static_cast<long>(outputs[i] * 1e6f));
  }
  return 0;
}
