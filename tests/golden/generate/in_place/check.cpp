#include "NativeFunctions.h"
#include "boxed.h"

static Data input;

Tensor& my::native::bump_(KernelRuntimeContext&, Tensor& self, int64_t by) {
  CHECK(same(self, input) && by == 1);
  called = "bump_";
  return self;
}

void my::native::poke(KernelRuntimeContext&, Tensor& self) {
  CHECK(same(self, input));
  called = "poke";
}

int main() {
  register_kernels_twice();
  EValue self(input.tensor), one(int64_t{1}), result;
  EValue* stack[] = {&self, &one, &result};
  CHECK(call("my::bump_", stack) == Error::Ok && was_called("bump_"));
  CHECK(same(result.toTensor(), input));
  EValue* poked[] = {&self, &result};
  CHECK(call("my::poke", poked) == Error::Ok && was_called("poke"));
}
