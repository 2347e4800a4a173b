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
  return set_up(p, a, b, nullptr, out, dims) &&
         dispatch<Op, Supported>(out.scalar_type(), [&](auto tag) {
           multiply(p, product_cell<typename decltype(tag)::type>, nullptr);
         });
}

// beta and alpha; unsigned for integers, so that overflow wraps.
template <class C>
struct Scales {
  C addend;
  C product;
};

template <class T>
using ScalesOf = Scales<std::conditional_t<std::is_integral_v<T>, uint64_t, OpMath<T>>>;

template <class T>
void add_cell(const void* context, const Run& inner, char* const* at) {
  const ScalesOf<T> scale = *static_cast<const ScalesOf<T>*>(context);
  using C = decltype(scale.addend);
  C sum = static_cast<C>(dot_of<T>(inner, at).value());
  if (scale.product != C{1}) sum *= scale.product;
  // With beta 0 the addend is not read: its NaNs and infinities do not count.
  if (scale.addend != C{0}) {
    C addend = static_cast<C>(load<T>(at[3]));
    if (scale.addend != C{1}) addend *= scale.addend;
    sum += addend;
  }
  *reinterpret_cast<T*>(at[0]) = static_cast<T>(sum);
}

bool add_matmul(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                const Scalar& alpha, Tensor& out) {
  Product p;
  if (self.scalar_type() != a.scalar_type() || rank(self) > 2) return false;
  return set_up(p, a, b, &self, out, 2) &&
         dispatch<kAddmm, Supported>(out.scalar_type(), [&](auto tag) {
           using T = typename decltype(tag)::type;
           using C = decltype(ScalesOf<T>::addend);
           using Number = std::conditional_t<std::is_integral_v<T>, int64_t, C>;
           const ScalesOf<T> scales{static_cast<C>(scalar_to<Number>(beta)),
                                    static_cast<C>(scalar_to<Number>(alpha))};
           multiply(p, add_cell<T>, &scales);
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
