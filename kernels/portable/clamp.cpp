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

// Null bounds are absent; one at least is needed.
template <TypeMask Mask>
bool clamp(Tensor& out, const Tensor& self, const Operand* low, const Operand* high) {
  if (low != nullptr && high != nullptr) {
    const Operand in[3] = {self, *low, *high};
    return elementwise<Mask>(out, in, 3, ScalarType::Undefined, kNarrow, kBlocks<Clamp, 3, Mask>);
  }
  if (low == nullptr && high == nullptr) {
    return false;
  }
  const Operand in[2] = {self, low != nullptr ? *low : *high};
  return elementwise<Mask>(out, in, 2, ScalarType::Undefined, kNarrow,
                           low != nullptr ? kBlocks<Maximum, 2, Mask> : kBlocks<Minimum, 2, Mask>);
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
  const bool ok = !is_bool<mask>(self) && elementwise<mask>(out, in, 3, self.scalar_type(), kNarrow,
                                                            kBlocks<Clamp, 3, mask>);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
