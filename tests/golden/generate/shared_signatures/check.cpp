#include "NativeFunctions.h"
#include "boxed.h"

static Data a, b, result;

#define BINARY(name)                                                                       \
  Tensor& my::native::name(KernelRuntimeContext&, const Tensor& self, const Tensor& other, \
                           Tensor& out) {                                                  \
    CHECK(same(self, a) && same(other, b) && same(out, result));                           \
    called = #name;                                                                        \
    return out;                                                                            \
  }
BINARY(add_out)
BINARY(mul_out)
BINARY(sub_out)

#define UNARY(name)                                                                  \
  Tensor& my::native::name(KernelRuntimeContext&, const Tensor& self, Tensor& out) { \
    CHECK(same(self, a) && same(out, result));                                       \
    called = #name;                                                                  \
    return out;                                                                      \
  }
UNARY(abs_out)
UNARY(neg_out)

int main() {
  register_kernels_twice();
  EValue x(a.tensor), y(b.tensor), out(result.tensor);
  EValue* binary[] = {&x, &y, &out, &out};
  CHECK(call("my::add.out", binary) == Error::Ok && was_called("add_out"));
  CHECK(call("my::mul.out", binary) == Error::Ok && was_called("mul_out"));
  CHECK(call("my::sub.out", binary) == Error::Ok && was_called("sub_out"));
  EValue* unary[] = {&x, &out, &out};
  CHECK(call("my::abs.out", unary) == Error::Ok && was_called("abs_out"));
  CHECK(call("my::neg.out", unary) == Error::Ok && was_called("neg_out"));
  CHECK(call("my::neg.out", binary) == Error::InvalidProgram && was_called(""));
}
