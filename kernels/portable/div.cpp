// div with its rounding modes, floor_divide, fmod, remainder.
// Dividing an integer by zero fails, as it raises in PyTorch.
#include "util/unary.h"

namespace gen_kernels {
namespace {

constexpr char kDivOut[] = "aten::div.out";
constexpr char kDivScalarOut[] = "aten::div.Scalar_out";
constexpr char kDivModeOut[] = "aten::div.out_mode";
constexpr char kDivScalarModeOut[] = "aten::div.Scalar_mode_out";
constexpr char kFloorDivideOut[] = "aten::floor_divide.out";
constexpr char kFmodTensorOut[] = "aten::fmod.Tensor_out";
constexpr char kFmodScalarOut[] = "aten::fmod.Scalar_out";
constexpr char kRemainderTensorOut[] = "aten::remainder.Tensor_out";
constexpr char kRemainderScalarOut[] = "aten::remainder.Scalar_out";

// The divisor of an integer is not zero here: has_zero() was asked. Dividing by -1
// is apart, for the smallest integer has no opposite.

struct Div {
  template <class C>
  static C apply(C a, C b) {
    return a / b;
  }
};

struct DivTrunc {
  template <class C>
  static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::trunc(a / b);
    } else {
      return b == -1 ? wrapping_sub(C{0}, a) : a / b;
    }
  }
};

struct Trunc {
  template <class C>
  static C apply(C a) {
    return std::trunc(a);
  }
};

struct Fmod {
  template <class C>
  static C apply(C a, C b) {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fmod(a, b);
    } else {
      return b == -1 ? C{0} : a % b;
    }
  }
};

// Whether a remainder with the dividend's sign must move by one divisor to get the divisor's sign.
template <class C>
bool crosses(C remainder, C divisor) {
  return remainder != C{0} && (remainder < C{0}) != (divisor < C{0});
}

struct Remainder {
  template <class C>
  static C apply(C a, C b) {
    const C r = Fmod::apply(a, b);
    return crosses(r, b) ? r + b : r;
  }
};

struct DivFloor {
  template <class C>
  static C apply(C a, C b) {
    const C r = Fmod::apply(a, b);
    if constexpr (std::is_floating_point_v<C>) {
      // As Python: exact where a / b rounds up to an integer.
      if (b == C{0}) {
        return a / b;
      }
      const C quotient = (a - r) / b - static_cast<C>(crosses(r, b));
      if (quotient == C{0}) {
        return std::copysign(C{0}, a / b);
      }
      const C down = std::floor(quotient);
      return quotient - down > C{0.5} ? down + C{1} : down;
    } else {
      return wrapping_sub(DivTrunc::apply(a, b), static_cast<C>(crosses(r, b)));
    }
  }
};

// Whether an integer operand has a zero, or a number that is one in the common dtype (256 in Byte):
// dividing by it is an error.
template <TypeMask Mask>
bool has_zero(const Operand& divisor, ScalarType common) {
  using Int = IntCompute<Mask>;
  const auto is_zero = [common](Int value) {
    round_block<Int, Mask>(&value, common, 1);
    return value == 0;
  };
  if (divisor.scalar != nullptr) {
    return is_zero(scalar_to<Int>(*divisor.scalar));
  }
  const Tensor& t = *divisor.tensor;
  const char* at = const_bytes(t);
  for (size_t i = 0; i < numel(t); ++i, at += t.element_size()) {
    if (is_zero(load_one<Int, Mask>(at, t.scalar_type()))) {
      return true;
    }
  }
  return false;
}

// a op b where integers stay integers.
template <TypeMask Mask, class F>
bool divide(Tensor& out, const Tensor& a, const Operand& b) {
  const Operand in[2] = {a, b};
  const ScalarType common = result_type(in, 2);
  if constexpr ((Mask & kIntMask) != 0) {
    if (is_integer(common) && numel(a) != 0 && has_zero<Mask>(b, common)) {
      return false;
    }
  }
  return common != ScalarType::Bool &&
         elementwise<Mask>(out, in, 2, common, kNarrow, kBlocks<F, 2, Mask>);
}

template <TypeMask Mask>
bool divide_mode(Tensor& out, const Tensor& a, const Operand& b,
                 const std::optional<std::string_view>& mode) {
  if (!mode.has_value()) {
    return binary<Mask, Div, kFloatBlocks>(out, a, b, kToFloat);
  }
  if (*mode == "floor") {
    return divide<Mask, DivFloor>(out, a, b);
  }
  if (*mode != "trunc") {
    return false;
  }
  if constexpr ((Mask & kHalfMask) != 0) {
    // PyTorch rounds the quotient of these before it cuts, and so do two passes.
    const Operand in[2] = {a, b};
    if (contains(kHalfMask, result_type(in, 2))) {
      return binary<Mask, Div, kFloatBlocks>(out, a, b) &&
             unary<Mask>(out, out, kNoRule, kBlocks<Trunc, 1, Mask, kFloatBlocks>);
    }
  }
  return divide<Mask, DivTrunc>(out, a, b);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& div_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                Tensor& out) {
  return finish(context, binary<kEngine<kDivOut>, Div, kFloatBlocks>(out, self, other, kToFloat),
                out);
}

Tensor& div_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                       Tensor& out) {
  return finish(context,
                binary<kEngine<kDivScalarOut>, Div, kFloatBlocks>(out, self, other, kToFloat), out);
}

Tensor& div_out_mode(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                     std::optional<std::string_view> rounding_mode, Tensor& out) {
  return finish(context, divide_mode<kEngine<kDivModeOut>>(out, self, other, rounding_mode), out);
}

Tensor& div_scalar_mode_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                            std::optional<std::string_view> rounding_mode, Tensor& out) {
  return finish(context, divide_mode<kEngine<kDivScalarModeOut>>(out, self, other, rounding_mode),
                out);
}

Tensor& floor_divide_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                         Tensor& out) {
  return finish(context, divide<kEngine<kFloorDivideOut>, DivFloor>(out, self, other), out);
}

Tensor& fmod_Tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                        Tensor& out) {
  return finish(context, divide<kEngine<kFmodTensorOut>, Fmod>(out, self, other), out);
}

Tensor& fmod_Scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                        Tensor& out) {
  return finish(context, divide<kEngine<kFmodScalarOut>, Fmod>(out, self, other), out);
}

Tensor& remainder_Tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                             Tensor& out) {
  return finish(context, divide<kEngine<kRemainderTensorOut>, Remainder>(out, self, other), out);
}

Tensor& remainder_Scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& other,
                             Tensor& out) {
  return finish(context, divide<kEngine<kRemainderScalarOut>, Remainder>(out, self, other), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
