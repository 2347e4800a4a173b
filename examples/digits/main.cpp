// A firmware that classifies handwritten digits: everything a model needs on a microcontroller.
//
// The program lies in flash, the memory in three static pools, and the kernels come from
// libgen_kernels.a, which `gen-kernels build` made for exactly this model. The same source runs on
// the CV32E40P, on QEMU and on the host, with this project's runtime or with ExecuTorch's.

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "RegisterKernels.h"
#include "memory_plan.h"
#include "platform.h"

// data.S puts the files between these symbols.
extern "C" const uint8_t model_begin[], model_end[], images_begin[], images_end[];

namespace {

namespace et = executorch::runtime;

constexpr size_t kPixels = 64;
constexpr size_t kClasses = 10;

// gen-kernels computed the sizes for this model: nothing to guess, nothing to try out.
namespace plan = gen_kernels::memory_plan;
alignas(16) uint8_t method_allocator_pool[plan::kMethodPoolSize];
alignas(16) uint8_t planned_memory[plan::kPlannedPoolSize];
// An array has at least one element, also where no kernel asks for temporary memory.
alignas(16) uint8_t temp_allocator_pool[plan::kTempPoolSize == 0 ? 1 : plan::kTempPoolSize];

int fail(const char* stage, et::Error error) {
  std::printf("%s failed: error 0x%x\n", stage, static_cast<unsigned>(error));
  return 1;
}

int classify_all(et::Method& method) {
  const size_t count = static_cast<size_t>(images_end - images_begin) / kPixels;
  for (size_t n = 0; n < count; ++n) {
    float pixels[kPixels];
    for (size_t i = 0; i < kPixels; ++i) {
      pixels[i] = static_cast<float>(images_begin[n * kPixels + i]) / 16.0f;
    }
    int32_t sizes[] = {1, 1, 8, 8};
    uint8_t dim_order[] = {0, 2, 3, 1};  // channels last, as the model was exported
    int32_t strides[] = {64, 1, 8, 1};
    executorch::aten::TensorImpl image(executorch::aten::ScalarType::Float, 4, sizes, pixels,
                                       dim_order, strides);
    // Planned memory is used again during a run: the input is set before each.
    et::Error error = method.set_input(et::EValue(executorch::aten::Tensor(&image)), 0);
    if (error != et::Error::Ok) return fail("set_input", error);

    const uint64_t cycles = platform_cycles();
    const uint64_t instructions = platform_instret();
    error = method.execute();
    const uint64_t instructions_taken = platform_instret() - instructions;
    const uint64_t cycles_taken = platform_cycles() - cycles;
    if (error != et::Error::Ok) return fail("execute", error);

    const float* scores = method.get_output(0).toTensor().const_data_ptr<float>();
    size_t best = 0;
    for (size_t i = 1; i < kClasses; ++i) {
      if (scores[i] > scores[best]) best = i;
    }
    std::printf("image %u class %u cycles %lu instructions %lu\n", static_cast<unsigned>(n),
                static_cast<unsigned>(best), static_cast<unsigned long>(cycles_taken),
                static_cast<unsigned long>(instructions_taken));
#ifdef DIGITS_PRINT_SCORES
    for (size_t i = 0; i < kClasses; ++i) {
      uint32_t bits;
      std::memcpy(&bits, &scores[i], sizeof(bits));
      std::printf("score %u %u %08lx\n", static_cast<unsigned>(n), static_cast<unsigned>(i),
                  static_cast<unsigned long>(bits));
    }
#endif
  }
  return 0;
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
  std::printf("methods %u\n", static_cast<unsigned>(program->num_methods()));

  et::MemoryAllocator method_allocator(sizeof(method_allocator_pool), method_allocator_pool);
  et::MemoryAllocator temp_allocator(plan::kTempPoolSize, temp_allocator_pool);
  et::Span<uint8_t> planned_buffers[] = {{planned_memory, sizeof(planned_memory)}};
  et::HierarchicalAllocator planned({planned_buffers, 1});
  et::MemoryManager memory(&method_allocator, &planned, &temp_allocator);

  et::Result<et::Method> method = program->load_method("forward", &memory);
  if (!method.ok()) return fail("load_method", method.error());
  return classify_all(*method);
}
