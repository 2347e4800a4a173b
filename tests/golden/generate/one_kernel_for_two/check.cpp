#include "NativeFunctions.h"
#include "boxed.h"

static Data a, result;

Tensor& my::native::gather_out(KernelRuntimeContext&, const Tensor& self, int64_t dim,
                               Tensor& out) {
  CHECK(same(self, a) && dim == 1 && same(out, result));
  called = "gather_out";
  return out;
}

int main() {
  register_kernels_twice();
  EValue x(a.tensor), one(int64_t{1}), out(result.tensor);
  EValue* stack[] = {&x, &one, &out, &out};
  CHECK(call("my::gather.out", stack) == Error::Ok && was_called("gather_out"));
  CHECK(call("my::take.out", stack) == Error::Ok && was_called("gather_out"));
}
