// Softmax and its logarithm.
#include "util/fmath.h"
#include "util/tensor.h"

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

template <class T, bool kLog>
void softmax(const Line& line, const char* in, char* out) {
  using C = OpMath<T>;
  const auto value = [&](size_t i) {
    return static_cast<C>(
        *reinterpret_cast<const T*>(in + static_cast<ptrdiff_t>(i) * line.in_step));
  };
  const auto result = [&](size_t i) -> T& {
    return *reinterpret_cast<T*>(out + static_cast<ptrdiff_t>(i) * line.out_step);
  };
  C most = value(0);
  for (size_t i = 1; i < line.n; ++i) {
    const C v = value(i);
    if (!(v <= most)) most = v;
  }
  C sum{};
  for (size_t i = 0; i < line.n; ++i) {
    const C e = math_exp(value(i) - most);
    sum += e;
    // Full precision fits the output: keep it rather than compute it again.
    if constexpr (!kLog && std::is_same_v<T, C>) result(i) = e;
  }
  const C last = kLog ? math_log(sum) : C{1} / sum;
  for (size_t i = 0; i < line.n; ++i) {
    if constexpr (kLog) {
      // In this order: the sum of both would round away small results.
      result(i) = static_cast<T>(value(i) - most - last);
    } else if constexpr (std::is_same_v<T, C>) {
      result(i) *= last;
    } else {
      result(i) = static_cast<T>(math_exp(value(i) - most) * last);
    }
  }
}

template <const char* Op, bool kLog>
bool along_dim(const Tensor& in, int64_t dim, bool half_to_float, Tensor& out) {
  if (half_to_float || in.scalar_type() != out.scalar_type() || !wrap_dim(dim, rank(in))) {
    return false;
  }
  if (!resize_out_like(out, in)) return false;
  const ptrdiff_t element = in.element_size();
  Line line{1, 0, 0};
  Walk w;
  w.operands = 2;
  w.at[0] = const_cast<char*>(const_bytes(in));
  w.at[1] = mutable_bytes(out);
  for (size_t d = rank(in); d-- > 0;) {
    const ptrdiff_t stride[] = {stride_at(in, d) * element, stride_at(out, d) * element};
    if (d == static_cast<size_t>(dim)) {
      line = {size_at(in, d), stride[0], stride[1]};
    } else {
      add_axis(w, size_at(in, d), stride);
    }
  }
  return dispatch<Op, FloatHBF16Types>(in.scalar_type(), [&](auto tag) {
    if (w.empty || line.n == 0) return;
    do {
      for (size_t i = 0; i < w.row(); ++i) {
        const auto k = static_cast<ptrdiff_t>(i);
        softmax<typename decltype(tag)::type, kLog>(line, w.at[0] + w.step(0) * k,
                                                    w.at[1] + w.step(1) * k);
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
