#include "NativeFunctions.h"
#include "boxed.h"

static Data a, result;

Tensor& outer::inner::deep::native::b_out(KernelRuntimeContext&, const Tensor&, Tensor& out) {
  called = "b_out";
  return out;
}

Tensor& other::native::d_out(KernelRuntimeContext&, const Tensor&, Tensor& out) {
  called = "d_out";
  return out;
}

int main() {
  register_kernels_twice();
  EValue x(a.tensor), out(result.tensor);
  EValue* stack[] = {&x, &out, &out};
  CHECK(call("a::b.out", stack) == Error::Ok && was_called("b_out"));
  CHECK(call("c::d.out", stack) == Error::Ok && was_called("d_out"));
}
