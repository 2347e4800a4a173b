// Two-dimensional average pool.
#include "util/pool.h"

namespace gen_kernels {
namespace {

inline constexpr char kAvgPool[] = "aten::avg_pool2d.out";
using Supported = Types<float, double, Half, BFloat16, int64_t>;

struct AvgPool : Pool {
  bool count_padding;
  int32_t divisor;  // 0: the number of elements.
};

// Elements of the window inside the input and its padding.
inline int32_t padded_count(const Axis& axis, const Taps& taps) {
  const int32_t start = taps.input - taps.tap;
  const int32_t end = axis.inputs - axis.offset;
  return end - start < axis.kernel ? end - start : axis.kernel;
}

template <class T>
void average_cell(const void* context, char* const* at, const Taps* taps) {
  using C = OpMath<T>;
  const AvgPool& pool = *static_cast<const AvgPool*>(context);
  C sum{};
  for_each_tap<T>(pool, at[0], taps,
                  [&](T value, int32_t, int32_t) { sum += static_cast<C>(value); });
  int32_t divisor = pool.divisor;
  if (divisor == 0) {
    divisor = pool.count_padding ? padded_count(pool.windows.axes[0], taps[0]) *
                                       padded_count(pool.windows.axes[1], taps[1])
                                 : taps[0].count * taps[1].count;
  }
  const bool any = taps[0].count != 0 && taps[1].count != 0;
  *reinterpret_cast<T*>(at[1]) = static_cast<T>(any ? sum / static_cast<C>(divisor) : C{});
}

bool average(const Tensor& input, const PoolArgs& args, bool count_padding,
             const std::optional<int64_t>& divisor, Tensor& out) {
  AvgPool pool;
  Shape shape;
  if (out.scalar_type() != input.scalar_type()) return false;
  if (!pool_shape(pool, shape, input, args) || !resize_out(out, shape)) return false;
  pool.count_padding = count_padding;
  pool.divisor = 0;
  if (divisor.has_value()) {
    if (*divisor == 0 || *divisor > INT32_MAX || *divisor < -INT32_MAX) return false;
    pool.divisor = static_cast<int32_t>(*divisor);
  }
  start(pool, input, out, nullptr);
  return dispatch<kAvgPool, Supported>(input.scalar_type(), [&](auto tag) {
    for_each_window(pool.windows, average_cell<typename decltype(tag)::type>, &pool);
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                       IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                       bool count_include_pad, std::optional<int64_t> divisor_override,
                       Tensor& out) {
  if (!average(self, {{stride, padding, {}, kernel_size}, ceil_mode}, count_include_pad,
               divisor_override, out)) {
    ctx.fail(Error::InvalidArgument);
  }
  return out;
}

}  // namespace torch::executor::native
