// Softmax and its logarithm.
#include <limits>

#include "util/fmath.h"
#include "util/view.h"

namespace gen_kernels {
namespace {

inline constexpr char kSoftmax[] = "aten::_softmax.out";
inline constexpr char kLogSoftmax[] = "aten::_log_softmax.out";

// A line of elements along the dim, `step` bytes apart in input and output.
struct Line {
  size_t n;
  ptrdiff_t in_step;
  ptrdiff_t out_step;
};

// Calls visit(input element, output element) along the line.
template <class T, class F>
inline void for_line(const Line& line, const char* in, char* out, F visit) {
  for (size_t n = line.n; n > 0; --n, in += line.in_step, out += line.out_step) {
    visit(static_cast<OpMath<T>>(*reinterpret_cast<const T*>(in)), *reinterpret_cast<T*>(out));
  }
}

template <class T, bool kLog>
void softmax(const Line& line, const char* in, char* out) {
  using C = OpMath<T>;
  C most = -std::numeric_limits<C>::infinity();
  for_line<T>(line, in, out, [&](C v, T&) {
    if (!(v <= most)) most = v;  // or NaN
  });
  C sum{};
  for_line<T>(line, in, out, [&](C v, T& result) {
    const C e = math_exp(v - most);
    sum += e;
    // Full precision fits the output: keep it rather than compute it again.
    if constexpr (!kLog && std::is_same_v<T, C>) result = e;
  });
  const C last = kLog ? math_log(sum) : C{1} / sum;
  for_line<T>(line, in, out, [&](C v, T& result) {
    if constexpr (kLog) {
      // In this order: the sum of both would round away small results.
      result = static_cast<T>(v - most - last);
    } else if constexpr (std::is_same_v<T, C>) {
      result *= last;
    } else {
      result = static_cast<T>(math_exp(v - most) * last);
    }
  });
}

template <const char* Op, bool kLog>
bool along_dim(const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  if (half_to_float || in.scalar_type() != out.scalar_type() || !wrap_dim(dim, rank(in)) ||
      !resize_out_like(out, in)) {
    return false;
  }
  const View from = view_of(in);
  const View to = view_of(out);
  const View* const views[2] = {&from, &to};
  Line line{1, 0, 0};
  if (from.rank != 0) line = {from.size(dim), from.strides[dim], to.strides[dim]};
  Walk w;
  lay_views(w, views, 2, 1U << dim);
  return dispatch<Op, FloatHBF16Types>(in.scalar_type(), [&](auto tag) {
    if (w.empty || line.n == 0) return;
    do {
      const char* at = w.at[0];
      char* result = w.at[1];
      for (size_t n = w.row(); n > 0; --n, at += w.step(0), result += w.step(1)) {
        softmax<typename decltype(tag)::type, kLog>(line, at, result);
      }
    } while (next_row(w));
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool half_to_float,
                    Tensor& out) {
  if (!along_dim<kSoftmax, false>(self, dim, half_to_float, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

Tensor& log_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        bool half_to_float, Tensor& out) {
  if (!along_dim<kLogSoftmax, true>(self, dim, half_to_float, out)) {
    ctx.fail(Error::InvalidArgument);
  }
  return out;
}

}  // namespace torch::executor::native
