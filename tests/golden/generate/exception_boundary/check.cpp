#include <stdexcept>

#include "NativeFunctions.h"
#include "boxed.h"

static Data a, result;

Tensor& my::native::risky_out(KernelRuntimeContext&, const Tensor&, int64_t how, Tensor& out) {
  if (how == 1) throw std::runtime_error("no");
  if (how == 2) throw 3;
  return out;
}

int main() {
  register_kernels_twice();
  EValue x(a.tensor), out(result.tensor);
  for (int64_t how = 0; how < 3; ++how) {
    EValue mode(how);
    EValue* stack[] = {&x, &mode, &out, &out};
    CHECK(call("my::risky.out", stack) == (how == 0 ? Error::Ok : Error::Internal));
  }
}
