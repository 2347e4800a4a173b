// int8 matrix products with requantisation: the engine of the convolutions and
// the linear layer.
//
//   out[row][o] = clamp(rescale(bias[o] + sum_k x[row][k] * w[o][k]) + zero)
//
// Four output channels by four rows at a time: 64 products for 8 loads and 16
// dot products, 2.67 MAC a cycle in the loop. Of a single row, sixteen channels:
// 64 products for 17 loads and 16 dot products, 1.94 MAC a cycle.
#pragma once

#include <cstddef>

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
enum class Tile : int32_t { kRows, kRow, kUnsignedRow };

// Tiles, from each to the channels behind it; what does not fit the registers.
struct Tiles {
  Tile what;
  const int8_t* x;
  const int8_t* w;
  int32_t inner;
  const int32_t* bias;
  const Four* four;
  int32_t next;  // bytes, from `four` to the next tile's
  int8_t* out;
  int32_t down;       // from one of a tile's four words of results to the next
  int32_t up;         // from the last to the next tile's first
  const int8_t* end;  // of the weights
  int32_t least;
  int32_t most;
};

#if GEN_KERNELS_COREV
// Sixteen sums, six operands and temporaries, five pointers and steps: there is one register to
// spare, so that this is one asm block from the first product to the last result.
// Where members of Tiles are.
#define TILE_AT_what "0"
#define TILE_AT_x "4"
#define TILE_AT_w "8"
#define TILE_AT_inner "12"
#define TILE_AT_bias "16"
#define TILE_AT_four "20"
#define TILE_AT_next "24"
#define TILE_AT_out "28"
#define TILE_AT_down "32"
#define TILE_AT_up "36"
#define TILE_AT_end "40"
#define TILE_AT_least "44"
#define TILE_AT_most "48"
#define TILE_GET(d, name) "lw %[" d "], " TILE_AT_##name "+%[tiles]\n"
#define TILE_PUT(d, name) "sw %[" d "], " TILE_AT_##name "+%[tiles]\n"
#define TILE_LOAD(d, p, step) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", d, p, step)
#define TILE_DOT(insn, d, x, w) GEN_KERNELS_ASM(insn, d, x, w)
#define TILE_SIGNED_DOT ".insn r 0x7b, 1, 0x54,"
#define TILE_UNSIGNED_DOT ".insn r 0x7b, 1, 0x50,"
#define TILE_COPY(d, x) "mv %[" d "], %[" x "]\n"
#define TILE_WORD(d, p, at) "lw %[" d "], " #at "(%[" p "])\n"
#define TILE_ROW(x, s0, s1, s2, s3)         \
  TILE_DOT(TILE_SIGNED_DOT, s0, x, "limit") \
  TILE_DOT(TILE_SIGNED_DOT, s1, x, "a")     \
  TILE_DOT(TILE_SIGNED_DOT, s2, x, "b") TILE_DOT(TILE_SIGNED_DOT, s3, x, "c")
// Two channels' words in turn: each is loaded while the other is used.
#define TILE_TWO(DOT, s0, s1, last) \
  TILE_DOT(DOT, s0, "t", "limit")   \
  TILE_LOAD("limit", "w", "stride") TILE_DOT(DOT, s1, "t", "a") TILE_LOAD("a", "w", last)
#define TILE_SIXTEEN(DOT)                                                                   \
  GEN_KERNELS_LOOP(b, 33)                                                                   \
  ".insn i 0x0b, 2, %[t], %[x], 4\n" TILE_LOAD("limit", "w", "stride")                      \
      TILE_LOAD("a", "w", "stride") TILE_TWO(DOT, "s00", "s10", "stride")                   \
          TILE_TWO(DOT, "s20", "s30", "stride") TILE_TWO(DOT, "s01", "s11", "stride")       \
              TILE_TWO(DOT, "s21", "s31", "stride") TILE_TWO(DOT, "s02", "s12", "stride")   \
                  TILE_TWO(DOT, "s22", "s32", "stride") TILE_TWO(DOT, "s03", "s13", "back") \
                      TILE_DOT(DOT, "s23", "t", "limit") TILE_DOT(DOT, "s33", "t", "a")
#define TILE_CHANNEL(TEXT, at, s0, s1, s2, s3) \
  TILE_WORD("limit", "four", at + 0)           \
  TILE_WORD("a", "four", at + 4)               \
  TILE_WORD("b", "four", at + 8) TILE_WORD("c", "four", at + 12) TEXT(s0) TEXT(s1) TEXT(s2) TEXT(s3)
#define TILE_FINISH(TEXT)                            \
  TILE_CHANNEL(TEXT, 0, "s00", "s01", "s02", "s03")  \
  TILE_CHANNEL(TEXT, 16, "s10", "s11", "s12", "s13") \
  TILE_CHANNEL(TEXT, 32, "s20", "s21", "s22", "s23") \
  TILE_CHANNEL(TEXT, 48, "s30", "s31", "s32", "s33")
