// int8 matrix products with requantisation: the engine of the convolutions and
// the linear layer.
//
//   out[row][o] = clamp(rescale(bias[o] + sum_k x[row][k] * w[o][k]) + zero)
//
// Four output channels by four rows at a time: 64 products for 8 loads and 16
// dot products, 2.67 MAC a cycle in the loop. Of a single row, sixteen channels:
// 64 products for 17 loads and 16 dot products, 1.94 MAC a cycle.
#pragma once

#include "corev/corev.h"
#include "corev/rescale.h"
#include "util/tensor.h"

namespace gen_kernels::corev {

// A product: `rows` of x and `channels` (at least 4) of w, each of `inner` bytes, a multiple of 4.
struct Product {
  const int8_t* x;
  const int8_t* w;
  const int32_t* bias;  // with the input offset times the sum of the weights
  const Four* fours;    // of channels_of(), or one that serves all channels
  bool uniform;         // one serves all
  int32_t rows;
  int32_t channels;
  int32_t inner;
  int8_t* out;
  int32_t out_stride;  // from a row to the next
  Finish finish;
  bool is_unsigned;  // x holds unsigned bytes
};

namespace internal {

// Sums of four channels and one row. Named members: arrays that an asm block writes stay in memory.
struct Sums {
  int32_t c0, c1, c2, c3;
};

// In asm blocks: load a word and step the pointer; add a dot product of four signed bytes, or of
// four unsigned by four signed.
#define LOAD(d, p, step) ".insn r 0x2b, 3, 0x02, %[" #d "], %[" #p "], %[" #step "]\n"
#define DOT(d, a, b) ".insn r 0x7b, 1, 0x54, %[" #d "], %[" #a "], %[" #b "]\n"
#define UDOT(d, a, b) ".insn r 0x7b, 1, 0x50, %[" #d "], %[" #a "], %[" #b "]\n"

// The sums of four channels and one row.
template <bool kUnsigned>
GEN_KERNELS_INLINE void dots_4x1(Sums& s, const int32_t* bias, const int8_t* w, const int8_t* x,
                                 int32_t stride, int32_t words) {
  s = {bias[0], bias[1], bias[2], bias[3]};
#if GEN_KERNELS_COREV
  const int32_t back = 4 - 3 * stride;
  uint32_t w0;
  uint32_t w1;
  uint32_t x0;
#define DOTS_4X1(DOT)                                                                         \
  asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(                                       \
                   n, 9) ".insn i 0x0b, 2, %[x0], %[x], 4\n" LOAD(w0, w, stride)              \
                   LOAD(w1, w, stride) DOT(s0, x0, w0) LOAD(w0, w, stride) DOT(s1, x0, w1)    \
                       LOAD(w1, w, back) DOT(s2, x0, w0) DOT(s3, x0, w1) GEN_KERNELS_LOOP_END \
               : [s0] "+&r"(s.c0), [s1] "+&r"(s.c1), [s2] "+&r"(s.c2), [s3] "+&r"(s.c3),      \
                 [w0] "=&r"(w0), [w1] "=&r"(w1), [x0] "=&r"(x0), [w] "+&r"(w), [x] "+&r"(x)   \
               : [n] "r"(words), [stride] "r"(stride), [back] "r"(back)                       \
               : "memory")
  if constexpr (kUnsigned) {
    DOTS_4X1(UDOT);
  } else {
    DOTS_4X1(DOT);
  }
#undef DOTS_4X1
#else
  int32_t* const sums[] = {&s.c0, &s.c1, &s.c2, &s.c3};
  for (int32_t i = 0; i < 4; ++i) {
    const int8_t* a = x;
    const int8_t* b = w + i * stride;
    for (int32_t k = 0; k < words; ++k) {
      const uint32_t left = load_word(a);
      const uint32_t right = load_word(b);
      *sums[i] = kUnsigned ? sdotusp_b(*sums[i], left, right) : sdotsp_b(*sums[i], left, right);
    }
  }
#endif
}

// The sums of sixteen channels and one row: four after four.
template <bool kUnsigned>
GEN_KERNELS_INLINE void dots_16x1(Sums& r0, Sums& r1, Sums& r2, Sums& r3, const int32_t* bias,
                                  const int8_t* w, const int8_t* x, int32_t stride, int32_t words) {
#if GEN_KERNELS_COREV
  const int32_t back = 4 - 15 * stride;
  uint32_t w0 = static_cast<uint32_t>(words);
  const int32_t* w1 = bias;
  uint32_t x0;
#define DOTS_16X1(DOT)                                                                             \
  asm volatile(                                                                                    \
      GEN_KERNELS_LOOP_BEGIN                                                                       \
      "lw %[s00], 0(%[w1])\n"                                                                      \
      "lw %[s01], 4(%[w1])\n"                                                                      \
      "lw %[s02], 8(%[w1])\n"                                                                      \
      "lw %[s03], 12(%[w1])\n"                                                                     \
      "lw %[s10], 16(%[w1])\n"                                                                     \
      "lw %[s11], 20(%[w1])\n"                                                                     \
      "lw %[s12], 24(%[w1])\n"                                                                     \
      "lw %[s13], 28(%[w1])\n"                                                                     \
      "lw %[s20], 32(%[w1])\n"                                                                     \
      "lw %[s21], 36(%[w1])\n"                                                                     \
      "lw %[s22], 40(%[w1])\n"                                                                     \
      "lw %[s23], 44(%[w1])\n"                                                                     \
      "lw %[s30], 48(%[w1])\n"                                                                     \
      "lw %[s31], 52(%[w1])\n"                                                                     \
      "lw %[s32], 56(%[w1])\n"                                                                     \
      "lw %[s33], 60(%[w1])\n" GEN_KERNELS_LOOP(w0, 33) ".insn i 0x0b, 2, %[x0], %[x], 4\n" LOAD(  \
          w0, w, stride) LOAD(w1, w, stride) DOT(s00, x0, w0) LOAD(w0, w, stride) DOT(s01, x0, w1) \
          LOAD(w1, w, stride) DOT(s02, x0, w0) LOAD(w0, w, stride) DOT(s03, x0, w1)                \
              LOAD(w1, w, stride) DOT(s10, x0, w0) LOAD(w0, w, stride) DOT(s11, x0, w1)            \
                  LOAD(w1, w, stride) DOT(s12, x0, w0) LOAD(w0, w, stride) DOT(s13, x0, w1)        \
                      LOAD(w1, w, stride) DOT(s20, x0, w0) LOAD(w0, w, stride) DOT(s21, x0, w1)    \
                          LOAD(w1, w, stride) DOT(s22, x0, w0) LOAD(w0, w, stride)                 \
                              DOT(s23, x0, w1) LOAD(w1, w, stride) DOT(s30, x0, w0)                \
                                  LOAD(w0, w, stride) DOT(s31, x0, w1) LOAD(w1, w, back)           \
                                      DOT(s32, x0, w0) DOT(s33, x0, w1) GEN_KERNELS_LOOP_END       \
      : [s00] "=&r"(r0.c0), [s01] "=&r"(r0.c1), [s02] "=&r"(r0.c2), [s03] "=&r"(r0.c3),            \
        [s10] "=&r"(r1.c0), [s11] "=&r"(r1.c1), [s12] "=&r"(r1.c2), [s13] "=&r"(r1.c3),            \
        [s20] "=&r"(r2.c0), [s21] "=&r"(r2.c1), [s22] "=&r"(r2.c2), [s23] "=&r"(r2.c3),            \
        [s30] "=&r"(r3.c0), [s31] "=&r"(r3.c1), [s32] "=&r"(r3.c2), [s33] "=&r"(r3.c3),            \
        [w0] "+&r"(w0), [w1] "+&r"(w1), [x0] "=&r"(x0), [w] "+&r"(w), [x] "+&r"(x)                 \
      : [stride] "r"(stride), [back] "r"(back)                                                     \
      : "memory")
  if constexpr (kUnsigned) {
    DOTS_16X1(UDOT);
  } else {
    DOTS_16X1(DOT);
  }
#undef DOTS_16X1
#else
  Sums* const fours[] = {&r0, &r1, &r2, &r3};
  for (int32_t i = 0; i < 4; ++i) {
    dots_4x1<kUnsigned>(*fours[i], bias + 4 * i, w + 4 * i * stride, x, stride, words);
  }
#endif
}

// The sums of four channels and four rows, from `words` words of each.
GEN_KERNELS_INLINE void dots_4x4(Sums& r0, Sums& r1, Sums& r2, Sums& r3, const int32_t* bias,
                                 const int8_t* w, const int8_t* x, int32_t stride, int32_t words) {
#if GEN_KERNELS_COREV
  // One pointer walks the four rows of an operand: three steps of a row, then back to the next
  // word.
  const int32_t back = 4 - 3 * stride;
  uint32_t w0 = static_cast<uint32_t>(words);
  const int32_t* w1 = bias;
  uint32_t w2;
  uint32_t w3;
  uint32_t x0;
  uint32_t x1;
#define COPY(d, a) "mv %[" #d "], %[" #a "]\n"
  asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      "lw %[s00], 0(%[w1])\n"
      "lw %[s10], 4(%[w1])\n"
      "lw %[s20], 8(%[w1])\n"
      "lw %[s30], 12(%[w1])\n" COPY(s01, s00) COPY(s02, s00) COPY(s03, s00) COPY(s11, s10)
          COPY(s12, s10) COPY(s13, s10) COPY(s21, s20) COPY(s22, s20) COPY(s23, s20) COPY(s31, s30)
              COPY(s32, s30) COPY(s33, s30) GEN_KERNELS_LOOP(w0, 24) LOAD(w0, w, stride)
                  LOAD(w1, w, stride) LOAD(w2, w, stride) LOAD(w3, w, back) LOAD(x0, x, stride)
                      LOAD(x1, x, stride) DOT(s00, x0, w0) DOT(s10, x0, w1) DOT(s20, x0, w2)
                          DOT(s30, x0, w3) LOAD(x0, x, stride) DOT(s01, x1, w0) DOT(s11, x1, w1)
                              DOT(s21, x1, w2) DOT(s31, x1, w3) LOAD(x1, x, back) DOT(s02, x0, w0)
                                  DOT(s12, x0, w1) DOT(s22, x0, w2) DOT(s32, x0, w3)
                                      DOT(s03, x1, w0) DOT(s13, x1, w1) DOT(s23, x1, w2)
                                          DOT(s33, x1, w3) GEN_KERNELS_LOOP_END
      : [s00] "=&r"(r0.c0), [s01] "=&r"(r1.c0), [s02] "=&r"(r2.c0), [s03] "=&r"(r3.c0),
        [s10] "=&r"(r0.c1), [s11] "=&r"(r1.c1), [s12] "=&r"(r2.c1), [s13] "=&r"(r3.c1),
        [s20] "=&r"(r0.c2), [s21] "=&r"(r1.c2), [s22] "=&r"(r2.c2), [s23] "=&r"(r3.c2),
        [s30] "=&r"(r0.c3), [s31] "=&r"(r1.c3), [s32] "=&r"(r2.c3), [s33] "=&r"(r3.c3),
        [w0] "+&r"(w0), [w1] "+&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3), [x0] "=&r"(x0),
        [x1] "=&r"(x1), [w] "+&r"(w), [x] "+&r"(x)
      : [stride] "r"(stride), [back] "r"(back)
      : "memory");
#undef COPY
#else
  Sums* const rows[] = {&r0, &r1, &r2, &r3};
  for (int32_t j = 0; j < 4; ++j) {
    dots_4x1<false>(*rows[j], bias, w, x + j * stride, stride, words);
  }
#endif
}

