// Matrix products: mm, bmm, addmm.
#include "util/matmul.h"

#include "util/scalar.h"

namespace gen_kernels {
namespace {

inline constexpr char kMm[] = "aten::mm.out";
inline constexpr char kBmm[] = "aten::bmm.out";
inline constexpr char kAddmm[] = "aten::addmm.out";
using Supported = Types<float, double, Half, BFloat16, uint8_t, int8_t, int16_t, int32_t, int64_t>;

template <const char* Op>
bool matmul(const Tensor& a, const Tensor& b, Tensor& out, size_t dims) {
  Product p;
  if (!set_up(p, a, b, out, dims)) return false;
  return dispatch<Op, Supported>(out.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    multiply<T>(p, [](const Dot<T>& dot, const char*) { return dot.value(); });
  });
}

bool add_matmul(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                const Scalar& alpha, Tensor& out) {
  Product p;
  if (self.scalar_type() != a.scalar_type() || !set_up(p, a, b, out, 2)) return false;
  // self broadcasts to the result: a dim of size one has no step.
  if (rank(self) > 2) return false;
  const auto step = [&](size_t from_last) -> ptrdiff_t {
    if (rank(self) < from_last) return 0;
    const size_t dim = rank(self) - from_last;
    return size_at(self, dim) == 1 ? 0 : stride_at(self, dim);
  };
  for (size_t i = 1; i <= rank(self); ++i) {
    const size_t size = size_at(self, rank(self) - i);
    if (size != 1 && size != size_at(out, 2 - i)) return false;
  }
  const auto element = static_cast<ptrdiff_t>(element_size(self));
  p.addend = {const_cast<char*>(const_bytes(self)), 0, step(2) * element, step(1) * element};
  return dispatch<kAddmm, Supported>(out.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::conditional_t<std::is_integral_v<T>, uint64_t, OpMath<T>>;
    const C scale_self = static_cast<C>(scalar_to<OpMath<T>>(beta));
    const C scale_product = static_cast<C>(scalar_to<OpMath<T>>(alpha));
    multiply<T>(p, [=](const Dot<T>& dot, const char* addend) {
      // With beta 0 self is not read: its NaNs and infinities do not count.
      C sum = static_cast<C>(dot.value());
      if (scale_product != C{1}) sum *= scale_product;
      if (scale_self == C{0}) return sum;
      C start = static_cast<C>(load<T>(addend));
      if (scale_self != C{1}) start *= scale_self;
      return sum + start;
    });
  });
}

Tensor& fail_unless(bool done, KernelRuntimeContext& ctx, Tensor& out) {
  if (!done) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& mm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2, Tensor& out) {
  return fail_unless(matmul<kMm>(self, mat2, out, 2), ctx, out);
}

Tensor& bmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2, Tensor& out) {
  return fail_unless(matmul<kBmm>(self, mat2, out, 3), ctx, out);
}

Tensor& addmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat1,
                  const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  return fail_unless(add_matmul(self, mat1, mat2, beta, alpha, out), ctx, out);
}

}  // namespace torch::executor::native
