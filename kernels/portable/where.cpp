// where and masked_fill.
#include "util/elementwise.h"

namespace gen_kernels {
namespace {

constexpr char kWhereOut[] = "aten::where.self_out";
constexpr char kMaskedFillOut[] = "aten::masked_fill.Scalar_out";

struct Where {
  template <class C>
  static C apply(C condition, C a, C b) {
    return condition != C{0} ? a : b;
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

Tensor& where_out(KernelRuntimeContext& context, const Tensor& condition, const Tensor& self,
                  const Tensor& other, Tensor& out) {
  constexpr TypeMask mask = kEngine<kWhereOut>;
  const Operand in[3] = {condition, self, other};
  const bool boolean =
      condition.scalar_type() == ScalarType::Bool || condition.scalar_type() == ScalarType::Byte;
  const bool ok = boolean && elementwise<mask>(out, in, 3, result_type(in + 1, 2), kNoRule,
                                               kBlocks<Where, 3, mask>);
  return finish(context, ok, out);
}

Tensor& masked_fill_scalar_out(KernelRuntimeContext& context, const Tensor& self,
                               const Tensor& mask, const Scalar& value, Tensor& out) {
  constexpr TypeMask types = kEngine<kMaskedFillOut>;
  const Operand in[3] = {mask, value, self};
  const bool ok =
      mask.scalar_type() == ScalarType::Bool && fits<types>(value, self.scalar_type()) &&
      elementwise<types>(out, in, 3, self.scalar_type(), kNoRule, kBlocks<Where, 3, types>);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
