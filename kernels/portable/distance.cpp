// Distances between points: of two sets, and within one.
#include <cmath>

#include "util/fmath.h"
#include "util/tensor.h"

namespace gen_kernels {
namespace {

inline constexpr char kCdist[] = "aten::_cdist_forward.out";
inline constexpr char kPdist[] = "aten::_pdist_forward.out";
using Supported = FloatHBF16Types;

// `n` coordinates of two points, `step` bytes apart.
struct Points {
  size_t n;
  ptrdiff_t a_step;
  ptrdiff_t b_step;
};

// The p-norm of the difference.
template <class T>
GEN_KERNELS_NOINLINE T distance(const Points& points, const char* a, const char* b, OpMath<T> p) {
  using C = OpMath<T>;
  C sum{};
  for (size_t i = points.n; i > 0; --i, a += points.a_step, b += points.b_step) {
    const C d = std::fabs(static_cast<C>(*reinterpret_cast<const T*>(a)) -
                          static_cast<C>(*reinterpret_cast<const T*>(b)));
    if (p == C{0}) {
      if (d != C{}) sum += C{1};
    } else if (p == C{1}) {
      sum += d;
    } else if (p == C{2}) {
      sum += d * d;
    } else if (std::isinf(p)) {
      if (!(d <= sum) && sum == sum) sum = d;
    } else {
      sum += std::pow(d, p);
    }
  }
  if (p == C{2}) {
    sum = math_sqrt(sum);
  } else if (p != C{0} && p != C{1} && !std::isinf(p)) {
    sum = std::pow(sum, C{1} / p);
  }
  return static_cast<T>(sum);
}

ptrdiff_t step(const Tensor& t, size_t from_last) {
  return stride_at(t, rank(t) - from_last) * t.element_size();
}

bool cdist(const Tensor& x1, const Tensor& x2, double p, Tensor& out) {
  const ScalarType type = x1.scalar_type();
  if (x2.scalar_type() != type || out.scalar_type() != type) return false;
  if (rank(x1) < 2 || rank(x2) < 2 || !(p >= 0)) return false;
  const size_t n = size_at(x1, rank(x1) - 1);
  if (size_at(x2, rank(x2) - 1) != n) return false;
  // The dims before the last two are batches, which broadcast.
  Shape shape;
  if (!broadcast_into(shape, {x1.sizes().data(), rank(x1) - 2}) ||
      !broadcast_into(shape, {x2.sizes().data(), rank(x2) - 2})) {
    return false;
  }
  const size_t batch_dims = shape.rank;
  if (!shape.push(x1.size(x1.dim() - 2)) || !shape.push(x2.size(x2.dim() - 2))) return false;
  if (!resize_out(out, shape)) return false;
  Walk w;
  w.operands = 3;
  w.at[0] = const_cast<char*>(const_bytes(x1));
  w.at[1] = const_cast<char*>(const_bytes(x2));
  w.at[2] = mutable_bytes(out);
  const ptrdiff_t along_x2[] = {0, step(x2, 2), step(out, 1)};
  const ptrdiff_t along_x1[] = {step(x1, 2), 0, step(out, 2)};
  add_axis(w, size_at(x2, rank(x2) - 2), along_x2);
  add_axis(w, size_at(x1, rank(x1) - 2), along_x1);
  for (size_t i = 3; i < 3 + batch_dims; ++i) {
    const auto batch = [=](const Tensor& t) {
      return i > rank(t) || size_at(t, rank(t) - i) == 1 ? 0 : step(t, i);
    };
    const ptrdiff_t stride[] = {batch(x1), batch(x2), step(out, i)};
    add_axis(w, size_at(out, rank(out) - i), stride);
  }
  const Points points{n, step(x1, 1), step(x2, 1)};
  return dispatch<kCdist, Supported>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (w.empty) return;
    do {
      for (size_t i = 0; i < w.row(); ++i) {
        const auto k = static_cast<ptrdiff_t>(i);
        *reinterpret_cast<T*>(w.at[2] + w.step(2) * k) = distance<T>(
            points, w.at[0] + w.step(0) * k, w.at[1] + w.step(1) * k, static_cast<OpMath<T>>(p));
      }
    } while (next_row(w));
  });
}

bool pdist(const Tensor& in, double p, Tensor& out) {
  const ScalarType type = in.scalar_type();
  if (out.scalar_type() != type || rank(in) != 2 || !(p >= 0)) return false;
  const size_t rows = size_at(in, 0);
  Shape shape;
  if (!shape.push(static_cast<int64_t>(rows) * (static_cast<int64_t>(rows) - 1) / 2)) return false;
  if (!resize_out(out, shape)) return false;
  const Points points{size_at(in, 1), step(in, 1), step(in, 1)};
  return dispatch<kPdist, Supported>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = mutable_data<T>(out);
    for (size_t i = 0; i < rows; ++i) {
      const char* a = const_bytes(in) + step(in, 2) * static_cast<ptrdiff_t>(i);
      const char* b = a;
      for (size_t j = i + 1; j < rows; ++j) {
        b += step(in, 2);
        *to++ = distance<T>(points, a, b, static_cast<OpMath<T>>(p));
      }
    }
  });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

// The mode chooses between equal ways to compute the same.
Tensor& _cdist_forward_out(KernelRuntimeContext& ctx, const Tensor& x1, const Tensor& x2, double p,
                           std::optional<int64_t>, Tensor& out) {
  if (!cdist(x1, x2, p, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

Tensor& _pdist_forward_out(KernelRuntimeContext& ctx, const Tensor& self, double p, Tensor& out) {
  if (!pdist(self, p, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace torch::executor::native
