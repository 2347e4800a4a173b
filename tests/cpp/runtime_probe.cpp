// SPDX-License-Identifier: BSD-3-Clause
//
// Calls the runtime's interface with good and bad arguments on a program and prints what comes
// back, a line a call. It compiles against this runtime and against ExecuTorch's: both must print
// the same.
//
//   runtime_probe model.pte operator...
//
// Every operator named gets a kernel that does nothing; those of ExecuTorch's own runtime (prim
// operators, marked with a leading "+") only where they are missing.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

void nothing(KernelRuntimeContext&, Span<EValue*>) {}
void failing(KernelRuntimeContext& context, Span<EValue*>) { context.fail(Error::NotImplemented); }

void print(const char* what, Error error) { std::printf("%s 0x%02x\n", what, unsigned(error)); }
void print(const char* what, size_t i, Error error) {
  std::printf("%s %zu 0x%02x\n", what, i, unsigned(error));
}

template <typename T>
void print_info(const char* what, size_t i, const Result<T>& info) {
  print(what, i, info.error());
  if (info.ok()) {
    std::printf("  type %d planned %d nbytes %zu name '%.*s' sizes", int(info->scalar_type()),
                info->is_memory_planned(), info->nbytes(), int(info->name().size()),
                info->name().data());
    for (int32_t size : info->sizes()) {
      std::printf(" %d", size);
    }
    std::printf(" order");
    for (uint8_t dim : info->dim_order()) {
      std::printf(" %d", dim);
    }
    std::printf("\n");
  }
}

void print_meta(const MethodMeta& meta) {
  std::printf(
      "method %s inputs %zu outputs %zu buffers %zu backends %zu attributes %zu instructions %zu\n",
      meta.name(), meta.num_inputs(), meta.num_outputs(), meta.num_memory_planned_buffers(),
      meta.num_backends(), meta.num_attributes(), meta.num_instructions());
  for (size_t i = 0; i <= meta.num_inputs(); ++i) {
    const auto tag = meta.input_tag(i);
    std::printf("input_tag %zu 0x%02x %d\n", i, unsigned(tag.error()), tag.ok() ? int(*tag) : -1);
    print_info("input_tensor_meta", i, meta.input_tensor_meta(i));
  }
  for (size_t i = 0; i <= meta.num_outputs(); ++i) {
    const auto tag = meta.output_tag(i);
    std::printf("output_tag %zu 0x%02x %d\n", i, unsigned(tag.error()), tag.ok() ? int(*tag) : -1);
    print_info("output_tensor_meta", i, meta.output_tensor_meta(i));
  }
  for (size_t i = 0; i <= meta.num_attributes(); ++i) {
    print_info("attribute_tensor_meta", i, meta.attribute_tensor_meta(i));
  }
  for (size_t i = 0; i <= meta.num_memory_planned_buffers(); ++i) {
    const auto size = meta.memory_planned_buffer_size(i);
    std::printf("buffer %zu 0x%02x %lld\n", i, unsigned(size.error()),
                size.ok() ? static_cast<long long>(*size) : -1);
  }
  for (size_t i = 0; i <= meta.num_backends(); ++i) {
    const auto name = meta.get_backend_name(i);
    std::printf("backend %zu 0x%02x %s\n", i, unsigned(name.error()), name.ok() ? *name : "");
  }
}

/// A tensor that owns its arrays.
struct OwnTensor {
  OwnTensor(ScalarType type, std::vector<int32_t> sizes_, std::vector<uint8_t> order_)
      : sizes(std::move(sizes_)),
        order(std::move(order_)),
        strides(sizes.size(), 1),
        data(1 << 20),
        impl(type, static_cast<ssize_t>(sizes.size()), sizes.data(), data.data(), order.data(),
             strides.data()) {
    int32_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = stride;
      stride *= sizes[order[i]] == 0 ? 1 : sizes[order[i]];
    }
  }
  EValue value() { return EValue(Tensor(&impl)); }

  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides;
  std::vector<uint8_t> data;
  TensorImpl impl;
};