// Four results as the bytes of a word.
GEN_KERNELS_INLINE uint32_t pack_bytes(const Sums& s) {
  const auto word = static_cast<uint32_t>(s.c0);
  return packhi_b(packlo_b(word, static_cast<uint32_t>(s.c1), word), static_cast<uint32_t>(s.c3),
                  static_cast<uint32_t>(s.c2));
}

// The sums of four channels and one row to their bytes. A function: once a row is rare.
inline __attribute__((noinline)) uint32_t finish_four(int32_t c0, int32_t c1, int32_t c2,
                                                      int32_t c3, const Four& four,
                                                      const Finish& finish) {
  Sums s{};
  const Channel* k = four.channel;
  with_kind(four.kind, finish, [&](auto make) __attribute__((always_inline)) {
    s = {make(k[0])(c0), make(k[1])(c1), make(k[2])(c2), make(k[3])(c3)};
  });
  return pack_bytes(s);
}

// What tile() computes: four channels of four rows, or, where all channels have the same constants,
// sixteen channels of one row.
enum class Tile { kRows, kRow, kUnsignedRow };

// `groups` tiles, from each to the channels behind it.
inline __attribute__((noinline)) void tile(const Product& p, Tile what, const int8_t* x,
                                           const int8_t* w, const int32_t* bias, const Four* four,
                                           int8_t* out, int32_t groups) {
  const int32_t inner = p.inner;
  const bool rows = what == Tile::kRows;
  const int32_t channels = rows ? 4 : 16;
  const int32_t next = p.uniform ? 0 : 1;
  const int32_t down = rows ? p.out_stride : 4;
  const int32_t up = rows ? 4 - 3 * down : 4;
  do {
    Sums r0;
    Sums r1;
    Sums r2;
    Sums r3;
    if (rows) {
      dots_4x4(r0, r1, r2, r3, bias, w, x, inner, inner >> 2);
    } else if (what == Tile::kRow) {
      dots_16x1<false>(r0, r1, r2, r3, bias, w, x, inner, inner >> 2);
    } else {
      dots_16x1<true>(r0, r1, r2, r3, bias, w, x, inner, inner >> 2);
    }
    const Channel* k = four->channel;
    with_kind(four->kind, p.finish, [&](auto make) __attribute__((always_inline)) {
      in_place(make(k[0]), r0.c0, r1.c0, r2.c0, r3.c0);
      in_place(make(k[1]), r0.c1, r1.c1, r2.c1, r3.c1);
      in_place(make(k[2]), r0.c2, r1.c2, r2.c2, r3.c2);
      in_place(make(k[3]), r0.c3, r1.c3, r2.c3, r3.c3);
    });
    store_word(out, pack_bytes(r0), down);
    store_word(out, pack_bytes(r1), down);
    store_word(out, pack_bytes(r2), down);
    store_word(out, pack_bytes(r3), up);
    w += channels * inner;
    bias += channels;
    four += next;
  } while (--groups > 0);
}

