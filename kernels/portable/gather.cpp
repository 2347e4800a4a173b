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

// Checks that all indices lie in [-low, high), before anything is written.
bool indices_in(const Tensor& index, int64_t low, int64_t high) {
  const char* at = const_bytes(index);  // in memory order: every element counts once
  for (size_t i = 0; i < numel(index); ++i, at += index.element_size()) {
    const int64_t value = read_index(at, index.scalar_type());
    if (value < -low || value >= high) {
      return false;
    }
  }
  return true;
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

// gather and scatter walk the index tensor; the data on the indexed side moves along `dim` by the
// index.
enum class Move { kGather, kScatter, kScatterAdd };

// `data`: the indexed tensor. `other`: what is read (scatter) or written (gather), aligned with
// `index`.
template <TypeMask Mask>
bool walk_index(const Tensor& data, int64_t dim, const Tensor& index, const View& other,
                Move move) {
  View at = view_of(data);
  View where = view_of(index);
  const ptrdiff_t stride = at.rank == 0 ? 0 : at.strides[dim];
  const int64_t bound = at.rank == 0 ? 1 : at.sizes[dim];
  if (!indices_in(index, 0, bound)) {
    return false;
  }
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
    return true;
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
  return true;
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
      !indices_in(index, 0, rank(self) == 0 ? 1 : self.sizes().data()[dim]) ||
      !resize_out_like(out, self)) {
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
  return copy_same_dtype<Mask>(self, out) &&
         (index.numel() == 0 || walk_index<Mask>(out, dim, index, aligned_view(from, index), move));
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
                  indices_in(index, 0, from.rank == 0 ? 1 : from.sizes[dim]);
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
  const bool ok =
      rank(weight) == 2 && is_index_type(indices.scalar_type()) && same_dtype<mask>(weight, out) &&
      indices_in(indices, 0, weight.sizes().data()[0]) && shape.push(weight.sizes().data()[1]) &&
      resize_out(out, shape) && is_contiguous(out);
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
  const bool ok =
      wrap_dim(dim, rank(self)) && same_dtype<mask>(self, out) &&
      index_fits(index, self, nullptr, dim) && resize_out_like(out, index) &&
      (index.numel() == 0 || walk_index<mask>(self, dim, index, view_of(out), Move::kGather));
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
