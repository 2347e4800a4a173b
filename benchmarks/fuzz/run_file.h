// SPDX-License-Identifier: BSD-3-Clause
//
// Runs a file that may be damaged, as an application runs a program: load, load every method, set
// inputs, a bounded number of steps, look at the outputs. For fuzz_program.cpp, which says what
// FUZZ_REAL_KERNELS and FUZZ_OPERATORS mean.
#pragma once

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdlib>
#include <cstring>
#include <memory>
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
