// SPDX-License-Identifier: BSD-3-Clause
//
// The classic runner, written as ExecuTorch's documentation does it, around one model with one
// case. Prints, a line each:
//   instructions <register> <load> <load_method> <set_input> <execute>
//   ram <method pool> <objects>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "RegisterKernels.h"
#include "memory_plan.h"
#include "platform.h"
#include "runner.h"
#include "runner_cases.h"

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::BufferDataLoader;
using namespace executorch::runtime;

namespace {

alignas(16) __attribute__((section(".noinit"))) uint8_t
    method_pool[gen_kernels::memory_plan::kMethodPoolSize];
alignas(16) __attribute__((section(".noinit"))) uint8_t
    planned_pool[gen_kernels::memory_plan::kPlannedPoolSize];

void put(const char* text) {
  while (*text != 0) {
    platform_putc(*text++);
  }
}

void put_number(uint32_t value) {
  char digits[11];
  char* at = digits + sizeof(digits) - 1;
  *at = 0;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  put(" ");
  put(at);
}

void check(Error error) {
  if (error != Error::Ok) {
    put("error");
    put_number(static_cast<uint32_t>(error));
    put("\n");
    platform_exit(1);
  }
}

uint32_t now() { return static_cast<uint32_t>(platform_instret()); }

}  // namespace

int main() {
  runtime_init();
  uint32_t times[6] = {now()};
  check(gen_kernels::register_all_kernels());
  times[1] = now();

  const auto size = static_cast<size_t>(runner_model_end - runner_model_begin);
  BufferDataLoader loader(runner_model_begin, size);
  Result<Program> program = Program::load(&loader);
  times[2] = now();
  check(program.error());

  const runner::Case& one = runner::kCases[0];
  Result<MethodMeta> meta = program->method_meta(one.method);
  check(meta.error());
  Span<uint8_t> spans[4];
  size_t used = 0;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto bytes = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
    spans[i] = Span<uint8_t>(planned_pool + used, bytes);
    used += (bytes + 15) & ~size_t{15};
  }
  HierarchicalAllocator planned({spans, meta->num_memory_planned_buffers()});
  MemoryAllocator method_allocator(sizeof(method_pool), method_pool);
  MemoryManager manager(&method_allocator, &planned);
  const uint32_t before_load = now();
  Result<Method> method = program->load_method(one.method, &manager);
  times[3] = now();
  check(method.error());

  for (size_t i = 0; i < one.num_inputs; ++i) {
    const runner::Input& input = one.inputs[i];
    int32_t strides[16];
    for (int j = 0; j < 16; ++j) {
      strides[j] = 1;  // the runtime takes the elements in memory order
    }
    TensorImpl impl(static_cast<ScalarType>(input.scalar_type), input.ndim,
                    const_cast<int32_t*>(input.sizes), const_cast<void*>(input.data),
                    const_cast<uint8_t*>(input.dim_order), strides);
    check(method->set_input(Tensor(&impl), i));
  }
  times[4] = now();
  check(method->execute());
  times[5] = now();

  put("instructions");
  put_number(times[1] - times[0]);
  put_number(times[2] - times[1]);
  put_number(times[3] - before_load);
  put_number(times[4] - times[3]);
  put_number(times[5] - times[4]);
  put("\nram");
  put_number(static_cast<uint32_t>(method_allocator.used_size()));
  put_number(sizeof(loader) + sizeof(program) + sizeof(planned) + sizeof(method_allocator) +
             sizeof(manager) + sizeof(method) + sizeof(spans));
  put("\n");
  platform_exit(0);
}
