// Running sums along a dim.
#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kCumsum[] = "aten::cumsum.out";

template <TypeMask Mask, class C>
void run(Reduction& r, ptrdiff_t out_step, ScalarType from, ScalarType to) {
  Walk& w = r.kept;
  if (w.empty) return;
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      const auto k = static_cast<ptrdiff_t>(i);
      const char* in = w.at[0] + w.step(0) * k;
      char* out = w.at[1] + w.step(1) * k;
      C sum{};
      for (size_t n = r.count; n > 0; --n, in += r.folded.step(0), out += out_step) {
        sum = wrapping_add(sum, load_one<C, Mask>(in, from));
        store_one<C, Mask>(out, sum, to);
      }
    }
  } while (next_row(w));
}

bool cumsum(const Tensor& in, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) {
  constexpr TypeMask kMask = kReduced<kCumsum>;
  const ScalarType from = in.scalar_type();
  const ScalarType to = out.scalar_type();
  uint32_t dims;
  if (!dim_set(dim, rank(in), dims) || (dtype.has_value() && *dtype != to)) return false;
  if (!contains(kMask, from) || !resize_out_like(out, in)) return false;
  Reduction r;
  r.kept.operands = 2;
  r.folded.operands = 1;
  r.kept.at[0] = const_cast<char*>(const_bytes(in));
  r.kept.at[1] = mutable_bytes(out);
  ptrdiff_t out_step = 0;
  for (size_t d = rank(in); d-- > 0;) {
    const ptrdiff_t stride[] = {stride_at(in, d) * in.element_size(),
                                stride_at(out, d) * out.element_size()};
    if (dims >> d & 1) {
      r.count = size_at(in, d);
      out_step = stride[1];
      add_axis(r.folded, r.count, stride);
    } else {
      add_axis(r.kept, size_at(in, d), stride);
    }
  }
  return dispatch_compute<kMask>(
      to, [&](auto tag) { run<kMask, typename decltype(tag)::type>(r, out_step, from, to); });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& cumsum_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                   std::optional<ScalarType> dtype, Tensor& out) {
  if (!cumsum(self, dim, dtype, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace torch::executor::native
