// Two-dimensional maximum pool with the places of the maxima, and its gradient.
#include <limits>
#include <tuple>

#include "util/pool.h"

namespace gen_kernels {
namespace {

inline constexpr char kMaxPool[] = "aten::max_pool2d_with_indices.out";
inline constexpr char kBackward[] = "aten::max_pool2d_with_indices_backward.grad_input";

template <class T>
void max_cell(const void* context, char* const* at, const Taps* taps) {
  using C = OpMath<T>;
  const Pool& pool = *static_cast<const Pool*>(context);
  const int32_t width = pool.windows.axes[0].inputs;
  C best = std::is_floating_point_v<C> ? -std::numeric_limits<C>::infinity()
                                       : std::numeric_limits<C>::lowest();
  int32_t place = taps[1].input * width + taps[0].input;
  for_each_tap<T>(pool, at[0], taps, [&](T value, int32_t row, int32_t column) {
    const C candidate = static_cast<C>(value);
    if (!(candidate <= best)) {  // Greater, or a NaN on either side.
      if (best == best || candidate != candidate) {
        best = candidate;
        place = row * width + column;
      }
    }
  });
  *reinterpret_cast<T*>(at[1]) = static_cast<T>(best);
  *reinterpret_cast<int64_t*>(at[2]) = place;
}

bool max_pool(const Tensor& input, const PoolArgs& args, Tensor& out, Tensor& indices) {
  Pool pool;
  Shape shape;
  if (out.scalar_type() != input.scalar_type() || indices.scalar_type() != ScalarType::Long) {
    return false;
  }
  if (!pool_shape(pool, shape, input, args)) return false;
  if (!resize_out(out, shape) || !resize_out(indices, shape)) return false;
  start(pool, input, out, &indices);
  return dispatch<kMaxPool, RealHBF16Types>(input.scalar_type(), [&](auto tag) {
    for_each_window(pool.windows, max_cell<typename decltype(tag)::type>, &pool);
  });
}

// Adds each output gradient to the input element that was the maximum.
template <class T>
bool scatter_gradient(const Tensor& gradient, const Tensor& indices, const Tensor& out) {
  const size_t dims = rank(out);
  const size_t width = size_at(out, dims - 1);
  const size_t image = size_at(out, dims - 2) * width;
  const ptrdiff_t row_step = stride_at(out, dims - 2);
  const ptrdiff_t column_step = stride_at(out, dims - 1);
  Walk w;
  w.operands = 3;
  w.at[0] = const_cast<char*>(const_bytes(gradient));
  w.at[1] = const_cast<char*>(const_bytes(indices));
  w.at[2] = mutable_bytes(out);
  add_loop(w, 1, 0, 0, 0, 0);
  for (size_t d = dims; d-- > 0;) {
    add_loop(w, size_at(gradient, d), stride_at(gradient, d) * ptrdiff_t{sizeof(T)},
             stride_at(indices, d) * ptrdiff_t{sizeof(int64_t)},
             d + 2 >= dims ? 0 : stride_at(out, d) * ptrdiff_t{sizeof(T)}, 0);
  }
  if (w.empty) return true;
  do {
    const auto index = static_cast<uint64_t>(*reinterpret_cast<const int64_t*>(w.at[1]));
    if (index >= image) return false;
    const auto row = static_cast<ptrdiff_t>(static_cast<size_t>(index) / width);
    const auto column = static_cast<ptrdiff_t>(static_cast<size_t>(index) % width);
    T& to = reinterpret_cast<T*>(w.at[2])[row * row_step + column * column_step];
    to = static_cast<T>(static_cast<OpMath<T>>(to) +
                        static_cast<OpMath<T>>(*reinterpret_cast<const T*>(w.at[0])));
  } while (next_row(w));
  return true;
}

bool max_pool_backward(const Tensor& gradient, const Tensor& input, const PoolArgs& args,
                       const Tensor& indices, Tensor& out) {
  Pool pool;
  Shape shape;
  const ScalarType type = input.scalar_type();
  if (out.scalar_type() != type || gradient.scalar_type() != type) return false;
  if (indices.scalar_type() != ScalarType::Long) return false;
  if (!pool_shape(pool, shape, input, args)) return false;
  if (!(gradient.sizes() == shape.ref()) || !same_shape(gradient, indices)) return false;
  if (!resize_out_like(out, input)) return false;
  std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  bool in_range = true;
  return dispatch<kBackward, FloatHBF16Types>(
             type,
             [&](auto tag) {
               in_range = scatter_gradient<typename decltype(tag)::type>(gradient, indices, out);
             }) &&
         in_range;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(
    KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, Tensor& out, Tensor& indices) {
  if (!max_pool(self, {{stride, padding, dilation, kernel_size}, ceil_mode}, out, indices)) {
    ctx.fail(Error::InvalidArgument);
  }
  return {out, indices};
}

Tensor& max_pool2d_with_indices_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_output,
                                             const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef stride, IntArrayRef padding,
                                             IntArrayRef dilation, bool ceil_mode,
                                             const Tensor& indices, Tensor& grad_input) {
  if (!max_pool_backward(grad_output, self, {{stride, padding, dilation, kernel_size}, ceil_mode},
                         indices, grad_input)) {
    ctx.fail(Error::InvalidArgument);
  }
  return grad_input;
}

}  // namespace torch::executor::native
