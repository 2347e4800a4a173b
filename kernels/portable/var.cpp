// Variances, with the mean if asked.
#include <tuple>

#include "util/reduce.h"
#include "util/scalar.h"

namespace gen_kernels {
namespace {

inline constexpr char kVar[] = "aten::var.out";
inline constexpr char kVarCorrection[] = "aten::var.correction_out";
inline constexpr char kVarMean[] = "aten::var_mean.correction_out";

// The mean of the first pass is what the second measures distances from.
template <class C>
void end_first(State<C>& state, size_t count, const void*) {
  state.other = state.value / static_cast<C>(count);
  state.value = C{};
}

template <class C>
void end_squares(State<C>& state, size_t count, const void* correction) {
  const C freedom = static_cast<C>(count) - static_cast<C>(*static_cast<const double*>(correction));
  state.value /= freedom > C{} ? freedom : C{};
}

template <const char* Op>
void var(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<IntArrayRef>& dim,
         double correction, bool keepdim, Tensor& out, Tensor* mean) {
  constexpr TypeMask kMask = kReduced<Op>;
  const ScalarType type = in.scalar_type();
  Tensor* const outs[] = {&out, mean};
  uint32_t dims;
  Reduction r;
  const bool good =
      out.scalar_type() == type && (mean == nullptr || mean->scalar_type() == type) &&
      dim_set(dim, rank(in), dims) &&
      plan_reduction(r, in, dims, keepdim, outs, mean == nullptr ? 1 : 2) &&
      dispatch_compute<kMask & kFloatMask>(type, [&](auto tag) {
        using C = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<C>) {
          const Fold<C> fold{C{}, add_sum<C>, end_first<C>, add_squares<C>, end_squares<C>};
          run_reduction<kMask, C>(r, fold, type, type,
                                  mean == nullptr ? Results::kValue : Results::kValueOther,
                                  &correction);
        }
      });
  if (!good) ctx.fail(Error::InvalidArgument);
}

// None means the sample variance.
double correction_or_one(const std::optional<Scalar>& correction) {
  return correction.has_value() ? scalar_to<double>(*correction) : 1;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& var_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<IntArrayRef> dim,
                bool unbiased, bool keepdim, Tensor& out) {
  var<kVar>(ctx, self, dim, unbiased ? 1 : 0, keepdim, out, nullptr);
  return out;
}

Tensor& var_correction_out(KernelRuntimeContext& ctx, const Tensor& self,
                           std::optional<IntArrayRef> dim, const std::optional<Scalar>& correction,
                           bool keepdim, Tensor& out) {
  var<kVarCorrection>(ctx, self, dim, correction_or_one(correction), keepdim, out, nullptr);
  return out;
}

std::tuple<Tensor&, Tensor&> var_mean_correction_out(KernelRuntimeContext& ctx, const Tensor& self,
                                                     std::optional<IntArrayRef> dim,
                                                     const std::optional<Scalar>& correction,
                                                     bool keepdim, Tensor& out0, Tensor& out1) {
  var<kVarMean>(ctx, self, dim, correction_or_one(correction), keepdim, out0, &out1);
  return {out0, out1};
}

}  // namespace torch::executor::native
