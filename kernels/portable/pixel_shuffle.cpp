// Channels to places and back.
#include "util/tensor.h"

namespace gen_kernels {
namespace {

// Copies whole elements of any dtype: `small` has the blocks in its channels, `large` in its
// places. One element each way; the walk's innermost operand steps are those of the channels.
struct Shuffle {
  const Tensor& small;
  const Tensor& large;
  size_t factor;
  bool to_large;
};

void add_shuffle_axis(Walk& w, size_t count, ptrdiff_t small, ptrdiff_t large, ptrdiff_t element) {
  const ptrdiff_t stride[] = {small * element, large * element};
  add_axis(w, count, stride);
}

void copy(const Shuffle& s) {
  const size_t dims = rank(s.small);
  const auto element = static_cast<ptrdiff_t>(element_size(s.small));
  const auto r = static_cast<ptrdiff_t>(s.factor);
  const ptrdiff_t channel = stride_at(s.small, dims - 3);
  Walk w;
  w.operands = 2;
  w.at[0] = const_cast<char*>(const_bytes(s.small));
  w.at[1] = const_cast<char*>(const_bytes(s.large));
  for (size_t i = 0; i < 2; ++i) {  // Width, height: the block, then its places.
    const size_t d = dims - 1 - i;
    const ptrdiff_t step = stride_at(s.large, d);
    add_shuffle_axis(w, s.factor, i == 0 ? channel : channel * r, step, element);
    add_shuffle_axis(w, size_at(s.small, d), stride_at(s.small, d), step * r, element);
  }
  add_shuffle_axis(w, size_at(s.large, dims - 3), channel * r * r, stride_at(s.large, dims - 3),
                   element);
  for (size_t d = dims - 3; d-- > 0;) {
    add_shuffle_axis(w, size_at(s.small, d), stride_at(s.small, d), stride_at(s.large, d), element);
  }
  if (w.empty) return;
  const size_t to = s.to_large ? 1 : 0;
  do {
    char* at[2] = {w.at[0], w.at[1]};
    for (size_t n = w.row(); n > 0; --n) {
      std::memcpy(at[to], at[1 - to], static_cast<size_t>(element));
      at[0] += w.step(0);
      at[1] += w.step(1);
    }
  } while (next_row(w));
}

// Shape of the other side. False when the factor does not fit.
bool shuffled_shape(const Tensor& in, int64_t factor, bool to_large, Shape& shape) {
  const size_t dims = rank(in);
  if (dims < 3 || factor < 1 || factor > INT16_MAX) return false;
  const auto channels = static_cast<int64_t>(in.size(static_cast<ssize_t>(dims) - 3));
  if (to_large && channels % (factor * factor) != 0) return false;
  for (size_t d = 0; d < dims - 3; ++d) shape.push(in.size(static_cast<ssize_t>(d)));
  if (!shape.push(to_large ? channels / (factor * factor) : channels * factor * factor)) {
    return false;
  }
  for (size_t d = dims - 2; d < dims; ++d) {
    const auto size = static_cast<int64_t>(in.size(static_cast<ssize_t>(d)));
    if (!to_large && size % factor != 0) return false;
    if (!shape.push(to_large ? size * factor : size / factor)) return false;
  }
  return true;
}

Tensor& shuffle(KernelRuntimeContext& ctx, const Tensor& in, int64_t factor, bool to_large,
                Tensor& out) {
  Shape shape;
  if (in.scalar_type() != out.scalar_type() || !shuffled_shape(in, factor, to_large, shape) ||
      !resize_out(out, shape)) {
    ctx.fail(Error::InvalidArgument);
    return out;
  }
  copy({to_large ? in : out, to_large ? out : in, static_cast<size_t>(factor), to_large});
  return out;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& pixel_shuffle_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t upscale_factor,
                          Tensor& out) {
  return shuffle(ctx, self, upscale_factor, true, out);
}

Tensor& pixel_unshuffle_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t downscale_factor,
                            Tensor& out) {
  return shuffle(ctx, self, downscale_factor, false, out);
}

}  // namespace torch::executor::native
