// Batch normalisation, with given or computed statistics.
#include <tuple>

#include "util/norm.h"

namespace gen_kernels {
namespace {

inline constexpr char kNoTraining[] = "aten::_native_batch_norm_legit_no_training.out";
inline constexpr char kLegit[] = "aten::_native_batch_norm_legit.out";
inline constexpr char kNoStats[] = "aten::_native_batch_norm_legit.no_stats_out";

struct BatchNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  const Tensor* running_mean;  // Also updated in training, unless null.
  const Tensor* running_var;
  bool training;
  double momentum;
  double eps;
  Tensor& out;
  Tensor& save_mean;
  Tensor& save_invstd;
};

template <class T>
void update(const Tensor& running, size_t i, OpMath<T> value, OpMath<T> momentum) {
  using C = OpMath<T>;
  const auto mix = [=](auto& old) {
    using Stored = std::remove_reference_t<decltype(old)>;
    old = static_cast<Stored>(momentum * value + (C{1} - momentum) * static_cast<C>(old));
  };
  if (running.scalar_type() == kScalarType<C>) {
    mix(mutable_data<C>(running)[i]);
  } else {
    mix(mutable_data<T>(running)[i]);
  }
}

// kTrain: whether training is possible at all.
template <TypeMask Mask, class T, bool kTrain>
void normalize(const BatchNorm& b, Walk& w, size_t count) {
  using C = OpMath<T>;
  const auto eps = static_cast<C>(b.eps);
  const size_t channels = size_at(b.input, 1);
  for (size_t c = 0; c < channels; ++c) {
    const auto k = static_cast<ptrdiff_t>(c);
    const char* from = const_bytes(b.input) + k * stride_at(b.input, 1) * ptrdiff_t{sizeof(T)};
    char* to = mutable_bytes(b.out) + k * stride_at(b.out, 1) * ptrdiff_t{sizeof(T)};
    Moments<C> m;
    C invstd;
    if (kTrain && b.training) {
      m = moments<Mask, C>(w, from, b.input.scalar_type(), count);
      invstd = C{1} / math_sqrt(m.variance + eps);
      store_parameter<T>(b.save_mean, c, m.mean);
      store_parameter<T>(b.save_invstd, c, invstd);
      if (b.running_mean != nullptr) {
        const auto momentum = static_cast<C>(b.momentum);
        const C n = static_cast<C>(count);
        update<T>(*b.running_mean, c, m.mean, momentum);
        update<T>(*b.running_var, c, m.variance * (n / (n - C{1})), momentum);
      }
    } else {
      m = {parameter_or<T>(b.running_mean, c, C{}), parameter_or<T>(b.running_var, c, C{})};
      invstd = C{1} / math_sqrt(m.variance + eps);
    }
    const C scale = invstd * parameter_or<T>(b.weight, c, C{1});
    scale_and_shift<T>(w, from, to, scale, parameter_or<T>(b.bias, c, C{}) - m.mean * scale);
  }
}

template <const char* Op, bool kTrain>
void batch_norm(KernelRuntimeContext& ctx, const BatchNorm& b) {
  const ScalarType type = b.input.scalar_type();
  const auto run = [&] {
    if (b.out.scalar_type() != type || rank(b.input) < 2) return false;
    const size_t channels = size_at(b.input, 1);
    const Tensor* const given[] = {b.weight, b.bias, b.running_mean, b.running_var};
    for (const Tensor* t : given) {
      if (!is_parameter(t, type, channels)) return false;
    }
    Shape saved;
    saved.push(b.training ? static_cast<int64_t>(channels) : 0);
    if (!resize_parameter(b.save_mean, type, saved) ||
        !resize_parameter(b.save_invstd, type, saved) || !resize_out_like(b.out, b.input)) {
      return false;
    }
    const View from = view_of(b.input);
    const View to = view_of(b.out);
    const View* const views[2] = {&from, &to};
    Walk w;
    lay_views(w, views, 2, 1U << 1);
    const size_t count = channels == 0 ? 0 : numel(b.input) / channels;
    return dispatch<Op, FloatHBF16Types>(type, [&](auto tag) {
      normalize<kReduced<Op>, typename decltype(tag)::type, kTrain>(b, w, count);
    });
  };
  if (!run()) ctx.fail(Error::InvalidArgument);
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;
using Results = std::tuple<Tensor&, Tensor&, Tensor&>;

Results _native_batch_norm_legit_no_training_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, const Tensor& running_mean, const Tensor& running_var,
    double momentum, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  batch_norm<kNoTraining, false>(ctx, {input, pointer_to(weight), pointer_to(bias), &running_mean,
                                       &running_var, false, momentum, eps, out0, out1, out2});
  return {out0, out1, out2};
}

Results _native_batch_norm_legit_out(KernelRuntimeContext& ctx, const Tensor& input,
                                     const std::optional<Tensor>& weight,
                                     const std::optional<Tensor>& bias, Tensor& running_mean,
                                     Tensor& running_var, bool training, double momentum,
                                     double eps, Tensor& out, Tensor& save_mean,
                                     Tensor& save_invstd) {
  batch_norm<kLegit, true>(
      ctx, {input, pointer_to(weight), pointer_to(bias), &running_mean, &running_var, training,
            momentum, eps, out, save_mean, save_invstd});
  return {out, save_mean, save_invstd};
}

Results _native_batch_norm_legit_no_stats_out(KernelRuntimeContext& ctx, const Tensor& input,
                                              const std::optional<Tensor>& weight,
                                              const std::optional<Tensor>& bias, bool training,
                                              double momentum, double eps, Tensor& out,
                                              Tensor& save_mean, Tensor& save_invstd) {
  // Without training there would be no statistics at all.
  if (!training) {
    ctx.fail(Error::InvalidArgument);
  } else {
    batch_norm<kNoStats, true>(ctx, {input, pointer_to(weight), pointer_to(bias), nullptr, nullptr,
                                     true, momentum, eps, out, save_mean, save_invstd});
  }
  return {out, save_mean, save_invstd};
}

}  // namespace torch::executor::native
