// Runs the cases that are embedded in the image and prints what comes out, a line each:
//
//   output <case> <index> <scalar type> <ndim> <sizes…> <values in memory order, hexadecimal>
//   order <case> <index> <dim order…>              (unless it is 0 1 2…; before the output's line)
//   output <case> <index> none | int <value> | bool <value> | double <hexadecimal>
//   cycles <case> <n>      instret <case> <n>      (execute() alone; where there are counters)
//   profile <case> <instruction> <kernel> <cycles> <instret>     (-DRUNNER_PROFILE)
//   used <what> <bytes> <of>                       (high-water marks: method, temp, stack)
//   error <stage> 0x<code>                         (ExecuTorch's Error; exit code 1)
//
// -DRUNNER_BUNDLED: the model is a bundled program (.bpte). -DRUNNER_WEIGHTS: weights of the model
// are in a .ptd file, embedded as well.
//
// -DRUNNER_SMALL leaves out what an application would: all but tensors as inputs and outputs, dim
// orders, counters and high-water marks.
//
// The same source serves the host, QEMU and the RTL, our runtime and ExecuTorch's own. It has no
// heap, no printf and no file system: a pattern for a firmware of yours.

#include "runner.h"

#include <executorch/extension/data_loader/buffer_data_loader.h>
#ifdef RUNNER_WEIGHTS
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#endif
#ifdef RUNNER_BUNDLED
#include <executorch/devtools/bundled_program/bundled_program.h>
#endif
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "platform.h"
#include "print.h"
#include "runner_cases.h"  // kCases, runner_model_begin, runner_model_end
#ifdef RUNNER_PROFILE
#include "profile.h"
#endif
#ifndef RUNNER_STATIC_REGISTRATION
#include "RegisterKernels.h"
#endif

#if __has_include("memory_plan.h")
#include "memory_plan.h"
#endif

// Memory that start-up code need not clear.
#ifdef __riscv
#define RUNNER_NOINIT __attribute__((section(".noinit")))
#else
#define RUNNER_NOINIT
#endif

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::BufferDataLoader;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::NamedDataMap;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;
using runner::put;
using runner::put_bytes;
using runner::put_line_start;
using runner::put_unsigned;
#ifndef RUNNER_SMALL
using runner::put_signed;
#endif

constexpr size_t kMaxDim = 16;
constexpr uint32_t kPaint = 0xa5a5a5a5u;

// Pool sizes: what the library's memory_plan.h says, unless given.
#ifdef RUNNER_METHOD_POOL
constexpr size_t kMethodPool = RUNNER_METHOD_POOL;
constexpr size_t kPlannedPool = RUNNER_PLANNED_POOL;
constexpr size_t kTempPool = RUNNER_TEMP_POOL;
constexpr size_t kMaxPlannedBuffers = RUNNER_PLANNED_BUFFERS;
#else
namespace plan = gen_kernels::memory_plan;

constexpr size_t most_buffers() {
  size_t most = 0;
  for (const plan::MethodMemory& method : plan::kMethods) {
    most = method.num_planned > most ? method.num_planned : most;
  }
  return most;
}

constexpr size_t kMethodPool = plan::kMethodPoolSize;
constexpr size_t kPlannedPool = plan::kPlannedPoolSize;
constexpr size_t kTempPool = plan::kTempPoolSize;
constexpr size_t kMaxPlannedBuffers = most_buffers();
#endif

// There is no array of nothing.
constexpr size_t at_least_one(size_t size) { return size != 0 ? size : 1; }

alignas(16) RUNNER_NOINIT uint8_t method_pool[at_least_one(kMethodPool)];
alignas(16) RUNNER_NOINIT uint8_t planned_pool[at_least_one(kPlannedPool)];
alignas(16) RUNNER_NOINIT uint8_t temp_pool[at_least_one(kTempPool)];

