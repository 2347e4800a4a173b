// Elements by index along a dim: index_select, embedding, gather, scatter, scatter_add.
#include "util/convert.h"
#include "util/index.h"

namespace gen_kernels {
namespace {

constexpr char kIndexSelectOut[] = "aten::index_select.out";
constexpr char kEmbeddingOut[] = "aten::embedding.out";
constexpr char kGatherOut[] = "aten::gather.out";
constexpr char kScatterSrcOut[] = "aten::scatter.src_out";
constexpr char kScatterValueOut[] = "aten::scatter.value_out";
constexpr char kScatterAddOut[] = "aten::scatter_add.out";

// Checks that all indices lie in [0, size), before anything is written.
bool indices_in(const Tensor& index, int64_t size) {
  const char* at = const_bytes(index);  // in memory order: every element counts once
  for (size_t i = 0; i < numel(index); ++i, at += index.element_size()) {
    const int64_t value = read_index(at, index.scalar_type());
    if (value < 0 || value >= size) {
      return false;
    }
  }
  return true;
}

int64_t line_length(const Tensor& t, int64_t dim) {
  return rank(t) == 0 ? 1 : t.sizes().data()[dim];
}

// Slices of `from` along `dim`, by `index`, in a row along `dim` of `to`.
template <TypeMask Mask>
void copy_slices(View to, const View& from, size_t dim, const Tensor& index) {
  const View where = view_of(index);
  const size_t n = numel(index);
  to.sizes[dim] = 1;
  for (size_t i = 0; i < n; ++i) {
    View slice = from;
    slice.offset(dim, read_index(where.data + element_offset(where, i), index.scalar_type()));
    copy_view<Mask>(to, slice);
    to.offset(dim, 1);
  }
}

// Elements of a line: along a dim, `step` bytes apart.
struct Line {
  char* data;
  ptrdiff_t step;
  size_t count;
};

Line line_of(const View& v, int64_t dim) {
  return v.rank == 0 ? Line{v.data, 0, 1} : Line{v.data, v.strides[dim], v.size(dim)};
}

// to[i] += the sum of all from[k] with index[k] == i. Like eager, Half and BFloat16 sum in float
// and round once: a stretch of `to` at a time is on the stack.
template <TypeMask Mask>
void add_line(Line to, ScalarType type, const Line& index, ScalarType index_type,
              const Line& from) {
  constexpr size_t kStretch = 32;
  for (size_t done = 0; done < to.count; done += kStretch) {
    const size_t n = to.count - done < kStretch ? to.count - done : kStretch;
    float sums[kStretch];
    load_block<float, Mask>(sums, to.data, to.step, type, n);
    for (size_t k = 0; k < index.count; ++k) {
      const auto i = static_cast<ptrdiff_t>(k);
      const auto at = static_cast<size_t>(read_index(index.data + i * index.step, index_type));
      if (at - done < n) {
        sums[at - done] += load_one<float, Mask>(from.data + i * from.step, type);
      }
    }
    for (size_t k = 0; k < n; ++k, to.data += to.step) {
      store_one<float, Mask>(to.data, sums[k], type);
    }
  }
}

// scatter_add for Half and BFloat16, line by line.
template <TypeMask Mask>
void add_lines(const Tensor& data, int64_t dim, const Tensor& index, const View& other) {
  const View at = view_of(data);
  const View where = view_of(index);
  Line line = line_of(at, dim);
  Line indices = line_of(where, dim);
  Line from = line_of(other, dim);
  Walk w;
  w.operands = 3;
  w.at[0] = where.data;
  w.at[1] = at.data;
  w.at[2] = other.data;
  for (size_t d = where.rank; d-- > 0;) {
    if (static_cast<int64_t>(d) != dim) {
      const ptrdiff_t strides[3] = {where.strides[d], at.strides[d], other.strides[d]};
      add_axis(w, where.size(d), strides);
    }
  }
  if (w.empty) {
    return;
  }
  do {
    for (size_t k = 0; k < w.row(); ++k) {
      const auto i = static_cast<ptrdiff_t>(k);
      indices.data = w.at[0] + i * w.step(0);
      line.data = w.at[1] + i * w.step(1);
      from.data = w.at[2] + i * w.step(2);
      add_line<Mask>(line, data.scalar_type(), indices, index.scalar_type(), from);
    }
  } while (next_row(w));
}

// gather and scatter walk the index tensor; the data on the indexed side moves along `dim` by the
// index.
enum class Move { kGather, kScatter, kScatterAdd };

// `data`: the indexed tensor. `other`: what is read (scatter) or written (gather), aligned with
// `index`.
template <TypeMask Mask>
void walk_index(const Tensor& data, int64_t dim, const Tensor& index, const View& other,
                Move move) {
  if constexpr ((Mask & kHalfMask) != 0) {
    if (move == Move::kScatterAdd && contains(kHalfMask, data.scalar_type())) {
      add_lines<Mask & kHalfMask>(data, dim, index, other);
      return;
    }
  }
  View at = view_of(data);
  View where = view_of(index);
  const ptrdiff_t stride = at.rank == 0 ? 0 : at.strides[dim];
  Walk w;
  w.operands = 3;
  w.at[0] = where.data;
  w.at[1] = at.data;
  w.at[2] = other.data;
  for (size_t d = where.rank; d-- > 0;) {
    const ptrdiff_t strides[3] = {
        where.strides[d], static_cast<int64_t>(d) == dim ? 0 : at.strides[d], other.strides[d]};
    add_axis(w, where.size(d), strides);
  }
  if (w.empty) {
    return;
  }
  do {
    char* place = w.at[0];
    char* indexed = w.at[1];
    char* aligned = w.at[2];
    for (size_t i = 0; i < w.row(); ++i) {
      char* element =
          indexed + static_cast<ptrdiff_t>(read_index(place, index.scalar_type())) * stride;
      if (move == Move::kGather) {
        std::memcpy(aligned, element, at.element);
      } else {
        put_element<Mask>(element, aligned, data, move == Move::kScatterAdd);
      }
      place += w.step(0);
      indexed += w.step(1);
      aligned += w.step(2);
    }
  } while (next_row(w));
}

// True when `index` may index `self` along `dim` together with `other`: equal ranks
// (0-d counts as 1-d), and not larger, but along `dim` for `self`.
bool index_fits(const Tensor& index, const Tensor& self, const Tensor* other, int64_t dim) {
  if (index.numel() == 0) {
    return true;
  }
  if (!is_index_type(index.scalar_type())) {
    return false;
  }
  const size_t n = rank(index);
  const bool equal = n == rank(self) && (other == nullptr || n == rank(*other));
  if (!equal) {
    // 0-d tensors mix with 1-d tensors of one element.
    return n <= 1 && rank(self) <= 1 && numel(index) == 1 &&
           (other == nullptr || (rank(*other) <= 1 && numel(*other) >= 1));
  }
  for (size_t d = 0; d < n; ++d) {
    if ((static_cast<int64_t>(d) != dim && size_at(index, d) > size_at(self, d)) ||
        (other != nullptr && size_at(index, d) > size_at(*other, d))) {
      return false;
    }
  }
  return true;
}

// The view of `other` with the rank of `index`: see index_fits.
View aligned_view(View v, const Tensor& index) {
  while (v.rank < rank(index)) {
    v.push(1, 0);
  }
  return v;
}

// out = self with `src` (or the one element at `value`) put or added where `index` says.
template <TypeMask Mask>
bool scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src,
             const Scalar* value, Move move, Tensor& out) {
  if (!wrap_dim(dim, rank(self)) || !same_dtype<Mask>(self, out) ||
      (src != nullptr && !same_dtype<Mask>(*src, out)) || !index_fits(index, self, src, dim) ||
      !indices_in(index, line_length(self, dim)) || !resize_out_like(out, self)) {
    return false;
  }
  alignas(8) char element[16];
  View from;
  if (src != nullptr) {
    from = view_of(*src);
  } else {
    if constexpr ((Mask & kAllMask) != 0) {
      if (!store_scalar<Mask>(element, out.scalar_type(), *value)) {
        return false;
      }
    }
    from = view_of(index);
    from.data = element;
    for (size_t d = 0; d < from.rank; ++d) {
      from.strides[d] = 0;
    }
  }
  const bool ok = copy_same_dtype<Mask>(self, out);
  if (ok && index.numel() != 0) {
    walk_index<Mask>(out, dim, index, aligned_view(from, index), move);
  }
  return ok;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& index_select_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                         const Tensor& index, Tensor& out) {
  constexpr TypeMask mask = kSelected<kIndexSelectOut>;
  View from = view_of(self);
  const bool ok = wrap_dim(dim, from.rank) && rank(index) <= 1 &&
                  is_index_type(index.scalar_type()) && same_dtype<mask>(self, out) &&
                  (from.rank != 0 || numel(index) == 1) &&
                  indices_in(index, line_length(self, dim));
  if (!ok) {
    return finish(context, false, out);
  }
  if (from.rank == 0) {
    const bool resized = resize_out_like(out, self);
    if (resized) {
      copy_view<mask>(view_of(out), from);
    }
    return finish(context, resized, out);
  }
  Shape shape = shape_of(self);
  shape.sizes[dim] = static_cast<SizesType>(numel(index));
  if (!resize_out(out, shape)) {
    return finish(context, false, out);
  }
  from.sizes[dim] = 1;
  copy_slices<mask>(view_of(out), from, static_cast<size_t>(dim), index);
  return finish(context, true, out);
}

Tensor& embedding_out(KernelRuntimeContext& context, const Tensor& weight, const Tensor& indices,
                      int64_t, bool, bool, Tensor& out) {
  constexpr TypeMask mask = kSelected<kEmbeddingOut>;
  Shape shape = shape_of(indices);
  const bool ok = rank(weight) == 2 && is_index_type(indices.scalar_type()) &&
                  same_dtype<mask>(weight, out) && indices_in(indices, weight.sizes().data()[0]) &&
                  shape.push(weight.sizes().data()[1]) && resize_out(out, shape) &&
                  is_contiguous(out);
  if (ok) {
    const SizesType rows[2] = {static_cast<SizesType>(numel(indices)), weight.sizes().data()[1]};
    copy_slices<mask>(dense_view(const_bytes(out), element_size(out), {rows, 2}), view_of(weight),
                      0, indices);
  }
  return finish(context, ok, out);
}

Tensor& gather_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                   const Tensor& index, bool, Tensor& out) {
  constexpr TypeMask mask = kSelected<kGatherOut>;
  const bool ok = wrap_dim(dim, rank(self)) && same_dtype<mask>(self, out) &&
                  index_fits(index, self, nullptr, dim) &&
                  indices_in(index, line_length(self, dim)) && resize_out_like(out, index);
  if (ok && index.numel() != 0) {
    walk_index<mask>(self, dim, index, view_of(out), Move::kGather);
  }
  return finish(context, ok, out);
}

Tensor& scatter_src_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& src, Tensor& out) {
  return finish(
      context,
      scatter<kSelected<kScatterSrcOut>>(self, dim, index, &src, nullptr, Move::kScatter, out),
      out);
}

Tensor& scatter_value_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                          const Tensor& index, const Scalar& value, Tensor& out) {
  return finish(
      context,
      scatter<kEngine<kScatterValueOut>>(self, dim, index, nullptr, &value, Move::kScatter, out),
      out);
}

Tensor& scatter_add_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                        const Tensor& index, const Tensor& src, Tensor& out) {
  return finish(
      context,
      scatter<kEngine<kScatterAddOut>>(self, dim, index, &src, nullptr, Move::kScatterAdd, out),
      out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
