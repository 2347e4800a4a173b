// Gradients of a convolution: of its input, its weight and its bias.
#include <tuple>

#include "util/convolution.h"
#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kBackward[] = "aten::convolution_backward.out";

// The gradient of the weight as a correlation of `moving` (what the kernel slides over, the input
// of a plain convolution) with `still`: positions are kernel elements, taps are the places of
// `still`, and the extra dimension is the batch.
void set_up_weight(Correlation& c, const Tensor& moving, const Tensor& still, const Tensor& weight,
                   const ConvolutionArgs& args) {
  const auto element = static_cast<ptrdiff_t>(element_size(weight));
  const auto step = [=](const Tensor& t, size_t dim) { return stride_at(t, dim) * element; };
  const auto times = [](size_t n, ptrdiff_t bytes) { return static_cast<ptrdiff_t>(n) * bytes; };
  const size_t dims = rank(weight);
  Walk& w = c.windows.walk;
  w.operands = 4;
  w.at[0] = const_cast<char*>(const_bytes(moving));
  w.at[1] = const_cast<char*>(const_bytes(still));
  w.at[2] = nullptr;
  w.at[3] = mutable_bytes(weight);
  add_loop(w, 1, 0, 0, 0, 0);
  for (size_t i = 0; i < kSpatial; ++i) {
    Axis& axis = c.windows.axes[i];
    c.input_step[i] = 0;
    c.kernel_step[i] = 0;
    if (i + 2 >= dims) {
      add_loop(w, 1, 0, 0, 0, 0);
      continue;
    }
    const size_t dim = dims - 1 - i;
    axis.inputs = static_cast<int32_t>(size_at(moving, dim));
    axis.kernel = static_cast<int32_t>(size_at(still, dim));
    const int32_t* const p = args.spatial[dim - 2];
    axis.stride = p[kDilation];
    axis.offset = -p[kPadding];
    axis.tap_stride = p[kStride];
    c.input_step[i] = step(moving, dim);
    c.kernel_step[i] = step(still, dim);
    add_loop(w, size_at(weight, dim), 0, 0, 0, step(weight, dim));
  }
  // Rows of the weight belong to channels of `still`, columns to a group's channels of `moving`.
  const auto groups = static_cast<size_t>(args.groups);
  const size_t rows = size_at(weight, 0) / groups;
  const size_t columns = size_at(weight, 1);
  c.sum = {static_cast<int32_t>(size_at(still, 0)), step(moving, 0), step(still, 0)};
  add_loop(w, columns, step(moving, 1), 0, 0, step(weight, 1));
  add_loop(w, rows, 0, step(still, 1), 0, step(weight, 0));
  add_loop(w, groups, times(columns, step(moving, 1)), times(rows, step(still, 1)), 0,
           times(rows, step(weight, 0)));
}

// The gradient of the bias: sums over all dims but the channels'.
template <class C>
void sum_channels(const Tensor& gradient, Tensor& out) {
  Reduction r;
  Tensor* const outs[] = {&out};
  const uint32_t dims = ((1U << rank(gradient)) - 1U) & ~2U;
  plan_reduction(r, gradient, dims, false, outs, 1);
  run_reduction<kReduced<kBackward>, C>(r, {C{}, add_sum<C>}, gradient.scalar_type(),
                                        out.scalar_type(), Results::kValue, nullptr);
}

struct Gradients {
  bool wanted[3];
  Tensor& input;
  Tensor& weight;
  Tensor& bias;
};

bool backward(const Tensor& gradient, const Tensor& input, const Tensor& weight,
              ConvolutionArgs args, const Gradients& g) {
  Shape shape;
  const ScalarType type = input.scalar_type();
  if (!convolution_shape(input, weight, args, shape)) return false;
  if (gradient.scalar_type() != type || !(gradient.sizes() == shape.ref())) return false;
  Shape channels;
  channels.push(shape.sizes[1]);
  const Tensor* const outs[] = {&g.input, &g.weight, &g.bias};
  for (size_t i = 0; i < 3; ++i) {
    if (g.wanted[i] && outs[i]->scalar_type() != type) return false;
  }
  if (g.wanted[0] && !resize_out_like(g.input, input)) return false;
  if (g.wanted[1] && !resize_out_like(g.weight, weight)) return false;
  if (g.wanted[2] && !resize_out(g.bias, channels)) return false;
  return dispatch<kBackward, FloatHBF16Types>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (g.wanted[0]) {
      Correlation c;
      set_up(c, gradient, weight, nullptr, g.input, args, !args.transposed);
      correlate<T>(c);
    }
    if (g.wanted[1]) {
      Correlation c;
      const Tensor& moving = args.transposed ? gradient : input;
      set_up_weight(c, moving, args.transposed ? input : gradient, g.weight, args);
      correlate<T>(c);
    }
    if (g.wanted[2]) sum_channels<OpMath<T>>(gradient, g.bias);
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

std::tuple<Tensor&, Tensor&, Tensor&> convolution_backward_out(
    KernelRuntimeContext& ctx, const Tensor& grad_output, const Tensor& input, const Tensor& weight,
    std::optional<IntArrayRef> bias_sizes, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups,
    ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1, Tensor& out2) {
  const bool good =
      output_mask.size() == 3 &&
      (!bias_sizes.has_value() || !output_mask.data()[2] || bias_sizes->size() == 1) &&
      backward(grad_output, input, weight,
               {{stride, padding, dilation, output_padding}, transposed, groups},
               {{output_mask.data()[0], output_mask.data()[1], output_mask.data()[2]},
                out0,
                out1,
                out2});
  if (!good) ctx.fail(Error::InvalidArgument);
  return {out0, out1, out2};
}

}  // namespace torch::executor::native
