// Comparisons: eq, ne, lt, le, gt, ge of two tensors or a tensor and a number.
// Operands compare in their common dtype.
#include "util/elementwise.h"

namespace gen_kernels {
namespace {

constexpr char kEqTensorOut[] = "aten::eq.Tensor_out";
constexpr char kEqScalarOut[] = "aten::eq.Scalar_out";
constexpr char kNeTensorOut[] = "aten::ne.Tensor_out";
constexpr char kNeScalarOut[] = "aten::ne.Scalar_out";
constexpr char kLtTensorOut[] = "aten::lt.Tensor_out";
constexpr char kLtScalarOut[] = "aten::lt.Scalar_out";
constexpr char kLeTensorOut[] = "aten::le.Tensor_out";
constexpr char kLeScalarOut[] = "aten::le.Scalar_out";
constexpr char kGtTensorOut[] = "aten::gt.Tensor_out";
constexpr char kGtScalarOut[] = "aten::gt.Scalar_out";
constexpr char kGeTensorOut[] = "aten::ge.Tensor_out";
constexpr char kGeScalarOut[] = "aten::ge.Scalar_out";

struct Eq {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a == b);
  }
};

struct Ne {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a != b);
  }
};

struct Lt {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a < b);
  }
};

struct Le {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a <= b);
  }
};

struct Gt {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a > b);
  }
};

struct Ge {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a >= b);
  }
};

template <TypeMask Mask, class F>
bool compare(Tensor& out, const Operand& a, const Operand& b) {
  return binary<Mask, F>(out, a, b, kBoolResult | kNarrow);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& eq_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kEqTensorOut>, Eq>(out, self, other), out);
}

Tensor& eq_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kEqScalarOut>, Eq>(out, self, other), out);
}

Tensor& ne_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kNeTensorOut>, Ne>(out, self, other), out);
}

Tensor& ne_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kNeScalarOut>, Ne>(out, self, other), out);
}

Tensor& lt_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kLtTensorOut>, Lt>(out, self, other), out);
}

Tensor& lt_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kLtScalarOut>, Lt>(out, self, other), out);
}

Tensor& le_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kLeTensorOut>, Le>(out, self, other), out);
}

Tensor& le_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kLeScalarOut>, Le>(out, self, other), out);
}

Tensor& gt_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kGtTensorOut>, Gt>(out, self, other), out);
}

Tensor& gt_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kGtScalarOut>, Gt>(out, self, other), out);
}

Tensor& ge_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kGeTensorOut>, Ge>(out, self, other), out);
}

Tensor& ge_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                      Tensor& out) {
  return finish(context, compare<kEngine<kGeScalarOut>, Ge>(out, self, other), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
