// Convolution of one to three spatial dimensions, plain or transposed.
#include "util/convolution.h"

namespace gen_kernels {
namespace {

inline constexpr char kConvolution[] = "aten::convolution.out";
using Supported = Types<float, double, Half, BFloat16, int64_t>;

bool convolve(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              ConvolutionArgs args, Tensor& out) {
  Shape shape;
  const ScalarType type = input.scalar_type();
  if (!convolution_shape(input, weight, args, shape)) return false;
  if (out.scalar_type() != type) return false;
  const char* bias_data = nullptr;
  if (bias.has_value()) {
    if (bias->scalar_type() != type || bias->dim() != 1 || bias->size(0) != shape.sizes[1]) {
      return false;
    }
    bias_data = const_bytes(*bias);
  }
  if (!resize_out(out, shape)) return false;
  Correlation c;
  set_up(c, input, weight, bias_data, out, args, args.transposed);
  return dispatch<kConvolution, Supported>(
      type, [&](auto tag) { correlate<typename decltype(tag)::type>(c); });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& convolution_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                        const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                        IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                        int64_t groups, Tensor& out) {
  if (!convolve(input, weight, bias,
                {{stride, padding, dilation, output_padding}, transposed, groups}, out)) {
    ctx.fail(Error::InvalidArgument);
  }
  return out;
}

}  // namespace torch::executor::native
