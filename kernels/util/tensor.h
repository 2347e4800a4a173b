// Shapes, layouts, resizing, and walks over strided memory.
//
// Functions that fail return false and leave it to the caller to fail the
// context. Sizes and strides are in elements unless a name says bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "util/dtype.h"

namespace gen_kernels {

using ::executorch::aten::ArrayRef;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::SizesType;
using ::executorch::aten::StridesType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::Error;
using ::executorch::runtime::KernelRuntimeContext;

// The runtime's limit on a tensor's rank.
inline constexpr size_t kMaxDims = 16;

inline size_t rank(const Tensor& t) { return static_cast<size_t>(t.dim()); }
inline size_t numel(const Tensor& t) { return static_cast<size_t>(t.numel()); }
inline size_t element_size(const Tensor& t) { return static_cast<size_t>(t.element_size()); }
__attribute__((always_inline)) inline size_t size_at(const Tensor& t, size_t dim) {
  return static_cast<size_t>(t.sizes().data()[dim]);
}
__attribute__((always_inline)) inline ptrdiff_t stride_at(const Tensor& t, size_t dim) {
  return t.strides().data()[dim];
}

inline const char* const_bytes(const Tensor& t) {
  return static_cast<const char*>(t.const_data_ptr());
}
inline char* mutable_bytes(const Tensor& t) { return static_cast<char*>(t.mutable_data_ptr()); }
template <class T>
inline const T* const_data(const Tensor& t) {
  return static_cast<const T*>(t.const_data_ptr());
}
template <class T>
inline T* mutable_data(const Tensor& t) {
  return static_cast<T*>(t.mutable_data_ptr());
}

// ---- Dimensions and shapes ----

// Maps a dim in [-rank, rank) to [0, rank); a 0-d tensor has one dim, 0. False when out of range.
inline bool wrap_dim(int64_t& dim, size_t rank) {
  const int64_t n = rank == 0 ? 1 : static_cast<int64_t>(rank);
  if (dim < -n || dim >= n) {
    return false;
  }
  dim += dim < 0 ? n : 0;
  return true;
}

inline bool same_shape(const Tensor& a, const Tensor& b) {
  return a.dim() == b.dim() &&
         std::memcmp(a.sizes().data(), b.sizes().data(), rank(a) * sizeof(SizesType)) == 0;
}

// True when equal indices lie at equal offsets in both (same shape assumed):
// strides agree wherever there is more than one element.
GEN_KERNELS_NOINLINE inline bool same_layout(const Tensor& a, const Tensor& b) {
  const SizesType* size = a.sizes().data();
  const StridesType* of_a = a.strides().data();
  const StridesType* of_b = b.strides().data();
  for (size_t d = rank(a); d-- > 0;) {
    if (of_a[d] != of_b[d] && size[d] > 1) {
      return false;
    }
  }
  return true;
}

// True when `t` is laid out row-major (dims of size one lie anywhere).
GEN_KERNELS_NOINLINE inline bool is_contiguous(const Tensor& t) {
  const size_t n = rank(t);
  const SizesType* size = t.sizes().data() + n;
  const StridesType* stride = t.strides().data() + n;
  ptrdiff_t expected = 1;
  for (size_t d = n; d > 0; --d) {
    --size;
    --stride;
    if (*stride != expected && *size != 1) {
      return numel(t) == 0;
    }
    expected *= *size;
  }
  return true;
}

// True when `t` is (N, C, spatial...) with the channels innermost in memory.
GEN_KERNELS_NOINLINE inline bool is_channels_last(const Tensor& t) {
  const size_t n = rank(t);
  if (n < 3) {
    return false;
  }
  const auto* order = t.dim_order().data();
  bool same = order[0] == 0 && order[n - 1] == 1;
  for (size_t i = 1; i + 1 < n; ++i) {
    same = same && order[i] == i + 1;
  }
  return same;
}

// What a kernel returns: `out`, after failing the context unless `ok`.
inline Tensor& finish(KernelRuntimeContext& context, bool ok, Tensor& out) {
  if (!ok) {
    context.fail(Error::InvalidArgument);
  }
  return out;
}

// An explicit dim order must be that of `out`, whose memory is planned already.
GEN_KERNELS_NOINLINE inline bool has_dim_order(const Tensor& out, size_t rank,
                                               const std::optional<IntArrayRef>& dim_order) {
  if (!dim_order.has_value()) {
    return true;
  }
  bool same = dim_order->size() == rank && rank == gen_kernels::rank(out);
  for (size_t d = 0; same && d < rank; ++d) {
    same = dim_order->data()[d] == out.dim_order().data()[d];
  }
  return same;
}

// ---- Resizing ----

inline bool resize_out(Tensor& out, ArrayRef<SizesType> sizes) {
  return ::executorch::runtime::resize_tensor(out, sizes) == Error::Ok;
}

inline bool resize_out_like(Tensor& out, const Tensor& in) { return resize_out(out, in.sizes()); }

// A shape under construction.
struct Shape {
  size_t rank = 0;
  SizesType sizes[kMaxDims];

