// Largest and smallest elements, and where they are. NaNs win over all numbers, the first of equals
// over the others.
#include <tuple>

#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kAmax[] = "aten::amax.out";
inline constexpr char kAmin[] = "aten::amin.out";
inline constexpr char kMax[] = "aten::max.unary_out";
inline constexpr char kMin[] = "aten::min.unary_out";
inline constexpr char kMaxDim[] = "aten::max.dim_max";
inline constexpr char kMinDim[] = "aten::min.dim_min";
inline constexpr char kArgmax[] = "aten::argmax.out";
inline constexpr char kArgmin[] = "aten::argmin.out";

template <class C, bool kLargest>
void add_extremum(State<C>& state, const C* values, ptrdiff_t step, size_t n) {
  for (; n > 0; --n, values += step, ++state.seen) {
    const C v = *values;
    const bool no_better = kLargest ? v <= state.value : v >= state.value;
    if (no_better || is_nan(state.value)) continue;
    state.value = v;
    state.index = state.seen;
  }
}

template <class C, bool kLargest>
constexpr C worst() {
  using L = std::numeric_limits<C>;
  if constexpr (L::has_infinity) {
    return kLargest ? -L::infinity() : L::infinity();
  } else {
    return kLargest ? L::lowest() : L::max();
  }
}

template <TypeMask Mask, bool kLargest>
void find(KernelRuntimeContext& ctx, const Tensor& in, bool dims_good, uint32_t dims, bool keepdim,
          Results results, Tensor& out, Tensor* index) {
  const ScalarType type = in.scalar_type();
  Tensor* const outs[] = {&out, index};
  Reduction r;
  const bool good = dims_good &&
                    out.scalar_type() == (results == Results::kIndex ? ScalarType::Long : type) &&
                    (index == nullptr || index->scalar_type() == ScalarType::Long) &&
                    plan_reduction(r, in, dims, keepdim, outs, index == nullptr ? 1 : 2) &&
                    r.count > 0 && dispatch_compute<Mask>(type, [&](auto tag) {
                      using C = typename decltype(tag)::type;
                      const Fold<C> fold{worst<C, kLargest>(), add_extremum<C, kLargest>};
                      run_reduction<Mask, C>(r, fold, type, type, results, nullptr);
                    });
  if (!good) ctx.fail(Error::InvalidArgument);
}

template <const char* Op, bool kLargest>
Tensor& over_dims(KernelRuntimeContext& ctx, const Tensor& in, IntArrayRef dim, bool keepdim,
                  Tensor& out) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(in), dims);
  find<kReduced<Op>, kLargest>(ctx, in, good, dims, keepdim, Results::kValue, out, nullptr);
  return out;
}

template <const char* Op, bool kLargest>
Tensor& place(KernelRuntimeContext& ctx, const Tensor& in, std::optional<int64_t> dim, bool keepdim,
              Tensor& out) {
  uint32_t dims = kAllDims;
  const bool good = !dim.has_value() || dim_set(*dim, rank(in), dims);
  find<kReduced<Op>, kLargest>(ctx, in, good, dims, keepdim, Results::kIndex, out, nullptr);
  return out;
}

template <const char* Op, bool kLargest>
std::tuple<Tensor&, Tensor&> value_and_place(KernelRuntimeContext& ctx, const Tensor& in,
                                             int64_t dim, bool keepdim, Tensor& out,
                                             Tensor& index) {
  uint32_t dims;
  const bool good = dim_set(dim, rank(in), dims);
  find<kReduced<Op>, kLargest>(ctx, in, good, dims, keepdim, Results::kValueIndex, out, &index);
  return {out, index};
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& amax_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                 Tensor& out) {
  return over_dims<kAmax, true>(ctx, self, dim, keepdim, out);
}

Tensor& amin_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                 Tensor& out) {
  return over_dims<kAmin, false>(ctx, self, dim, keepdim, out);
}

Tensor& max_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return over_dims<kMax, true>(ctx, self, {}, false, out);
}

Tensor& min_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return over_dims<kMin, false>(ctx, self, {}, false, out);
}

Tensor& argmax_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<int64_t> dim,
                   bool keepdim, Tensor& out) {
  return place<kArgmax, true>(ctx, self, dim, keepdim, out);
}

Tensor& argmin_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<int64_t> dim,
                   bool keepdim, Tensor& out) {
  return place<kArgmin, false>(ctx, self, dim, keepdim, out);
}

std::tuple<Tensor&, Tensor&> max_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                     bool keepdim, Tensor& max, Tensor& max_values) {
  return value_and_place<kMaxDim, true>(ctx, self, dim, keepdim, max, max_values);
}

std::tuple<Tensor&, Tensor&> min_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                     bool keepdim, Tensor& min, Tensor& min_indices) {
  return value_and_place<kMinDim, false>(ctx, self, dim, keepdim, min, min_indices);
}

}  // namespace torch::executor::native
