// Kernels of the operators that custom_op.pte calls. Its exporter's source is not here: they follow
// from its inputs and outputs, and show that every kind of argument arrives.
#include <executorch/runtime/kernel/kernel_includes.h>

#include "NativeFunctions.h"

namespace my_ops::native {

using executorch::aten::ArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

Tensor& mul3_out(KernelRuntimeContext& context, const Tensor& input, Tensor& output) {
  if (executorch::runtime::resize_tensor(output, input.sizes()) != Error::Ok) {
    context.fail(Error::InvalidArgument);
    return output;
  }
  for (ssize_t i = 0; i < input.numel(); ++i) {
    output.mutable_data_ptr<float>()[i] = 3.0f * input.const_data_ptr<float>()[i];
  }
  return output;
}

Tensor& scale_shift_out(KernelRuntimeContext& context, const Tensor& input, double scale,
                        ArrayRef<int64_t> shifts, const std::optional<Tensor>& bias, bool flag,
                        std::string_view mode, Tensor& output) {
  const size_t at = mode == "a" ? 0 : 1;
  const bool fits = (mode == "a" || mode == "b") && flag && at < shifts.size();
  if (!fits || executorch::runtime::resize_tensor(output, input.sizes()) != Error::Ok) {
    context.fail(Error::InvalidArgument);
    return output;
  }
  for (ssize_t i = 0; i < input.numel(); ++i) {
    const float added = bias.has_value() ? bias->const_data_ptr<float>()[i] : 0.0f;
    output.mutable_data_ptr<float>()[i] =
        input.const_data_ptr<float>()[i] * static_cast<float>(scale) + added +
        static_cast<float>(shifts[at]);
  }
  return output;
}

}  // namespace my_ops::native
