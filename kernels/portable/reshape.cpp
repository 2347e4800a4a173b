// The same elements under another shape: view, squeeze, unsqueeze, expand, repeat,
// as_strided, diagonal, unfold, view_as_real.
#include "util/view.h"

namespace gen_kernels {
namespace {

constexpr char kViewOut[] = "aten::view_copy.out";
constexpr char kSqueezeDimOut[] = "aten::squeeze_copy.dim_out";
constexpr char kSqueezeDimsOut[] = "aten::squeeze_copy.dims_out";
constexpr char kUnsqueezeOut[] = "aten::unsqueeze_copy.out";
constexpr char kExpandOut[] = "aten::expand_copy.out";
constexpr char kRepeatOut[] = "aten::repeat.out";
constexpr char kAsStridedOut[] = "aten::as_strided_copy.out";
constexpr char kDiagonalOut[] = "aten::diagonal_copy.out";
constexpr char kUnfoldOut[] = "aten::unfold_copy.out";
constexpr char kViewAsRealOut[] = "aten::view_as_real_copy.out";

// Resizes `out` to the view's sizes and copies.
template <TypeMask Mask>
bool copy_out(const Tensor& self, const View& from, Tensor& out) {
  if (!same_dtype<Mask>(self, out) || !resize_out(out, {from.sizes, from.rank})) {
    return false;
  }
  copy_view<Mask>(view_of(out), from);
  return true;
}

// Removes the dims of size one among those listed.
template <TypeMask Mask>
bool squeeze(const Tensor& self, IntArrayRef dims, Tensor& out) {
  uint32_t listed = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t dim = dims.data()[i];
    if (!wrap_dim(dim, rank(self)) || ((listed >> dim) & 1U) != 0) {
      return false;
    }
    listed |= 1U << dim;
  }
  View v = view_of(self);
  for (size_t d = v.rank; d-- > 0;) {
    if (((listed >> d) & 1U) != 0 && v.sizes[d] == 1) {
      v.remove(d);
    }
  }
  return copy_out<Mask>(self, v, out);
}

// Appends leading dims of size one up to `rank`, which is at least the view's.
void lead(View& v, size_t rank) {
  while (v.rank < rank) {
    v.insert(0, 1, 0);
  }
}

template <TypeMask Mask>
bool repeat(const Tensor& self, IntArrayRef repeats, Tensor& out) {
  const size_t n = repeats.size();
  if (n < rank(self) || n > kMaxDims) {
    return false;
  }
  View from = view_of(self);
  lead(from, n);
  Shape shape;
  for (size_t d = 0; d < n; ++d) {
    const int64_t times = repeats.data()[d];
    if (times < 0 || times > INT32_MAX || !shape.push(times * from.sizes[d])) {
      return false;
    }
  }
  if (!same_dtype<Mask>(self, out) || !resize_out(out, shape)) {
    return false;
  }
  // Each repeated dim is seen as two, (times, size); dims of one cost none.
  const View all = view_of(out);
  View to = all;
  View source = from;
  to.rank = 0;
  source.rank = 0;
  for (size_t d = 0; d < n; ++d) {
    const SizesType size = from.sizes[d];
    const SizesType times = static_cast<SizesType>(repeats.data()[d]);
    const bool split = times != 1 && size != 1;
    if (to.rank + (split ? 2 : 1) > kMaxDims) {
      return false;
    }
    if (split) {
      to.push(times, all.strides[d] * size);
      source.push(times, 0);
    }
    to.push(split ? size : all.sizes[d], all.strides[d]);
    source.push(split ? size : all.sizes[d], size == 1 ? 0 : from.strides[d]);
  }
  copy_view<Mask>(to, source);
  return true;
}

// Elements `stride` apart from `offset` on, of memory that holds `self` row-major.
template <TypeMask Mask>
bool as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, int64_t offset,
                Tensor& out) {
  View v = view_of(self);
  if (size.size() != stride.size() || size.size() > kMaxDims || offset < 0 || offset > INT32_MAX ||
      !is_contiguous(self)) {
    return false;
  }
  v.rank = 0;
  int64_t last = offset;
  bool empty = false;
  for (size_t d = 0; d < size.size(); ++d) {
    const int64_t n = size.data()[d];
    const int64_t s = stride.data()[d];
    if (n < 0 || s < 0 || n > INT32_MAX || s > INT32_MAX) {
      return false;
    }
    empty = empty || n == 0;
    last += n > 0 ? (n - 1) * s : 0;
    if (last > INT32_MAX && !empty) {
      return false;
    }
    v.push(static_cast<SizesType>(n),
           static_cast<ptrdiff_t>(s) * static_cast<ptrdiff_t>(v.element));
  }
  if (!empty) {
    if (last >= self.numel()) {
      return false;
    }
    v.data += static_cast<ptrdiff_t>(offset) * static_cast<ptrdiff_t>(v.element);
  }
  return copy_out<Mask>(self, v, out);
}

// Copies all of `from` into `out`, row-major index by row-major index, whatever the
// two shapes and layouts are (equal in number of elements and dtype).
template <TypeMask Mask>
void copy_reshaped(const Tensor& out, const Tensor& from) {
  View to = view_of(out);
  View source = view_of(from);
  if (is_contiguous(out)) {
    to = dense_view(to.data, to.element, from.sizes());
  } else if (is_contiguous(from)) {
    source = dense_view(source.data, source.element, out.sizes());
  } else {
    for (size_t i = 0; i < numel(out); ++i) {
      std::memcpy(to.data + element_offset(to, i), source.data + element_offset(source, i),
                  to.element);
    }
    return;
  }
  copy_view<Mask>(to, source);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Tensor;

Tensor& view_copy_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef size,
                      Tensor& out) {
  constexpr TypeMask mask = kSelected<kViewOut>;
  Shape shape;
  const bool ok =
      view_shape(shape, size, numel(self)) && same_dtype<mask>(self, out) && resize_out(out, shape);
  if (ok) {
    copy_reshaped<mask>(out, self);
  }
  return finish(context, ok, out);
}

