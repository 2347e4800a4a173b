// Whether any element is not zero.
#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kAny[] = "aten::any.out";
inline constexpr char kAnyAll[] = "aten::any.all_out";
inline constexpr char kAnyDims[] = "aten::any.dims_out";

template <class C>
void add_any(State<C>& state, const C* values, ptrdiff_t step, size_t n) {
  for (; n > 0; --n, values += step) {
    if (*values != C{}) state.value = C{1};
  }
}

template <const char* Op>
Tensor& any(KernelRuntimeContext& ctx, const Tensor& in, bool dims_good, uint32_t dims,
            bool keepdim, Tensor& out) {
  constexpr TypeMask kMask = kReduced<Op>;
  const ScalarType from = in.scalar_type();
  const ScalarType to = out.scalar_type();
  Tensor* const outs[] = {&out};
  Reduction r;
  const bool good = dims_good && (to == ScalarType::Bool || to == ScalarType::Byte) &&
                    plan_reduction(r, in, dims, keepdim, outs, 1) &&
                    dispatch_compute<kMask>(from, [&](auto tag) {
                      using C = typename decltype(tag)::type;
                      const Fold<C> fold{C{}, add_any<C>};
                      run_reduction<kMask | bit(ScalarType::Bool), C>(r, fold, from, to,
                                                                      Results::kValue, nullptr);
                    });
  if (!good) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& any_all_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return any<kAnyAll>(ctx, self, true, kAllDims, false, out);
}

Tensor& any_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(self), dims);
  return any<kAny>(ctx, self, good, dims, keepdim, out);
}

Tensor& any_dims_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<IntArrayRef> dim,
                     bool keepdim, Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(self), dims);
  // An empty list folds nothing, unlike none.
  if (dim.has_value() && dim->size() == 0) dims = 0;
  return any<kAnyDims>(ctx, self, good, dims, keepdim, out);
}

}  // namespace torch::executor::native