// Names of stages, for messages.
#ifdef RUNNER_SMALL
#define STAGE(name) ""
#else
#define STAGE(name) name
#endif

[[noreturn]] void fail(const char* stage, Error error) {
  put_line_start("error", stage, "0x");
  const uint32_t code = static_cast<uint32_t>(error);
  const uint8_t bytes[] = {static_cast<uint8_t>(code >> 8), static_cast<uint8_t>(code)};
  put_bytes(bytes + (code < 256 ? 1 : 0), code < 256 ? 1 : 2);
  put("\n");
  platform_exit(1);
}

void check(const char* stage, Error error) {
  if (error != Error::Ok) {
    fail(stage, error);
  }
}

#ifndef RUNNER_SMALL
// High-water marks: what still holds the paint was never used. `begin` is a multiple of 4.
void paint(uint8_t* begin, size_t size) {
  for (size_t i = 0; i + 4 <= size; i += 4) {
    std::memcpy(__builtin_assume_aligned(begin + i, 4), &kPaint, 4);
  }
}

size_t painted_over(const uint8_t* begin, size_t size) {
  size_t words = size / 4;
  for (; words != 0; --words) {
    uint32_t word;
    std::memcpy(&word, __builtin_assume_aligned(begin + 4 * (words - 1), 4), 4);
    if (word != kPaint) {
      break;
    }
  }
  return 4 * words;
}

void put_used(const char* what, size_t used, size_t of) {
  put_line_start("used", what, used, of);
  put("\n");
}

#endif

#if defined(__riscv) && !defined(RUNNER_SMALL)
// The unused part of the stack, below this function's own frame.
size_t stack_room() {
  const uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here - platform_stack_limit() - 256;
}

__attribute__((noinline)) void paint_stack() {
  volatile uint32_t* at = reinterpret_cast<volatile uint32_t*>(platform_stack_limit());
  for (size_t words = stack_room() / 4; words != 0; --words) {
    *at++ = kPaint;
  }
}

__attribute__((noinline)) void put_stack_used() {
  extern char stack_top[] __asm__("__stack_top");
  const uintptr_t limit = platform_stack_limit();
  const uint32_t* at = reinterpret_cast<const uint32_t*>(limit);
  while (*at == kPaint) {
    ++at;
  }
  const uintptr_t top = reinterpret_cast<uintptr_t>(stack_top);
  put_used("stack", top - reinterpret_cast<uintptr_t>(at), top - limit);
}
#else
void paint_stack() {}
void put_stack_used() {}
#endif

// The tensor and its metadata that back an input: alive until execute() has returned.
struct InputTensor {
  TensorImpl::StridesType strides[kMaxDim];
  alignas(TensorImpl) uint8_t impl[sizeof(TensorImpl)];
};

Tensor make_tensor(const runner::Input& input, InputTensor& storage) {
  int32_t stride = 1;
  for (size_t i = input.ndim; i-- > 0;) {
    const int32_t size = input.sizes[input.dim_order[i]];
    storage.strides[input.dim_order[i]] = stride;
    stride *= size > 0 ? size : 1;
  }
  // Nothing of a static tensor is written through it.
  return Tensor(new (storage.impl) TensorImpl(
      static_cast<ScalarType>(input.scalar_type), static_cast<ssize_t>(input.ndim),
      const_cast<int32_t*>(input.sizes), const_cast<void*>(input.data),
      const_cast<uint8_t*>(input.dim_order), storage.strides));
}

EValue make_value(const runner::Input& input, InputTensor& storage) {
#ifdef RUNNER_SMALL
  return EValue(make_tensor(input, storage));
#else
  switch (input.kind) {
    case runner::Kind::kTensor:
      return EValue(make_tensor(input, storage));
    case runner::Kind::kInt:
      return EValue(input.integer);
    case runner::Kind::kDouble:
      return EValue(input.real);
    case runner::Kind::kBool:
      return EValue(input.integer != 0);
    default:
      return EValue();
  }
#endif
}