Tensor& squeeze_copy_dim_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                             Tensor& out) {
  return finish(context, squeeze<kSelected<kSqueezeDimOut>>(self, {&dim, 1}, out), out);
}

Tensor& squeeze_copy_dims_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef dim,
                              Tensor& out) {
  return finish(context, squeeze<kSelected<kSqueezeDimsOut>>(self, dim, out), out);
}

Tensor& unsqueeze_copy_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                           Tensor& out) {
  if (rank(self) == kMaxDims || !wrap_dim(dim, rank(self) + 1)) {
    return finish(context, false, out);
  }
  View v = view_of(self);
  v.insert(static_cast<size_t>(dim), 1, 0);
  return finish(context, copy_out<kSelected<kUnsqueezeOut>>(self, v, out), out);
}

Tensor& expand_copy_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef size, bool,
                        Tensor& out) {
  View v = view_of(self);
  const size_t n = size.size();
  bool ok = n >= v.rank && n <= kMaxDims;
  if (ok) {
    const size_t leading = n - v.rank;
    lead(v, n);
    for (size_t d = 0; ok && d < n; ++d) {
      const int64_t to = size.data()[d];
      if (to == -1 ? d < leading : to != v.sizes[d]) {
        ok = v.sizes[d] == 1 && to >= 0 && to <= INT32_MAX;
        v.sizes[d] = static_cast<SizesType>(to);
        v.strides[d] = 0;
      }
    }
  }
  return finish(context, ok && copy_out<kSelected<kExpandOut>>(self, v, out), out);
}

Tensor& repeat_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef repeats,
                   Tensor& out) {
  return finish(context, repeat<kSelected<kRepeatOut>>(self, repeats, out), out);
}

Tensor& as_strided_copy_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef size,
                            IntArrayRef stride, std::optional<int64_t> storage_offset,
                            Tensor& out) {
  return finish(
      context,
      as_strided<kSelected<kAsStridedOut>>(self, size, stride, storage_offset.value_or(0), out),
      out);
}

Tensor& diagonal_copy_out(KernelRuntimeContext& context, const Tensor& self, int64_t offset,
                          int64_t dim1, int64_t dim2, Tensor& out) {
  if (rank(self) < 2 || !wrap_dim(dim1, rank(self)) || !wrap_dim(dim2, rank(self)) ||
      dim1 == dim2) {
    return finish(context, false, out);
  }
  View v = view_of(self);
  const size_t row = static_cast<size_t>(dim1);
  const size_t column = static_cast<size_t>(dim2);
  // Positive offsets lie above the main diagonal: further along dim2.
  const int64_t rows = v.sizes[row] + (offset < 0 ? offset : 0);
  const int64_t columns = v.sizes[column] - (offset > 0 ? offset : 0);
  const int64_t length = rows < columns ? rows : columns;
  const ptrdiff_t stride = v.strides[row] + v.strides[column];
  if (length > 0) {
    v.offset(offset < 0 ? row : column, offset < 0 ? -offset : offset);
  }
  v.remove(row > column ? row : column);
  v.remove(row > column ? column : row);
  v.push(static_cast<SizesType>(length > 0 ? length : 0), stride);
  return finish(context, copy_out<kSelected<kDiagonalOut>>(self, v, out), out);
}

Tensor& unfold_copy_out(KernelRuntimeContext& context, const Tensor& self, int64_t dimension,
                        int64_t size, int64_t step, Tensor& out) {
  View v = view_of(self);
  if (!wrap_dim(dimension, v.rank) || v.rank == kMaxDims || step <= 0 || size < 0) {
    return finish(context, false, out);
  }
  const size_t d = static_cast<size_t>(dimension);
  if (v.rank == 0) {
    v.push(1, 0);  // a 0-d tensor has one dim of one element here
  }
  if (size > v.sizes[d]) {
    return finish(context, false, out);
  }
  const ptrdiff_t stride = v.strides[d];
  v.sizes[d] = static_cast<SizesType>((v.sizes[d] - size) / step + 1);
  v.strides[d] = v.sizes[d] == 1 ? 0 : stride * static_cast<ptrdiff_t>(step);
  if (rank(self) == 0) {
    v.rank = 0;
  }
  v.push(static_cast<SizesType>(size), stride);
  return finish(context, copy_out<kSelected<kUnfoldOut>>(self, v, out), out);
}

Tensor& view_as_real_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  const ScalarType real = real_type(self.scalar_type());
  constexpr TypeMask mask = kSelected<kViewAsRealOut>;
  View v = view_of(self);
  bool ok = is_complex(self.scalar_type()) && out.scalar_type() == real && contains(mask, real) &&
            v.rank < kMaxDims;
  if (ok) {
    v.element /= 2;
    v.push(2, static_cast<ptrdiff_t>(v.element));
    ok = resize_out(out, {v.sizes, v.rank});
  }
  if (ok) {
    copy_view<mask>(view_of(out), v);
  }
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
