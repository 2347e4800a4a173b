// The elementwise engine: unary (unary.h), binary and ternary operators with broadcasting
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
#include "util/broadcast.h"

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

// The element `bytes` after `p`.
template <class C>
inline const C* after(const C* p, ptrdiff_t bytes) {
  return reinterpret_cast<const C*>(reinterpret_cast<const char*>(p) + bytes);
}

// F::apply<C>(C a[, C b[, C c]]) over n elements.
template <class F, size_t N, class C>
void apply_block(const C* const* in, const ptrdiff_t* step, C* out, size_t n, const void*) {
  const C* a = in[0];
  const ptrdiff_t step_a = step[0];
  if constexpr (N == 1) {
    for (; n != 0; --n, a = after(a, step_a)) {
      *out++ = F::template apply<C>(*a);
    }
  } else {
    const C* b = in[1];
    const ptrdiff_t step_b = step[1];
    if constexpr (N == 2) {
      for (; n != 0; --n, a = after(a, step_a), b = after(b, step_b)) {
        *out++ = F::template apply<C>(*a, *b);
      }
    } else {
      const C* c = in[2];
      const ptrdiff_t step_c = step[2];
      for (; n != 0; --n, a = after(a, step_a), b = after(b, step_b), c = after(c, step_c)) {
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

enum Rule : unsigned {
  kNoRule = 0,
  kToFloat = 1,     // integer and Bool operands compute in Float (exp, true division)
  kBoolResult = 2,  // the result is Bool whatever the operands are (comparisons)
  kNarrow = 4,      // 0-d operands are rounded to the common dtype first
};

// Elements that are converted at a time: large enough to pay for the calls, small on the stack.
inline constexpr size_t kChunk = 16;

// Rounds n <= kChunk values to dtype `type`, of Mask.
template <class C, TypeMask Mask>
GEN_KERNELS_NOINLINE inline void round_block(C* values, ScalarType type, size_t n) {
  alignas(8) char narrow[kChunk * sizeof(C)];
  store_block<C, Mask>(narrow, values, type, n);
  load_block<C, Mask>(values, narrow, type_size(type), type, n);
}

// Runs `block` over a walk whose operands are all of type C.
template <class C>
GEN_KERNELS_NOINLINE inline void run_plain(Walk& w, Block<C> block, const void* extra) {
  do {
    const C* const in[kMaxOperands - 1] = {reinterpret_cast<const C*>(w.at[1]),
                                           reinterpret_cast<const C*>(w.at[2]),
                                           reinterpret_cast<const C*>(w.at[3])};
    block(in, w.stride[0] + 1, reinterpret_cast<C*>(w.at[0]), w.row(), extra);
  } while (next_row(w));
}

// Runs `block` over the walk; `common` is the operands' common dtype, computed in C.
template <TypeMask Mask, class C>
GEN_KERNELS_NOINLINE inline void run_walk(Walk& w, const Tensor& out, const Operand* in,
                                          ScalarType common, unsigned rules, Block<C> block,
                                          const void* extra) {
  // Only Half and BFloat16 are narrower than dtypes that promote to them.
  constexpr bool kHasHalf = std::is_same_v<C, float> && (Mask & kHalfMask) != 0;
  const size_t n_in = w.operands - 1;
  const C* arg[kMaxOperands];
  ptrdiff_t step[kMaxOperands];
  C buffer[kMaxOperands][kChunk];
  bool ready[kMaxOperands];  // the argument is in `buffer` for good
  size_t chunk = w.row();
  for (size_t k = 0; k < n_in; ++k) {
    arg[k] = buffer[k];
    ready[k] = in[k].scalar != nullptr;
    step[k] = w.step(k + 1);
    if (ready[k]) {
      buffer[k][0] = scalar_to<C>(*in[k].scalar);
      if (std::is_integral_v<C> && common == ScalarType::Bool) {
        buffer[k][0] = scalar_to<bool>(*in[k].scalar);  // 0.5 is true
      }
    } else if (in[k].tensor->scalar_type() != kScalarType<C> || common != kScalarType<C>) {
      step[k] = w.step(k + 1) == 0 ? 0 : static_cast<ptrdiff_t>(sizeof(C));
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
    // Integers become the common dtype, in its range or not.
    if (std::is_integral_v<C> || (rules & kNarrow) != 0) {
      round_block<C, Mask>(buffer[k], common, 1);
    }
  }
  const bool convert_out = out.scalar_type() != kScalarType<C>;
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
        } else if (!ready[k]) {
          load_block<C, Mask>(buffer[k], from, w.step(k + 1), in[k].tensor->scalar_type(),
                              step[k] != 0 ? n : 1);
          if (kHasHalf && in[k].tensor->scalar_type() != common) {
            round_block<C, Mask>(buffer[k], common, step[k] != 0 ? n : 1);
          }
        }
      }
      char* to = w.at[0] + static_cast<ptrdiff_t>(done) * w.step(0);
      C* dst = convert_out ? buffer[n_in] : reinterpret_cast<C*>(to);
      block(now, step, dst, n, extra);
      if (convert_out) {
        if (narrow_out) {
          round_block<C, Mask>(dst, common, n);
        }
        store_block<C, Mask>(to, dst, out.scalar_type(), n);
      }
    }
  } while (next_row(w));
}

// The C++ type when Mask is one dtype that computes in its own type, else void: then
// there is nothing to promote or convert, and the engine is a fraction of its size.
template <TypeMask Mask>
using PlainType =
    std::conditional_t<Mask == bit(ScalarType::Float), float,
                       std::conditional_t<Mask == bit(ScalarType::Double), double,
                                          std::conditional_t<Mask == bit(ScalarType::Long) ||
                                                                 Mask == bit(ScalarType::Int),
                                                             IntCompute<Mask>, void>>>;

// The block for C among an operator's blocks.
template <class C, TypeMask Mask>
inline Block<C> block_for(const Blocks<Mask>& blocks) {
  if constexpr (std::is_same_v<C, float>) {
    return blocks.f32;
  } else if constexpr (std::is_same_v<C, double>) {
    return blocks.f64;
  } else {
    return blocks.integer;
  }
}

// Picks the compute type of `common` and runs; false when the operator is not defined for it.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool run_blocks(Walk& w, const Tensor& out, const Operand* in,
                                            ScalarType common, unsigned rules,
                                            const Blocks<Mask>& blocks, const void* extra) {
  using Plain = PlainType<Mask>;
  using Int = IntCompute<Mask>;
  if constexpr (!std::is_void_v<Plain>) {
    const Block<Plain> block = block_for<Plain>(blocks);
    if (block == nullptr || common != kScalarType<Plain>) {
      return false;
    }
    if (!w.empty) {
      run_plain<Plain>(w, block, extra);
    }
    return true;
  }
  if constexpr (std::is_void_v<Plain> && (Mask & kComputedIn<float>) != 0) {
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
  if constexpr (std::is_void_v<Plain> && (Mask & kComputedIn<double>) != 0) {
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
  if constexpr (std::is_void_v<Plain> && (Mask & kComputedIn<Int>) != 0) {
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

// Whether the tensor is Bool, which it cannot be when the dtype is not selected.
template <TypeMask Mask>
inline bool is_bool(const Tensor& t) {
  return contains(Mask, ScalarType::Bool) && t.scalar_type() == ScalarType::Bool;
}

// scalar_fits() where Mask has a dtype that it matters for.
template <TypeMask Mask>
inline bool fits(const Scalar& s, ScalarType type) {
  if constexpr ((Mask & (kIntMask | bit(ScalarType::Half))) != 0) {
    return scalar_fits(s, type);
  }
  return true;
}

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

// elementwise() for one dtype. `rules` do not matter, but that integers do not become Float.
template <class C>
GEN_KERNELS_NOINLINE inline bool elementwise_plain(Tensor& out, const Operand* in, size_t n,
                                                   Block<C> block, const void* extra) {
  constexpr ScalarType type = kScalarType<C>;
  C number[kMaxOperands];
  Walk w;
  bool ok = out.scalar_type() == type && block != nullptr;
  for (size_t k = 0; k < n; ++k) {
    const Operand& o = in[k];
    ok = ok && (o.tensor != nullptr ? o.tensor->scalar_type() == type
                                    : is_floating(type) || !o.scalar->isFloatingPoint());
  }
  if (!ok || !plan_walk(w, out, in, n)) {
    return false;
  }
  for (size_t k = 0; k < n; ++k) {
    if (in[k].tensor == nullptr) {
      number[k] = scalar_to<C>(*in[k].scalar);
      w.at[k + 1] = reinterpret_cast<char*>(&number[k]);
    }
  }
  if (!w.empty) {
    run_plain<C>(w, block, extra);
  }
  return true;
}

// The whole operator: promote, resize, walk. `common` overrides the promoted dtype
// unless Undefined. False: a bad argument, and nothing is written.
template <TypeMask Mask>
GEN_KERNELS_NOINLINE inline bool elementwise_mixed(Tensor& out, const Operand* in, size_t n,
                                                   ScalarType common, unsigned rules,
                                                   const Blocks<Mask>& blocks, const void* extra) {
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

template <TypeMask Mask>
inline bool elementwise(Tensor& out, const Operand* in, size_t n, ScalarType common, unsigned rules,
                        const Blocks<Mask>& blocks, const void* extra = nullptr) {
  using C = PlainType<Mask>;
  if constexpr (std::is_void_v<C>) {
    return elementwise_mixed<Mask>(out, in, n, common, rules, blocks, extra);
  } else {
    return (std::is_floating_point_v<C> || (rules & kToFloat) == 0) &&
           elementwise_plain<C>(out, in, n, block_for<C>(blocks), extra);
  }
}

// An operator of two operands, F::apply<C>(a, b).
template <TypeMask Mask, class F, unsigned Classes = kAllBlocks>
inline bool binary(Tensor& out, const Operand& a, const Operand& b, unsigned rules = kNoRule) {
  const Operand in[2] = {a, b};
  return elementwise<Mask>(out, in, 2, ScalarType::Undefined, rules, kBlocks<F, 2, Mask, Classes>);
}

}  // namespace gen_kernels
