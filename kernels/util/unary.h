// Operators of one tensor, by the elementwise engine.
#pragma once

#include "util/elementwise.h"

namespace gen_kernels {

// unary() for one dtype.
template <class C>
GEN_KERNELS_NOINLINE inline bool unary_plain(Tensor& out, const Tensor& in, Block<C> block,
                                             const void* extra) {
  if (in.scalar_type() != kScalarType<C> || out.scalar_type() != kScalarType<C> ||
      !resize_out_like(out, in) || !same_layout(out, in)) {
    return false;
  }
  const C* from = const_data<C>(in);
  const ptrdiff_t step = sizeof(C);
  block(&from, &step, mutable_data<C>(out), numel(out), extra);
  return true;
}

// unary() for several dtypes.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool unary_mixed(Tensor& out, const Tensor& in, unsigned rules,
                                             const Blocks<Mask>& blocks, const void* extra) {
  ScalarType common = in.scalar_type();
  if ((rules & kToFloat) != 0 && !is_floating(common)) {
    common = ScalarType::Float;
  }
  const Operand operand = in;
  if (!check_types(Mask, out, &operand, 1, common, rules) || !resize_out_like(out, in) ||
      !same_layout(out, in)) {
    return false;
  }
  Walk w;
  w.operands = 2;
  w.at[0] = mutable_bytes(out);
  w.at[1] = const_cast<char*>(const_bytes(in));
  const ptrdiff_t stride[2] = {out.element_size(), in.element_size()};
  add_axis(w, numel(out), stride);
  return run_blocks<Mask>(w, out, &operand, common, rules, blocks, extra);
}

// An operator of one tensor, which must have the layout that `out` gets.
template <TypeMask Mask>
inline bool unary(Tensor& out, const Tensor& in, unsigned rules, const Blocks<Mask>& blocks,
                  const void* extra = nullptr) {
  using C = PlainType<Mask>;
  if constexpr (std::is_void_v<C>) {
    return unary_mixed<Mask>(out, in, rules, blocks, extra);
  } else {
    const Block<C> block = block_for<C>(blocks);
    return block != nullptr && (std::is_floating_point_v<C> || (rules & kToFloat) == 0) &&
           unary_plain<C>(out, in, block, extra);
  }
}

// ---- Functions of one float or double ----

namespace internal {
// Applies the function that `extra` points to.
template <class C>
inline void math_block(const C* const* in, const ptrdiff_t* step, C* out, size_t n,
                       const void* extra) {
  C (*const function)(C) = *static_cast<C (*const*)(C)>(extra);
  const C* a = in[0];
  for (; n != 0; --n, a = after(a, step[0])) {
    *out++ = function(*a);
  }
}
}  // namespace internal

// out = f(in) for floating dtypes, integers and Bool as Float. Each operator costs its call and
// `f`.
template <TypeMask Mask>
inline bool unary_math(Tensor& out, const Tensor& in, float (*f32)(float),
                       [[maybe_unused]] double (*f64)(double)) {
  constexpr bool has_double = (Mask & kComputedIn<double>) != 0;
  static constexpr Blocks<Mask> blocks{
      internal::math_block<float>, has_double ? internal::math_block<double> : nullptr, nullptr};
  const void* extra = &f32;
  double (*const wide)(double) = has_double ? f64 : nullptr;
  if (has_double && in.scalar_type() == ScalarType::Double) {
    extra = &wide;
  }
  return unary<Mask>(out, in, kToFloat, blocks, extra);
}

}  // namespace gen_kernels
