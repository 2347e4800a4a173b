// Copies that may change dtype or memory order: clone, copy, _to_copy, the
// dim_order_ops and et_copy operators, and the plain copies of aliases.
#include "util/convert.h"

namespace gen_kernels {
namespace {

using ::executorch::aten::MemoryFormat;

constexpr char kAliasOut[] = "aten::alias_copy.out";
constexpr char kCloneOut[] = "aten::clone.out";
constexpr char kCopyOut[] = "aten::copy.out";
constexpr char kCopyInplace[] = "aten::copy_";
constexpr char kDetachOut[] = "aten::detach_copy.out";
constexpr char kLiftFreshOut[] = "aten::lift_fresh_copy.out";
constexpr char kToCopyOut[] = "aten::_to_copy.out";
constexpr char kCloneDimOrderOut[] = "dim_order_ops::_clone_dim_order.out";
constexpr char kToDimOrderCopyOut[] = "dim_order_ops::_to_dim_order_copy.out";
constexpr char kH2dOut[] = "et_copy::_h2d_copy.out";
constexpr char kD2hOut[] = "et_copy::_d2h_copy.out";

template <TypeMask Mask>
bool clone(const Tensor& self, Tensor& out) {
  return self.scalar_type() == out.scalar_type() && resize_out_like(out, self) &&
         copy_same_dtype<Mask>(self, out);
}

template <TypeMask Mask>
bool to_copy(const Tensor& self, Tensor& out) {
  return resize_out_like(out, self) && convert_into<Mask>(self, out);
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::MemoryFormat;
using ::executorch::aten::Tensor;

Tensor& alias_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, clone<kSelected<kAliasOut>>(self, out), out);
}

Tensor& detach_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, clone<kSelected<kDetachOut>>(self, out), out);
}

Tensor& lift_fresh_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, clone<kSelected<kLiftFreshOut>>(self, out), out);
}

Tensor& clone_out(KernelRuntimeContext& context, const Tensor& self, std::optional<MemoryFormat>,
                  Tensor& out) {
  return finish(context, clone<kSelected<kCloneOut>>(self, out), out);
}

Tensor& copy_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& src, bool,
                 Tensor& out) {
  const bool ok = self.scalar_type() == out.scalar_type() && resize_out_like(out, self) &&
                  convert_into<kSelected<kCopyOut>>(src, out);
  return finish(context, ok, out);
}

Tensor& copy_(KernelRuntimeContext& context, Tensor& self, const Tensor& src, bool) {
  return finish(context, convert_into<kSelected<kCopyInplace>>(src, self), self);
}

Tensor& to_copy_out(KernelRuntimeContext& context, const Tensor& self, bool,
                    std::optional<MemoryFormat>, Tensor& out) {
  return finish(context, to_copy<kSelected<kToCopyOut>>(self, out), out);
}

Tensor& _clone_dim_order_out(KernelRuntimeContext& context, const Tensor& self, bool,
                             std::optional<ArrayRef<int64_t>> dim_order, Tensor& out) {
  const bool ok =
      has_dim_order(out, rank(self), dim_order) && clone<kSelected<kCloneDimOrderOut>>(self, out);
  return finish(context, ok, out);
}

Tensor& _to_dim_order_copy_out(KernelRuntimeContext& context, const Tensor& self, bool,
                               std::optional<ArrayRef<int64_t>> dim_order, Tensor& out) {
  const bool ok = has_dim_order(out, rank(self), dim_order) &&
                  to_copy<kSelected<kToDimOrderCopyOut>>(self, out);
  return finish(context, ok, out);
}

// Host and device share memory here: both copies are clones.
Tensor& _h2d_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, clone<kSelected<kH2dOut>>(self, out), out);
}

Tensor& _d2h_copy_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  return finish(context, clone<kSelected<kD2hOut>>(self, out), out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
