#include "NativeFunctions.h"
#include "boxed.h"

static Data first, second, result;

Tensor& my::native::lists_out(KernelRuntimeContext&, ArrayRef<Tensor> ts,
                              ArrayRef<std::optional<Tensor>> ots, ArrayRef<int64_t> is,
                              ArrayRef<int64_t> pair, ArrayRef<int64_t> ns, ArrayRef<double> fs,
                              ArrayRef<bool> bs, ArrayRef<bool> three, Tensor& out) {
  CHECK(same(out, result));
  CHECK(ts.size() == 2 && same(ts[0], first) && same(ts[1], second));
  CHECK(ots.size() == 2 && !ots[0].has_value() && same(*ots[1], second));
  CHECK(is.size() == 2 && is[0] == 4 && is[1] == 6);
  CHECK(pair.data() != nullptr && pair.size() == 2 && pair[1] == 6 && ns.size() == 2);
  CHECK(fs.size() == 3 && fs[2] == 0.25 && bs.size() == 3 && three[1] && !three[2]);
  called = "lists_out";
  return out;
}

int main() {
  register_kernels_twice();
  EValue a(first.tensor), b(second.tensor), none, four(int64_t{4}), six(int64_t{6});
  EValue* tensor_values[] = {&a, &b};
  alignas(Tensor) static unsigned char tensor_store[2 * sizeof(Tensor)];
  BoxedEvalueList<Tensor> tensors(tensor_values, reinterpret_cast<Tensor*>(tensor_store), 2);
  EValue* optional_values[] = {&none, &b};
  std::optional<Tensor> optional_store[2];
  // A none is a null pointer in the list.
  optional_values[0] = nullptr;
  BoxedEvalueList<std::optional<Tensor>> optionals(optional_values, optional_store, 2);
  EValue* int_values[] = {&four, &six};
  int64_t int_store[2] = {};
  BoxedEvalueList<int64_t> ints(int_values, int_store, 2);
  double doubles[] = {1, 2, 0.25};
  ArrayRef<double> double_list(doubles, 3);
  bool bools[] = {false, true, false};
  ArrayRef<bool> bool_list(bools, 3);
  EValue ts(&tensors), ots(&optionals), is(&ints), fs(&double_list), bs(&bool_list);
  EValue out(result.tensor);
  EValue* stack[] = {&ts, &ots, &is, &is, &is, &fs, &bs, &bs, &out, &out};
  CHECK(call("my::lists.out", stack) == Error::Ok && was_called("lists_out"));
  EValue* wrong[] = {&is, &ots, &is, &is, &is, &fs, &bs, &bs, &out, &out};
  CHECK(call("my::lists.out", wrong) == Error::InvalidType && was_called(""));
}
