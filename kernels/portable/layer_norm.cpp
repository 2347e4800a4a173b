// Layer normalisation: over the last dims, with a weight and a bias for each place in them.
#include <tuple>

#include "util/norm.h"

namespace gen_kernels {
namespace {

inline constexpr char kLayerNorm[] = "aten::native_layer_norm.out";

struct LayerNorm {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  double eps;
  Tensor& out;
  Tensor& mean;
  Tensor& rstd;
};

// All rows (operands: input, mean, rstd, output), and the `count` elements of one (input, output,
// weight, bias). A walk over a row ends where it began.
struct Rows {
  Walk rows;
  Walk row;
  size_t count = 1;
};

// A parameter at `p`, which may be of T or of its compute type.
template <class T>
OpMath<T> parameter_at(const char* p, const Tensor* t) {
  using C = OpMath<T>;
  if (t->scalar_type() == kScalarType<C>) return *reinterpret_cast<const C*>(p);
  return static_cast<C>(*reinterpret_cast<const T*>(p));
}

// Normalises one row, which `w` walks in input, output, weight and bias.
template <class T>
void apply(const LayerNorm& l, Walk& w, OpMath<T> mean, OpMath<T> rstd) {
  do {
    char* at[kMaxOperands];
    for (size_t k = 0; k < w.operands; ++k) at[k] = w.at[k];
    for (size_t n = w.row(); n > 0; --n) {
      OpMath<T> v = (static_cast<OpMath<T>>(*reinterpret_cast<const T*>(at[0])) - mean) * rstd;
      if (at[2] != nullptr) v *= parameter_at<T>(at[2], l.weight);
      if (at[3] != nullptr) v += parameter_at<T>(at[3], l.bias);
      *reinterpret_cast<T*>(at[1]) = static_cast<T>(v);
      for (size_t k = 0; k < w.operands; ++k) at[k] += w.step(k);
    }
  } while (next_row(w));
}

template <TypeMask Mask, class T>
void normalize(const LayerNorm& l, Rows& r) {
  using C = OpMath<T>;
  Walk& w = r.rows;
  if (w.empty || r.row.empty) return;
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      char* at[4];
      for (size_t k = 0; k < 4; ++k) at[k] = w.at[k] + w.step(k) * static_cast<ptrdiff_t>(i);
      const Moments<C> m = moments<Mask, C>(r.row, at[0], l.input.scalar_type(), r.count);
      const C rstd = C{1} / math_sqrt(m.variance + static_cast<C>(l.eps));
      store_parameter<T>(l.mean, at[1], m.mean);
      store_parameter<T>(l.rstd, at[2], rstd);
      r.row.at[0] = at[0];
      r.row.at[1] = at[3];
      apply<T>(l, r.row, m.mean, rstd);
    }
  } while (next_row(w));
}

// Whether a parameter is there and lies as the last dims of the input, or is not there.
bool fits(const Tensor* t, const Tensor& input, size_t dims) {
  if (t == nullptr) return true;
  if (!is_parameter(t, input.scalar_type(), numel(*t)) || rank(*t) != dims) return false;
  for (size_t d = 0; d < dims; ++d) {
    if (size_at(*t, d) != size_at(input, rank(input) - dims + d)) return false;
  }
  return true;
}

bool layer_norm(const LayerNorm& l, IntArrayRef shape) {
  const Tensor& in = l.input;
  const ScalarType type = in.scalar_type();
  const size_t dims = shape.size();
  if (dims == 0 || dims > rank(in) || l.out.scalar_type() != type) return false;
  const size_t outer = rank(in) - dims;
  for (size_t d = 0; d < dims; ++d) {
    if (shape.data()[d] != in.size(static_cast<ssize_t>(outer + d))) return false;
  }
  if (!fits(l.weight, in, dims) || !fits(l.bias, in, dims)) return false;
  Shape reduced = shape_of(in);
  for (size_t d = outer; d < rank(in); ++d) reduced.sizes[d] = 1;
  if (!resize_parameter(l.mean, type, reduced) || !resize_parameter(l.rstd, type, reduced) ||
      !resize_out_like(l.out, in)) {
    return false;
  }
  Rows r;
  r.rows.operands = 4;
  r.rows.at[0] = const_cast<char*>(const_bytes(in));
  r.rows.at[1] = mutable_bytes(l.mean);
  r.rows.at[2] = mutable_bytes(l.rstd);
  r.rows.at[3] = mutable_bytes(l.out);
  const auto step = [](const Tensor& t, size_t d) { return stride_at(t, d) * t.element_size(); };
  for (size_t d = outer; d-- > 0;) {
    const ptrdiff_t stride[] = {step(in, d), step(l.mean, d), step(l.rstd, d), step(l.out, d)};
    add_axis(r.rows, size_at(in, d), stride);
  }
  Walk& row = r.row;
  row.operands = 4;
  row.at[2] = l.weight != nullptr ? const_cast<char*>(const_bytes(*l.weight)) : nullptr;
  row.at[3] = l.bias != nullptr ? const_cast<char*>(const_bytes(*l.bias)) : nullptr;
  const auto parameter_step = [&](const Tensor* t, size_t d) {
    return t != nullptr ? step(*t, d) : 0;
  };
  for (size_t d = dims; d-- > 0;) {
    const ptrdiff_t stride[] = {step(in, outer + d), step(l.out, outer + d),
                                parameter_step(l.weight, d), parameter_step(l.bias, d)};
    add_axis(row, size_at(in, outer + d), stride);
    r.count *= size_at(in, outer + d);
  }
  return dispatch<kLayerNorm, FloatHBF16Types>(
      type, [&](auto tag) { normalize<kReduced<kLayerNorm>, typename decltype(tag)::type>(l, r); });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

std::tuple<Tensor&, Tensor&, Tensor&> native_layer_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double eps,
    Tensor& out0, Tensor& out1, Tensor& out2) {
  if (!layer_norm({input, pointer_to(weight), pointer_to(bias), eps, out0, out1, out2},
                  normalized_shape)) {
    ctx.fail(Error::InvalidArgument);
  }
  return {out0, out1, out2};
}

}  // namespace torch::executor::native
