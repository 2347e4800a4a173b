#include "NativeFunctions.h"
#include "boxed.h"

static Data input, result;
static bool given;

Tensor& my::native::optional_out(KernelRuntimeContext&, const std::optional<Tensor>& t,
                                 std::optional<int64_t> i, std::optional<double> f,
                                 std::optional<bool> b, std::optional<std::string_view> s,
                                 const std::optional<Scalar>& x, std::optional<ScalarType> d,
                                 std::optional<executorch::aten::MemoryFormat> m, Tensor& out) {
  CHECK(same(out, result));
  CHECK(t.has_value() == given && i.has_value() == given && f.has_value() == given);
  CHECK(b.has_value() == given && s.has_value() == given && x.has_value() == given);
  CHECK(d.has_value() == given && m.has_value() == given);
  if (given) {
    CHECK(same(*t, input) && *i == 3 && *f == 1.5 && *b && *s == "ab");
    CHECK(x->to<int64_t>() == 9 && *d == ScalarType::Char && static_cast<int>(*m) == 1);
  }
  called = "optional_out";
  return out;
}

int main() {
  register_kernels_twice();
  char text[] = {'a', 'b'};
  ArrayRef<char> string(text, 2);
  EValue t(input.tensor), i(int64_t{3}), f(1.5), b(true), s(&string), x(int64_t{9});
  EValue d(int64_t{1}), m(int64_t{1}), out(result.tensor), none;
  given = true;
  EValue* all[] = {&t, &i, &f, &b, &s, &x, &d, &m, &out, &out};
  CHECK(call("my::optional.out", all) == Error::Ok && was_called("optional_out"));
  given = false;
  EValue* nothing[] = {&none, &none, &none, &none, &none, &none, &none, &none, &out, &out};
  CHECK(call("my::optional.out", nothing) == Error::Ok && was_called("optional_out"));
  EValue* wrong[] = {&i, &none, &none, &none, &none, &none, &none, &none, &out, &out};
  CHECK(call("my::optional.out", wrong) == Error::InvalidType && was_called(""));
}
