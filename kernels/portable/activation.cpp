// elu, gelu, glu, leaky_relu, logit.
#include "util/fmath.h"
#include "util/unary.h"
#include "util/view.h"

namespace gen_kernels {
namespace {

constexpr char kEluOut[] = "aten::elu.out";
constexpr char kGeluOut[] = "aten::gelu.out";
constexpr char kGluOut[] = "aten::glu.out";
constexpr char kLeakyReluOut[] = "aten::leaky_relu.out";
constexpr char kLogitOut[] = "aten::logit.out";

template <class C>
C gelu_erf(C a) {
  return a * C{0.5} * (C{1} + std::erf(a * C(0.70710678118654752440)));
}

template <class C>
C gelu_tanh(C a) {
  return a * C{0.5} * (C{1} + math_tanh(C(0.79788456080286535588) * (a + C(0.044715) * a * a * a)));
}

struct LeakyRelu {
  template <class C>
  static C apply(C a, C slope) {
    return a > C{0} ? a : a * slope;
  }
};

struct Glu {
  template <class C>
  static C apply(C a, C gate) {
    return a / (C{1} + math_exp(-gate));
  }
};

template <class C>
C logit(C a) {
  return math_log(a / (C{1} - a));
}

struct LogitClamped {
  template <class C>
  static C apply(C a, C eps) {
    const C high = C{1} - eps;
    return logit(a < eps ? eps : a > high ? high : a);
  }
};

// alpha, scale and input_scale of elu.
struct EluParameters {
  const Scalar* alpha;
  const Scalar* scale;
  const Scalar* input_scale;
};

template <class C>
void elu_block(const C* const* in, const ptrdiff_t* step, C* out, size_t n, const void* extra) {
  const EluParameters& p = *static_cast<const EluParameters*>(extra);
  const C scale = scalar_to<C>(*p.scale);
  const C negative = scalar_to<C>(*p.alpha) * scale;
  const C input_scale = scalar_to<C>(*p.input_scale);
  const C* a = in[0];
  for (; n != 0; --n, a = after(a, step[0])) {
    *out++ = *a <= C{0} ? std::expm1(*a * input_scale) * negative : *a * scale;
  }
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& elu_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& alpha,
                const Scalar& scale, const Scalar& input_scale, Tensor& out) {
  constexpr TypeMask mask = kEngine<kEluOut>;
  constexpr bool has_double = (mask & kComputedIn<double>) != 0;
  static constexpr Blocks<mask> blocks{elu_block<float>, has_double ? elu_block<double> : nullptr,
                                       nullptr};
  const EluParameters parameters{&alpha, &scale, &input_scale};
  return finish(context, unary<mask>(out, self, kNoRule, blocks, &parameters), out);
}

Tensor& gelu_out(KernelRuntimeContext& context, const Tensor& self, std::string_view approximate,
                 Tensor& out) {
  constexpr TypeMask mask = kEngine<kGeluOut>;
  bool ok = is_floating(self.scalar_type());
  if (approximate == "tanh") {
    ok = ok && unary_math<mask>(out, self, gelu_tanh<float>, gelu_tanh<double>);
  } else {
    ok = ok && approximate == "none" &&
         unary_math<mask>(out, self, gelu_erf<float>, gelu_erf<double>);
  }
  return finish(context, ok, out);
}

Tensor& glu_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  constexpr TypeMask mask = kEngine<kGluOut>;
  if (rank(self) == 0 || !wrap_dim(dim, rank(self)) ||
      size_at(self, static_cast<size_t>(dim)) % 2 != 0) {
    return finish(context, false, out);
  }
  View half = view_of(self);
  const size_t d = static_cast<size_t>(dim);
  half.sizes[d] /= 2;
  const Operand in[2] = {self, self};
  Walk w;
  bool ok = is_floating(self.scalar_type()) &&
            check_types(mask, out, in, 2, self.scalar_type(), kNoRule) &&
            resize_out(out, {half.sizes, half.rank});
  if (ok) {
    w.operands = 3;
    w.at[0] = mutable_bytes(out);
    w.at[1] = half.data;
    w.at[2] = half.data + half.sizes[d] * half.strides[d];
    for (size_t i = half.rank; i-- > 0;) {
      const size_t axis = out.dim_order().data()[i];
      const ptrdiff_t stride[3] = {stride_at(out, axis) * out.element_size(), half.strides[axis],
                                   half.strides[axis]};
      add_axis(w, half.size(axis), stride);
    }
    ok = run_blocks<mask>(w, out, in, self.scalar_type(), kNoRule,
                          kBlocks<Glu, 2, mask, kFloatBlocks>, nullptr);
  }
  return finish(context, ok, out);
}

Tensor& leaky_relu_out(KernelRuntimeContext& context, const Tensor& self,
                       const Scalar& negative_slope, Tensor& out) {
  constexpr TypeMask mask = kEngine<kLeakyReluOut>;
  const Operand in[2] = {self, negative_slope};
  const bool ok = elementwise<mask>(out, in, 2, self.scalar_type(), kNoRule,
                                    kBlocks<LeakyRelu, 2, mask, kFloatBlocks>);
  return finish(context, ok, out);
}

Tensor& logit_out(KernelRuntimeContext& context, const Tensor& self, std::optional<double> eps,
                  Tensor& out) {
  constexpr TypeMask mask = kEngine<kLogitOut>;
  if (!eps.has_value()) {
    return finish(context, unary_math<mask>(out, self, logit<float>, logit<double>), out);
  }
  const Scalar bound(*eps);
  const Operand in[2] = {self, bound};
  const ScalarType common =
      is_floating(self.scalar_type()) ? self.scalar_type() : ScalarType::Float;
  return finish(
      context,
      elementwise<mask>(out, in, 2, common, kNoRule, kBlocks<LogitClamped, 2, mask, kFloatBlocks>),
      out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
