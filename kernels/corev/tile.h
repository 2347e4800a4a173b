// Tiles of sixteen results, from the first product to the last byte: four channels of four rows or,
// where all channels have the same constants, sixteen channels of one row.
//
// Sixteen sums, six operands and temporaries, five pointers and steps: there is one register to
// spare. So this is one asm block, which leaves the rest to memory.
#pragma once

#include <cstddef>

#include "corev/corev.h"
#include "corev/rescale.h"

namespace gen_kernels::corev::internal {

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

// The sums of four channels and one row to their bytes. A function: once a row is rare. What is
// narrow is also short.
inline __attribute__((noinline)) uint32_t finish_four(int32_t c0, int32_t c1, int32_t c2,
                                                      int32_t c3, const Four& four,
                                                      const Finish& finish) {
  Sums s{};
  const Channel* k = four.channel;
  const Kind kind = four.kind == Kind::kNarrow ? Kind::kShort : four.kind;
  with_kind(kind, finish, [&](auto make) __attribute__((always_inline)) {
    s = {make(k[0])(c0), make(k[1])(c1), make(k[2])(c2), make(k[3])(c3)};
  });
  return pack_bytes(s);
}

// What run_tiles() computes.
enum class Tile : int32_t { kRows, kRow, kUnsignedRow };

// kRows: four channels by all rows, then the channels behind them. Otherwise one row. What does not
// fit the registers.
struct Tiles {
  Tile what;
  const int8_t* x;
  const int8_t* w;
  int32_t inner;
  const int32_t* bias;
  const Four* four;
  int32_t next;  // bytes, from `four` to the next channels'
  int8_t* out;
  int32_t down;       // from one of a tile's four words of results to the next
  int32_t rows;       // in fours
  const int8_t* end;  // of the weights
  int32_t least;
  int32_t most;
  int32_t back;  // from the last of the rows of w that a word is loaded from to the next word
};

#if GEN_KERNELS_COREV
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
#define TILE_AT_rows "36"
#define TILE_AT_end "40"
#define TILE_AT_least "44"
#define TILE_AT_most "48"
#define TILE_AT_back "52"
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
#define TILE_FINISH(CHANNEL)              \
  CHANNEL(0, "s00", "s01", "s02", "s03")  \
  CHANNEL(16, "s10", "s11", "s12", "s13") \
  CHANNEL(32, "s20", "s21", "s22", "s23") \
  CHANNEL(48, "s30", "s31", "s32", "s33")
#define TILE_CONSTANTS(at) \
  TILE_WORD("a", "u", at + 4) TILE_WORD("b", "u", at + 8) TILE_WORD("c", "u", at + 12)
#define TILE_CHANNEL(TEXT, at, s0, s1, s2, s3) \
  TILE_WORD("limit", "u", at + 0) TILE_CONSTANTS(at) TEXT(s0) TEXT(s1) TEXT(s2) TEXT(s3)
#define TILE_NARROW(at, ...) TILE_CHANNEL(GEN_KERNELS_NARROW, at, __VA_ARGS__)
#define TILE_SHORT(at, ...) TILE_CHANNEL(GEN_KERNELS_SHORT, at, __VA_ARGS__)
#define TILE_CUT(at, ...) TILE_CHANNEL(GEN_KERNELS_CUT_LONG, at, __VA_ARGS__)
#define TILE_SIGNED(at, s0, s1, s2, s3)             \
  TILE_CONSTANTS(at)                                \
  GEN_KERNELS_SIGNED(s0, "back", "stride", "limit") \
  GEN_KERNELS_SIGNED(s1, "back", "stride", "limit") \
  GEN_KERNELS_SIGNED(s2, "back", "stride", "limit") \
  GEN_KERNELS_SIGNED(s3, "back", "stride", "limit")
#define TILE_STORE(s0, s1, s2, s3)                      \
  GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7c,", s0, s1, s0) \
  GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7d,", s0, s3, s2) \
  ".insn r 0x2b, 3, 0x12, %[t], %[out], %[" s0 "]\n"
