// permute_copy, transpose_copy, t_copy: the same elements under another order of dims.
#include "util/view.h"

namespace gen_kernels {
namespace {

constexpr char kPermuteOut[] = "aten::permute_copy.out";
constexpr char kTransposeOut[] = "aten::transpose_copy.int_out";
constexpr char kTOut[] = "aten::t_copy.out";

// out[i] = self[i permuted]: dim d of `out` is dim order[d] of `self`.
template <TypeMask Mask>
bool permute(const Tensor& self, const uint8_t* order, Tensor& out) {
  const View from = view_of(self);
  View permuted = from;
  for (size_t d = 0; d < from.rank; ++d) {
    permuted.sizes[d] = from.sizes[order[d]];
    permuted.strides[d] = from.strides[order[d]];
  }
  if (!same_dtype<Mask>(self, out) || !resize_out(out, {permuted.sizes, permuted.rank})) {
    return false;
  }
  copy_view<Mask>(view_of(out), permuted);
  return true;
}

template <TypeMask Mask>
bool transpose(const Tensor& self, int64_t dim0, int64_t dim1, Tensor& out) {
  if (!wrap_dim(dim0, rank(self)) || !wrap_dim(dim1, rank(self))) {
    return false;
  }
  uint8_t order[kMaxDims];
  for (size_t d = 0; d < kMaxDims; ++d) {
    order[d] = static_cast<uint8_t>(d);
  }
  order[dim0] = static_cast<uint8_t>(dim1);
  order[dim1] = static_cast<uint8_t>(dim0);
  return permute<Mask>(self, order, out);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Tensor;

Tensor& permute_copy_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef dims,
                         Tensor& out) {
  uint8_t order[kMaxDims];
  uint32_t seen = 0;
  bool ok = dims.size() == rank(self) && dims.size() <= kMaxDims;
  for (size_t d = 0; ok && d < dims.size(); ++d) {
    int64_t dim = dims.data()[d];
    ok = wrap_dim(dim, dims.size()) && ((seen >> dim) & 1U) == 0;
    if (ok) {
      seen |= 1U << dim;
      order[d] = static_cast<uint8_t>(dim);
    }
  }
  return finish(context, ok && permute<kSelected<kPermuteOut>>(self, order, out), out);
}

Tensor& transpose_copy_int_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim0,
                               int64_t dim1, Tensor& out) {
  return finish(context, transpose<kSelected<kTransposeOut>>(self, dim0, dim1, out), out);
}

Tensor& t_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  // A tensor of fewer than two dims is its own transpose.
  const bool ok =
      rank(self) <= 2 && transpose<kSelected<kTOut>>(self, 0, rank(self) == 2 ? 1 : 0, out);
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
