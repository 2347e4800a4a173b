// SPDX-License-Identifier: BSD-3-Clause
//
// Allocators, buffers, loaders and the registry of kernels.
// The same checks hold for ExecuTorch's own runtime; what only this one promises stands inside
// #ifdef GEN_KERNELS_RUNTIME.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstring>

#include "check.h"

using namespace executorch::runtime;
using executorch::aten::ScalarType;

namespace {

void test_memory() {
  alignas(16) uint8_t memory[64];
  MemoryAllocator allocator(sizeof(memory), memory);
  CHECK(allocator.allocate(3, 1) == memory && allocator.allocate(4, 4) == memory + 4);
  CHECK(allocator.used_size() == 8 && allocator.free_size() == 56);
  CHECK(allocator.allocate(1, 3) == nullptr && allocator.allocate(57, 1) == nullptr);
  CHECK(allocator.allocateList<uint64_t>(SIZE_MAX / 4) == nullptr);
  CHECK(allocator.allocateList<uint64_t>(7) == reinterpret_cast<uint64_t*>(memory + 8));
  CHECK(allocator.allocateInstance<uint8_t>() == nullptr && allocator.free_size() == 0);
  allocator.reset();
  CHECK(allocator.used_size() == 0 && allocator.allocate(64, 16) == memory);
  MemoryAllocator empty(0, nullptr);
  CHECK(empty.allocate(1) == nullptr);
#ifdef GEN_KERNELS_RUNTIME
  allocator.reset();
  CHECK(allocator.high_water_mark() == 64);
#endif

  uint8_t first[8];
  uint8_t second[16];
  Span<uint8_t> spans[] = {{first, sizeof(first)}, {second, sizeof(second)}};
  HierarchicalAllocator planned({spans, 2});
  CHECK(planned.get_offset_address(1, 4, 12).get() == second + 4);
  CHECK(planned.get_offset_address(1, 4, 13).error() == Error::MemoryAllocationFailed);
  CHECK(planned.get_offset_address(2, 0, 0).error() == Error::InvalidArgument);
  CHECK(!planned.get_offset_address(0, SIZE_MAX, 2).ok());

  KernelRuntimeContext without;
  CHECK(without.allocate_temp(1).error() == Error::NotFound);
  allocator.reset();
  KernelRuntimeContext context(nullptr, &allocator);
  CHECK(context.allocate_temp(10).get() == memory);
  CHECK(context.allocate_temp(100).error() == Error::MemoryAllocationFailed);
  CHECK(context.failure_state() == Error::Ok);
  context.fail(Error::NotSupported);
  CHECK(context.failure_state() == Error::NotSupported);
}

int g_freed = 0;
void count_free(void* context, void*, size_t size) {
  g_freed += *static_cast<int*>(context) + static_cast<int>(size);
}

void test_buffers() {
  int context = 100;
  const char data[4] = {};
  {
    FreeableBuffer buffer(data, 4, count_free, &context);
    FreeableBuffer moved(std::move(buffer));
    CHECK(moved.size() == 4 && moved.data() == data && buffer.size() == 0);
    CHECK(moved.data_uint64_type().error() == Error::InvalidType &&
          moved.data_safe().get() == data);
  }
  CHECK(g_freed == 104);
  FreeableBuffer empty;
  CHECK(empty.size() == 0 && empty.data() == nullptr);
  FreeableBuffer number(uint64_t{1} << 40, 8, nullptr);
  CHECK(number.data_uint64_type().get() == uint64_t{1} << 40);
  CHECK(number.data_safe().error() == Error::InvalidType);

  executorch::extension::BufferDataLoader loader(data, 4);
  const DataLoader::SegmentInfo info(DataLoader::SegmentInfo::Type::Program);
  CHECK(loader.size().get() == 4 && loader.load(1, 3, info)->data() == data + 1);
  CHECK(!loader.load(1, 4, info).ok() && !loader.load(SIZE_MAX, 2, info).ok());
  char into[4] = {1, 1, 1, 1};
  CHECK(loader.load_into(2, 2, info, into) == Error::Ok && into[0] == 0 && into[2] == 1);
  CHECK(loader.load_into(0, 1, info, nullptr) == Error::InvalidArgument);
}

void fallback(KernelRuntimeContext&, Span<EValue*>) {}
void for_float(KernelRuntimeContext&, Span<EValue*>) {}
void for_channels_last(KernelRuntimeContext&, Span<EValue*>) {}

OpFunction find(const char* name, Span<const TensorMeta> metas = {}) {
  const auto found = get_op_function_from_registry(name, metas);
  return found.ok() ? found.get() : nullptr;
}

void test_registry() {
  static constexpr Kernel kTable[] = {
      Kernel("test::a.out", fallback),
      Kernel("test::a.out", "v1/6;0,1|6;0,1", for_float),
      Kernel("test::a.out", "v1/6;0,2,3,1|6;0,2,3,1", for_channels_last),
      Kernel("test::a_longer.out", fallback),
      Kernel("test::b.out", "v1/15;|6;0", for_float),
      Kernel("test::none.out", "v1", for_float),
  };
  CHECK(register_kernels({kTable, sizeof(kTable) / sizeof(kTable[0])}) == Error::Ok);
  CHECK(register_kernel(Kernel("test::single", fallback)) == Error::Ok);
  CHECK(register_kernel(Kernel("test::another", for_float)) == Error::Ok);
  CHECK(find("test::single") == fallback && find("test::another") == for_float);
  CHECK(find("test::a.out") == fallback && find("test::a") == nullptr);
  CHECK(find("test::a.outer") == nullptr && find("test::a_longer.out") == fallback);

  uint8_t two[] = {0, 1};
  uint8_t last[] = {0, 2, 3, 1};
  uint8_t one[] = {0};
  const TensorMeta floats[] = {{ScalarType::Float, {two, 2}}, {ScalarType::Float, {two, 2}}};
  const TensorMeta lasts[] = {{ScalarType::Float, {last, 4}}, {ScalarType::Float, {last, 4}}};
  const TensorMeta mixed[] = {{ScalarType::Float, {two, 2}}, {ScalarType::Int, {two, 2}}};
  const TensorMeta brains[] = {{ScalarType::BFloat16, {one, size_t{0}}},
                               {ScalarType::Float, {one, 1}}};
  CHECK(find("test::a.out", {floats, 2}) == for_float);
  CHECK(find("test::a.out", {floats, 1}) == fallback);
  CHECK(find("test::a.out", {lasts, 2}) == for_channels_last);
  CHECK(find("test::a.out", {mixed, 2}) == fallback);
  CHECK(find("test::b.out", {brains, 2}) == for_float && find("test::b.out") == nullptr);
  CHECK(registry_has_op_function("test::a.out") && !registry_has_op_function("test::c.out"));
  CHECK(get_op_function_from_registry("test::c.out").error() == Error::OperatorMissing);

  char key[32];
  CHECK(internal::make_kernel_key_string({lasts, 2}, key, sizeof(key)) == Error::Ok);
  CHECK(std::strcmp(key, "v1/6;0,2,3,1|6;0,2,3,1") == 0);
  CHECK(internal::make_kernel_key_string({brains, 2}, key, sizeof(key)) == Error::Ok);
  CHECK(std::strcmp(key, "v1/15;|6;0") == 0);
  CHECK(internal::make_kernel_key_string({lasts, 2}, key, 22) == Error::InvalidArgument);
  CHECK(internal::make_kernel_key_string({lasts, 2}, key, 23) == Error::Ok);

  // A list of the caller's own, in any order.
  const Kernel own[] = {Kernel("test::z", fallback), Kernel("test::a.out", for_channels_last)};
  CHECK(get_op_function_from_registry("test::a.out", {}, {own, 2}).get() == for_channels_last);
  CHECK(get_op_function_from_registry("test::single", {}, {own, 2}).error() ==
        Error::OperatorMissing);

#ifdef GEN_KERNELS_RUNTIME
  // ExecuTorch stops the program here.
  static constexpr Kernel kTwice[] = {Kernel("test::x", fallback), Kernel("test::x", for_float)};
  CHECK(register_kernels({kTwice, 2}) == Error::RegistrationAlreadyRegistered);
  CHECK(find("test::x") == nullptr);
  static constexpr Kernel kUnsorted[] = {Kernel("test::n", fallback), Kernel("test::m", for_float),
                                         Kernel("test::n", fallback)};
  CHECK(register_kernels({kUnsorted, 3}) == Error::RegistrationAlreadyRegistered);
  CHECK(register_kernels({kUnsorted, 2}) == Error::Ok && find("test::m") == for_float &&
        find("test::n") == fallback);
  static constexpr Kernel kKnown[] = {Kernel("test::d", fallback), Kernel("test::n", fallback)};
  CHECK(register_kernels({kKnown, 2}) == Error::RegistrationAlreadyRegistered);
  CHECK(find("test::d") == nullptr);
  static constexpr Kernel kKey[] = {Kernel("test::n", "v1/6;0", for_float)};
  CHECK(register_kernels({kKey, 1}) == Error::Ok && find("test::n") == fallback);
  const TensorMeta vector[] = {{ScalarType::Float, {one, 1}}};
  CHECK(find("test::n", {vector, 1}) == for_float);
  // Three tables are there, and one of single kernels.
  static Kernel many[16][2];
  static char names[16][2][8];
  int registered = 0;
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 2; ++j) {
      std::snprintf(names[i][j], sizeof(names[i][j]), "t::%d", 2 * i + j + 10);
    }
    many[i][0] = Kernel(names[i][0], fallback);
    many[i][1] = Kernel(names[i][1], fallback);
    const Error error = register_kernels({many[i], 1});  // a gap after each
    registered += error == Error::Ok;
    CHECK(error == Error::Ok || error == Error::RegistrationExceedingMaxKernels);
  }
  CHECK(registered == GEN_KERNELS_MAX_TABLES - 4);
#endif
}

}  // namespace

int main() {
  runtime_init();
  test_memory();
  test_buffers();
  test_registry();
  return finish();
}