// All rows of four channels: a loop of 60 + `length` instructions around the loop of products,
// where one pointer walks the four rows of an operand: three steps of a row, then to the next word.
// A row of sixteen channels enters at `finish`, while no such loop is on.
#define TILE_COLUMN(finish, FINISH, length) \
  ".insn i 0x2b, 4, x15, %[c], 60 + " #length " + 1\n"                                            \
  TILE_GET("t", bias)                                                                             \
  "srli %[b], %[stride], 2\n"                                                                     \
  TILE_WORD("s00", "t", 0) TILE_WORD("s10", "t", 4) TILE_WORD("s20", "t", 8)                      \
  TILE_WORD("s30", "t", 12)                                                                       \
  TILE_COPY("s01", "s00") TILE_COPY("s02", "s00") TILE_COPY("s03", "s00")                         \
  TILE_COPY("s11", "s10") TILE_COPY("s12", "s10") TILE_COPY("s13", "s10")                         \
  TILE_COPY("s21", "s20") TILE_COPY("s22", "s20") TILE_COPY("s23", "s20")                         \
  TILE_COPY("s31", "s30") TILE_COPY("s32", "s30") TILE_COPY("s33", "s30")                         \
  GEN_KERNELS_LOOP(b, 24)                                                                         \
  TILE_LOAD("limit", "w", "stride") TILE_LOAD("a", "w", "stride") TILE_LOAD("b", "w", "stride")   \
  TILE_LOAD("c", "w", "back") TILE_LOAD("t", "x", "stride") TILE_LOAD("u", "x", "stride")         \
  TILE_ROW("t", "s00", "s10", "s20", "s30") TILE_LOAD("t", "x", "stride")                         \
  TILE_ROW("u", "s01", "s11", "s21", "s31") TILE_LOAD("u", "x", "back")                           \
  TILE_ROW("t", "s02", "s12", "s22", "s32") TILE_ROW("u", "s03", "s13", "s23", "s33")             \
  TILE_GET("u", four)                                                                             \
  "sub %[w], %[w], %[stride]\n"                                                                   \
  "sub %[x], %[x], %[back]\n"                                                                     \
  "addi %[x], %[x], 4\n"                                                                          \
  #finish ":\n"                                                                                   \
  FINISH                                                                                          \
  TILE_GET("t", down)                                                                             \
  TILE_STORE("s00", "s10", "s20", "s30") TILE_STORE("s01", "s11", "s21", "s31")                   \
  TILE_STORE("s02", "s12", "s22", "s32") TILE_STORE("s03", "s13", "s23", "s33")

static_assert(sizeof(Tiles) == 56 && offsetof(Tiles, out) == 28 && offsetof(Tiles, back) == 52 &&
              offsetof(Four, kind) == 64);

