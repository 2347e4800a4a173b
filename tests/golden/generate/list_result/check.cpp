#include "NativeFunctions.h"
#include "boxed.h"

static Data input, first, second;

void my::native::chunks_out(KernelRuntimeContext&, const Tensor& self, int64_t count,
                            ArrayRef<Tensor> out) {
  CHECK(same(self, input) && count == 2 && out.size() == 2);
  CHECK(same(out[0], first) && same(out[1], second));
  called = "chunks_out";
}

int main() {
  register_kernels_twice();
  EValue self(input.tensor), two(int64_t{2}), a(first.tensor), b(second.tensor);
  EValue* values[] = {&a, &b};
  alignas(Tensor) static unsigned char store[2 * sizeof(Tensor)];
  BoxedEvalueList<Tensor> list(values, reinterpret_cast<Tensor*>(store), 2);
  EValue out(&list);
  EValue* stack[] = {&self, &two, &out, &out};
  CHECK(call("my::chunks.out", stack) == Error::Ok && was_called("chunks_out"));
}
