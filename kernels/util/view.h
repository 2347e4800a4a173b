// Strided views and the copy between two of them: every operator that only moves
// elements (permute, slice, cat, expand, ...) is a few lines over this.
#pragma once

#include "util/tensor.h"

namespace gen_kernels {

// A window on a tensor's memory. Strides are in bytes and may be zero or negative.
struct View {
  char* data;
  size_t element;  // bytes an element
  size_t rank;
  SizesType sizes[kMaxDims];
  ptrdiff_t strides[kMaxDims];

  size_t size(size_t dim) const { return static_cast<size_t>(sizes[dim]); }
  // Moves the start by `index` along `dim`.
  void offset(size_t dim, int64_t index) { data += static_cast<ptrdiff_t>(index) * strides[dim]; }
  // Restricts `dim` to `count` indices from `start`, `step` apart.
  void slice(size_t dim, int64_t start, int64_t step, int64_t count) {
    if (count > 0) {
      offset(dim, start);
    }
    strides[dim] *= static_cast<ptrdiff_t>(step);
    sizes[dim] = static_cast<SizesType>(count);
  }
  // Appends a dim.
  void push(SizesType size, ptrdiff_t stride) {
    sizes[rank] = size;
    strides[rank++] = stride;
  }
  void remove(size_t dim) {
    --rank;
    for (size_t d = dim; d < rank; ++d) {
      sizes[d] = sizes[d + 1];
      strides[d] = strides[d + 1];
    }
  }
  // Inserts a dim before `dim`.
  void insert(size_t dim, SizesType size, ptrdiff_t stride) {
    for (size_t d = rank++; d > dim; --d) {
      sizes[d] = sizes[d - 1];
      strides[d] = strides[d - 1];
    }
    sizes[dim] = size;
    strides[dim] = stride;
  }
};

GEN_KERNELS_NOINLINE inline View view_of(const Tensor& t) {
  View v;
  v.data = const_cast<char*>(const_bytes(t));
  v.element = element_size(t);
  v.rank = 0;
  for (size_t d = 0; d < rank(t); ++d) {
    v.push(t.sizes().data()[d], stride_at(t, d) * static_cast<ptrdiff_t>(v.element));
  }
  return v;
}

// `data` seen row-major with the sizes of `shape`.
GEN_KERNELS_NOINLINE inline View dense_view(const char* data, size_t element,
                                            ArrayRef<SizesType> shape) {
  View v;
  v.data = const_cast<char*>(data);
  v.element = element;
  v.rank = shape.size();
  ptrdiff_t stride = static_cast<ptrdiff_t>(element);
  for (size_t d = v.rank; d-- > 0;) {
    v.sizes[d] = shape.data()[d];
    v.strides[d] = stride;
    stride *= shape.data()[d];
  }
  return v;
}

// Sees `v` with `sizes`, to which it broadcasts.
GEN_KERNELS_NOINLINE inline void broadcast_view(View& v, ArrayRef<SizesType> sizes) {
  while (v.rank < sizes.size()) {
    v.insert(0, 1, 0);
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (v.sizes[d] != sizes.data()[d]) {
      v.sizes[d] = sizes.data()[d];
      v.strides[d] = 0;
    }
  }
}

// The byte offset of the element that comes `index`-th in row-major order.
GEN_KERNELS_NOINLINE inline ptrdiff_t element_offset(const View& v, size_t index) {
  ptrdiff_t offset = 0;
  for (size_t d = v.rank; d-- > 0;) {
    offset += static_cast<ptrdiff_t>(index % v.size(d)) * v.strides[d];
    index /= v.size(d);
  }
  return offset;
}

// Element sizes in bytes as a set: bit n is for n bytes (1, 2, 4, 8, 16).
using SizeMask = uint32_t;

constexpr SizeMask sizes_of(TypeMask mask) {
  SizeMask sizes = 0;
  for (int8_t i = 0; i < static_cast<int8_t>(ScalarType::Undefined); ++i) {
    const ScalarType type = static_cast<ScalarType>(i);
    sizes |= contains(mask, type) ? 1U << type_size(type) : 0U;
  }
  return sizes;
}

namespace internal {
// Memory of any dtype, moved as words of its size.
template <size_t N>
struct Word;
template <>
struct Word<1> {
  typedef uint8_t type __attribute__((may_alias));
};
template <>
struct Word<2> {
  typedef uint16_t type __attribute__((may_alias));
};
template <>
struct Word<4> {
  typedef uint32_t type __attribute__((may_alias));
};
template <>
struct Word<8> {
  typedef uint64_t type __attribute__((may_alias));
};
template <>
struct Word<16> {
  struct type {
    Word<8>::type low, high;
  };
};

template <SizeMask Sizes, size_t N>
inline bool copy_words(char* to, ptrdiff_t to_step, const char* from, ptrdiff_t from_step, size_t n,
                       size_t element) {
  if constexpr (((Sizes >> N) & 1U) != 0) {
    using T = typename Word<N>::type;
    if (element == N) {
      for (; n != 0; --n, to += to_step, from += from_step) {
        *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
      }
      return true;
    }
  }
  return false;
}
}  // namespace internal

// Copies n elements of `element` bytes; steps are in bytes.
template <SizeMask Sizes>
GEN_KERNELS_NOINLINE inline void copy_row(char* to, ptrdiff_t to_step, const char* from,
                                          ptrdiff_t from_step, size_t n, size_t element) {
  const ptrdiff_t dense = static_cast<ptrdiff_t>(element);
  if (to_step == dense && from_step == dense) {
    std::memcpy(to, from, n * element);
    return;
  }
  (void)(internal::copy_words<Sizes, 4>(to, to_step, from, from_step, n, element) ||
         internal::copy_words<Sizes, 1>(to, to_step, from, from_step, n, element) ||
         internal::copy_words<Sizes, 2>(to, to_step, from, from_step, n, element) ||
         internal::copy_words<Sizes, 8>(to, to_step, from, from_step, n, element) ||
         internal::copy_words<Sizes, 16>(to, to_step, from, from_step, n, element));
}

// Lays the walk over n views: the dims of the first, in row-major order, but those in `skipped`
// (a bit each). The others have the same dims; their sizes are not read.
GEN_KERNELS_NOINLINE inline void lay_views(Walk& w, const View* const* views, size_t n,
                                           uint32_t skipped = 0) {
  w.operands = n;
  for (size_t k = 0; k < n; ++k) {
    w.at[k] = views[k]->data;
  }
  for (size_t d = views[0]->rank; d-- > 0;) {
    ptrdiff_t stride[kMaxOperands];
    for (size_t k = 0; k < n; ++k) {
      stride[k] = views[k]->strides[d];
    }
    if (((skipped >> d) & 1U) == 0) {
      add_axis(w, views[0]->size(d), stride);
    }
  }
}

template <SizeMask Sizes>
GEN_KERNELS_NOINLINE inline void copy_view_sized(const View& to, const View& from) {
  Walk w;
  const View* const views[2] = {&to, &from};
  lay_views(w, views, 2);
  if (w.empty) {
    return;
  }
  do {
    copy_row<Sizes>(w.at[0], w.step(0), w.at[1], w.step(1), w.row(), to.element);
  } while (next_row(w));
}

// to[i] = from[i] over the sizes of `to` (those of `from` are not read). The dtype is in Mask.
template <TypeMask Mask>
inline void copy_view(const View& to, const View& from) {
  copy_view_sized<sizes_of(Mask)>(to, from);
}

// What most moving operators require: one dtype, selected for the operator.
template <TypeMask Mask>
inline bool same_dtype(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && contains(Mask, a.scalar_type());
}

}  // namespace gen_kernels
