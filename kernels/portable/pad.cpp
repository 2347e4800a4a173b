// constant_pad_nd, reflection_pad and replication_pad.
#include "util/convert.h"
#include "util/pieces.h"

namespace gen_kernels {
namespace {

constexpr char kConstantOut[] = "aten::constant_pad_nd.out";
constexpr char kReflection1dOut[] = "aten::reflection_pad1d.out";
constexpr char kReflection2dOut[] = "aten::reflection_pad2d.out";
constexpr char kReflection3dOut[] = "aten::reflection_pad3d.out";
constexpr char kReplication1dOut[] = "aten::replication_pad1d.out";
constexpr char kReplication2dOut[] = "aten::replication_pad2d.out";
constexpr char kReplication3dOut[] = "aten::replication_pad3d.out";

enum class Mode { kConstant, kReflection, kReplication };

// The runs of an axis of n elements with `before` and `after` more; negative crops.
bool pad_axis(Axis& axis, Mode mode, int64_t n, int64_t before, int64_t after) {
  const int64_t limit = INT32_MAX;
  if (before < -limit || before > limit || after < -limit || after > limit ||
      n + before + after < 0) {
    return false;
  }
  const int64_t front = before > 0 ? before : 0;
  const int64_t back = after > 0 ? after : 0;
  const int64_t crop = front - before;
  const int64_t kept = n - crop - (back - after);
  axis.add(front, kept, crop, 1);
  if (kept < 0) {
    return false;
  }
  if (mode == Mode::kReflection) {
    // The edge itself is not repeated, so there must be more elements than padding.
    if (front >= n || back >= n) {
      return false;
    }
    axis.add(0, front, front, -1);
    axis.add(n + before, back, n - 2, -1);
  } else if (mode == Mode::kReplication) {
    if (n == 0) {
      return false;
    }
    axis.add(0, front, 0, 0);
    axis.add(n + before, back, n - 1, 0);
  }
  return true;
}

// `pad` lists (before, after) for the last dim, the one before it, and so on.
// `value`: what constant padding fills with.
template <TypeMask Mask>
bool pad(const Tensor& self, IntArrayRef pad, Mode mode, const Scalar* value, Tensor& out) {
  const size_t n = rank(self);
  const size_t padded = pad.size() / 2;
  if (pad.size() % 2 != 0 || padded > n || !same_dtype<Mask>(self, out)) {
    return false;
  }
  Axis axes[kMaxDims];
  Shape shape;
  for (size_t d = 0; d < n; ++d) {
    const size_t entry = 2 * (n - 1 - d);
    const bool is_padded = n - 1 - d < padded;
    const int64_t before = is_padded ? pad.data()[entry] : 0;
    const int64_t after = is_padded ? pad.data()[entry + 1] : 0;
    const int64_t size = self.sizes().data()[d];
    if (!pad_axis(axes[d], is_padded ? mode : Mode::kConstant, size, before, after) ||
        !shape.push(size + before + after)) {
      return false;
    }
  }
  if (!resize_out(out, shape)) {
    return false;
  }
  if (value != nullptr && !fill<Mask>(out, *value)) {
    return false;
  }
  copy_pieces<Mask>(view_of(out), view_of(self), axes);
  return true;
}

// Padding of the last `dims` dims of (N, C, ...) or (C, ...).
template <TypeMask Mask>
bool pad_spatial(const Tensor& self, IntArrayRef padding, size_t dims, Mode mode, Tensor& out) {
  return padding.size() == 2 * dims && (rank(self) == dims + 1 || rank(self) == dims + 2) &&
         pad<Mask>(self, padding, mode, nullptr, out);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& constant_pad_nd_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef pad,
                            const Scalar& value, Tensor& out) {
  return finish(
      context, ::gen_kernels::pad<kSelected<kConstantOut>>(self, pad, Mode::kConstant, &value, out),
      out);
}

Tensor& reflection_pad1d_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef padding,
                             Tensor& out) {
  return finish(context,
                pad_spatial<kSelected<kReflection1dOut>>(self, padding, 1, Mode::kReflection, out),
                out);
}

Tensor& reflection_pad2d_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef padding,
                             Tensor& out) {
  return finish(context,
                pad_spatial<kSelected<kReflection2dOut>>(self, padding, 2, Mode::kReflection, out),
                out);
}

Tensor& reflection_pad3d_out(KernelRuntimeContext& context, const Tensor& self, IntArrayRef padding,
                             Tensor& out) {
  return finish(context,
                pad_spatial<kSelected<kReflection3dOut>>(self, padding, 3, Mode::kReflection, out),
                out);
}

Tensor& replication_pad1d_out(KernelRuntimeContext& context, const Tensor& self,
                              IntArrayRef padding, Tensor& out) {
  return finish(
      context, pad_spatial<kSelected<kReplication1dOut>>(self, padding, 1, Mode::kReplication, out),
      out);
}

Tensor& replication_pad2d_out(KernelRuntimeContext& context, const Tensor& self,
                              IntArrayRef padding, Tensor& out) {
  return finish(
      context, pad_spatial<kSelected<kReplication2dOut>>(self, padding, 2, Mode::kReplication, out),
      out);
}

Tensor& replication_pad3d_out(KernelRuntimeContext& context, const Tensor& self,
                              IntArrayRef padding, Tensor& out) {
  return finish(
      context, pad_spatial<kSelected<kReplication3dOut>>(self, padding, 3, Mode::kReplication, out),
      out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
