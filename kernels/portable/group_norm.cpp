// Group normalisation: over groups of channels and all places, with a weight and a bias a channel.
#include <tuple>

#include "util/norm.h"

namespace gen_kernels {
namespace {

inline constexpr char kGroupNorm[] = "aten::native_group_norm.out";

struct GroupNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  size_t groups;
  double eps;
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// `group` walks a group's elements, `channel` a channel's in input and output.
template <TypeMask Mask, class T>
void normalize(const GroupNorm& g, Walk& group, Walk& channel) {
  using C = OpMath<T>;
  const auto bytes = [](size_t i, ptrdiff_t stride) {
    return static_cast<ptrdiff_t>(i) * stride * ptrdiff_t{sizeof(T)};
  };
  const size_t channels = size_at(g.input, 1) / g.groups;
  const size_t count = numel(g.input) / (size_at(g.input, 0) * g.groups);
  for (size_t n = 0; n < size_at(g.input, 0); ++n) {
    const char* from = const_bytes(g.input) + bytes(n, stride_at(g.input, 0));
    char* to = mutable_bytes(g.out) + bytes(n, stride_at(g.out, 0));
    for (size_t c = 0; c < size_at(g.input, 1);) {
      const size_t place = n * g.groups + c / channels;
      const Moments<C> m = moments<Mask, C>(group, from + bytes(c, stride_at(g.input, 1)),
                                            g.input.scalar_type(), count);
      const C rstd = C{1} / math_sqrt(m.variance + static_cast<C>(g.eps));
      store_parameter<T>(g.mean, place, m.mean);
      store_parameter<T>(g.rstd, place, rstd);
      for (size_t k = 0; k < channels; ++k, ++c) {
        const C scale = rstd * parameter_or<T>(g.weight, c, C{1});
        const C shift = parameter_or<T>(g.bias, c, C{}) - m.mean * scale;
        scale_and_shift<T>(channel, from + bytes(c, stride_at(g.input, 1)),
                           to + bytes(c, stride_at(g.out, 1)), scale, shift);
      }
    }
  }
}

bool group_norm(const GroupNorm& g, int64_t batch, int64_t channels, int64_t places,
                int64_t groups) {
  const Tensor& in = g.input;
  const ScalarType type = in.scalar_type();
  if (g.out.scalar_type() != type || rank(in) < 2 || groups < 1) return false;
  if (in.size(0) != batch || in.size(1) != channels || channels % groups != 0) return false;
  const auto c = static_cast<size_t>(channels);
  if (!is_parameter(g.weight, type, c) || !is_parameter(g.bias, type, c)) return false;
  Shape shape;
  if (!shape.push(batch) || !shape.push(groups)) return false;
  if (!resize_parameter(g.mean, type, shape) || !resize_parameter(g.rstd, type, shape) ||
      !resize_out_like(g.out, in)) {
    return false;
  }
  Walk channel;
  channel.operands = 2;
  int64_t found = 1;
  for (size_t d = rank(in); d-- > 2;) {
    const ptrdiff_t stride[] = {stride_at(in, d) * in.element_size(),
                                stride_at(g.out, d) * in.element_size()};
    add_axis(channel, size_at(in, d), stride);
    found *= in.size(static_cast<ssize_t>(d));
  }
  if (found != places) return false;
  Walk group = channel;
  const ptrdiff_t stride[] = {stride_at(in, 1) * in.element_size(),
                              stride_at(g.out, 1) * in.element_size()};
  add_axis(group, c / static_cast<size_t>(groups), stride);
  if (numel(in) == 0) return true;
  return dispatch<kGroupNorm, FloatHBF16Types>(type, [&](auto tag) {
    normalize<kReduced<kGroupNorm>, typename decltype(tag)::type>(g, group, channel);
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

std::tuple<Tensor&, Tensor&, Tensor&> native_group_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
    Tensor& out0, Tensor& out1, Tensor& out2) {
  if (!group_norm({input, pointer_to(weight), pointer_to(bias), static_cast<size_t>(group), eps,
                   out0, out1, out2},
                  N, C, HxW, group)) {
    ctx.fail(Error::InvalidArgument);
  }
  return {out0, out1, out2};
}

}  // namespace torch::executor::native
