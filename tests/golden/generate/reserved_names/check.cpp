#include "Functions.h"
#include "boxed.h"

static Data a, b, c, result;

Tensor& my::native::keywords_out(KernelRuntimeContext&, const Tensor& x, int64_t i, const Tensor& y,
                                 bool flag, int64_t j, double f, Tensor& out) {
  CHECK(same(x, a) && i == 1 && same(y, b) && flag && j == 2 && f == 0.5 && same(out, result));
  called = "keywords_out";
  return out;
}

int64_t my::native::default_value(KernelRuntimeContext&, int64_t value) { return value + 1; }

Tensor& my::native::clash_out(KernelRuntimeContext&, int64_t i, int64_t j, const Tensor& x,
                              const Tensor& y, const Tensor& z, Tensor& out) {
  CHECK(i == 1 && j == 2 && same(x, a) && same(y, b) && same(z, c) && same(out, result));
  called = "clash_out";
  return out;
}

int main() {
  register_kernels_twice();
  EValue x(a.tensor), y(b.tensor), z(c.tensor), one(int64_t{1}), two(int64_t{2}), yes(true);
  EValue half(0.5), out(result.tensor), number;
  EValue* keywords[] = {&x, &one, &y, &yes, &two, &half, &out, &out};
  CHECK(call("my::keywords.out", keywords) == Error::Ok && was_called("keywords_out"));
  EValue* clash[] = {&one, &two, &x, &y, &z, &out, &out};
  CHECK(call("my::clash.out", clash) == Error::Ok && was_called("clash_out"));
  EValue* value[] = {&one, &number};
  CHECK(call("my::default", value) == Error::Ok && number.toInt() == 2);
  // The typed functions call the same kernels.
  KernelRuntimeContext context;
  CHECK(torch::executor::my::default_(context, 4) == 5);
  torch::executor::my::clash_outf(context, 1, 2, a.tensor, b.tensor, c.tensor, result.tensor);
  CHECK(was_called("clash_out"));
}
