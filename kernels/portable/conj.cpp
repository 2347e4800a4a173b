// _conj_physical: complex conjugates.
#include "util/index.h"

namespace gen_kernels {
namespace {

constexpr char kConjOut[] = "aten::_conj_physical.out";

// Negates the imaginary halves of n complex numbers.
template <class T>
void conjugate(const Tensor& out) {
  T* at = static_cast<T*>(out.mutable_data_ptr());
  for (size_t i = 0; i < numel(out); ++i) {
    at[2 * i + 1] = convert<T>(-convert<OpMath<T>>(at[2 * i + 1]));
  }
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

Tensor& _conj_physical_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  constexpr TypeMask mask = kSelected<kConjOut>;
  const bool ok = same_dtype<mask>(self, out) && resize_out_like(out, self);
  if (ok) {
    copy_view<mask>(view_of(out), view_of(self));
    if (contains(mask, ScalarType::ComplexFloat) && out.scalar_type() == ScalarType::ComplexFloat) {
      conjugate<float>(out);
    } else if (contains(mask, ScalarType::ComplexDouble) &&
               out.scalar_type() == ScalarType::ComplexDouble) {
      conjugate<double>(out);
    } else if (contains(mask, ScalarType::ComplexHalf) &&
               out.scalar_type() == ScalarType::ComplexHalf) {
      conjugate<Half>(out);
    }
  }
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
