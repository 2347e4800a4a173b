// The kernel of my::softclip.out. NativeFunctions.h, generated from my_ops.yaml, declares it, so
// that a signature that differs from the catalogue's does not link.

#include <executorch/runtime/kernel/kernel_includes.h>

#include "NativeFunctions.h"

namespace my::native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

Tensor& softclip_out(KernelRuntimeContext& context, const Tensor& self, double limit, Tensor& out) {
  // A kernel never aborts: what it cannot do fails the call, and Method::execute returns the error.
  if (self.scalar_type() != ScalarType::Float || out.scalar_type() != ScalarType::Float ||
      executorch::runtime::resize_tensor(out, self.sizes()) != Error::Ok) {
    context.fail(Error::InvalidArgument);
    return out;
  }
  const float bound = static_cast<float>(limit);
  const float* from = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < self.numel(); ++i) {
    const float size = from[i] < 0.0f ? -from[i] : from[i];
    to[i] = from[i] / (1.0f + size / bound);
  }
  return out;
}

}  // namespace my::native
