// The elementwise engine: unary, binary and ternary operators with broadcasting
// and type promotion.
//
// An operator is a handful of `Block`s, one per compute type, that do n elements
// whose operands are already in that type. The engine resizes, promotes, walks
// the operands in the output's memory order, converts through small buffers
// where a dtype is not the compute type, and hands rows to the block directly
// where it is. Only the blocks differ between operators.
#pragma once

#include "util/arith.h"
#include "util/block.h"
#include "util/promote.h"

namespace gen_kernels {

// out[i] = op(in[0][i * step[0]], in[1][i * step[1]], ...) for i < n. `extra` is the operator's
// own.
template <class C>
using Block = void (*)(const C* const* in, const ptrdiff_t* step, C* out, size_t n,
                       const void* extra);

// The blocks of an operator; null where the operator is not defined.
template <TypeMask Mask>
struct Blocks {
  using Int = IntCompute<Mask>;
  Block<float> f32;
  Block<double> f64;
  Block<Int> integer;
};

enum BlockClass : unsigned { kIntBlocks = 1, kFloatBlocks = 2, kAllBlocks = 3 };

// F::apply<C>(C a[, C b[, C c]]) over n elements.
template <class F, size_t N, class C>
void apply_block(const C* const* in, const ptrdiff_t* step, C* out, size_t n, const void*) {
  const C* a = in[0];
  const ptrdiff_t step_a = step[0];
  if constexpr (N == 1) {
    for (; n != 0; --n, a += step_a) {
      *out++ = F::template apply<C>(*a);
    }
  } else {
    const C* b = in[1];
    const ptrdiff_t step_b = step[1];
    if constexpr (N == 2) {
      for (; n != 0; --n, a += step_a, b += step_b) {
        *out++ = F::template apply<C>(*a, *b);
      }
    } else {
      const C* c = in[2];
      const ptrdiff_t step_c = step[2];
      for (; n != 0; --n, a += step_a, b += step_b, c += step_c) {
        *out++ = F::template apply<C>(*a, *b, *c);
      }
    }
  }
}

namespace internal {
template <class F, size_t N, class C, TypeMask Mask, bool Defined>
constexpr Block<C> block_or_null() {
  // A dtype without its own compute type (Half) still needs the block of the type it computes in.
  if constexpr (Defined && (Mask & kComputedIn<C>) != 0) {
    return apply_block<F, N, C>;
  } else {
    return nullptr;
  }
}
}  // namespace internal

template <class F, size_t N, TypeMask Mask, unsigned Classes = kAllBlocks>
inline constexpr Blocks<Mask> kBlocks{
    internal::block_or_null<F, N, float, Mask, (Classes & kFloatBlocks) != 0>(),
    internal::block_or_null<F, N, double, Mask, (Classes & kFloatBlocks) != 0>(),
    internal::block_or_null<F, N, IntCompute<Mask>, Mask, (Classes & kIntBlocks) != 0>()};

// An operand: a tensor or a number.
struct Operand {
  const Tensor* tensor = nullptr;
  const Scalar* scalar = nullptr;

  Operand(const Tensor& t) : tensor(&t) {}  // NOLINT: implicit on purpose
  Operand(const Scalar& s) : scalar(&s) {}  // NOLINT: implicit on purpose
};

enum Rule : unsigned {
  kNoRule = 0,
  kToFloat = 1,     // integer and Bool operands compute in Float (exp, true division)
  kBoolResult = 2,  // the result is Bool whatever the operands are (comparisons)
  kNarrow = 4,      // 0-d operands are rounded to the common dtype first
};

GEN_KERNELS_NOINLINE inline ScalarType result_type(const Operand* in, size_t n) {
  ResultType r;
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor != nullptr) {
      r.add(*in[k].tensor);
    } else {
      r.add(*in[k].scalar);
    }
  }
  return r.get();
}

// Lays the walk over `out` in its memory order, operands broadcast to it; operand 0
// of the walk is `out`. False when an operand does not broadcast to its shape.
GEN_KERNELS_NOINLINE inline bool lay_walk(Walk& w, const Tensor& out, const Operand* in, size_t n) {
  w.operands = n + 1;
  w.at[0] = mutable_bytes(out);
  for (size_t k = 0; k < n; ++k) {
    const Tensor* t = in[k].tensor;
    w.at[k + 1] = t == nullptr ? nullptr : const_cast<char*>(const_bytes(*t));
    if (t != nullptr && rank(*t) > rank(out)) {
      return false;
    }
  }
  for (size_t i = rank(out); i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    ptrdiff_t stride[kMaxOperands];
    stride[0] = stride_at(out, d) * out.element_size();
    for (size_t k = 0; k < n; ++k) {
      const Tensor* t = in[k].tensor;
      stride[k + 1] = 0;
      if (t != nullptr && d + rank(*t) >= rank(out)) {
        const size_t td = d + rank(*t) - rank(out);
        if (size_at(*t, td) == size_at(out, d)) {
          stride[k + 1] = stride_at(*t, td) * t->element_size();
        } else if (size_at(*t, td) != 1) {
          return false;
        }
      }
    }
    add_axis(w, size_at(out, d), stride);
  }
  return true;
}