  ArrayRef<SizesType> ref() const { return {sizes, rank}; }
  // False when a size is negative or does not fit, or when there are too many dims.
  bool push(int64_t size) {
    if (rank == kMaxDims || size < 0 || size > INT32_MAX) {
      return false;
    }
    sizes[rank++] = static_cast<SizesType>(size);
    return true;
  }
};

inline Shape shape_of(const Tensor& t) {
  Shape s;
  s.rank = rank(t);
  const SizesType* size = t.sizes().data();
  for (size_t d = 0; d < s.rank; ++d) {  // a call of memcpy takes longer
    s.sizes[d] = size[d];
  }
  return s;
}

inline bool resize_out(Tensor& out, const Shape& shape) { return resize_out(out, shape.ref()); }

GEN_KERNELS_NOINLINE inline bool resize_out(Tensor& out, IntArrayRef sizes) {
  Shape shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!shape.push(sizes.data()[i])) {
      return false;
    }
  }
  return resize_out(out, shape);
}

// The sizes of a view of `count` elements, where one size may be -1: what is left.
GEN_KERNELS_NOINLINE inline bool view_shape(Shape& shape, IntArrayRef sizes, size_t count) {
  size_t known = 1;
  size_t unknown = kMaxDims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t size = sizes.data()[d];
    if (size == -1 && unknown == kMaxDims) {
      unknown = d;
      size = 1;
    }
    if (!shape.push(size)) {
      return false;
    }
    known *= static_cast<size_t>(size);
  }
  if (unknown == kMaxDims) {
    return known == count;
  }
  if (known == 0 || count % known != 0) {
    return false;
  }
  shape.sizes[unknown] = static_cast<SizesType>(count / known);
  return true;
}

// Broadcasts the shape of `t` into `shape`. False when they do not fit.
GEN_KERNELS_NOINLINE inline bool broadcast_into(Shape& shape, ArrayRef<SizesType> sizes) {
  const size_t n = sizes.size();
  if (n > kMaxDims) {
    return false;
  }
  if (n > shape.rank) {
    std::memmove(shape.sizes + (n - shape.rank), shape.sizes, shape.rank * sizeof(SizesType));
    for (size_t i = 0; i < n - shape.rank; ++i) {
      shape.sizes[i] = 1;
    }
    shape.rank = n;
  }
  SizesType* to = shape.sizes + (shape.rank - n);
  for (size_t i = 0; i < n; ++i) {
    const SizesType size = sizes.data()[i];
    if (to[i] == 1) {
      to[i] = size;
    } else if (size != 1 && size != to[i]) {
      return false;
    }
  }
  return true;
}

// True when `from` broadcasts to the shape that `to` has.
GEN_KERNELS_NOINLINE inline bool broadcasts_to(const Tensor& from, const Tensor& to) {
  Shape shape = shape_of(to);
  return broadcast_into(shape, from.sizes()) && shape.rank == rank(to) &&
         std::memcmp(shape.sizes, to.sizes().data(), shape.rank * sizeof(SizesType)) == 0;
}

// ---- Walks: several strided operands over one index space ----

inline constexpr size_t kMaxOperands = 4;

// An index space of merged axes, innermost first, and the place of each operand.
struct Walk {
  size_t operands = 0;
  size_t axes = 0;  // axes of size one and axes that continue the previous one vanish
  bool empty = false;
  size_t size[kMaxDims];
  size_t index[kMaxDims];
  ptrdiff_t stride[kMaxDims][kMaxOperands];  // bytes
  char* at[kMaxOperands];                    // first element of the current row

  Walk() {
    size[0] = 1;
    for (ptrdiff_t& step : stride[0]) {
      step = 0;
    }
  }
  // Elements in a row, and the bytes from one to the next of an operand in it.
  size_t row() const { return size[0]; }
  ptrdiff_t step(size_t operand) const { return stride[0][operand]; }
};

// Adds the next outer axis: `count` indices, `stride` bytes apart in each operand.
GEN_KERNELS_NOINLINE inline void add_axis(Walk& w, size_t count, const ptrdiff_t* stride) {
  if (count <= 1) {
    w.empty = w.empty || count == 0;
    return;
  }
  const size_t a = w.axes;
  bool merge = a > 0;
  for (size_t k = 0; k < w.operands; ++k) {
    w.stride[a][k] = stride[k];
    if (merge && stride[k] != w.stride[a - 1][k] * static_cast<ptrdiff_t>(w.size[a - 1])) {
      merge = false;
    }
  }
  if (merge) {
    w.size[a - 1] *= count;
    return;
  }
  w.index[a] = 0;
  w.size[a] = count;
  w.axes = a + 1;
}

// Moves to the next row; false after the last.
GEN_KERNELS_NOINLINE inline bool next_row(Walk& w) {
  for (size_t a = 1; a < w.axes; ++a) {
    const bool wraps = ++w.index[a] == w.size[a];
    const ptrdiff_t back = wraps ? static_cast<ptrdiff_t>(w.size[a]) - 1 : -1;
    for (size_t k = 0; k < w.operands; ++k) {
      w.at[k] -= w.stride[a][k] * back;
    }
    if (!wraps) {
      return true;
    }
    w.index[a] = 0;
  }
  return false;
}

}  // namespace gen_kernels
