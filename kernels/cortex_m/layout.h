// Checks of transpose and pad, which say what to copy, and the portable copy.
#pragma once

#include "cortex_m/common.h"

namespace gen_kernels::cortex_m {

// Copies the rows of a walk of two operands whose elements have `size` bytes.
GEN_KERNELS_NOINLINE inline void copy_rows(Walk& w, size_t size) {
  if (w.empty) {
    return;
  }
  do {
    const auto step = static_cast<ptrdiff_t>(size);
    if (w.step(0) == step && w.step(1) == step) {
      std::memcpy(w.at[0], w.at[1], w.row() * size);
      continue;
    }
    const char* from = w.at[1];
    char* to = w.at[0];
    for (size_t i = w.row(); i-- > 0; from += w.step(1), to += w.step(0)) {
      if (size == 1) {
        *to = *from;
      } else {
        std::memcpy(to, from, size);
      }
    }
  } while (next_row(w));
}

// Checks the arguments, resizes `out` and fills `w`, a new walk: elements of the output's size to
// copy. False: bad arguments.
GEN_KERNELS_NOINLINE inline bool prepare_transpose(Walk& w, const Tensor& input,
                                                   ArrayRef<int64_t> perm, Tensor& out) {
  const size_t n = rank(input);
  Shape shape;
  uint32_t seen = 0;
  size_t source[kMaxDims];
  if (perm.size() != n || n > kMaxDims || input.scalar_type() != out.scalar_type()) {
    return false;
  }
  for (size_t d = 0; d < n; ++d) {
    int64_t from = perm.data()[d];
    if (!wrap_dim(from, n) || ((seen >> from) & 1U) != 0 ||
        !shape.push(input.sizes().data()[from])) {
      return false;
    }
    seen |= 1U << from;
    source[d] = static_cast<size_t>(from);
  }
  if (!resize_out(out, shape)) {
    return false;
  }
  const size_t size = element_size(out);
  w.operands = 2;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(input));
  for (size_t i = n; i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {stride_at(out, d) * static_cast<ptrdiff_t>(size),
                                stride_at(input, source[d]) * static_cast<ptrdiff_t>(size)};
    add_axis(w, size_at(out, d), stride);
  }
  return true;
}

// The same for pad: bytes to copy into an output of padding.
GEN_KERNELS_NOINLINE inline bool prepare_pad(Walk& w, const Tensor& input,
                                             ArrayRef<int64_t> pre_pad, ArrayRef<int64_t> post_pad,
                                             Tensor& out) {
  const size_t n = rank(input);
  if (n > 4 || pre_pad.size() != 4 || post_pad.size() != 4 ||
      input.scalar_type() != out.scalar_type() || element_size(out) != 1) {
    return false;
  }
  // A channels-last image has its padding in the order of its memory (N, H, W, C). One channel,
  // or one pixel, counts as channels-last whatever its order says.
  static constexpr uint8_t kPhysical[] = {0, 3, 1, 2};
  const bool nhwc =
      n == 4 && (size_at(input, 1) == 1 || (size_at(input, 2) == 1 && size_at(input, 3) == 1) ||
                 (input.dim_order().data()[0] == 0 && input.dim_order().data()[1] == 2));
  Shape shape;
  int64_t before[4];
  for (size_t d = 0; d < n; ++d) {
    const size_t at = nhwc ? kPhysical[d] : d + 4 - n;
    constexpr int64_t kMost = 1 << 24;
    before[d] = pre_pad.data()[at];
    const int64_t after = post_pad.data()[at];
    if (before[d] > kMost || before[d] < -kMost || after > kMost || after < -kMost ||
        !shape.push(input.sizes().data()[d] + before[d] + after)) {
      return false;
    }
  }
  if (!resize_out(out, shape)) {
    return false;
  }
  // Copy where input and output overlap: negative padding crops.
  w.operands = 2;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(input));
  for (size_t i = n; i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {stride_at(out, d), stride_at(input, d)};
    const int64_t from = before[d] < 0 ? -before[d] : 0;
    const int64_t to = before[d] > 0 ? before[d] : 0;
    const int64_t in_rest = input.sizes().data()[d] - from;
    const int64_t out_rest = out.sizes().data()[d] - to;
    const int64_t count = in_rest < out_rest ? in_rest : out_rest;
    if (count <= 0) {
      w.empty = true;
      return true;
    }
    w.at[0] += stride[0] * static_cast<ptrdiff_t>(to);
    w.at[1] += stride[1] * static_cast<ptrdiff_t>(from);
    add_axis(w, static_cast<size_t>(count), stride);
  }
  return true;
}

}  // namespace gen_kernels::cortex_m
