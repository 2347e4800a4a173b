// Boxed operators on tensors that come with the runtime: sizes and numbers read
// from tensors, et_view and et_copy_index. Stack: the operands, then the result.
#include <executorch/runtime/core/evalue.h>

#include "util/block.h"
#include "util/tensor.h"

namespace gen_kernels {
namespace prim {

using ::executorch::runtime::EValue;
using ::executorch::runtime::Span;

namespace {

GEN_KERNELS_NOINLINE bool check(KernelRuntimeContext& context, bool ok,
                                Error error = Error::InvalidArgument) {
  if (!ok) {
    context.fail(error);
  }
  return ok;
}

bool takes_tensor(KernelRuntimeContext& context, Span<EValue*> stack, size_t values) {
  return check(context, stack.size() >= values && stack[0]->isTensor(), Error::InvalidType);
}

}  // namespace

// aten::sym_size.int(Tensor self, int dim) -> SymInt
void sym_size_int(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (!takes_tensor(context, stack, 3) || !check(context, stack[1]->isInt(), Error::InvalidType)) {
    return;
  }
  const Tensor self = stack[0]->toTensor();
  int64_t dim = stack[1]->toInt();
  if (check(context, self.dim() > 0 && wrap_dim(dim, rank(self)))) {
    *stack[2] = EValue(static_cast<int64_t>(self.sizes().data()[dim]));
  }
}

// aten::sym_numel(Tensor self) -> SymInt
void sym_numel(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (takes_tensor(context, stack, 2)) {
    *stack[1] = EValue(static_cast<int64_t>(stack[0]->toTensor().numel()));
  }
}

// aten::_local_scalar_dense(Tensor self) -> Scalar: the one element as a number.
void local_scalar_dense(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (!takes_tensor(context, stack, 2)) {
    return;
  }
  const Tensor self = stack[0]->toTensor();
  const ScalarType type = self.scalar_type();
  if (!check(context, self.numel() == 1 && contains(kAllMask, type))) {
    return;
  }
  const void* at = self.const_data_ptr();
  if (is_floating(type)) {
    *stack[1] = EValue(load_one<double, kAllMask>(at, type));
  } else if (type == ScalarType::Bool) {
    *stack[1] = EValue(*static_cast<const bool*>(at));
  } else {
    *stack[1] = EValue(load_one<int64_t, kAllMask>(at, type));
  }
}

// executorch_prim::et_view.default(Tensor self, int[] size) -> Tensor: the result
// gets the sizes, one of which may be -1, and shares the memory of `self`.
void et_view_default(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (!takes_tensor(context, stack, 3) ||
      !check(context, stack[1]->isIntList() && stack[2]->isTensor(), Error::InvalidType)) {
    return;
  }
  const Tensor self = stack[0]->toTensor();
  Tensor out = stack[2]->toTensor();
  const IntArrayRef size = stack[1]->toIntList();
  Shape shape;
  if (!check(context, view_shape(shape, size, numel(self)) &&
                          self.scalar_type() == out.scalar_type() && resize_out(out, shape))) {
    return;
  }
  out.unsafeGetTensorImpl()->set_data(self.mutable_data_ptr());
}

// executorch_prim::et_copy_index.tensor(Tensor(a!) copy_to, Tensor copy_from, int index) -> ():
// copy_to[index] = copy_from, where copy_to grows by one slice a step of a loop.
void et_copy_index_tensor(KernelRuntimeContext& context, Span<EValue*> stack) {
  if (!takes_tensor(context, stack, 3) ||
      !check(context, stack[1]->isTensor() && stack[2]->isInt(), Error::InvalidType)) {
    return;
  }
  Tensor to = stack[0]->toTensor();
  const Tensor from = stack[1]->toTensor();
  const int64_t index = stack[2]->toInt();
  Shape shape;
  bool ok = index >= 0 && index < INT32_MAX && to.scalar_type() == from.scalar_type() &&
            rank(to) == rank(from) + 1 && shape.push(index + 1);
  for (size_t d = 0; ok && d < rank(from); ++d) {
    ok = shape.push(from.sizes().data()[d]);
  }
  if (!check(context, ok)) {
    return;
  }
  // A tensor of fixed size is as large as it gets from the start.
  if (!resize_out(to, shape)) {
    shape.sizes[0] = to.sizes().data()[0];
    if (!check(context,
               index < shape.sizes[0] && std::memcmp(shape.sizes, to.sizes().data(),
                                                     shape.rank * sizeof(SizesType)) == 0)) {
      return;
    }
  }
  if (from.nbytes() != 0) {
    std::memcpy(mutable_bytes(to) + static_cast<size_t>(index) * from.nbytes(), const_bytes(from),
                from.nbytes());
  }
}

}  // namespace prim
}  // namespace gen_kernels
