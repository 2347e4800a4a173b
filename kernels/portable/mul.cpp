// mul.
#include "util/complex.h"
#include "util/elementwise.h"

namespace gen_kernels {
namespace {

constexpr char kMulOut[] = "aten::mul.out";
constexpr char kMulScalarOut[] = "aten::mul.Scalar_out";

struct Mul {
  template <class C>
  static C apply(C a, C b) {
    return wrapping_mul(a, b);
  }
};

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& mul_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                Tensor& out) {
  constexpr TypeMask mask = kSelected<kMulOut>;
  const bool ok = is_complex<mask>(out) ? complex_binary<mask>(out, self, other, nullptr)
                                        : binary<kEngine<kMulOut>, Mul>(out, self, other);
  return finish(context, ok, out);
}

Tensor& mul_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                       Tensor& out) {
  return finish(context, binary<kEngine<kMulScalarOut>, Mul>(out, self, other), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
