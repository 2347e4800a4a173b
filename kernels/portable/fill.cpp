// Tensors made of numbers: fill, full, ones, zeros, empty, scalar_tensor, arange.
#include "util/convert.h"

namespace gen_kernels {
namespace {

using ::executorch::aten::MemoryFormat;

constexpr char kFillScalarOut[] = "aten::fill.Scalar_out";
constexpr char kFillTensorOut[] = "aten::fill.Tensor_out";
constexpr char kFullOut[] = "aten::full.out";
constexpr char kFullLikeOut[] = "aten::full_like.out";
constexpr char kOnesOut[] = "aten::ones.out";
constexpr char kZerosOut[] = "aten::zeros.out";
constexpr char kScalarTensorOut[] = "aten::scalar_tensor.out";
constexpr char kArangeOut[] = "aten::arange.out";
constexpr char kArangeStartOut[] = "aten::arange.start_out";

// out[i] = start + i * step in C, stored in out's dtype.
template <TypeMask Mask, class C>
void ramp(const Tensor& out, C start, C step) {
  char* at = mutable_bytes(out);
  for (size_t i = 0; i < numel(out); ++i, at += out.element_size()) {
    const C value = wrapping_add(start, wrapping_mul(static_cast<C>(i), step));
    store_one<C, Mask>(at, value, out.scalar_type());
  }
}

// As PyTorch does it: an integer result is made of numbers without their fractions, but only a Long
// one counts its elements by those.
template <TypeMask Mask>
bool arange(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const ScalarType type = out.scalar_type();
  const double first = scalar_to<double>(start);
  const double last = scalar_to<double>(end);
  const double by = scalar_to<double>(step);
  double count = std::ceil((last - first) / by);
  const bool ahead = (by > 0 && last >= first) || (by < 0 && last <= first);
  if (!contains(Mask, type) || type == ScalarType::Bool || !ahead) {
    return false;
  }
  int64_t from = 0;
  int64_t stride = 0;
  if (is_integer(type)) {
    const ScalarType whole = ScalarType::Long;
    if (!scalar_fits(start, whole) || !scalar_fits(end, whole) || !scalar_fits(step, whole)) {
      return false;
    }
    from = scalar_to<int64_t>(start);
    stride = scalar_to<int64_t>(step);
    if (type == whole) {
      const auto span = static_cast<double>(wrapping_sub(scalar_to<int64_t>(end), from));
      count = std::ceil(span / static_cast<double>(stride));
    }
  }
  Shape shape;
  if (!(count >= 0 && count <= INT32_MAX) || !shape.push(static_cast<int64_t>(count)) ||
      !resize_out(out, shape)) {
    return false;
  }
  if (is_integer(type)) {
    ramp<Mask, int64_t>(out, from, stride);
  } else {
    ramp<Mask, double>(out, first, by);
  }
  return true;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::MemoryFormat;
using ::executorch::aten::Scalar;
using ::executorch::aten::Tensor;

Tensor& fill_scalar_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& value,
                        Tensor& out) {
  const bool ok = self.scalar_type() == out.scalar_type() && resize_out_like(out, self) &&
                  fill<kSelected<kFillScalarOut>>(out, value);
  return finish(context, ok, out);
}

Tensor& fill_tensor_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& value,
                        Tensor& out) {
  const bool ok = self.scalar_type() == out.scalar_type() && value.dim() == 0 &&
                  resize_out_like(out, self) && convert_into<kSelected<kFillTensorOut>>(value, out);
  return finish(context, ok, out);
}

Tensor& full_out(KernelRuntimeContext& context, IntArrayRef size, const Scalar& fill_value,
                 Tensor& out) {
  return finish(context, resize_out(out, size) && fill<kSelected<kFullOut>>(out, fill_value), out);
}

Tensor& full_like_out(KernelRuntimeContext& context, const Tensor& self, const Scalar& fill_value,
                      std::optional<MemoryFormat>, Tensor& out) {
  return finish(context,
                resize_out_like(out, self) && fill<kSelected<kFullLikeOut>>(out, fill_value), out);
}

Tensor& ones_out(KernelRuntimeContext& context, IntArrayRef size, Tensor& out) {
  return finish(context, resize_out(out, size) && fill<kSelected<kOnesOut>>(out, Scalar(1)), out);
}

Tensor& zeros_out(KernelRuntimeContext& context, IntArrayRef size, Tensor& out) {
  const bool ok = contains(kSelected<kZerosOut>, out.scalar_type()) && resize_out(out, size);
  if (ok && out.nbytes() != 0) {
    std::memset(out.mutable_data_ptr(), 0, out.nbytes());
  }
  return finish(context, ok, out);
}

// What an empty tensor holds is unspecified: nothing is written.
Tensor& empty_out(KernelRuntimeContext& context, IntArrayRef size, std::optional<MemoryFormat>,
                  Tensor& out) {
  return finish(context, resize_out(out, size), out);
}

Tensor& _empty_dim_order_out(KernelRuntimeContext& context, IntArrayRef size,
                             std::optional<ArrayRef<int64_t>> dim_order, Tensor& out) {
  return finish(context, resize_out(out, size) && has_dim_order(out, size.size(), dim_order), out);
}

Tensor& scalar_tensor_out(KernelRuntimeContext& context, const Scalar& s, Tensor& out) {
  return finish(context, resize_out(out, Shape()) && fill<kSelected<kScalarTensorOut>>(out, s),
                out);
}

Tensor& arange_out(KernelRuntimeContext& context, const Scalar& end, Tensor& out) {
  return finish(context, arange<kEngine<kArangeOut>>(Scalar(0), end, Scalar(1), out), out);
}

Tensor& arange_start_out(KernelRuntimeContext& context, const Scalar& start, const Scalar& end,
                         const Scalar& step, Tensor& out) {
  return finish(context, arange<kEngine<kArangeStartOut>>(start, end, step, out), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