/// The right value for an input; `change` spoils it in one way.
void try_input(Method& method, size_t i, int change) {
  const MethodMeta meta = method.method_meta();
  const Tag tag = *meta.input_tag(i);
  static const char* const kChanges[] = {"good", "type",    "bigger", "smaller",
                                         "rank", "reverse", "kind",   "empty"};
  Error error = Error::Ok;
  if (change == 6) {
    error = method.set_input(tag == Tag::Int ? EValue(true) : EValue(int64_t{1}), i);
  } else if (tag == Tag::Tensor) {
    const auto info = meta.input_tensor_meta(i);
    ScalarType type = info->scalar_type();
    std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    std::vector<uint8_t> order(info->dim_order().begin(), info->dim_order().end());
    if (change == 1) {
      type = type == ScalarType::Int ? ScalarType::Float : ScalarType::Int;
    } else if (change >= 2 && change != 5 && sizes.empty()) {
      return;
    } else if (change == 2) {
      sizes[0] += 1;
    } else if (change == 3) {
      sizes[0] -= 1;
    } else if (change == 4) {
      sizes.push_back(1);
      order.push_back(static_cast<uint8_t>(order.size()));
    } else if (change == 5) {
      // Another dim order.
      for (size_t d = 0; d < order.size(); ++d) {
        order[d] = static_cast<uint8_t>(order.size() - 1 - d);
      }
    } else if (change == 7) {
      sizes[0] = 0;
    }
    OwnTensor own(type, sizes, order);
    error = method.set_input(own.value(), i);
  } else if (tag == Tag::Int) {
    error = method.set_input(EValue(int64_t{change}), i);
  } else if (tag == Tag::Double) {
    error = method.set_input(EValue(change * 0.5), i);
  } else if (tag == Tag::Bool) {
    error = method.set_input(EValue(change % 2 == 0), i);
  }
  std::printf("set_input %zu %s 0x%02x\n", i, kChanges[change], unsigned(error));
}

void print_values(const char* what, std::vector<EValue>& values) {
  std::printf("%s", what);
  for (EValue& value : values) {
    std::printf(" %d", int(value.tag));
    if (value.isTensor()) {
      std::printf("[");
      for (int32_t size : value.toTensor().sizes()) {
        std::printf(" %d", size);
      }
      std::printf(" ]");
    } else if (value.isInt()) {
      std::printf("=%lld", static_cast<long long>(value.toInt()));
    } else if (value.isDouble()) {
      std::printf("=%g", value.toDouble());
    } else if (value.isString()) {
      std::printf("=%.*s", int(value.toString().size()), value.toString().data());
    }
  }
  std::printf("\n");
}

