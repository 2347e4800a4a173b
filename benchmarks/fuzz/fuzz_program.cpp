// SPDX-License-Identifier: BSD-3-Clause
//
// Damaged programs against the runtime: whatever the bytes are, loading and running them must give
// an error or a result, and touch no memory but its own. Build it with sanitizers.
//
// With its own driver (no libFuzzer needed):
//   fuzz_program SEED ITERATIONS model.pte...
// changes the models in random places, deterministically by seed, and prints how many changed files
// got how far. With -DFUZZ_LIBFUZZER it is a target for clang's -fsanitize=fuzzer instead.
//
// Kernels: with -DFUZZ_REAL_KERNELS those of a generated library (register_all_kernels), else one
// that reads every argument and writes every planned tensor. Real kernels read memory as bools that
// a damaged program filled with other types: build with -fno-sanitize=bool then. They also write
// where the program says, and that may be the program itself (docs/runtime.md, "Damaged programs"):
// a file that does so is left there and counted. Tensors of a damaged program may overlap, too, and
// AddressSanitizer reports the memcpy() between them: ASAN_OPTIONS=suppressions=FILE with the line
// interceptor_via_fun:copy_same_dtype.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifdef FUZZ_REAL_KERNELS
#include "RegisterKernels.h"
#endif

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

constexpr size_t kMaxPlanned = 1 << 20;
constexpr int kMaxSteps = 300;

/// How far files got.
struct Reached {
  size_t loaded = 0;
  size_t method_loaded = 0;
  size_t executed = 0;
  size_t finished = 0;
  size_t overwritten = 0;  ///< By themselves: an output lies in the program.
};

uint64_t g_sum = 0;                    // keeps reads alive
std::vector<Span<uint8_t>> g_planned;  // of the method that runs
Span<const uint8_t> g_file;            // the one that runs
std::vector<uint8_t> g_contents;       // what it is

void read_bytes(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i) {
    g_sum = g_sum * 31 + bytes[i];
  }
}

[[maybe_unused]] void touch_tensor(const Tensor& tensor) {
  for (size_t i = 0; i < static_cast<size_t>(tensor.dim()); ++i) {
    g_sum += static_cast<uint64_t>(tensor.sizes()[i]) + tensor.dim_order()[i] +
             static_cast<uint64_t>(tensor.strides()[i]);
  }
  if (tensor.const_data_ptr() == nullptr) {
    return;
  }
  read_bytes(tensor.const_data_ptr(), tensor.nbytes());
  // Never what lies in the program itself: on a device that is flash.
  auto* data = static_cast<uint8_t*>(tensor.mutable_data_ptr());
  for (const Span<uint8_t>& buffer : g_planned) {
    if (data >= buffer.begin() && data < buffer.end()) {
      memset(data, static_cast<int>(g_sum & 1), tensor.nbytes());
    }
  }
}

[[maybe_unused]] void touch(KernelRuntimeContext&, Span<EValue*> args) {
  for (EValue* arg : args) {
    if (arg->isTensor()) {
      touch_tensor(arg->toTensor());
    } else if (arg->isTensorList()) {
      for (const Tensor& tensor : arg->toTensorList()) {
        touch_tensor(tensor);
      }
    } else if (arg->isListOptionalTensor()) {
      for (const auto& tensor : arg->toListOptionalTensor()) {
        if (tensor.has_value()) {
          touch_tensor(*tensor);
        }
      }
    } else if (arg->isIntList()) {
      for (int64_t item : arg->toIntList()) {
        g_sum += static_cast<uint64_t>(item);
      }
    } else if (arg->isDoubleList()) {
      read_bytes(arg->toDoubleList().data(), arg->toDoubleList().size() * sizeof(double));
    } else if (arg->isBoolList()) {
      read_bytes(arg->toBoolList().data(), arg->toBoolList().size());
    } else if (arg->isString()) {
      read_bytes(arg->toString().data(), arg->toString().size());
    } else if (arg->isInt()) {
      g_sum += static_cast<uint64_t>(arg->toInt());
    }
  }
  // Numbers come back through the last argument.
  if (args.size() > 0) {
    EValue& last = *args[args.size() - 1];
    if (last.isInt()) {
      last = EValue(int64_t{static_cast<int64_t>(g_sum & 7)});
    } else if (last.isBool()) {
      last = EValue((g_sum & 1) != 0);
    }
  }
}

std::vector<Kernel>& kernels() {
  static std::vector<Kernel> all;
  return all;
}

