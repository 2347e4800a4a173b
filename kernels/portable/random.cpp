// Random tensors, and dropout.
#include "util/random.h"

#include <tuple>

#include "util/tensor.h"

namespace gen_kernels {
namespace {

inline constexpr char kRand[] = "aten::rand.out";
inline constexpr char kRandn[] = "aten::randn.out";
inline constexpr char kDropout[] = "aten::native_dropout.out";

template <const char* Op, bool kNormal>
Tensor& fill(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  const bool good =
      resize_out(out, size) && dispatch<Op, FloatHBF16Types>(out.scalar_type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* to = mutable_data<T>(out);
        for (size_t i = 0; i < numel(out); ++i) {
          to[i] = static_cast<T>(kNormal ? normal<OpMath<T>>() : uniform<T>());
        }
      });
  if (!good) ctx.fail(Error::InvalidArgument);
  return out;
}

bool dropout(const Tensor& in, double p, bool train, Tensor& out, Tensor& mask) {
  if (in.scalar_type() != out.scalar_type() || mask.scalar_type() != ScalarType::Bool) return false;
  if (train && !(p >= 0 && p <= 1)) return false;
  if (!resize_out_like(out, in) || !resize_out_like(mask, in)) return false;
  if (!same_layout(out, in) || !same_layout(mask, in)) return false;
  return dispatch<kDropout, FloatHBF16Types>(in.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = OpMath<T>;
    const auto drop = static_cast<float>(train ? p : 0);
    const C scale = drop < 1 ? C{1} / static_cast<C>(1 - drop) : C{};
    for (size_t i = 0; i < numel(in); ++i) {
      const bool keep = !train || uniform<float>() >= drop;
      mutable_data<bool>(mask)[i] = keep;
      // NaN and infinities times zero are NaN, as in eager.
      const C factor = keep ? scale : C{};
      mutable_data<T>(out)[i] = static_cast<T>(static_cast<C>(const_data<T>(in)[i]) * factor);
    }
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& rand_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill<kRand, false>(ctx, size, out);
}

Tensor& randn_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill<kRandn, true>(ctx, size, out);
}

// Without a word about training it is training.
std::tuple<Tensor&, Tensor&> native_dropout_out(KernelRuntimeContext& ctx, const Tensor& input,
                                                double p, std::optional<bool> train, Tensor& out0,
                                                Tensor& out1) {
  if (!dropout(input, p, train.value_or(true), out0, out1)) ctx.fail(Error::InvalidArgument);
  return {out0, out1};
}

}  // namespace torch::executor::native
