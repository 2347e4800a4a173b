// The reduction engine: for each element of the result, fold a set of input elements.
//
// An operator is a Fold: a few functions on a State, one per compute type. The engine finds the
// dims, resizes, walks, and converts through load_block where a dtype is not the compute type.
// Elements are folded in the logical order of their indices.
#pragma once

#include <limits>
#include <optional>

#include "util/arith.h"
#include "util/block.h"
#include "util/tensor.h"

namespace gen_kernels {

// What is known while elements are folded. Which fields mean what is the fold's own.
template <class C>
struct State {
  C value;
  C other{};
  int64_t index = 0;
  int64_t seen = 0;  // Elements folded before, where a fold counts them.
};

// Folds values[i * step], i < n.
template <class C>
using Add = void (*)(State<C>& state, const C* values, ptrdiff_t step, size_t n);

// Ends a pass over all `count` elements. `extra` is the operator's own.
template <class C>
using End = void (*)(State<C>& state, size_t count, const void* extra);

template <class C>
struct Fold {
  C start;
  Add<C> add;
  End<C> end = nullptr;
  Add<C> add_again = nullptr;  // A second pass, if there.
  End<C> end_again = nullptr;
};

enum class Results { kValue, kIndex, kValueIndex, kValueOther };

// The index space of the results (operands: input, results) and that of one fold (input).
struct Reduction {
  Walk kept;
  Walk folded;
  size_t count = 1;
};

inline constexpr uint32_t kAllDims = UINT32_MAX;

// The set of dims in a list, bit by bit; none or an empty list means all. False for a dim out of
// range or named twice.
GEN_KERNELS_NOINLINE inline bool dim_set(const std::optional<IntArrayRef>& dims, size_t rank,
                                         uint32_t& set) {
  set = kAllDims;
  if (!dims.has_value() || dims->size() == 0) return true;
  set = 0;
  for (size_t i = 0; i < dims->size(); ++i) {
    int64_t dim = dims->data()[i];
    if (!wrap_dim(dim, rank) || ((set >> dim) & 1) != 0) return false;
    set |= uint32_t{1} << dim;
  }
  return true;
}

inline bool dim_set(int64_t dim, size_t rank, uint32_t& set) {
  const bool good = wrap_dim(dim, rank);
  set = good ? uint32_t{1} << dim : 0;
  return good;
}

// Resizes the results and lays the walks.
GEN_KERNELS_NOINLINE inline bool plan_reduction(Reduction& r, const Tensor& in, uint32_t dims,
                                                bool keepdim, Tensor* const* outs, size_t n) {
  Shape shape;
  for (size_t d = 0; d < rank(in); ++d) {
    const bool fold = ((dims >> d) & 1) != 0;
    if (fold) r.count *= size_at(in, d);
    if (!fold || keepdim) shape.push(fold ? 1 : in.size(static_cast<ssize_t>(d)));
  }
  r.kept.operands = n + 1;
  r.folded.operands = 1;
  r.kept.at[0] = const_cast<char*>(const_bytes(in));
  for (size_t k = 0; k < n; ++k) {
    if (!resize_out(*outs[k], shape)) return false;
    r.kept.at[k + 1] = mutable_bytes(*outs[k]);
  }
  size_t out_dim = shape.rank;
  for (size_t d = rank(in); d-- > 0;) {
    const bool fold = ((dims >> d) & 1) != 0;
    ptrdiff_t stride[kMaxOperands] = {stride_at(in, d) * in.element_size()};
    if (!fold || keepdim) {
      --out_dim;
      for (size_t k = 0; k < n; ++k) {
        stride[k + 1] = stride_at(*outs[k], out_dim) * outs[k]->element_size();
      }
    }
    add_axis(fold ? r.folded : r.kept, size_at(in, d), stride);
  }
  return true;
}

// Folds all elements of one result that begins at `from`.
template <TypeMask Mask, class C>
GEN_KERNELS_NOINLINE inline void fold_all(Walk& w, const char* from, ScalarType type, Add<C> add,
                                          State<C>& state) {
  if (w.empty) return;
  w.at[0] = const_cast<char*>(from);
  do {
    const ptrdiff_t step = w.step(0);
    if (Mask == bit(kScalarType<C>) || type == kScalarType<C>) {
      add(state, reinterpret_cast<const C*>(w.at[0]), step / ptrdiff_t{sizeof(C)}, w.row());
    } else {
      constexpr size_t kChunk = 16;
      C buffer[kChunk];
      const char* p = w.at[0];
      for (size_t left = w.row(); left > 0;) {
        const size_t n = left < kChunk ? left : kChunk;
        load_block<C, Mask>(buffer, p, step, type, n);
        add(state, buffer, 1, n);
        p += step * static_cast<ptrdiff_t>(n);
        left -= n;
      }
    }
  } while (next_row(w));
}

template <TypeMask Mask, class C>
GEN_KERNELS_NOINLINE inline void run_reduction(Reduction& r, const Fold<C>& fold, ScalarType from,
                                               ScalarType to, Results results, const void* extra) {
  Walk& w = r.kept;
  if (w.empty) return;
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      char* at[3];
      for (size_t k = 0; k < w.operands; ++k)
        at[k] = w.at[k] + w.step(k) * static_cast<ptrdiff_t>(i);
      State<C> state{fold.start};
      fold_all<Mask, C>(r.folded, at[0], from, fold.add, state);
      if (fold.end != nullptr) fold.end(state, r.count, extra);
      if (fold.add_again != nullptr) {
        fold_all<Mask, C>(r.folded, at[0], from, fold.add_again, state);
        fold.end_again(state, r.count, extra);
      }
      if (results == Results::kIndex) {
        *reinterpret_cast<int64_t*>(at[1]) = state.index;
        continue;
      }
      store_one<C, Mask>(at[1], state.value, to);
      if (results == Results::kValueIndex) *reinterpret_cast<int64_t*>(at[2]) = state.index;
      if (results == Results::kValueOther) store_one<C, Mask>(at[2], state.other, to);
    }
  } while (next_row(w));
}

