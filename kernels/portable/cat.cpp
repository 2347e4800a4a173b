// cat and stack. Tensors of other dtypes than the output's are converted.
#include "util/convert.h"

namespace gen_kernels {
namespace {

constexpr char kCatOut[] = "aten::cat.out";
constexpr char kStackOut[] = "aten::stack.out";

using ::executorch::aten::TensorList;

// Writes `from` to the window of `out` that `to` is, converting the dtype if need be.
template <TypeMask Mask>
bool put(const View& to, const Tensor& out, const View& from, const Tensor& source) {
  if (source.scalar_type() == out.scalar_type()) {
    copy_view<Mask>(to, from);
    return true;
  }
  if constexpr (is_single(Mask)) {
    return false;
  } else {
    return convert_view<Mask & kAllMask>(to, out, from, source);
  }
}

// PyTorch skips 1-d tensors without elements whatever the others' shapes are.
bool skipped(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

// Along a new dim when `stacked`, else along an old one.
template <TypeMask Mask>
bool concatenate(TensorList tensors, int64_t dim, bool stacked, Tensor& out) {
  // The first tensor that counts gives the shape.
  size_t first = 0;
  while (!stacked && first + 1 < tensors.size() && skipped(tensors.data()[first])) {
    ++first;
  }
  if (tensors.size() == 0) {
    return false;
  }
  if (!stacked && skipped(tensors.data()[first])) {
    dim = 0;  // nothing counts, nor does the dim
  }
  const size_t n = rank(tensors.data()[first]) + (stacked ? 1 : 0);
  if (n == 0 || n > kMaxDims || !wrap_dim(dim, n) || !contains(Mask, out.scalar_type())) {
    return false;
  }
  const size_t d = static_cast<size_t>(dim);
  View shape;
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors.data()[i];
    if (!contains(Mask, t.scalar_type()) ||
        (t.scalar_type() != out.scalar_type() && !casts_to(t.scalar_type(), out.scalar_type()))) {
      return false;
    }
    if (i != first && !stacked && skipped(t)) {
      continue;
    }
    View v = view_of(t);
    if (stacked) {
      v.insert(d, 1, 0);
    }
    if (i == first) {
      shape = v;
    }
    total += v.rank == n ? v.sizes[d] : 0;
    v.sizes[d] = shape.sizes[d];
    if (v.rank != n || total > INT32_MAX ||
        std::memcmp(v.sizes, shape.sizes, n * sizeof(SizesType)) != 0) {
      return false;
    }
  }
  shape.sizes[d] = static_cast<SizesType>(total);
  if (!resize_out(out, {shape.sizes, n})) {
    return false;
  }
  View to = view_of(out);
  bool ok = true;
  for (size_t i = 0; ok && i < tensors.size(); ++i) {
    const Tensor& t = tensors.data()[i];
    if (i != first && !stacked && skipped(t)) {
      continue;
    }
    View from = view_of(t);
    if (stacked) {
      from.insert(d, 1, 0);
    }
    to.sizes[d] = from.sizes[d];
    ok = put<Mask>(to, out, from, t);
    to.offset(d, from.sizes[d]);
  }
  return ok;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;
using ::executorch::aten::TensorList;

Tensor& cat_out(KernelRuntimeContext& context, TensorList tensors, int64_t dim, Tensor& out) {
  return finish(context, concatenate<kSelected<kCatOut>>(tensors, dim, false, out), out);
}

Tensor& stack_out(KernelRuntimeContext& context, TensorList tensors, int64_t dim, Tensor& out) {
  return finish(context, concatenate<kSelected<kStackOut>>(tensors, dim, true, out), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
