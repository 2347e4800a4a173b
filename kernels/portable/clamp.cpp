// maximum, minimum, clamp, hardtanh.
#include "util/elementwise.h"

namespace gen_kernels {
namespace {

constexpr char kMaximumOut[] = "aten::maximum.out";
constexpr char kMinimumOut[] = "aten::minimum.out";
constexpr char kClampOut[] = "aten::clamp.out";
constexpr char kClampTensorOut[] = "aten::clamp.Tensor_out";
constexpr char kHardtanhOut[] = "aten::hardtanh.out";

// NaN in either operand gives NaN.
struct Maximum {
  template <class C>
  static C apply(C a, C b) {
    return a > b || is_nan(a) ? a : b;
  }
};

struct Minimum {
  template <class C>
  static C apply(C a, C b) {
    return a < b || is_nan(a) ? a : b;
  }
};

struct Clamp {
  template <class C>
  static C apply(C a, C low, C high) {
    return Minimum::apply(Maximum::apply(a, low), high);
  }
};

// Null bounds are absent; one at least is needed. Bools cannot be clamped between two.
template <TypeMask Mask>
bool clamp(Tensor& out, const Tensor& self, const Operand* low, const Operand* high) {
  if (low == nullptr && high == nullptr) {
    return false;
  }
  const Operand in[3] = {self, low != nullptr ? *low : *high, high != nullptr ? *high : *low};
  const size_t n = low != nullptr && high != nullptr ? 3 : 2;
  const Blocks<Mask>& blocks = n == 3           ? kBlocks<Clamp, 3, Mask>
                               : low != nullptr ? kBlocks<Maximum, 2, Mask>
                                                : kBlocks<Minimum, 2, Mask>;
  if constexpr ((Mask & ~(Types<float, double>::mask)) != 0) {
    // Bounds must be numbers of the result's dtype.
    const ScalarType common = result_type(in, n);
    for (size_t k = 1; k < n; ++k) {
      if (in[k].scalar != nullptr && !fits<Mask>(*in[k].scalar, common)) {
        return false;
      }
    }
    if (n == 3 && common == ScalarType::Bool) {
      return false;
    }
  }
  return elementwise<Mask>(out, in, n, ScalarType::Undefined, kNarrow, blocks);
}

// hardtanh also refuses negative limits for unsigned dtypes.
template <TypeMask Mask>
bool limit_fits(const Tensor& self, const Scalar& limit) {
  const bool negative = contains(Mask, ScalarType::Byte) &&
                        self.scalar_type() == ScalarType::Byte && scalar_to<int64_t>(limit) < 0;
  return !negative && fits<Mask>(limit, self.scalar_type());
}

template <TypeMask Mask, class T>
bool clamp_optional(Tensor& out, const Tensor& self, const std::optional<T>& min,
                    const std::optional<T>& max) {
  // Absent bounds need an operand to point at, which nothing reads.
  const Operand low = min.has_value() ? Operand(*min) : Operand(self);
  const Operand high = max.has_value() ? Operand(*max) : Operand(self);
  return clamp<Mask>(out, self, min.has_value() ? &low : nullptr,
                     max.has_value() ? &high : nullptr);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& maximum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return finish(context, binary<kEngine<kMaximumOut>, Maximum>(out, self, other), out);
}

Tensor& minimum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return finish(context, binary<kEngine<kMinimumOut>, Minimum>(out, self, other), out);
}

Tensor& clamp_out(KernelRuntimeContext& context, const Tensor& self,
                  const std::optional<Scalar>& min, const std::optional<Scalar>& max, Tensor& out) {
  return finish(context, clamp_optional<kEngine<kClampOut>>(out, self, min, max), out);
}

Tensor& clamp_tensor_out(KernelRuntimeContext& context, const Tensor& self,
                         const std::optional<Tensor>& min, const std::optional<Tensor>& max,
                         Tensor& out) {
  return finish(context, clamp_optional<kEngine<kClampTensorOut>>(out, self, min, max), out);
}

Tensor& hardtanh_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& min_val,
                     const Scalar& max_val, Tensor& out) {
  constexpr TypeMask mask = kEngine<kHardtanhOut>;
  const Operand in[3] = {self, min_val, max_val};
  const bool ok =
      !is_bool<mask>(self) && limit_fits<mask>(self, min_val) && limit_fits<mask>(self, max_val) &&
      elementwise<mask>(out, in, 3, self.scalar_type(), kNarrow, kBlocks<Clamp, 3, mask>);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