// Calls f(Tag<C>{}) for the compute type of `type`; false when `type` is not in Mask.
template <TypeMask Mask, class F>
bool dispatch_compute(ScalarType type, F f) {
  using Int = IntCompute<Mask>;
  if (!contains(Mask, type)) return false;
  if constexpr ((Mask & kComputedIn<float>) != 0) {
    if (contains(kComputedIn<float>, type)) return f(Tag<float>{}), true;
  }
  if constexpr ((Mask & kComputedIn<double>) != 0) {
    if (contains(kComputedIn<double>, type)) return f(Tag<double>{}), true;
  }
  if constexpr ((Mask & kComputedIn<Int>) != 0) {
    if (contains(kComputedIn<Int>, type)) return f(Tag<Int>{}), true;
  }
  return false;
}

// The dtypes that reductions handle for `Op`.
template <const char* Op>
inline constexpr TypeMask kReduced = kSelected<Op> & RealHBBF16Types::mask;

// ---- Folds ----

// Sums in parts of 64, so that rounding errors grow 64 times slower than in one chain.
template <class C>
void add_sum(State<C>& state, const C* values, ptrdiff_t step, size_t n) {
  while (n > 0) {
    C part{};
    size_t k = n < 64 ? n : 64;
    n -= k;
    for (; k > 0; --k, values += step) part = wrapping_add(part, *values);
    state.value = wrapping_add(state.value, part);
  }
}

// Sums the squares of the distances from state.other.
template <class C>
void add_squares(State<C>& state, const C* values, ptrdiff_t step, size_t n) {
  while (n > 0) {
    C part{};
    size_t k = n < 64 ? n : 64;
    n -= k;
    for (; k > 0; --k, values += step) {
      const C distance = *values - state.other;
      part += distance * distance;
    }
    state.value += part;
  }
}

template <class C>
void end_mean(State<C>& state, size_t count, const void*) {
  state.value /= static_cast<C>(count);
}

}  // namespace gen_kernels