// One row.
template <bool kUnsigned>
__attribute__((noinline)) void strip(const Product& p, const int8_t* x, const int8_t* w,
                                     const int32_t* bias, const Four* four, int8_t* out,
                                     int32_t groups) {
  const int32_t inner = p.inner;
  for (; groups > 0; --groups) {
    Sums s;
    dots_4x1<kUnsigned>(s, bias, w, x, inner, inner >> 2);
    store_word(out, finish_four(s.c0, s.c1, s.c2, s.c3, *four, p.finish));
    w += 4 * inner;
    bias += 4;
    four += p.uniform ? 0 : 1;
  }
}

// All rows, for some groups of four channels.
inline void multiply_rows(const Product& p, const int8_t* w, const int32_t* bias, const Four* four,
                          int8_t* out, int32_t groups) {
  const int8_t* x = p.x;
  int32_t left = p.rows;
  if (!p.is_unsigned) {
    for (; left >= 4; left -= 4) {
      tile(p, Tile::kRows, x, w, bias, four, out, groups);
      x += 4 * p.inner;
      out += 4 * p.out_stride;
    }
  }
  for (; left > 0; --left) {
    const int32_t wide = p.uniform ? groups >> 2 : 0;
    if (wide > 0) {
      tile(p, p.is_unsigned ? Tile::kUnsignedRow : Tile::kRow, x, w, bias, four, out, wide);
    }
    const int32_t done = 16 * wide;
    const auto rest = p.is_unsigned ? strip<true> : strip<false>;
    rest(p, x, w + done * p.inner, bias + done, four, out + done, groups - 4 * wide);
    x += p.inner;
    out += p.out_stride;
  }
}

}  // namespace internal

