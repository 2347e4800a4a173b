// Functions of one floating-point number: exp, log, trigonometry, sigmoid, erf, ...
// Integers and Bool compute in Float.
#include "util/fmath.h"
#include "util/unary.h"

namespace gen_kernels {
namespace {

template <class C>
C rsqrt(C a) {
  return C{1} / math_sqrt(a);
}

template <class C>
C reciprocal(C a) {
  return C{1} / a;
}

}  // namespace
}  // namespace gen_kernels

// Defines <name>_out, out = function(self). A macro, for the function is an overload set.
#define GEN_KERNELS_UNARY_MATH(name, function)                                           \
  Tensor& name##_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {   \
    static constexpr char op[] = "aten::" #name ".out";                                  \
    return finish(context, unary_math<kEngine<op>>(out, self, function, function), out); \
  }

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

GEN_KERNELS_UNARY_MATH(acos, std::acos)
GEN_KERNELS_UNARY_MATH(acosh, std::acosh)
GEN_KERNELS_UNARY_MATH(asin, std::asin)
GEN_KERNELS_UNARY_MATH(asinh, std::asinh)
GEN_KERNELS_UNARY_MATH(atan, std::atan)
GEN_KERNELS_UNARY_MATH(atanh, std::atanh)
GEN_KERNELS_UNARY_MATH(cos, std::cos)
GEN_KERNELS_UNARY_MATH(cosh, std::cosh)
GEN_KERNELS_UNARY_MATH(erf, std::erf)
GEN_KERNELS_UNARY_MATH(exp, math_exp)
GEN_KERNELS_UNARY_MATH(expm1, std::expm1)
GEN_KERNELS_UNARY_MATH(log, math_log)
GEN_KERNELS_UNARY_MATH(log10, std::log10)
GEN_KERNELS_UNARY_MATH(log1p, std::log1p)
GEN_KERNELS_UNARY_MATH(log2, std::log2)
GEN_KERNELS_UNARY_MATH(reciprocal, ::gen_kernels::reciprocal)
GEN_KERNELS_UNARY_MATH(rsqrt, ::gen_kernels::rsqrt)
GEN_KERNELS_UNARY_MATH(sigmoid, math_sigmoid)
GEN_KERNELS_UNARY_MATH(sin, std::sin)
GEN_KERNELS_UNARY_MATH(sinh, std::sinh)
GEN_KERNELS_UNARY_MATH(sqrt, math_sqrt)
GEN_KERNELS_UNARY_MATH(tan, std::tan)
GEN_KERNELS_UNARY_MATH(tanh, math_tanh)

}  // namespace native
}  // namespace executor
}  // namespace torch
