// logical_and, logical_or, logical_xor, logical_not: numbers are true unless zero.
#include "util/unary.h"

namespace gen_kernels {
namespace {

constexpr char kAndOut[] = "aten::logical_and.out";
constexpr char kOrOut[] = "aten::logical_or.out";
constexpr char kXorOut[] = "aten::logical_xor.out";
constexpr char kNotOut[] = "aten::logical_not.out";

struct And {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a != C{0} && b != C{0});
  }
};

struct Or {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>(a != C{0} || b != C{0});
  }
};

struct Xor {
  template <class C>
  static C apply(C a, C b) {
    return static_cast<C>((a != C{0}) != (b != C{0}));
  }
};

struct Not {
  template <class C>
  static C apply(C a) {
    return static_cast<C>(a == C{0});
  }
};

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

Tensor& logical_and_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                        Tensor& out) {
  return finish(context, binary<kEngine<kAndOut>, And>(out, self, other, kBoolResult), out);
}

Tensor& logical_or_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                       Tensor& out) {
  return finish(context, binary<kEngine<kOrOut>, Or>(out, self, other, kBoolResult), out);
}

Tensor& logical_xor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                        Tensor& out) {
  return finish(context, binary<kEngine<kXorOut>, Xor>(out, self, other, kBoolResult), out);
}

Tensor& logical_not_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kNotOut>;
  return finish(context, unary<mask>(out, self, kBoolResult, kBlocks<Not, 1, mask>), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
