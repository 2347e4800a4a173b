#include "NativeFunctions.h"
#include "boxed.h"

static Data input;

Tensor my::native::same(KernelRuntimeContext&, const Tensor& self) { return self; }
int64_t my::native::length(KernelRuntimeContext&, const Tensor& self) { return self.numel(); }
double my::native::ratio(KernelRuntimeContext&, int64_t a, int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}
bool my::native::is_even(KernelRuntimeContext&, int64_t a) { return a % 2 == 0; }
Scalar my::native::pick(KernelRuntimeContext&, bool first, const Scalar& a, const Scalar& b) {
  return first ? a : b;
}

int main() {
  register_kernels_twice();
  EValue tensor(input.tensor), three(int64_t{3}), four(int64_t{4}), yes(true), result;
  EValue* same_stack[] = {&tensor, &result};
  CHECK(call("my::same", same_stack) == Error::Ok);
  CHECK(result.isTensor() && same(result.toTensor(), input));
  EValue* length_stack[] = {&tensor, &result};
  CHECK(call("my::length", length_stack) == Error::Ok && result.toInt() == 4);
  EValue* ratio_stack[] = {&three, &four, &result};
  CHECK(call("my::ratio", ratio_stack) == Error::Ok && result.toDouble() == 0.75);
  EValue* even_stack[] = {&four, &result};
  CHECK(call("my::is_even", even_stack) == Error::Ok && result.toBool());
  EValue* pick_stack[] = {&yes, &three, &yes, &result};
  CHECK(call("my::pick", pick_stack) == Error::Ok && result.toInt() == 3);
}