void probe_method(const Program& program, const char* name) {
  const auto meta = program.method_meta(name);
  if (!meta.ok()) {
    print("method_meta", meta.error());
    return;
  }
  print_meta(*meta);
  std::vector<uint8_t> pool(1 << 20);
  MemoryAllocator small(8, pool.data());
  std::vector<std::vector<uint8_t>> memory;
  std::vector<Span<uint8_t>> buffers;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    memory.emplace_back(static_cast<size_t>(*meta->memory_planned_buffer_size(i)));
    buffers.emplace_back(memory.back().data(), memory.back().size());
  }
  HierarchicalAllocator planned({buffers.data(), buffers.size()});
  std::vector<uint8_t> temp_pool(1 << 16);
  MemoryAllocator temp(static_cast<uint32_t>(temp_pool.size()), temp_pool.data());

  {
    MemoryManager manager(&small, &planned, &temp);
    print("load_method in 8 bytes", program.load_method(name, &manager).error());
  }
  if (!buffers.empty()) {
    MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
    std::vector<Span<uint8_t>> cut(buffers);
    cut.back() = {cut.back().data(), cut.back().size() / 2};
    HierarchicalAllocator half({cut.data(), cut.size()});
    MemoryManager manager(&allocator, &half, &temp);
    print("load_method in half the planned memory", program.load_method(name, &manager).error());
  }
  MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
  MemoryManager manager(&allocator, &planned, &temp);
  Result<Method> loaded = program.load_method(name, &manager);
  print("load_method", loaded.error());
  if (!loaded.ok()) {
    return;
  }
  Method& method = *loaded;
  const size_t inputs = method.inputs_size();
  const size_t outputs = method.outputs_size();
  print("execute without inputs", method.execute());
  print("reset_execution", method.reset_execution());
  print("set_input beyond", method.set_input(EValue(int64_t{0}), inputs));
  print("set_inputs too few",
        method.set_inputs(executorch::aten::ArrayRef<EValue>(nullptr, size_t{0})));
  for (size_t i = 0; i < inputs; ++i) {
    for (int change = 7; change >= 0; --change) {
      try_input(method, i, change);
    }
  }
  std::vector<EValue> values(outputs + 2, EValue(int64_t{7}));
  print("get_outputs too few",
        outputs == 0 ? Error::InvalidArgument : method.get_outputs(values.data(), outputs - 1));
  print("get_outputs", method.get_outputs(values.data(), values.size()));
  print_values("outputs", values);
  std::vector<uint8_t> room(1 << 20);
  for (size_t i = 0; i < outputs; ++i) {
    print("set_output_data_ptr small", i, method.set_output_data_ptr(room.data(), 1, i));
    print("set_output_data_ptr", i, method.set_output_data_ptr(room.data(), room.size(), i));
  }
  print("set_output_data_ptr beyond",
        method.set_output_data_ptr(room.data(), room.size(), outputs));
  print("execute", method.execute());
  print("reset_execution", method.reset_execution());
  std::printf("in_progress %d\n", method.in_progress());
  int steps = 0;
  Error error = Error::Ok;
  while ((error = method.step()) == Error::Ok && steps < 1000) {
    ++steps;
    if (steps == 1) {
      std::printf("in_progress %d\n", method.in_progress());
      print("reset_execution", method.reset_execution());
    }
    if (steps == 3) {
      print("execute in between", method.execute());
      std::printf("in_progress %d\n", method.in_progress());
    }
  }
  std::printf("steps %d 0x%02x\n", steps, unsigned(error));
  print("step again", method.step());
  print("execute at the end", method.execute());
  print("reset_execution", method.reset_execution());
  print("execute again", method.execute());
  print("get_attribute", method.get_attribute("no such name").error());
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  runtime_init();
  std::FILE* file = std::fopen(argv[1], "rb");
  if (file == nullptr) {
    return 2;
  }
  std::fseek(file, 0, SEEK_END);
  const size_t size = static_cast<size_t>(std::ftell(file));
  std::rewind(file);
  auto* data = static_cast<uint8_t*>(std::aligned_alloc(64, (size + 127) / 64 * 64));
  if (std::fread(data, 1, size, file) != size) {
    return 2;
  }
  std::fclose(file);

  executorch::extension::BufferDataLoader loader(data, size);
  {
    executorch::extension::BufferDataLoader shifted(data + 4, size - 4);
    print("load at byte 4", Program::load(&shifted).error());
    executorch::extension::BufferDataLoader nothing_there(data, 10);
    print("load of 10 bytes", Program::load(&nothing_there).error());
    std::vector<uint8_t> zeros(4096 + 64);
    uint8_t* aligned = zeros.data() + (64 - reinterpret_cast<uintptr_t>(zeros.data()) % 64);
    executorch::extension::BufferDataLoader zero(aligned, 4096);
    print("load of zeros", Program::load(&zero).error());
    std::printf("check_header %d %d %d\n", int(Program::check_header(data, size)),
                int(Program::check_header(data, 10)), int(Program::check_header(aligned, 4096)));
  }
  Result<Program> program = Program::load(&loader);
  print("load", program.error());
  if (!program.ok()) {
    return 0;
  }
  std::printf("methods %zu\n", program->num_methods());
  for (size_t i = 0; i <= program->num_methods(); ++i) {
    const auto name = program->get_method_name(i);
    std::printf("method_name %zu 0x%02x %s\n", i, unsigned(name.error()), name.ok() ? *name : "");
  }
  print("method_meta of none", program->method_meta("no such method").error());
  print("get_named_data_map", program->get_named_data_map().error());
  for (size_t i : {size_t{0}, size_t{1}, size_t{1000}}) {
    print("get_constant_buffer_data", i, program->get_constant_buffer_data(i, 1).error());
  }
  print("get_constant_buffer_data large", program->get_constant_buffer_data(1, size * 2).error());

  // Without kernels first, if the program has operators that the runtime itself does not provide.
  for (size_t i = 0; i < program->num_methods() && argc > 2; ++i) {
    const auto meta = program->method_meta(*program->get_method_name(i));
    std::vector<std::vector<uint8_t>> memory;
    std::vector<Span<uint8_t>> buffers;
    for (size_t b = 0; b < meta->num_memory_planned_buffers(); ++b) {
      memory.emplace_back(static_cast<size_t>(*meta->memory_planned_buffer_size(b)));
      buffers.emplace_back(memory.back().data(), memory.back().size());
    }
    std::vector<uint8_t> pool(1 << 20);
    MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
    HierarchicalAllocator planned({buffers.data(), buffers.size()});
    MemoryManager manager(&allocator, &planned);
    print("load_method without kernels", i,
          program->load_method(*program->get_method_name(i), &manager).error());
  }

  static std::vector<Kernel> kernels;
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] != '+') {
      kernels.emplace_back(argv[i], nothing);
    }
  }
