#include "NativeFunctions.h"
#include "boxed.h"

static Data input, a, b, c;

std::tuple<Tensor&, Tensor&> my::native::split_out(KernelRuntimeContext&, const Tensor& self,
                                                   int64_t at, Tensor& low, Tensor& high) {
  CHECK(same(self, input) && at == 2 && same(low, a) && same(high, b));
  called = "split_out";
  return {low, high};
}

std::tuple<Tensor&, Tensor&, Tensor&> my::native::three_out(KernelRuntimeContext& context,
                                                            const Tensor& self, Tensor& out0,
                                                            Tensor& out1, Tensor& out2) {
  CHECK(same(self, input) && same(out0, a) && same(out1, b) && same(out2, c));
  context.fail(Error::NotSupported);
  called = "three_out";
  return {out0, out1, out2};
}

int main() {
  register_kernels_twice();
  EValue self(input.tensor), at(int64_t{2}), x(a.tensor), y(b.tensor), z(c.tensor), list;
  EValue* two[] = {&self, &at, &x, &y, &list};
  CHECK(call("my::split.out", two) == Error::Ok && was_called("split_out"));
  // What a kernel says of its failure arrives.
  EValue* three[] = {&self, &x, &y, &z, &list};
  CHECK(call("my::three.out", three) == Error::NotSupported && was_called("three_out"));
}