/// Inputs as the program describes them, zeros throughout.
Error set_inputs(Method& method, std::vector<std::unique_ptr<uint8_t[]>>& memory) {
  const MethodMeta meta = method.method_meta();
  for (size_t i = 0; i < method.inputs_size(); ++i) {
    const Result<Tag> tag = meta.input_tag(i);
    if (!tag.ok()) {
      return tag.error();
    }
    if (*tag != Tag::Tensor) {
      (void)method.set_input(EValue(method.get_input(i)), i);
      continue;
    }
    const Result<TensorInfo> info = meta.input_tensor_meta(i);
    if (!info.ok()) {
      return info.error();
    }
    if (info->nbytes() > kMaxPlanned) {
      return Error::OutOfResources;
    }
    std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    std::vector<uint8_t> order(info->dim_order().begin(), info->dim_order().end());
    std::vector<int32_t> strides(sizes.size());
    dim_order_to_stride_nocheck(sizes.data(), order.data(), sizes.size(), strides.data());
    memory.emplace_back(new uint8_t[info->nbytes() + 1]());
    TensorImpl impl(info->scalar_type(), static_cast<ssize_t>(sizes.size()), sizes.data(),
                    memory.back().get(), order.data(), strides.data());
    const Error error = method.set_input(Tensor(&impl), i);
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

void run_method(const Program& program, const char* name, Reached& reached) {
  const Result<MethodMeta> meta = program.method_meta(name);
  if (!meta.ok()) {
    return;
  }
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  g_planned.clear();
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const int64_t size = meta->memory_planned_buffer_size(i).get();
    if (size < 0 || size > static_cast<int64_t>(kMaxPlanned) || i > 8) {
      return;
    }
    memory.emplace_back(new uint8_t[static_cast<size_t>(size) + 16]());
    uint8_t* aligned = memory.back().get();
    aligned += -reinterpret_cast<uintptr_t>(aligned) & 15;
    g_planned.emplace_back(aligned, static_cast<size_t>(size));
  }
  HierarchicalAllocator planned({g_planned.data(), g_planned.size()});
  static uint8_t pool[1 << 18];
  static uint8_t temp_pool[1 << 18];
  // As after a reset: nothing may rely on zeros, nor on what another program left.
  memset(pool, 0xA5, sizeof(pool));
  memset(temp_pool, 0xA5, sizeof(temp_pool));
  MemoryAllocator pool_allocator(sizeof(pool), pool);
  MemoryAllocator temp(sizeof(temp_pool), temp_pool);
  MemoryManager manager(&pool_allocator, &planned, &temp);
  const Span<const Kernel> own(kernels().data(), kernels().size());
  Result<Method> method = program.load_method(name, &manager, nullptr, nullptr, nullptr, own);
  if (!method.ok()) {
    return;
  }
  ++reached.method_loaded;
  if (set_inputs(*method, memory) != Error::Ok) {
    return;
  }
  ++reached.executed;
  // A damaged program may well loop for ever: steps are bounded.
  Error error = Error::Ok;
  for (int i = 0; i < kMaxSteps && error == Error::Ok; ++i) {
    error = method->step();
#ifdef FUZZ_REAL_KERNELS
    if (memcmp(g_file.data(), g_contents.data(), g_contents.size()) != 0) {
      ++reached.overwritten;
      return;
    }
#endif
  }
  if (error == Error::EndOfMethod) {
    ++reached.finished;
    for (size_t i = 0; i < method->outputs_size(); ++i) {
      const EValue& output = method->get_output(i);
      if (output.isTensor() && output.toTensor().const_data_ptr() != nullptr) {
        read_bytes(output.toTensor().const_data_ptr(), output.toTensor().nbytes());
      } else if (output.isTensorList()) {
        for (const Tensor& tensor : output.toTensorList()) {
          read_bytes(tensor.const_data_ptr(), tensor.nbytes());
        }
      }
    }
  }
}

/// Loads and runs one file. It must lie at a multiple of 16 and end where its memory ends.
void run_file(const uint8_t* data, size_t size, Reached& reached) {
  executorch::extension::BufferDataLoader loader(data, size);
  Result<Program> program = Program::load(&loader);
  if (!program.ok()) {
    return;
  }
  ++reached.loaded;
  g_file = {data, size};
  g_contents.assign(data, data + size);
  const size_t overwritten = reached.overwritten;
  for (size_t i = 0; i < program->num_methods() && i < 8 && reached.overwritten == overwritten;
       ++i) {
    run_method(*program, program->get_method_name(i).get(), reached);
  }
}

void prepare() {
  runtime_init();
#ifdef FUZZ_REAL_KERNELS
  if (gen_kernels::register_all_kernels() != Error::Ok) {
    std::abort();
  }
#else
#ifdef FUZZ_OPERATORS
  static const char* const kOperators[] = {FUZZ_OPERATORS};
  for (const char* name : kOperators) {
    kernels().emplace_back(name, touch);
  }
#endif
#endif
}

/// A copy at a multiple of 16, so that a sanitizer sees the first byte behind it.
struct Copy {
  Copy(const uint8_t* data, size_t size_) : size(size_) {
    memory = static_cast<uint8_t*>(std::aligned_alloc(16, (size + 15) / 16 * 16));
    begin = memory + ((size + 15) / 16 * 16 - size) / 16 * 16;
    memcpy(begin, data, size);
  }
  ~Copy() { std::free(memory); }
  Copy(const Copy&) = delete;

  size_t size;
  uint8_t* memory;
  uint8_t* begin;
};

}  // namespace