// Resizes `out` to the operands' broadcast shape and lays the walk over it.
GEN_KERNELS_NOINLINE inline bool plan_walk(Walk& w, Tensor& out, const Operand* in, size_t n) {
  Shape shape;
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor != nullptr && !broadcast_into(shape, in[k].tensor->sizes())) {
      return false;
    }
  }
  return resize_out(out, shape) && lay_walk(w, out, in, n);
}

// Elements that are converted at a time: large enough to pay for the calls, small on the stack.
inline constexpr size_t kChunk = 16;

// Runs `block` over the walk; `common` is the operands' common dtype, computed in C.
template <TypeMask Mask, class C>
GEN_KERNELS_NOINLINE inline void run_walk(Walk& w, const Tensor& out, const Operand* in,
                                          ScalarType common, unsigned rules, Block<C> block,
                                          const void* extra) {
  constexpr bool mixed = Mask != bit(kScalarType<C>);
  const size_t n_in = w.operands - 1;
  const C* arg[kMaxOperands];
  ptrdiff_t step[kMaxOperands];
  C buffer[kMaxOperands][mixed ? kChunk : 1];
  bool ready[kMaxOperands];  // the argument is in `buffer` for good
  size_t chunk = w.row();
  for (size_t k = 0; k < n_in; ++k) {
    arg[k] = buffer[k];
    ready[k] = in[k].scalar != nullptr;
    step[k] = w.step(k + 1) / static_cast<ptrdiff_t>(sizeof(C));
    if (ready[k]) {
      buffer[k][0] = scalar_to<C>(*in[k].scalar);
    } else if (mixed &&
               (in[k].tensor->scalar_type() != kScalarType<C> || common != kScalarType<C>)) {
      step[k] = w.step(k + 1) != 0;
      chunk = kChunk;
      ready[k] = in[k].tensor->dim() == 0;
      if (ready[k]) {
        load_block<C, Mask>(buffer[k], w.at[k + 1], 0, in[k].tensor->scalar_type(), 1);
      } else {
        continue;
      }
    } else {
      arg[k] = nullptr;
      continue;
    }
    // Comparing an integer tensor with a number is exact, even out of the dtype's range.
    const bool exact = in[k].scalar != nullptr && (rules & kBoolResult) != 0;
    if (mixed && (std::is_integral_v<C> ? !exact : (rules & kNarrow) != 0)) {
      alignas(8) char narrow[8];
      store_block<C, Mask>(narrow, buffer[k], common, 1);
      load_block<C, Mask>(buffer[k], narrow, 0, common, 1);
    }
  }
  const bool convert_out = mixed && out.scalar_type() != kScalarType<C>;
  if (convert_out) {
    chunk = kChunk;
  }
  // Blocks write elements side by side: where they are apart in `out` (a part of a tensor), one by
  // one.
  if (w.step(0) != static_cast<ptrdiff_t>(type_size(out.scalar_type()))) {
    chunk = 1;
  }
  // A wider output than the common dtype still gets values of the common dtype.
  const bool narrow_out =
      common != kScalarType<C> && common != out.scalar_type() && (rules & kBoolResult) == 0;
  do {
    for (size_t done = 0; done < w.row(); done += chunk) {
      const size_t n = w.row() - done < chunk ? w.row() - done : chunk;
      const C* now[kMaxOperands];
      for (size_t k = 0; k < n_in; ++k) {
        const char* from = w.at[k + 1] + static_cast<ptrdiff_t>(done) * w.step(k + 1);
        now[k] = arg[k];
        if (arg[k] == nullptr) {
          now[k] = reinterpret_cast<const C*>(from);
        } else if (mixed && !ready[k]) {
          load_block<C, Mask>(buffer[k], from, w.step(k + 1), in[k].tensor->scalar_type(),
                              step[k] != 0 ? n : 1);
        }
      }
      char* to = w.at[0] + static_cast<ptrdiff_t>(done) * w.step(0);
      C* dst = convert_out ? buffer[n_in] : reinterpret_cast<C*>(to);
      block(now, step, dst, n, extra);
      if (convert_out) {
        if (narrow_out) {
          alignas(8) char narrow[kChunk * sizeof(C)];
          store_block<C, Mask>(narrow, dst, common, n);
          load_block<C, Mask>(dst, narrow, type_size(common), common, n);
        }
        store_block<C, Mask>(to, dst, out.scalar_type(), n);
      }
    }
  } while (next_row(w));
}