// The channels behind the last full four are computed with their predecessors once more.
inline void multiply(const Product& p) {
  const int32_t groups = p.channels >> 2;
  internal::multiply_rows(p, p.w, p.bias, p.fours, p.out, groups);
  if ((p.channels & 3) != 0) {
    const int32_t last = p.channels - 4;
    internal::multiply_rows(p, p.w + last * p.inner, p.bias + last,
                            p.fours + (p.uniform ? 0 : groups), p.out + last, 1);
  }
}

// The sum of `count` signed bytes.
inline int32_t sum_bytes(const int8_t* from, int32_t count) {
  int32_t sum = 0;
  constexpr uint32_t kOnes = 0x01010101U;
  int32_t words = count >> 2;
#if GEN_KERNELS_COREV
  if (words >= 2) {
    uint32_t a;
    uint32_t b;
    const int32_t pairs = words >> 1;
    asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 4)
                 ".insn i 0x0b, 2, %[a], %[from], 4\n"
                 ".insn i 0x0b, 2, %[b], %[from], 4\n"
                 ".insn r 0x7b, 1, 0x54, %[sum], %[a], %[ones]\n"
                 ".insn r 0x7b, 1, 0x54, %[sum], %[b], %[ones]\n" GEN_KERNELS_LOOP_END
                 : [a] "=&r"(a), [b] "=&r"(b), [from] "+&r"(from), [sum] "+&r"(sum)
                 : [n] "r"(pairs), [ones] "r"(kOnes)
                 : "memory");
    words &= 1;
  }
