// abs, neg, sign, rounding, isnan, isinf.
#include "util/unary.h"

#include "util/convert.h"

namespace gen_kernels {
namespace {

constexpr char kAbsOut[] = "aten::abs.out";
constexpr char kNegOut[] = "aten::neg.out";
constexpr char kSignOut[] = "aten::sign.out";
constexpr char kCeilOut[] = "aten::ceil.out";
constexpr char kFloorOut[] = "aten::floor.out";
constexpr char kRoundOut[] = "aten::round.out";
constexpr char kTruncOut[] = "aten::trunc.out";
constexpr char kIsnanOut[] = "aten::isnan.out";
constexpr char kIsinfOut[] = "aten::isinf.out";

struct Abs {
  template <class C>
  static C apply(C a) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::abs(a);
    } else {
      return a < 0 ? wrapping_sub(C{0}, a) : a;
    }
  }
};

struct Neg {
  template <class C>
  static C apply(C a) {
    if constexpr (std::is_floating_point_v<C>) {
      return -a;
    } else {
      return wrapping_sub(C{0}, a);
    }
  }
};

struct Sign {
  template <class C>
  static C apply(C a) {
    return static_cast<C>((a > C{0}) - (a < C{0}));
  }
};

struct IsNan {
  template <class C>
  static C apply(C a) {
    return static_cast<C>(is_nan(a));
  }
};

struct IsInf {
  template <class C>
  static C apply(C a) {
    if constexpr (std::is_floating_point_v<C>) {
      return static_cast<C>(std::isinf(a));
    } else {
      return C{0};
    }
  }
};

// Rounding functions leave integers as they are. Bool has no numbers to round or negate.
template <TypeMask Mask>
bool rounding(Tensor& out, const Tensor& self, float (*f32)(float), double (*f64)(double)) {
  if (is_bool<Mask>(self)) {
    return false;
  }
  if constexpr ((Mask & kIntMask) != 0) {
    if (is_integer(self.scalar_type())) {
      return unary<Mask>(out, self, kNoRule, kBlocks<Identity, 1, Mask>);
    }
  }
  return unary_math<Mask>(out, self, f32, f64);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

Tensor& abs_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kAbsOut>;
  const bool ok = !is_bool<mask>(self) && unary<mask>(out, self, kNoRule, kBlocks<Abs, 1, mask>);
  return finish(context, ok, out);
}

Tensor& neg_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kNegOut>;
  const bool ok = !is_bool<mask>(self) && unary<mask>(out, self, kNoRule, kBlocks<Neg, 1, mask>);
  return finish(context, ok, out);
}

Tensor& sign_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kSignOut>;
  return finish(context, unary<mask>(out, self, kNoRule, kBlocks<Sign, 1, mask>), out);
}

Tensor& ceil_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, rounding<kEngine<kCeilOut>>(out, self, std::ceil, std::ceil), out);
}

Tensor& floor_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, rounding<kEngine<kFloorOut>>(out, self, std::floor, std::floor), out);
}

Tensor& round_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  // Halves go to the even neighbour: the default rounding mode.
  return finish(context, rounding<kEngine<kRoundOut>>(out, self, std::nearbyint, std::nearbyint),
                out);
}

Tensor& trunc_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, rounding<kEngine<kTruncOut>>(out, self, std::trunc, std::trunc), out);
}

Tensor& isnan_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kIsnanOut>;
  return finish(context, unary<mask>(out, self, kBoolResult, kBlocks<IsNan, 1, mask>), out);
}

Tensor& isinf_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kEngine<kIsinfOut>;
  return finish(context, unary<mask>(out, self, kBoolResult, kBlocks<IsInf, 1, mask>), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
