// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: transpose, pad. Bytes by words, words by post-increment loads;
// elements of two or eight bytes take the portable copy.
#include "cortex_m/layout.h"

#include "corev/corev.h"

namespace gen_kernels::corev {
namespace {

// Copies `count` bytes that lie `step` apart to bytes that follow each other.
void gather(int8_t* to, const int8_t* from, int32_t step, int32_t count) {
  int32_t words = count >> 2;
#if GEN_KERNELS_COREV
  if (words > 0) {
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t d;
    asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 7)
                 ".insn r 0x2b, 3, 0x08, %[a], %[from], %[step]\n"
                 ".insn r 0x2b, 3, 0x08, %[b], %[from], %[step]\n"
                 ".insn r 0x2b, 3, 0x08, %[c], %[from], %[step]\n"
                 ".insn r 0x2b, 3, 0x08, %[d], %[from], %[step]\n"
                 ".insn r 0x7b, 1, 0x7c, %[a], %[b], %[a]\n"
                 ".insn r 0x7b, 1, 0x7d, %[a], %[d], %[c]\n"
                 ".insn s 0x2b, 2, %[a], 4(%[to])\n" GEN_KERNELS_LOOP_END
                 : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [from] "+&r"(from),
                   [to] "+&r"(to)
                 : [n] "r"(words), [step] "r"(step)
                 : "memory");
    words = 0;
  }
#endif
  for (; words > 0; --words) {
    const uint32_t a = load_byte(from, step);
    const uint32_t b = load_byte(from, step);
    const uint32_t c = load_byte(from, step);
    const uint32_t d = load_byte(from, step);
    store_word(to, packhi_b(packlo_b(0, b, a), d, c));
  }
  for (count &= 3; count > 0; --count) {
    *to++ = static_cast<int8_t>(load_byte(from, step));
  }
}

void copy_rows(Walk& w, size_t size) {
  const bool bytes = size == 1 && w.step(0) == 1;
  if (!bytes && size != 4) {
    cortex_m::copy_rows(w, size);
    return;
  }
  GEN_KERNELS_PATH("words");
  if (w.empty) {
    return;
  }
  const auto count = static_cast<int32_t>(w.row());
  const auto to_step = static_cast<int32_t>(w.step(0));
  const auto from_step = static_cast<int32_t>(w.step(1));
  do {
    auto* to = reinterpret_cast<int8_t*>(w.at[0]);
    const auto* from = reinterpret_cast<const int8_t*>(w.at[1]);
    if (!bytes) {
      for (int32_t i = count; i > 0; --i) {
        store_word(to, load_word(from, from_step), to_step);
      }
    } else if (from_step == 1) {
      copy(to, from, count);
    } else {
      gather(to, from, from_step, count);
    }
  } while (next_row(w));
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;

Tensor& transpose_out(KernelRuntimeContext& context, const Tensor& input, ArrayRef<int64_t> perm,
                      Tensor& out) {
  Walk w;
  if (!cortex_m::prepare_transpose(w, input, perm, out)) {
    return fail(context, out);
  }
  copy_rows(w, element_size(out));
  return out;
}

Tensor& pad_out(KernelRuntimeContext& context, const Tensor& input, ArrayRef<int64_t> pre_pad,
                ArrayRef<int64_t> post_pad, int64_t pad_value, Tensor& out) {
  Walk w;
  if (!cortex_m::prepare_pad(w, input, pre_pad, post_pad, out)) {
    return fail(context, out);
  }
  size_t copied = 1;
  for (size_t axis = 0; axis < w.axes; ++axis) {
    copied *= w.size[axis];
  }
  if (w.empty || copied != numel(out)) {
    fill(mutable_data<int8_t>(out), static_cast<int32_t>(pad_value & 0xff),
         static_cast<int32_t>(numel(out)));
  }
  copy_rows(w, 1);
  return out;
}

}  // namespace gen_kernels::corev::native