#endif
  for (; words > 0; --words) {
    sum = sdotsp_b(sum, load_word(from), kOnes);
  }
  for (count &= 3; count > 0; --count) {
    sum += *from++;
  }
  return sum;
}

// to[o] = bias[o] (null: 0) + offset times the sum of row o of w, for `count` rows of `inner`
// bytes, a multiple of 4.
inline void fold_offset(int32_t* to, const int32_t* bias, int32_t offset, const int8_t* w,
                        int32_t count, int32_t inner) {
  if (offset == 0) {
    for (int32_t o = 0; o < count; ++o) {
      to[o] = bias != nullptr ? bias[o] : 0;
    }
    return;
  }
  int32_t left = count;
#if GEN_KERNELS_COREV
  const int32_t back = 4 - 3 * inner;
  for (; left >= 4; left -= 4, w += 3 * inner, to += 4) {
    internal::Sums s{0, 0, 0, 0};
    uint32_t w0;
    uint32_t w1;
    asm volatile(
        GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 8) LOAD(w0, w, inner) LOAD(w1, w, inner)
            DOT(s0, w0, ones) LOAD(w0, w, inner) DOT(s1, w1, ones) LOAD(w1, w, back)
                DOT(s2, w0, ones) DOT(s3, w1, ones) GEN_KERNELS_LOOP_END
        : [s0] "+&r"(s.c0), [s1] "+&r"(s.c1), [s2] "+&r"(s.c2), [s3] "+&r"(s.c3), [w0] "=&r"(w0),
          [w1] "=&r"(w1), [w] "+&r"(w)
        : [n] "r"(inner >> 2), [inner] "r"(inner), [back] "r"(back), [ones] "r"(0x01010101U)
        : "memory");
    to[0] = offset * s.c0;
    to[1] = offset * s.c1;
    to[2] = offset * s.c2;
    to[3] = offset * s.c3;
  }
#endif
  for (; left > 0; --left, w += inner) {
    *to++ = offset * sum_bytes(w, inner);
  }
  to -= count;
  for (int32_t o = 0; bias != nullptr && o < count; ++o) {
    to[o] += bias[o];
  }
}

}  // namespace gen_kernels::corev
