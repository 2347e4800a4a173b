// relu.
#include "util/unary.h"

namespace gen_kernels {
namespace {

constexpr char kReluOut[] = "aten::relu.out";

struct Relu {
  template <class C>
  static C apply(C a) {
    if constexpr (std::is_same_v<C, float>) {
      // Without a comparison in floating point, a call where there is no FPU:
      // the sign bit is set, and it is not a NaN, which passes through.
      uint32_t bits;
      std::memcpy(&bits, &a, sizeof(bits));
      return bits >= 0x80000000U && bits <= 0xFF800000U ? 0.0F : a;
    } else {
      return a <= C{0} ? C{0} : a;
    }
  }
};

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;
using namespace ::gen_kernels;

Tensor& relu_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kReluOut>;
  const bool ok = self.scalar_type() != ScalarType::Bool &&
                  unary<mask>(out, self, kNoRule, kBlocks<Relu, 1, mask>);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
