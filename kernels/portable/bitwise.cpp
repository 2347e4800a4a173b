// Bitwise operators on integers and Bool.
#include "util/unary.h"

namespace gen_kernels {
namespace {

constexpr char kAndTensorOut[] = "aten::bitwise_and.Tensor_out";
constexpr char kAndScalarOut[] = "aten::bitwise_and.Scalar_out";
constexpr char kOrTensorOut[] = "aten::bitwise_or.Tensor_out";
constexpr char kOrScalarOut[] = "aten::bitwise_or.Scalar_out";
constexpr char kXorTensorOut[] = "aten::bitwise_xor.Tensor_out";
constexpr char kXorScalarOut[] = "aten::bitwise_xor.Scalar_out";
constexpr char kLeftTensorOut[] = "aten::bitwise_left_shift.Tensor_out";
constexpr char kLeftScalarOut[] = "aten::bitwise_left_shift.Tensor_Scalar_out";
constexpr char kRightTensorOut[] = "aten::bitwise_right_shift.Tensor_out";
constexpr char kRightScalarOut[] = "aten::bitwise_right_shift.Tensor_Scalar_out";
constexpr char kNotOut[] = "aten::bitwise_not.out";

struct And {
  template <class C>
  static C apply(C a, C b) {
    return a & b;
  }
};

struct Or {
  template <class C>
  static C apply(C a, C b) {
    return a | b;
  }
};

struct Xor {
  template <class C>
  static C apply(C a, C b) {
    return a ^ b;
  }
};

// Shifts by less than zero or more than the width shift everything out, as in PyTorch.
// A narrower dtype gets its own result when the wider one is cut to it.
template <class C>
bool in_width(C shift) {
  return shift >= 0 && shift < static_cast<C>(sizeof(C) * 8);
}

struct LeftShift {
  template <class C>
  static C apply(C a, C b) {
    return in_width(b) ? static_cast<C>(static_cast<std::make_unsigned_t<C>>(a) << b) : C{0};
  }
};

struct RightShift {
  template <class C>
  static C apply(C a, C b) {
    return a >> (in_width(b) ? b : static_cast<C>(sizeof(C) * 8 - 1));
  }
};

template <TypeMask Mask, class F>
bool shift(Tensor& out, const Tensor& a, const Operand& b) {
  const Operand in[2] = {a, b};
  const ScalarType common = result_type(in, 2);
  return common != ScalarType::Bool &&
         elementwise<Mask>(out, in, 2, common, kNoRule, kBlocks<F, 2, Mask, kIntBlocks>);
}

struct Not {
  template <class C>
  static C apply(C a) {
    return ~a;
  }
};

struct BoolNot {
  template <class C>
  static C apply(C a) {
    return a == C{0};
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

Tensor& bitwise_and_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                               const Tensor& other, Tensor& out) {
  return finish(context, binary<kEngine<kAndTensorOut>, And, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_and_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                               const Scalar& other, Tensor& out) {
  return finish(context, binary<kEngine<kAndScalarOut>, And, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_or_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                              const Tensor& other, Tensor& out) {
  return finish(context, binary<kEngine<kOrTensorOut>, Or, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_or_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                              const Scalar& other, Tensor& out) {
  return finish(context, binary<kEngine<kOrScalarOut>, Or, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_xor_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                               const Tensor& other, Tensor& out) {
  return finish(context, binary<kEngine<kXorTensorOut>, Xor, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_xor_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                               const Scalar& other, Tensor& out) {
  return finish(context, binary<kEngine<kXorScalarOut>, Xor, kIntBlocks>(out, self, other), out);
}

Tensor& bitwise_left_shift_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                                      const Tensor& other, Tensor& out) {
  return finish(context, shift<kEngine<kLeftTensorOut>, LeftShift>(out, self, other), out);
}

Tensor& bitwise_left_shift_Tensor_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                                             const Scalar& other, Tensor& out) {
  return finish(context, shift<kEngine<kLeftScalarOut>, LeftShift>(out, self, other), out);
}

Tensor& bitwise_right_shift_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                                       const Tensor& other, Tensor& out) {
  return finish(context, shift<kEngine<kRightTensorOut>, RightShift>(out, self, other), out);
}

Tensor& bitwise_right_shift_Tensor_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                                              const Scalar& other, Tensor& out) {
  return finish(context, shift<kEngine<kRightScalarOut>, RightShift>(out, self, other), out);
}

Tensor& bitwise_not_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kNotOut>;
  const Blocks<mask>& blocks = self.scalar_type() == ScalarType::Bool
                                   ? kBlocks<BoolNot, 1, mask, kIntBlocks>
                                   : kBlocks<Not, 1, mask, kIntBlocks>;
  return finish(context, unary<mask>(out, self, kNoRule, blocks), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