#ifdef GEN_KERNELS_RUNTIME
  static std::vector<Kernel> prims;
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] == '+') {
      prims.emplace_back(argv[i] + 1, nothing);
    }
  }
  if (register_kernels({prims.data(), prims.size()}) != Error::Ok) {
    return 2;
  }
#endif
  if (!kernels.empty()) {
    print("register_kernels", register_kernels({kernels.data(), kernels.size()}));
    std::printf("has %d %d\n", registry_has_op_function(kernels[0].name_),
                registry_has_op_function("no::such.kernel"));
    print("get_op_function_from_registry none",
          get_op_function_from_registry("no::such.kernel").error());
  }
  for (size_t i = 0; i < program->num_methods(); ++i) {
    probe_method(*program, *program->get_method_name(i));
  }
  // A kernel list of the caller's takes the registry's place; a kernel's failure is the result.
  static std::vector<Kernel> own;
  for (int i = 2; i < argc; ++i) {
    own.emplace_back(argv[i] + (argv[i][0] == '+'), failing);
  }
  if (!own.empty()) {
    const char* name = *program->get_method_name(0);
    const auto meta = program->method_meta(name);
    std::vector<uint8_t> pool(1 << 20);
    MemoryAllocator allocator(static_cast<uint32_t>(pool.size()), pool.data());
    std::vector<uint8_t> memory(1 << 20);
    std::vector<Span<uint8_t>> buffers(meta->num_memory_planned_buffers(),
                                       Span<uint8_t>(memory.data(), memory.size()));
    HierarchicalAllocator planned({buffers.data(), buffers.size()});
    MemoryManager manager(&allocator, &planned);
    Result<Method> method =
        program->load_method(name, &manager, nullptr, nullptr, nullptr, {own.data(), own.size()});
    print("load_method own kernels", method.error());
    if (method.ok()) {
      for (size_t i = 0; i < method->inputs_size(); ++i) {
        try_input(*method, i, 0);
      }
      print("execute failing", method->execute());
    }
  }
  return 0;
}