#ifndef RUNNER_SMALL
// The dim order of an output that is not contiguous.
void put_order(size_t number, size_t index, const Tensor& tensor) {
  const auto order = tensor.dim_order();
  size_t i = 0;
  while (i < order.size() && order[i] == i) {
    ++i;
  }
  if (i == order.size()) {
    return;
  }
  put_line_start("order", number, index);
  for (const auto dim : order) {
    put(" ");
    put_unsigned(dim);
  }
  put("\n");
}
#endif

void put_tensor(const Tensor& tensor) {
  put(" ");
  put_unsigned(static_cast<uint32_t>(tensor.scalar_type()));
  put(" ");
  put_unsigned(static_cast<uint32_t>(tensor.dim()));
  for (const auto size : tensor.sizes()) {
    put(" ");
    put_unsigned(static_cast<uint32_t>(size));
  }
  put(" ");
  put_bytes(tensor.const_data_ptr(), tensor.nbytes());
}

#ifdef RUNNER_SMALL
void put_output(size_t number, size_t index, const EValue& value) {
  put_line_start("output", number, index);
  put_tensor(value.toTensor());
  put("\n");
}
#else
void put_output(size_t number, size_t index, const EValue& value) {
  if (value.isTensor()) {
    put_order(number, index, value.toTensor());
  }
  put_line_start("output", number, index);
  if (value.isTensor()) {
    put_tensor(value.toTensor());
  } else if (value.isInt()) {
    put(" int ");
    put_signed(value.toInt());
  } else if (value.isBool()) {
    put(value.toBool() ? " bool 1" : " bool 0");
  } else if (value.isDouble()) {
    const double real = value.toDouble();
    put(" double ");
    put_bytes(&real, sizeof real);
  } else if (value.isString()) {
    put(" string ");
    put_bytes(value.toString().data(), value.toString().size());
  } else {
    put(" none");
  }
  put("\n");
}
#endif

// Memory for one loaded method: its planned buffers, carved out of one pool.
struct Memory {
  explicit Memory(Program& program, const char* name)
      : method_allocator(kMethodPool, method_pool),
        temp_allocator(kTempPool, temp_pool),
        planned(carve(program, name)),
        manager(&method_allocator, &planned, &temp_allocator) {}

  HierarchicalAllocator carve(Program& program, const char* name) {
    auto meta = program.method_meta(name);
    check(STAGE("method_meta"), meta.error());
    const size_t count = meta->num_memory_planned_buffers();
    if (count > kMaxPlannedBuffers) {
      fail(STAGE("planned_buffers"), Error::NotSupported);
    }
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
      const Result<int64_t> size = meta->memory_planned_buffer_size(i);
      check(STAGE("planned_buffers"), size.error());
      const size_t bytes = (static_cast<size_t>(*size) + 15) & ~size_t{15};
      if (bytes > sizeof planned_pool - used) {
        fail(STAGE("planned_pool"), Error::MemoryAllocationFailed);
      }
      buffers[i] = Span<uint8_t>(planned_pool + used, static_cast<size_t>(*size));
      used += bytes;
    }
    return HierarchicalAllocator(Span<Span<uint8_t>>(buffers, count));
  }

  Span<uint8_t> buffers[at_least_one(kMaxPlannedBuffers)];
  MemoryAllocator method_allocator;
  MemoryAllocator temp_allocator;
  HierarchicalAllocator planned;
  MemoryManager manager;
};

#ifdef RUNNER_PROFILE
RUNNER_NOINIT alignas(runner::Profile) uint8_t profile_storage[sizeof(runner::Profile)];
runner::Profile* profile = nullptr;

executorch::runtime::EventTracer* tracer() {
  if (profile == nullptr) {
    profile = new (profile_storage) runner::Profile;
  }
  return profile;
}

