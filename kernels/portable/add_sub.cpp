// add, sub and rsub: a + alpha * b and its variants.
#include "util/complex.h"
#include "util/elementwise.h"

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

namespace {

constexpr char kAddOut[] = "aten::add.out";
constexpr char kAddScalarOut[] = "aten::add.Scalar_out";
constexpr char kSubOut[] = "aten::sub.out";
constexpr char kSubScalarOut[] = "aten::sub.Scalar_out";
constexpr char kRsubScalarOut[] = "aten::rsub.Scalar_out";

struct Add {
  template <class C>
  static C apply(C a, C b) {
    return wrapping_add(a, b);
  }
};

struct AddScaled {
  template <class C>
  static C apply(C a, C b, C alpha) {
    return wrapping_add(a, wrapping_mul(alpha, b));
  }
};

struct Sub {
  template <class C>
  static C apply(C a, C b) {
    return wrapping_sub(a, b);
  }
};

struct SubScaled {
  template <class C>
  static C apply(C a, C b, C alpha) {
    return wrapping_sub(a, wrapping_mul(alpha, b));
  }
};

// The product alone, over the shape of all three.
struct Scale {
  template <class C>
  static C apply(C, C b, C alpha) {
    return wrapping_mul(alpha, b);
  }
};

template <TypeMask Mask>
bool operand_is_bool(const Operand& o) {
  return o.tensor != nullptr ? is_bool<Mask>(*o.tensor) : o.scalar->isBoolean();
}

// `Plain` when alpha is one, which saves a multiplication an element, else `Scaled`.
template <TypeMask Mask, class Plain, class Scaled>
bool scaled(Tensor& out, const Operand& a, const Operand& b, const Scalar& alpha) {
  const Operand in[3] = {a, b, alpha};
  ScalarType common = ScalarType::Undefined;
  if constexpr (!is_single(Mask)) {
    common = result_type(in, 2);
  } else {
    common = out.scalar_type();
  }
  // Errors in PyTorch: subtracting Bools, a fractional alpha for integers, a Bool alpha for
  // numbers.
  if ((std::is_same_v<Plain, Sub> && (operand_is_bool<Mask>(a) || operand_is_bool<Mask>(b))) ||
      ((Mask & ~kFloatMask) != 0 && alpha.isFloatingPoint() && !is_floating(common)) ||
      (alpha.isBoolean() && common != ScalarType::Bool)) {
    return false;
  }
  if (scalar_is(alpha, 1)) {
    return elementwise<Mask>(out, in, 2, common, kNarrow, kBlocks<Plain, 2, Mask>);
  }
  if constexpr ((Mask & kHalfMask) != 0) {
    // PyTorch rounds the product of these before the sum, and so do two passes.
    if (contains(kHalfMask, common)) {
      const Operand sum[2] = {a, out};
      return elementwise<Mask>(out, in, 3, common, kNarrow, kBlocks<Scale, 3, Mask>) &&
             elementwise<Mask>(out, sum, 2, common, kNarrow, kBlocks<Plain, 2, Mask>);
    }
  }
  return elementwise<Mask>(out, in, 3, common, kNarrow, kBlocks<Scaled, 3, Mask>);
}

}  // namespace

Tensor& add_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                const Scalar& alpha, Tensor& out) {
  constexpr TypeMask mask = kSelected<kAddOut>;
  const bool ok = is_complex<mask>(out)
                      ? complex_binary<mask>(out, self, other, &alpha)
                      : scaled<kEngine<kAddOut>, Add, AddScaled>(out, self, other, alpha);
  return finish(context, ok, out);
}

Tensor& add_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                       const Scalar& alpha, Tensor& out) {
  return finish(context, scaled<kEngine<kAddScalarOut>, Add, AddScaled>(out, self, other, alpha),
                out);
}

Tensor& sub_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                const Scalar& alpha, Tensor& out) {
  constexpr TypeMask mask = kSelected<kSubOut>;
  const bool ok = is_complex<mask>(out)
                      ? complex_binary<mask>(out, self, other, &alpha, true)
                      : scaled<kEngine<kSubOut>, Sub, SubScaled>(out, self, other, alpha);
  return finish(context, ok, out);
}

Tensor& sub_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                       const Scalar& alpha, Tensor& out) {
  return finish(context, scaled<kEngine<kSubScalarOut>, Sub, SubScaled>(out, self, other, alpha),
                out);
}

Tensor& rsub_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                        const Scalar& alpha, Tensor& out) {
  return finish(context, scaled<kEngine<kRsubScalarOut>, Sub, SubScaled>(out, other, self, alpha),
                out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
