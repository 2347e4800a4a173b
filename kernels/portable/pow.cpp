// pow and atan2.
#include "util/fmath.h"
#include "util/unary.h"

namespace gen_kernels {
namespace {

constexpr char kAtan2Out[] = "aten::atan2.out";
constexpr char kPowScalarOut[] = "aten::pow.Scalar_out";
constexpr char kPowTensorScalarOut[] = "aten::pow.Tensor_Scalar_out";
constexpr char kPowTensorTensorOut[] = "aten::pow.Tensor_Tensor_out";

struct Pow {
  template <class C>
  static C apply(C base, C exponent) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::pow(base, exponent);
    } else {
      if (exponent < 0) {
        return base == 1 ? C{1} : base == -1 ? static_cast<C>(exponent % 2 == 0 ? 1 : -1) : C{0};
      }
      C result = 1;
      for (; exponent != 0; exponent >>= 1) {
        result = (exponent & 1) != 0 ? wrapping_mul(result, base) : result;
        base = wrapping_mul(base, base);
      }
      return result;
    }
  }
};

// The root as PyTorch computes a power of a half: NaN for negative infinity.
template <class C>
C root(C a) {
  return math_sqrt(a);
}

template <class C>
C inverse_root(C a) {
  return C{1} / math_sqrt(a);
}

struct Atan2 {
  template <class C>
  static C apply(C a, C b) {
    return std::atan2(a, b);
  }
};

template <TypeMask Mask>
bool power(Tensor& out, const Operand& base, const Operand& exponent) {
  return binary<Mask, Pow>(out, base, exponent, kNarrow);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& atan2_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                  Tensor& out) {
  return finish(context,
                binary<kEngine<kAtan2Out>, Atan2, kFloatBlocks>(out, self, other, kToFloat), out);
}

Tensor& pow_Scalar_out(KernelRuntimeContext& context, const Scalar& self, const Tensor& exponent,
                       Tensor& out) {
  constexpr TypeMask mask = kEngine<kPowScalarOut>;
  // Of two Bools PyTorch knows only the powers of true.
  const bool undefined = is_bool<mask>(exponent) && self.isBoolean() && !self.to<bool>();
  return finish(context, !undefined && power<mask>(out, self, exponent), out);
}

Tensor& pow_Tensor_Scalar_out(KernelRuntimeContext& context, const Tensor& self,
                              const Scalar& exponent, Tensor& out) {
  constexpr TypeMask mask = kEngine<kPowTensorScalarOut>;
  if (exponent.isFloatingPoint() && std::abs(exponent.to<double>()) == 0.5) {
    const bool inverse = exponent.to<double>() < 0;
    return finish(context,
                  inverse ? unary_math<mask>(out, self, inverse_root<float>, inverse_root<double>)
                          : unary_math<mask>(out, self, root<float>, root<double>),
                  out);
  }
  // PyTorch refuses integers to a negative integer power here, though not with a tensor of powers.
  const bool integers = !is_floating(self.scalar_type()) && !exponent.isFloatingPoint();
  const bool ok = !(integers && (scalar_to<int64_t>(exponent) < 0 ||
                                 !fits<mask>(exponent, self.scalar_type()))) &&
                  power<mask>(out, self, exponent);
  return finish(context, ok, out);
}

Tensor& pow_Tensor_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                              const Tensor& exponent, Tensor& out) {
  constexpr TypeMask mask = kEngine<kPowTensorTensorOut>;
  const bool ok =
      !(is_bool<mask>(self) && is_bool<mask>(exponent)) && power<mask>(out, self, exponent);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
