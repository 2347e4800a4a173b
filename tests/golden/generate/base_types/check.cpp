#include "NativeFunctions.h"
#include "boxed.h"

static Data input, result;

Tensor& my::native::base_out(KernelRuntimeContext&, const Tensor& t, int64_t i, double f, bool b,
                             std::string_view s, const Scalar& x, ScalarType d,
                             executorch::aten::MemoryFormat m, int64_t n, Tensor& out) {
  CHECK(same(t, input) && same(out, result));
  CHECK(i == -5000000000 && f == 0.5 && b && s == "hello");
  CHECK(x.isFloatingPoint() && x.to<double>() == 2.25);
  CHECK(d == ScalarType::Half && static_cast<int>(m) == 2 && n == 7);
  called = "base_out";
  return out;
}

int main() {
  register_kernels_twice();
  char text[] = {'h', 'e', 'l', 'l', 'o'};
  ArrayRef<char> string(text, 5);
  EValue t(input.tensor), i(int64_t{-5000000000}), f(0.5), b(true), s(&string), x(2.25);
  EValue d(int64_t{5}), m(int64_t{2}), n(int64_t{7}), out(result.tensor);
  EValue* stack[] = {&t, &i, &f, &b, &s, &x, &d, &m, &n, &out, &out};
  CHECK(call("my::base.out", stack) == Error::Ok && was_called("base_out"));

  // One value too few, one too many: the kernel is not called.
  EValue* few[] = {&t, &i, &f, &b, &s, &x, &d, &m, &n, &out};
  CHECK(call("my::base.out", few) == Error::InvalidProgram && was_called(""));
  EValue* many[] = {&t, &i, &f, &b, &s, &x, &d, &m, &n, &out, &out, &out};
  CHECK(call("my::base.out", many) == Error::InvalidProgram && was_called(""));

  // A value of the wrong kind at each place.
  for (size_t place = 0; place < 10; ++place) {
    EValue none;
    EValue* right = stack[place];
    stack[place] = &none;
    CHECK(call("my::base.out", stack) == Error::InvalidType && was_called(""));
    stack[place] = right;
  }
}
