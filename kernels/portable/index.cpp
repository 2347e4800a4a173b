// index and index_put: advanced indexing by integer tensors and masks.
#include "util/index.h"

namespace gen_kernels {
namespace {

constexpr char kIndexOut[] = "aten::index.Tensor_out";
constexpr char kIndexPutOut[] = "aten::index_put.out";
constexpr char kIndexPutInplace[] = "aten::index_put_";

using OptionalTensors = ArrayRef<std::optional<Tensor>>;

// One index tensor, seen as index values in sequence. A mask stands for the places
// of its true elements: one sequence for each of its dims.
struct Index {
  const Tensor* tensor;
  View view;  // an index tensor broadcast to the common index shape; a mask as it is
  bool mask;
  bool single;  // a mask of one true element, which broadcasts
  size_t dim;   // the first dim of the indexed tensor that it indexes
  // A mask's last place: the `true_count`-th true element lies at `position`, row-major.
  size_t true_count;
  size_t position;
};

bool is_mask(const Tensor& t) {
  return t.scalar_type() == ScalarType::Bool || t.scalar_type() == ScalarType::Byte;
}

// What an index expression comes to.
struct Plan {
  size_t count = 0;  // index tensors
  Index index[kMaxDims];
  uint32_t indexed = 0;  // dims of the tensor that are indexed
  size_t first = 0;      // the dim of the result where the index shape stands
  Shape shape;           // the common index shape
  Shape result;
};

bool mask_at(const Index& m, size_t position) {
  return m.view.data[element_offset(m.view, position)] != 0;
}

// Moves the mask's cursor to its n-th true element, which exists.
void seek(Index& m, size_t n) {
  if (n < m.true_count) {
    m.true_count = 0;
    m.position = 0;
    while (!mask_at(m, m.position)) {
      ++m.position;
    }
  }
  while (m.true_count < n) {
    ++m.position;
    m.true_count += mask_at(m, m.position);
  }
}

// Broadcasts the indices and shapes the result; checks every index against the size of its dim.
bool plan_index(Plan& p, const Tensor& self, OptionalTensors indices) {
  size_t dim = 0;
  size_t runs = 0;  // stretches of neighbouring indexed dims
  bool previous = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool given = indices.data()[i].has_value();
    runs += given && !previous;
    previous = given;
    if (!given) {
      ++dim;
      continue;
    }
    const Tensor& t = *indices.data()[i];
    Index& index = p.index[p.count++];
    index.tensor = &t;
    index.view = view_of(t);
    index.mask = is_mask(t);
    index.dim = dim;
    const size_t dims = index.mask ? rank(t) : 1;
    if ((!index.mask && !is_index_type(t.scalar_type())) || dims == 0 || dim + dims > rank(self)) {
      return false;
    }
    Shape shape = shape_of(t);
    if (index.mask) {
      size_t n = 0;
      for (size_t k = 0; k < numel(t); ++k) {
        n += static_cast<size_t>(index.view.data[k] !=
                                 0);  // in memory order: only the count matters
      }
      shape.rank = 0;
      shape.push(static_cast<int64_t>(n));
      index.single = n == 1;
      index.true_count = n + 1;  // past the end: seek() starts over
      index.position = 0;
      for (size_t d = 0; d < dims; ++d) {
        if (size_at(t, d) != size_at(self, dim + d)) {
          return false;
        }
      }
    }
    if (!broadcast_into(p.shape, shape.ref())) {
      return false;
    }
    p.first = p.count == 1 ? dim : p.first;
    for (size_t d = 0; d < dims; ++d) {
      p.indexed |= 1U << dim++;
    }
  }
  if (dim > rank(self) || p.count == 0) {
    return false;
  }
  p.first = runs > 1 ? 0 : p.first;
  // The result: dims that are not indexed, with the index shape before, between or after them.
  for (size_t d = 0; d < p.first; ++d) {
    p.result.push(self.sizes().data()[d]);
  }
  for (size_t k = 0; k < p.shape.rank; ++k) {
    if (!p.result.push(p.shape.sizes[k])) {
      return false;
    }
  }
  for (size_t d = p.first; d < rank(self); ++d) {
    if (((p.indexed >> d) & 1U) == 0 && !p.result.push(self.sizes().data()[d])) {
      return false;
    }
  }
  for (size_t i = 0; i < p.count; ++i) {
    Index& index = p.index[i];
    if (!index.mask) {
      const int64_t n = self.sizes().data()[index.dim];
      const Tensor& t = *index.tensor;
      for (size_t k = 0; k < numel(t); ++k) {
        const int64_t at = read_index(index.view.data + k * index.view.element, t.scalar_type());
        if (at < -n || at >= n) {
          return false;
        }
      }
      broadcast_view(index.view, p.shape.ref());
    }
  }
  return true;
}

// The byte offset in `self` that the n-th tuple of indices selects.
ptrdiff_t offset_of(Plan& p, const View& self, size_t n) {
  ptrdiff_t offset = 0;
  for (size_t i = 0; i < p.count; ++i) {
    Index& index = p.index[i];
    if (index.mask) {
      const size_t length =
          p.shape.rank == 0 ? 1 : static_cast<size_t>(p.shape.sizes[p.shape.rank - 1]);
      seek(index, index.single ? 0 : n % length);
      size_t rest = index.position;
      for (size_t d = index.view.rank; d-- > 0; rest /= index.view.size(d)) {
        offset += static_cast<ptrdiff_t>(rest % index.view.size(d)) * self.strides[index.dim + d];
      }
    } else {
      int64_t at =
          read_index(index.view.data + element_offset(index.view, n), index.tensor->scalar_type());
      at += at < 0 ? self.sizes[index.dim] : 0;
      offset += static_cast<ptrdiff_t>(at) * self.strides[index.dim];
    }
  }
  return offset;
}

enum class Move { kGet, kPut, kAdd };

template <TypeMask Mask>
void add_view(const View& to, const View& from, ScalarType type) {
  const size_t n = count_of(to);
  for (size_t i = 0; i < n; ++i) {
    add_element<Mask>(to.data + element_offset(to, i), from.data + element_offset(from, i), type);
  }
}

// Moves slices between `self` and `aligned`, which has the result's shape.
template <TypeMask Mask>
void move_slices(Plan& p, const View& self, const View& aligned, Move move, ScalarType type) {
  // Both sides' views of one slice: the dims that are not indexed.
  View slice = self;
  View other = aligned;
  for (size_t d = self.rank; d-- > 0;) {
    if (((p.indexed >> d) & 1U) != 0) {
      slice.remove(d);
    }
  }
  for (size_t k = 0; k < p.shape.rank; ++k) {
    other.remove(p.first);
  }
  View steps = aligned;  // where the slices of `aligned` start: the dims of the index shape
  steps.rank = p.shape.rank;
  for (size_t k = 0; k < p.shape.rank; ++k) {
    steps.sizes[k] = aligned.sizes[p.first + k];
    steps.strides[k] = aligned.strides[p.first + k];
  }
  const size_t n = count_of(steps);
  for (size_t i = 0; i < n && count_of(slice) != 0; ++i) {
    slice.data = self.data + offset_of(p, self, i);
    other.data = aligned.data + element_offset(steps, i);
    if (move == Move::kGet) {
      copy_view<Mask>(other, slice);
    } else if (move == Move::kPut) {
      copy_view<Mask>(slice, other);
    } else {
      add_view<Mask & kAllMask>(slice, other, type);
    }
  }
}

// Puts `values` into `out`, which holds `self` already.
template <TypeMask Mask>
bool put(Plan& p, const Tensor& out, const Tensor& values, bool accumulate) {
  Shape shape = p.result;
  if (rank(values) > shape.rank || !broadcast_into(shape, values.sizes()) ||
      std::memcmp(shape.sizes, p.result.sizes, shape.rank * sizeof(SizesType)) != 0) {
    return false;
  }
  View from = view_of(values);
  broadcast_view(from, shape.ref());
  move_slices<Mask>(p, view_of(out), from, accumulate ? Move::kAdd : Move::kPut, out.scalar_type());
  return true;
}

bool none_given(OptionalTensors indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices.data()[i].has_value()) {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

Tensor& index_Tensor_out(KernelRuntimeContext& context, const Tensor& self,
                         ArrayRef<std::optional<Tensor>> indices, Tensor& out) {
  constexpr TypeMask mask = kSelected<kIndexOut>;
  if (!same_dtype<mask>(self, out)) {
    return finish(context, false, out);
  }
  if (none_given(indices)) {
    const bool ok =
        indices.size() > 0 && indices.size() <= rank(self) && resize_out_like(out, self);
    if (ok) {
      copy_view<mask>(view_of(out), view_of(self));
    }
    return finish(context, ok, out);
  }
  Plan p;
  const bool ok = plan_index(p, self, indices) && resize_out(out, p.result);
  if (ok) {
    move_slices<mask>(p, view_of(self), view_of(out), Move::kGet, self.scalar_type());
  }
  return finish(context, ok, out);
}

Tensor& index_put_out(KernelRuntimeContext& context, const Tensor& self,
                      ArrayRef<std::optional<Tensor>> indices, const Tensor& values,
                      bool accumulate, Tensor& out) {
  constexpr TypeMask mask = kSelected<kIndexPutOut>;
  Plan p;
  const bool ok = same_dtype<mask>(self, out) && same_dtype<mask>(values, out) &&
                  plan_index(p, self, indices) && resize_out_like(out, self);
  if (ok) {
    copy_view<mask>(view_of(out), view_of(self));
  }
  return finish(context, ok && put<mask>(p, out, values, accumulate), out);
}

Tensor& index_put_(KernelRuntimeContext& context, Tensor& self,
                   ArrayRef<std::optional<Tensor>> indices, const Tensor& values, bool accumulate) {
  constexpr TypeMask mask = kSelected<kIndexPutInplace>;
  Plan p;
  const bool ok = same_dtype<mask>(values, self) && plan_index(p, self, indices) &&
                  put<mask>(p, self, values, accumulate);
  return finish(context, ok, self);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