GEN_KERNELS_INLINE void run_tiles(Tiles tiles) {
  const int8_t* x;
  const int8_t* w;
  int8_t* out;
  int32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;
  int32_t limit, a, b, c, t, u, stride, back;
  asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      TILE_GET("u", what) TILE_GET("w", w) TILE_GET("out", out)
      TILE_GET("stride", inner) TILE_GET("back", back)
      "bnez %[u], 7f\n"
      "1:\n"
      TILE_GET("t", four) TILE_GET("x", x)
      TILE_WORD("t", "t", 64) TILE_GET("c", rows)
      "addi %[t], %[t], -2\n"
      "bltz %[t], 3f\n"
      "bnez %[t], 2f\n"
      TILE_COLUMN(12, TILE_FINISH(TILE_CUT), 80)
      "j 5f\n"
      "2:\n"
      TILE_COLUMN(13,
        "li %[back], 2\n" TILE_GET("stride", least) TILE_GET("limit", most)
        TILE_FINISH(TILE_SIGNED) TILE_GET("stride", inner) TILE_GET("back", back), 129)
      "j 5f\n"
      "3:\n"
      "addi %[t], %[t], 1\n"
      "beqz %[t], 4f\n"
      TILE_COLUMN(10, TILE_FINISH(TILE_NARROW), 80)
      "j 5f\n"
      "4:\n"
      TILE_COLUMN(11, TILE_FINISH(TILE_SHORT), 96)
      "5:\n"
      TILE_GET("u", what) TILE_GET("t", end)
      "slli %[c], %[stride], 2\n"
      "bnez %[u], 6f\n"
      TILE_GET("a", bias) TILE_GET("b", next) TILE_GET("u", four) TILE_GET("out", out)
      "add %[w], %[w], %[c]\n"
      "addi %[a], %[a], 16\n"
      "add %[u], %[u], %[b]\n"
      "addi %[out], %[out], 4\n"
      TILE_PUT("a", bias) TILE_PUT("u", four) TILE_PUT("out", out)
      "bne %[w], %[t], 1b\n"
      "j 9f\n"
      "6:\n"
      "beq %[w], %[t], 9f\n"
      // A row of sixteen channels.
      "7:\n"
      TILE_GET("t", bias) TILE_GET("x", x)
      "srli %[b], %[stride], 2\n"
      TILE_WORD("s00", "t", 0) TILE_WORD("s10", "t", 4) TILE_WORD("s20", "t", 8)
      TILE_WORD("s30", "t", 12)
      TILE_WORD("s01", "t", 16) TILE_WORD("s11", "t", 20) TILE_WORD("s21", "t", 24)
      TILE_WORD("s31", "t", 28) TILE_WORD("s02", "t", 32) TILE_WORD("s12", "t", 36)
      TILE_WORD("s22", "t", 40) TILE_WORD("s32", "t", 44) TILE_WORD("s03", "t", 48)
      TILE_WORD("s13", "t", 52) TILE_WORD("s23", "t", 56) TILE_WORD("s33", "t", 60)
      "addi %[t], %[t], 64\n"
      TILE_PUT("t", bias)
      "addi %[u], %[u], -1\n"
      "bnez %[u], 8f\n"
      TILE_SIXTEEN(TILE_SIGNED_DOT)
      "j 14f\n"
      "8:\n"
      TILE_SIXTEEN(TILE_UNSIGNED_DOT)
      "14:\n"
      TILE_GET("u", four)
      "sub %[w], %[w], %[back]\n"
      TILE_WORD("t", "u", 64)
      "addi %[w], %[w], 4\n"
      "beqz %[t], 10b\n"
      "addi %[t], %[t], -2\n"
      "bltz %[t], 11b\n"
      "beqz %[t], 12b\n"
      "j 13b\n"
      "9:\n" GEN_KERNELS_LOOP_END
      : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),
        [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),
        [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),
        [s33] "=&r"(s33), [limit] "=&r"(limit), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
        [t] "=&r"(t), [u] "=&r"(u), [x] "=&r"(x), [w] "=&r"(w), [out] "=&r"(out),
        [stride] "=&r"(stride), [back] "=&r"(back), [tiles] "+m"(tiles)
      :
      : "memory");
}
#undef TILE_AT_back
#undef TILE_AT_bias
#undef TILE_AT_down
#undef TILE_AT_end
#undef TILE_AT_four
#undef TILE_AT_inner
#undef TILE_AT_least
#undef TILE_AT_most
#undef TILE_AT_next
#undef TILE_AT_out
#undef TILE_AT_rows
#undef TILE_AT_w
#undef TILE_AT_what
#undef TILE_AT_x
#undef TILE_CHANNEL
#undef TILE_COLUMN
#undef TILE_CONSTANTS
#undef TILE_COPY
#undef TILE_CUT
#undef TILE_DOT
#undef TILE_FINISH
#undef TILE_GET
#undef TILE_LOAD
#undef TILE_NARROW
#undef TILE_PUT
#undef TILE_ROW
#undef TILE_SHORT
#undef TILE_SIGNED
#undef TILE_SIGNED_DOT
#undef TILE_SIXTEEN
#undef TILE_STORE
#undef TILE_TWO
#undef TILE_UNSIGNED_DOT
#undef TILE_WORD
#else
inline void run_tiles(Tiles t) {
  const auto* at = reinterpret_cast<const uint8_t*>(t.four);
  const auto finish = [&](const Sums& s) {
    store_word(t.out,
               finish_four(s.c0, s.c1, s.c2, s.c3, *reinterpret_cast<const Four*>(at),
                           Finish{0, t.least, t.most, false}),
               t.down);
  };
  const int32_t words = t.inner >> 2;
  const auto dots = t.what == Tile::kUnsignedRow ? dots_4x1<true> : dots_4x1<false>;
  Sums sums;
  if (t.what != Tile::kRows) {
    for (; t.w != t.end; t.w += 4 * t.inner, t.bias += 4) {
      dots(sums, t.bias, t.w, t.x, t.inner, words);
      finish(sums);
    }
    return;
  }
  for (int8_t* out = t.out; t.w != t.end; t.w += 4 * t.inner, t.bias += 4, at += t.next) {
    t.out = out;
    for (int32_t i = 0; i < 4 * t.rows; ++i) {
      dots(sums, t.bias, t.w, t.x + i * t.inner, t.inner, words);
      finish(sums);
    }
    out += 4;
  }
}
#endif

}  // namespace gen_kernels::corev::internal