#ifdef FUZZ_LIBFUZZER

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  prepare();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Reached reached;
  const Copy copy(data, size);
  run_file(copy.begin, size, reached);
  return 0;
}

#else

namespace {

/// xorshift64*: the same sequence everywhere.
struct Random {
  uint64_t state;
  uint32_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return static_cast<uint32_t>(state * 0x2545f4914f6cdd1dull >> 32);
  }
  uint32_t below(size_t bound) { return static_cast<uint32_t>(next() % bound); }
};

/// One change: a byte, a number that is likely to hurt, or a copy of another place. Offsets are
/// drawn from the program, which comes before the segments.
void change(uint8_t* data, size_t size, size_t program_size, Random& random) {
  static const uint32_t kNumbers[] = {0,          1,          2,          3,          0xff,
                                      0x7f,       0x80,       0xffff,     0x7fffffff, 0x80000000,
                                      0xffffffff, 0xfffffffe, 0x10000000, 0x40000000};
  const size_t bound = random.below(8) == 0 ? size : program_size;
  const size_t at = random.below(bound);
  switch (random.below(6)) {
    case 0:
      data[at] = static_cast<uint8_t>(random.next());
      break;
    case 1:
      data[at] ^= static_cast<uint8_t>(1u << random.below(8));
      break;
    case 2: {
      const uint32_t number = kNumbers[random.below(sizeof(kNumbers) / sizeof(kNumbers[0]))];
      memcpy(data + at / 4 * 4, &number, size - at / 4 * 4 < 4 ? 1 : 4);
      break;
    }
    case 3: {
      uint32_t number;
      if (at / 4 * 4 + 4 <= size) {
        memcpy(&number, data + at / 4 * 4, 4);
        number += random.below(9) - 4;
        memcpy(data + at / 4 * 4, &number, 4);
      }
      break;
    }
    case 4: {
      const size_t length = 1 + random.below(16);
      const size_t from = random.below(bound);
      if (at + length <= size && from + length <= size) {
        memmove(data + at, data + from, length);
      }
      break;
    }
    default:
      data[at] = static_cast<uint8_t>(data[at] + random.below(5) - 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: fuzz_program SEED ITERATIONS model.pte...\n");
    return 2;
  }
  Random random{std::strtoull(argv[1], nullptr, 10) * 0x9e3779b97f4a7c15ull | 1};
  const unsigned long iterations = std::strtoul(argv[2], nullptr, 10);
  std::vector<std::vector<uint8_t>> models;
  for (int i = 3; i < argc; ++i) {
    std::FILE* file = std::fopen(argv[i], "rb");
    if (file == nullptr) {
      std::perror(argv[i]);
      return 2;
    }
    std::vector<uint8_t> bytes(1 << 24);
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
    std::fclose(file);
    models.push_back(std::move(bytes));
  }
  prepare();
  Reached reached;
  const char* save = std::getenv("FUZZ_SAVE");  // the file that runs, to be found after a crash
  for (const std::vector<uint8_t>& model : models) {
    const Copy copy(model.data(), model.size());
    run_file(copy.begin, copy.size, reached);
  }
  std::printf("unchanged %zu loaded %zu methods %zu executed %zu finished %zu\n", models.size(),
              reached.loaded, reached.method_loaded, reached.executed, reached.finished);
  reached = Reached();
  for (unsigned long n = 0; n < iterations; ++n) {
    const std::vector<uint8_t>& model = models[n % models.size()];
    size_t size = model.size();
    uint64_t program_size = size;
    if (memcmp(model.data() + 8, "eh00", 4) == 0) {
      memcpy(&program_size, model.data() + 16, 8);
    }
    if (random.below(32) == 0) {
      size = random.below(size) + 1;  // cut short
    }
    Copy copy(model.data(), size);
    const size_t bound = program_size < size ? static_cast<size_t>(program_size) : size;
    for (uint32_t changes = random.below(4); changes != UINT32_MAX; --changes) {
      change(copy.begin, size, bound, random);
    }
    if (save != nullptr) {
      std::FILE* file = std::fopen(save, "wb");
      std::fwrite(copy.begin, 1, size, file);
      std::fclose(file);
    }
    run_file(copy.begin, size, reached);
  }
  std::printf("files %lu loaded %zu methods %zu executed %zu finished %zu overwritten %zu\n",
              iterations, reached.loaded, reached.method_loaded, reached.executed, reached.finished,
              reached.overwritten);
  return 0;
}

#endif
