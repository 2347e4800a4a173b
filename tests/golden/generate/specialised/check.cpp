#include "NativeFunctions.h"
#include "boxed.h"

#define KERNEL(name)                                                                       \
  Tensor& my::native::name(KernelRuntimeContext&, const Tensor&, double by, Tensor& out) { \
    CHECK(by == 2.0);                                                                      \
    called = #name;                                                                        \
    return out;                                                                            \
  }
KERNEL(scale_any)
KERNEL(scale_float)
KERNEL(scale_bytes)

// Calls scale with tensors of one dtype and dim order, by the key that the runtime builds: the
// input, the output and the return slot.
static Error scale(ScalarType type, DimOrderType* order, size_t dim) {
  Data input(type, static_cast<ssize_t>(dim)), result(type, static_cast<ssize_t>(dim));
  EValue x(input.tensor), by(2.0), out(result.tensor);
  EValue* stack[] = {&x, &by, &out, &out};
  TensorMeta meta(type, Span<DimOrderType>(order, dim));
  TensorMeta metas[] = {meta, meta, meta};
  return call("my::scale.out", stack, Span<const TensorMeta>(metas, 3));
}

int main() {
  register_kernels_twice();
  DimOrderType straight[] = {0, 1}, swapped[] = {1, 0};
  CHECK(scale(ScalarType::Float, straight, 1) == Error::Ok && was_called("scale_float"));
  CHECK(scale(ScalarType::Float, straight, 2) == Error::Ok && was_called("scale_any"));
  CHECK(scale(ScalarType::Char, straight, 2) == Error::Ok && was_called("scale_bytes"));
  CHECK(scale(ScalarType::Byte, swapped, 2) == Error::Ok && was_called("scale_bytes"));
  CHECK(scale(ScalarType::Byte, straight, 1) == Error::Ok && was_called("scale_any"));
  CHECK(scale(ScalarType::Half, straight, 1) == Error::Ok && was_called("scale_any"));
}