#define TILE_SIGNED(s) GEN_KERNELS_SIGNED(s, "x", "u", "stride")
#define TILE_STORE(s0, s1, s2, s3, step)                \
  GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7c,", s0, s1, s0) \
  GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7d,", s0, s3, s2) \
  ".insn r 0x2b, 3, 0x12, %[" step "], %[x], %[" s0 "]\n"

static_assert(sizeof(Tiles) == 52 && offsetof(Tiles, out) == 28 && offsetof(Four, kind) == 64);

GEN_KERNELS_INLINE void run_tiles(const Tiles& tiles) {
  const int32_t stride = tiles.inner;
  const int32_t back = 4 - (tiles.what == Tile::kRows ? 3 : 15) * stride;
  const int8_t* w;
  const Four* four;
  int32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;
  int32_t limit, a, b, c, t, u, x;
  asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      TILE_GET("w", w) TILE_GET("four", four)
      "1:\n"
      TILE_GET("t", bias) TILE_GET("u", what) TILE_GET("x", x)
      "srli %[b], %[stride], 2\n"
      TILE_WORD("s00", "t", 0) TILE_WORD("s10", "t", 4) TILE_WORD("s20", "t", 8)
      TILE_WORD("s30", "t", 12)
      "bnez %[u], 7f\n"
      "addi %[t], %[t], 16\n"
      TILE_PUT("t", bias)
      TILE_COPY("s01", "s00") TILE_COPY("s02", "s00") TILE_COPY("s03", "s00")
      TILE_COPY("s11", "s10") TILE_COPY("s12", "s10") TILE_COPY("s13", "s10")
      TILE_COPY("s21", "s20") TILE_COPY("s22", "s20") TILE_COPY("s23", "s20")
      TILE_COPY("s31", "s30") TILE_COPY("s32", "s30") TILE_COPY("s33", "s30")
      // One pointer walks the four rows of an operand: three steps of a row, then back to the
      // next word.
      GEN_KERNELS_LOOP(b, 24)
      TILE_LOAD("limit", "w", "stride") TILE_LOAD("a", "w", "stride") TILE_LOAD("b", "w", "stride")
      TILE_LOAD("c", "w", "back") TILE_LOAD("t", "x", "stride") TILE_LOAD("u", "x", "stride")
      TILE_ROW("t", "s00", "s10", "s20", "s30") TILE_LOAD("t", "x", "stride")
      TILE_ROW("u", "s01", "s11", "s21", "s31") TILE_LOAD("u", "x", "back")
      TILE_ROW("t", "s02", "s12", "s22", "s32") TILE_ROW("u", "s03", "s13", "s23", "s33")
      // The sums to results.
      "2:\n"
      TILE_WORD("t", "four", 64)
      "sub %[w], %[w], %[back]\n"
      "addi %[w], %[w], 4\n"
      "bnez %[t], 3f\n"
      TILE_FINISH(GEN_KERNELS_NARROW)
      "j 6f\n"
      "3:\n"
      "addi %[t], %[t], -1\n"
      "bnez %[t], 4f\n"
      TILE_FINISH(GEN_KERNELS_SHORT)
      "j 6f\n"
      "4:\n"
      "addi %[t], %[t], -1\n"
      "bnez %[t], 5f\n"
      TILE_FINISH(GEN_KERNELS_CUT_LONG)
      "j 6f\n"
      "5:\n"
      "li %[x], 2\n"
      TILE_GET("u", least) TILE_GET("stride", most)
      TILE_FINISH(TILE_SIGNED)
      TILE_GET("stride", inner)
      "6:\n"
      TILE_GET("x", out) TILE_GET("t", down) TILE_GET("u", up)
      TILE_STORE("s00", "s10", "s20", "s30", "t") TILE_STORE("s01", "s11", "s21", "s31", "t")
      TILE_STORE("s02", "s12", "s22", "s32", "t") TILE_STORE("s03", "s13", "s23", "s33", "u")
      TILE_GET("t", end) TILE_GET("u", next) TILE_PUT("x", out)
      "add %[four], %[four], %[u]\n"
      "bne %[w], %[t], 1b\n"
      "j 9f\n"
      // A row of sixteen channels.
      "7:\n"
      TILE_WORD("s01", "t", 16) TILE_WORD("s11", "t", 20) TILE_WORD("s21", "t", 24)
      TILE_WORD("s31", "t", 28) TILE_WORD("s02", "t", 32) TILE_WORD("s12", "t", 36)
      TILE_WORD("s22", "t", 40) TILE_WORD("s32", "t", 44) TILE_WORD("s03", "t", 48)
      TILE_WORD("s13", "t", 52) TILE_WORD("s23", "t", 56) TILE_WORD("s33", "t", 60)
      "addi %[t], %[t], 64\n"
      TILE_PUT("t", bias)
      "addi %[u], %[u], -1\n"
      "bnez %[u], 8f\n"
      TILE_SIXTEEN(TILE_SIGNED_DOT)
      "j 2b\n"
      "8:\n"
      TILE_SIXTEEN(TILE_UNSIGNED_DOT)
      "j 2b\n"
      "9:\n" GEN_KERNELS_LOOP_END
      : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),
        [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),
        [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),
        [s33] "=&r"(s33), [limit] "=&r"(limit), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
        [t] "=&r"(t), [u] "=&r"(u), [x] "=&r"(x)
        , [w] "=&r"(w), [four] "=&r"(four)
      : [stride] "r"(stride), [back] "r"(back), [tiles] "m"(tiles)
      : "memory");
}
#undef TILE_AT_bias
#undef TILE_AT_down
#undef TILE_AT_four
#undef TILE_AT_end
#undef TILE_AT_inner
#undef TILE_AT_least
#undef TILE_AT_most
#undef TILE_AT_next
#undef TILE_AT_out
#undef TILE_AT_up
#undef TILE_AT_w
#undef TILE_AT_what
#undef TILE_AT_x
#undef TILE_CHANNEL
#undef TILE_COPY
#undef TILE_DOT
#undef TILE_FINISH
#undef TILE_GET
#undef TILE_LOAD
#undef TILE_PUT
#undef TILE_ROW
#undef TILE_SIGNED
#undef TILE_SIGNED_DOT
#undef TILE_SIXTEEN
#undef TILE_STORE
#undef TILE_TWO
#undef TILE_UNSIGNED_DOT
#undef TILE_WORD
#else
inline void run_tiles(Tiles t) {
  const bool rows = t.what == Tile::kRows;
  const int32_t words = t.inner >> 2;
  const auto* at = reinterpret_cast<const uint8_t*>(t.four);
  for (; t.w != t.end; at += t.next) {
    const auto& four = *reinterpret_cast<const Four*>(at);
    Sums sums[4];
    for (int32_t i = 0; i < 4; ++i) {
      if (rows) {
        dots_4x1<false>(sums[i], t.bias, t.w, t.x + i * t.inner, t.inner, words);
      } else {
        const auto dots = t.what == Tile::kRow ? dots_4x1<false> : dots_4x1<true>;
        dots(sums[i], t.bias + 4 * i, t.w + 4 * i * t.inner, t.x, t.inner, words);
      }
      const Finish finish{0, t.least, t.most, false};
      store_word(t.out, finish_four(sums[i].c0, sums[i].c1, sums[i].c2, sums[i].c3, four, finish),
                 i < 3 ? t.down : t.up);
    }
    t.w += (rows ? 4 : 16) * t.inner;
    t.bias += rows ? 4 : 16;
  }
}
#endif