void put_profile(size_t number) {
  for (size_t i = 0; i < profile->size(); ++i) {
    const runner::Profile::Call& call = profile->call(i);
    put_line_start("profile", number, size_t{call.instruction}, call.name, size_t{call.cycles},
                   size_t{call.instret});
    put("\n");
  }
  profile->clear();
}
#else
executorch::runtime::EventTracer* tracer() { return nullptr; }
[[maybe_unused]] void put_profile(size_t) {}
#endif

void run_case(Method& method, size_t number, const runner::Case& what) {
  static RUNNER_NOINIT InputTensor storage;
  for (size_t i = 0; i < what.num_inputs; ++i) {
    // set_input copies a tensor's values when its memory is planned; the metadata always.
    check(STAGE("set_input"), method.set_input(make_value(what.inputs[i], storage), i));
  }
#ifdef RUNNER_SMALL
  check(STAGE("execute"), method.execute());
#else
  const uint64_t cycles = platform_cycles();
  const uint64_t instret = platform_instret();
  const Error error = method.execute();
  const uint64_t instret_taken = platform_instret() - instret;
  const uint64_t cycles_taken = platform_cycles() - cycles;
  check(STAGE("execute"), error);
#endif
  for (size_t i = 0; i < method.outputs_size(); ++i) {
    put_output(number, i, method.get_output(i));
  }
#ifndef RUNNER_SMALL
  if (cycles != 0) {
    put_line_start("cycles", number, static_cast<size_t>(cycles_taken));
    put("\n");
    put_line_start("instret", number, static_cast<size_t>(instret_taken));
    put("\n");
  }
  put_profile(number);
#endif
}

// Cases from `first` on that call the same method share one loaded instance, as an application's
// calls would: state in the model persists. Returns the first case that does not.
size_t run_method(Program& program, const NamedDataMap* weights, size_t first) {
  constexpr size_t kCount = sizeof runner::kCases / sizeof runner::kCases[0];
  const char* const name = runner::kCases[first].method;
#ifndef RUNNER_SMALL
  paint(method_pool, kMethodPool);
  paint(temp_pool, kTempPool);
#endif
  Memory memory(program, name);
  auto method = program.load_method(name, &memory.manager, tracer(), weights);
  check(STAGE("load_method"), method.error());
  size_t number = first;
  while (number < kCount && std::strcmp(name, runner::kCases[number].method) == 0) {
    run_case(*method, number, runner::kCases[number]);
    ++number;
  }
#ifndef RUNNER_SMALL
  put_used("method", painted_over(method_pool, kMethodPool), kMethodPool);
  put_used("temp", painted_over(temp_pool, kTempPool), kTempPool);
#endif
  return number;
}

}  // namespace

int main() {
  paint_stack();
  executorch::runtime::runtime_init();
#ifndef RUNNER_STATIC_REGISTRATION
  check(STAGE("register"), gen_kernels::register_all_kernels());
#endif
  const void* model = runner_model_begin;
  size_t model_size = static_cast<size_t>(runner_model_end - runner_model_begin);
#ifdef RUNNER_BUNDLED
  check(STAGE("bundle"),
        executorch::bundled_program::get_program_data(model, model_size, &model, &model_size));
#endif
  BufferDataLoader loader(model, model_size);
  Result<Program> program = Program::load(&loader);
  check(STAGE("load"), program.error());
  const NamedDataMap* weights = nullptr;
#ifdef RUNNER_WEIGHTS
  BufferDataLoader weights_loader(runner_weights_begin,
                                  static_cast<size_t>(runner_weights_end - runner_weights_begin));
  auto data_map = executorch::extension::FlatTensorDataMap::load(&weights_loader);
  check(STAGE("weights"), data_map.error());
  weights = &*data_map;
#endif
  for (size_t number = 0; number < sizeof runner::kCases / sizeof runner::kCases[0];) {
    number = run_method(*program, weights, number);
  }
  put_stack_used();
  return 0;
}
