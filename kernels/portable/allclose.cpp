// allclose: a custom operator.
#include "util/index.h"

namespace gen_kernels {
namespace {

constexpr char kAllcloseOut[] = "aten::allclose.out";

// |a - b| <= atol + rtol * |b| for every pair, equal infinities and, if asked, NaNs.
template <class C, TypeMask Mask>
bool all_close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  const View va = view_of(a);
  const View vb = view_of(b);
  for (size_t i = 0; i < numel(a); ++i) {
    const C x = load_one<C, Mask>(va.data + element_offset(va, i), a.scalar_type());
    const C y = load_one<C, Mask>(vb.data + element_offset(vb, i), b.scalar_type());
    const bool same = x == y || (equal_nan && is_nan(x) && is_nan(y));
    if (!same && !(std::abs(x - y) <= static_cast<C>(atol) + static_cast<C>(rtol) * std::abs(y) &&
                   !std::isinf(x) && !std::isinf(y))) {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

// `out` holds one Bool: whether all pairs of elements are close. A custom operator, for a result
// that is a tensor.
Tensor& allclose_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                     double rtol, double atol, bool equal_nan, bool, Tensor& out) {
  constexpr TypeMask mask = kSelected<kAllcloseOut> & kAllMask;
  bool ok = same_dtype<mask>(self, other) && same_shape(self, other) &&
            out.scalar_type() == ScalarType::Bool && out.numel() == 1;
  if (ok) {
    bool close = false;
    if (contains(mask, ScalarType::Double) && self.scalar_type() != ScalarType::Float) {
      close = all_close<double, mask>(self, other, rtol, atol, equal_nan);
    } else {
      close = all_close<float, mask>(self, other, rtol, atol, equal_nan);
    }
    *mutable_data<bool>(out) = close;
  }
  return finish(context, ok, out);
}

// A kernel cannot make a tensor: only the out variant can be called.
Tensor allclose_tensor(KernelRuntimeContext& context, const Tensor& self, const Tensor&, double,
                       double, bool, bool) {
  context.fail(Error::NotSupported);
  return self;
}

}  // namespace native
}  // namespace executor
}  // namespace torch