// `rows` rows of `groups` tiles, from each to the channels behind it.
inline __attribute__((noinline)) void tile(const Product& p, Tile what, const int8_t* x,
                                           const int8_t* w, const int32_t* bias, const Four* four,
                                           int8_t* out, int32_t rows, int32_t groups) {
  const bool fours = what == Tile::kRows;
  const int32_t down = fours ? p.out_stride : 4;
  const int32_t up = fours ? 4 - 3 * down : 4;
  const int32_t next = p.uniform ? 0 : static_cast<int32_t>(sizeof(Four));
  const int8_t* end = w + groups * (fours ? 4 : 16) * p.inner;
  for (; rows > 0; --rows) {
    run_tiles(
        {what, x, w, p.inner, bias, four, next, out, down, up, end, p.finish.low, p.finish.high});
    x += 4 * p.inner;
    out += 4 * p.out_stride;
  }
}

// One row.
inline __attribute__((noinline)) void strip(const Product& p, const int8_t* x, const int8_t* w,
                                            const int32_t* bias, const Four* four, int8_t* out,
                                            int32_t groups) {
  const int32_t inner = p.inner;
  for (; groups > 0; --groups) {
    Sums s;
    if (p.is_unsigned) {
      dots_4x1<true>(s, bias, w, x, inner, inner >> 2);
    } else {
      dots_4x1<false>(s, bias, w, x, inner, inner >> 2);
    }
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
    const int32_t fours = left >> 2;
    tile(p, Tile::kRows, x, w, bias, four, out, fours, groups);
    x += 4 * fours * p.inner;
    out += 4 * fours * p.out_stride;
    left &= 3;
  }
  for (; left > 0; --left) {
    const int32_t wide = p.uniform ? groups >> 2 : 0;
    if (wide > 0) {
      tile(p, p.is_unsigned ? Tile::kUnsignedRow : Tile::kRow, x, w, bias, four, out, 1, wide);
    }
    const int32_t done = 16 * wide;
    strip(p, x, w + done * p.inner, bias + done, four, out + done, groups - 4 * wide);
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
