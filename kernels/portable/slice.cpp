// Parts of a tensor: slice, narrow, select, unbind, split, and the scatters into parts.
#include "util/view.h"

namespace gen_kernels {
namespace {

constexpr char kSliceOut[] = "aten::slice_copy.Tensor_out";
constexpr char kNarrowOut[] = "aten::narrow_copy.out";
constexpr char kSelectOut[] = "aten::select_copy.int_out";
constexpr char kUnbindOut[] = "aten::unbind_copy.int_out";
constexpr char kSplitOut[] = "aten::split_copy.Tensor_out";
constexpr char kSplitSizesOut[] = "aten::split_with_sizes_copy.out";
constexpr char kSliceScatterOut[] = "aten::slice_scatter.out";
constexpr char kSelectScatterOut[] = "aten::select_scatter.out";

using ::executorch::aten::TensorList;

// Restricts `v` as Python's v[start:end:step] does along `dim`. False: no such dim, or a step below
// one.
bool slice(View& v, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
           int64_t step) {
  if (v.rank == 0 || !wrap_dim(dim, v.rank) || step <= 0) {
    return false;
  }
  const size_t d = static_cast<size_t>(dim);
  const int64_t n = v.sizes[d];
  const auto clip = [n](int64_t index) {
    index += index < 0 ? n : 0;
    return index < 0 ? 0 : index > n ? n : index;
  };
  const int64_t from = clip(start.value_or(0));
  const int64_t to = end.has_value() ? clip(*end) : n;
  v.slice(d, from, step > n ? n : step, to > from ? (to - from - 1) / step + 1 : 0);
  return true;
}

// Restricts `v` to `index` along `dim`, which vanishes.
bool select(View& v, int64_t dim, int64_t index) {
  if (v.rank == 0 || !wrap_dim(dim, v.rank)) {
    return false;
  }
  const size_t d = static_cast<size_t>(dim);
  if (v.sizes[d] == 0 || !wrap_dim(index, v.size(d))) {
    return false;
  }
  v.offset(d, index);
  v.remove(d);
  return true;
}

template <TypeMask Mask>
bool copy_out(const Tensor& self, const View& from, Tensor out) {
  if (!same_dtype<Mask>(self, out) || !resize_out(out, {from.sizes, from.rank})) {
    return false;
  }
  copy_view<Mask>(view_of(out), from);
  return true;
}

// out = self, but `src` where `window` (a view of out, once resized) lies.
template <TypeMask Mask, class Restrict>
bool scatter(const Tensor& self, const Tensor& src, Tensor& out, Restrict restrict_view) {
  if (!same_dtype<Mask>(self, out) || !same_dtype<Mask>(src, out) || !resize_out_like(out, self)) {
    return false;
  }
  const View all = view_of(out);
  View window = all;
  if (!restrict_view(window) || window.rank != rank(src) ||
      std::memcmp(window.sizes, src.sizes().data(), window.rank * sizeof(SizesType)) != 0) {
    return false;
  }
  copy_view<Mask>(all, view_of(self));
  copy_view<Mask>(window, view_of(src));
  return true;
}

// Copies consecutive parts of `self` along `dim`, size_of(i) long, which must add up.
template <TypeMask Mask, class SizeOf>
bool split(const Tensor& self, int64_t dim, TensorList out, SizeOf size_of) {
  View all = view_of(self);
  if (all.rank == 0 || !wrap_dim(dim, all.rank)) {
    return false;
  }
  const size_t d = static_cast<size_t>(dim);
  int64_t start = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t length = size_of(i);
    View part = all;
    if (length < 0 || length > all.sizes[d] - start) {
      return false;
    }
    part.slice(d, start, 1, length);
    if (!copy_out<Mask>(self, part, out.data()[i])) {
      return false;
    }
    start += length;
  }
  return start == all.sizes[d];
}

void fail_unless(KernelRuntimeContext& context, bool ok) {
  if (!ok) {
    context.fail(Error::InvalidArgument);
  }
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Tensor;
using ::executorch::aten::TensorList;

Tensor& slice_copy_Tensor_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                              std::optional<int64_t> start, std::optional<int64_t> end,
                              int64_t step, Tensor& out) {
  View v = view_of(self);
  return finish(context,
                slice(v, dim, start, end, step) && copy_out<kSelected<kSliceOut>>(self, v, out),
                out);
}

Tensor& narrow_copy_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                        int64_t start, int64_t length, Tensor& out) {
  View v = view_of(self);
  bool ok = v.rank > 0 && wrap_dim(dim, v.rank);
  if (ok) {
    const int64_t n = v.sizes[dim];
    start += start < 0 ? n : 0;
    ok = start >= 0 && length >= 0 && start <= n && length <= n - start;
    if (ok) {
      v.slice(static_cast<size_t>(dim), start, 1, length);
    }
  }
  return finish(context, ok && copy_out<kSelected<kNarrowOut>>(self, v, out), out);
}

Tensor& select_copy_int_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                            int64_t index, Tensor& out) {
  View v = view_of(self);
  return finish(context, select(v, dim, index) && copy_out<kSelected<kSelectOut>>(self, v, out),
                out);
}

void unbind_copy_int_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                         TensorList out) {
  bool ok = rank(self) > 0 && wrap_dim(dim, rank(self)) &&
            out.size() == size_at(self, static_cast<size_t>(dim));
  for (size_t i = 0; ok && i < out.size(); ++i) {
    View v = view_of(self);
    ok = select(v, dim, static_cast<int64_t>(i)) &&
         copy_out<kSelected<kUnbindOut>>(self, v, out.data()[i]);
  }
  fail_unless(context, ok);
}

void split_copy_Tensor_out(KernelRuntimeContext& context, const Tensor& self, int64_t split_size,
                           int64_t dim, TensorList out) {
  bool ok = rank(self) > 0 && wrap_dim(dim, rank(self)) && split_size >= 0;
  if (ok) {
    const int64_t n = self.sizes().data()[dim];
    const int64_t parts = split_size == 0 || n == 0 ? 1 : (n - 1) / split_size + 1;
    const int64_t last = n - (parts - 1) * split_size;
    // A split size of zero is only for dims of size zero: the parts would not add up.
    ok = static_cast<int64_t>(out.size()) == parts && (split_size != 0 || n == 0) &&
         split<kSelected<kSplitOut>>(self, dim, out, [&](size_t i) {
           return static_cast<int64_t>(i) == parts - 1 ? last : split_size;
         });
  }
  fail_unless(context, ok);
}

void split_with_sizes_copy_out(KernelRuntimeContext& context, const Tensor& self,
                               IntArrayRef split_sizes, int64_t dim, TensorList out) {
  const bool ok = split_sizes.size() == out.size() &&
                  split<kSelected<kSplitSizesOut>>(self, dim, out,
                                                   [&](size_t i) { return split_sizes.data()[i]; });
  fail_unless(context, ok);
}

Tensor& slice_scatter_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& src,
                          int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                          int64_t step, Tensor& out) {
  const bool ok = scatter<kSelected<kSliceScatterOut>>(
      self, src, out, [&](View& v) { return slice(v, dim, start, end, step); });
  return finish(context, ok, out);
}

Tensor& select_scatter_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& src,
                           int64_t dim, int64_t index, Tensor& out) {
  const bool ok = scatter<kSelected<kSelectScatterOut>>(
      self, src, out, [&](View& v) { return select(v, dim, index); });
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
