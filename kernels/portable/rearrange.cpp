// flip, roll and tril: elements moved along their axes.
#include "util/pieces.h"

namespace gen_kernels {
namespace {

constexpr char kFlipOut[] = "aten::flip.out";
constexpr char kRollOut[] = "aten::roll.out";
constexpr char kTrilOut[] = "aten::tril.out";

// Lists the whole of every axis as one run.
void whole_axes(const View& v, Axis* axes) {
  for (size_t d = 0; d < v.rank; ++d) {
    axes[d].add(0, v.sizes[d], 0, 1);
  }
}

// Moves the elements of an axis by `shift` places, those that fall out come back in.
void roll_axis(Axis& axis, int64_t n, int64_t shift) {
  axis.runs = 0;
  axis.add(shift, n - shift, 0, 1);
  axis.add(0, shift, n - shift, 1);
}

template <TypeMask Mask>
bool roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims, Tensor& out) {
  if (shifts.size() == 0 ||
      (dims.size() != shifts.size() && !(dims.size() == 0 && shifts.size() == 1)) ||
      !same_dtype<Mask>(self, out) || !resize_out_like(out, self)) {
    return false;
  }
  const View to = view_of(out);
  const View from = view_of(self);
  if (self.numel() == 0) {
    return true;  // whatever the dims are
  }
  if (dims.size() == 0) {  // rolls the flattened tensor
    const int64_t n = self.numel();
    int64_t at = (shifts.data()[0] % n + n) % n;
    for (size_t i = 0; i < numel(self); ++i, ++at) {
      at = at == n ? 0 : at;
      std::memcpy(to.data + element_offset(to, static_cast<size_t>(at)),
                  from.data + element_offset(from, i), to.element);
    }
    return true;
  }
  int64_t shift[kMaxDims] = {};
  for (size_t i = 0; i < shifts.size(); ++i) {
    int64_t dim = dims.data()[i];
    if (!wrap_dim(dim, to.rank)) {
      return false;
    }
    const int64_t n = to.rank == 0 ? 1 : to.sizes[dim];
    shift[dim] = (shift[dim] + shifts.data()[i] % n + n) % n;
  }
  Axis axes[kMaxDims];
  for (size_t d = 0; d < to.rank; ++d) {
    roll_axis(axes[d], to.sizes[d], shift[d]);
  }
  copy_pieces<Mask>(to, from, axes);
  return true;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Tensor;

Tensor& flip_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef dims, Tensor& out) {
  constexpr TypeMask mask = kSelected<kFlipOut>;
  const View from = view_of(self);
  Axis axes[kMaxDims];
  whole_axes(from, axes);
  bool ok = same_dtype<mask>(self, out) && resize_out_like(out, self);
  uint32_t seen = 0;
  for (size_t i = 0; ok && i < dims.size(); ++i) {
    int64_t dim = dims.data()[i];
    ok = wrap_dim(dim, from.rank) && ((seen >> dim) & 1U) == 0;
    if (ok) {
      seen |= 1U << dim;
      axes[dim].run[0].in = from.rank == 0 ? 0 : from.sizes[dim] - 1;
      axes[dim].run[0].step = -1;
    }
  }
  if (ok) {
    copy_pieces<mask>(view_of(out), from, axes);
  }
  return finish(context, ok, out);
}

Tensor& roll_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef shifts,
                 IntArrayRef dims, Tensor& out) {
  return finish(context, roll<kSelected<kRollOut>>(self, shifts, dims, out), out);
}

Tensor& tril_out(KernelRuntimeContext& context, const Tensor& self, int64_t diagonal, Tensor& out) {
  constexpr TypeMask mask = kSelected<kTrilOut>;
  const View from = view_of(self);
  if (from.rank < 2 || !same_dtype<mask>(self, out) || !resize_out_like(out, self)) {
    return finish(context, false, out);
  }
  if (out.nbytes() != 0) {
    std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  }
  // Row r of every matrix keeps its first r + diagonal + 1 elements.
  const View to = view_of(out);
  const size_t row = from.rank - 2;
  const int64_t rows = from.sizes[row];
  const int64_t columns = from.sizes[row + 1];
  const int64_t first = diagonal < -rows ? -rows : diagonal > columns ? columns : diagonal;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t kept = r + first + 1;
    if (kept > 0) {
      View part = to;
      View source = from;
      part.slice(row, r, 1, 1);
      source.slice(row, r, 1, 1);
      part.sizes[row + 1] = static_cast<SizesType>(kept < columns ? kept : columns);
      copy_view<mask>(part, source);
    }
  }
  return finish(context, true, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
