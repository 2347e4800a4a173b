// Sums, means and products.
#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kSum[] = "aten::sum.IntList_out";
inline constexpr char kMean[] = "aten::mean.out";
inline constexpr char kMeanAll[] = "aten::mean.dtype_out";
inline constexpr char kProd[] = "aten::prod.out";
inline constexpr char kProdDim[] = "aten::prod.int_out";

template <class C>
void add_product(State<C>& state, const C* values, ptrdiff_t step, size_t n) {
  for (; n > 0; --n, values += step) state.value = wrapping_mul(state.value, *values);
}

enum class What { kSum, kMean, kProd };

// Folds in the dtype of the result, to which the elements are converted first.
template <TypeMask Mask, What kWhat>
Tensor& reduce(KernelRuntimeContext& ctx, const Tensor& in, bool dims_good, uint32_t dims,
               bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  Reduction r;
  Tensor* const outs[] = {&out};
  const ScalarType from = in.scalar_type();
  const ScalarType to = out.scalar_type();
  const bool good = dims_good && contains(Mask, from) && (!dtype.has_value() || *dtype == to) &&
                    (kWhat != What::kMean || is_floating(to)) &&
                    plan_reduction(r, in, dims, keepdim, outs, 1) &&
                    dispatch_compute<Mask>(to, [&](auto tag) {
                      using C = typename decltype(tag)::type;
                      Fold<C> fold{C{}, add_sum<C>};
                      if constexpr (kWhat == What::kMean && std::is_floating_point_v<C>) {
                        fold.end = end_mean<C>;
                      } else if constexpr (kWhat == What::kProd) {
                        fold = {C{1}, add_product<C>};
                      }
                      run_reduction<Mask, C>(r, fold, from, to, Results::kValue, nullptr);
                    });
  if (!good) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& sum_dim_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<IntArrayRef> dim,
                    bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(self), dims);
  return reduce<kReduced<kSum>, What::kSum>(ctx, self, good, dims, keepdim, dtype, out);
}

Tensor& mean_dim_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<IntArrayRef> dim,
                     bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(self), dims);
  return reduce<kReduced<kMean>, What::kMean>(ctx, self, good, dims, keepdim, dtype, out);
}

Tensor& mean_dtype_out(KernelRuntimeContext& ctx, const Tensor& self,
                       std::optional<ScalarType> dtype, Tensor& out) {
  return reduce<kReduced<kMeanAll>, What::kMean>(ctx, self, true, kAllDims, false, dtype, out);
}

Tensor& prod_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<ScalarType> dtype,
                 Tensor& out) {
  return reduce<kReduced<kProd>, What::kProd>(ctx, self, true, kAllDims, false, dtype, out);
}

Tensor& prod_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                     std::optional<ScalarType> dtype, Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(self), dims);
  return reduce<kReduced<kProdDim>, What::kProd>(ctx, self, good, dims, keepdim, dtype, out);
}

}  // namespace torch::executor::native