// Picks the compute type of `common` and runs; false when the operator is not defined for it.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool run_blocks(Walk& w, const Tensor& out, const Operand* in,
                                            ScalarType common, unsigned rules,
                                            const Blocks<Mask>& blocks, const void* extra) {
  using Int = IntCompute<Mask>;
  if constexpr ((Mask & kComputedIn<float>) != 0) {
    if (contains(Mask & kComputedIn<float>, common)) {
      if (blocks.f32 == nullptr) {
        return false;
      }
      if (!w.empty) {
        run_walk<Mask, float>(w, out, in, common, rules, blocks.f32, extra);
      }
      return true;
    }
  }
  if constexpr ((Mask & kComputedIn<double>) != 0) {
    if (contains(Mask & kComputedIn<double>, common)) {
      if (blocks.f64 == nullptr) {
        return false;
      }
      if (!w.empty) {
        run_walk<Mask, double>(w, out, in, common, rules, blocks.f64, extra);
      }
      return true;
    }
  }
  if constexpr ((Mask & kComputedIn<Int>) != 0) {
    if (contains(Mask & kComputedIn<Int>, common)) {
      if (blocks.integer == nullptr) {
        return false;
      }
      if (!w.empty) {
        run_walk<Mask, Int>(w, out, in, common, rules, blocks.integer, extra);
      }
      return true;
    }
  }
  return false;
}

// The dtypes that the engine handles for `Op`.
template <const char* Op>
inline constexpr TypeMask kEngine = kSelected<Op> & kAllMask;

// True when the operands are all of dtypes in Mask, and `common` (or the dtype it
// becomes by `rules`) may be stored in `out`.
GEN_KERNELS_NOINLINE inline bool check_types(TypeMask mask, const Tensor& out, const Operand* in,
                                             size_t n, ScalarType common, unsigned rules) {
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor != nullptr && !contains(mask, in[k].tensor->scalar_type())) {
      return false;
    }
  }
  return contains(mask, out.scalar_type()) &&
         casts_to((rules & kBoolResult) != 0 ? ScalarType::Bool : common, out.scalar_type());
}

// The whole operator: promote, resize, walk. `common` overrides the promoted dtype
// unless Undefined. False: a bad argument, and nothing is written.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool elementwise(Tensor& out, const Operand* in, size_t n,
                                             ScalarType common, unsigned rules,
                                             const Blocks<Mask>& blocks,
                                             const void* extra = nullptr) {
  if (common == ScalarType::Undefined) {
    common = result_type(in, n);
  }
  if ((rules & kToFloat) != 0 && !is_floating(common) && common != ScalarType::Undefined) {
    common = ScalarType::Float;
  }
  Walk w;
  return check_types(Mask, out, in, n, common, rules) && plan_walk(w, out, in, n) &&
         run_blocks<Mask>(w, out, in, common, rules, blocks, extra);
}

// An operator of one tensor, which must have the layout that `out` gets.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool unary(Tensor& out, const Tensor& in, unsigned rules,
                                       const Blocks<Mask>& blocks, const void* extra = nullptr) {
  if constexpr (Mask == bit(ScalarType::Float)) {
    if (in.scalar_type() != ScalarType::Float || out.scalar_type() != ScalarType::Float ||
        !resize_out_like(out, in) || !same_layout(out, in)) {
      return false;
    }
    const float* from = const_data<float>(in);
    const ptrdiff_t step = 1;
    blocks.f32(&from, &step, mutable_data<float>(out), numel(out), extra);
    return true;
  } else {
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
}

// An operator of two operands, F::apply<C>(a, b).
template <TypeMask Mask, class F, unsigned Classes = kAllBlocks>
inline bool binary(Tensor& out, const Operand& a, const Operand& b, unsigned rules = kNoRule) {
  const Operand in[2] = {a, b};
  return elementwise<Mask>(out, in, 2, ScalarType::Undefined, rules, kBlocks<F, 2, Mask, Classes>);
}

// ---- Functions of one float or double ----

namespace internal {
// Applies the function that `extra` points to.
template <class C>
inline void math_block(const C* const* in, const ptrdiff_t* step, C* out, size_t n,
                       const void* extra) {
  C (*const function)(C) = *static_cast<C (*const*)(C)>(extra);
  const C* a = in[0];
  for (; n != 0; --n, a += step[0]) {
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
