// Pixels sorted by channel: four channels at a time, a plane of bytes each.
#pragma once

#include "corev/corev.h"
#include "corev/rescale.h"
#include "cortex_m/conv.h"

namespace gen_kernels::corev {

// Planes of four channels: the part of the padded input that the windows read.
struct Planes {
  static constexpr int32_t kMostRows = 8;  // of a window

  int8_t* memory;  // 4 * size bytes, words
  int32_t rows;
  int32_t
      stride;    // bytes from a row to the next, a multiple of 4; a window's word may end in slack
  int32_t size;  // of a plane
};

namespace internal {

using cortex_m::ConvCall;
using cortex_m::Image;

// Rows of four channels' pixels, to be sorted into four planes.
struct Rows {
  const int8_t* from;
  int32_t step;  // from a pixel to the next
  int32_t skip;  // from the last to the next row
  int8_t* to;
  int32_t size;   // of a plane
  int32_t gap;    // in the planes, from a row's end to the next row
  int32_t words;  // four pixels each, and single pixels behind them
  int32_t rest;
  int32_t rows;  // at least 1
};

// Bytes of two words, for shuffle2_b: the middle ones, and the last ones of two pairs.
inline constexpr uint32_t kMiddle = 0x06020501;
inline constexpr uint32_t kLast = 0x07050301;

#if GEN_KERNELS_COREV
#define SORT_LOAD(d) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", d, "from", "step")
#define SORT_SHUFFLE(d, x, by) GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x70,", d, x, by)
#define SORT_STORE(d, p) ".insn s 0x2b, 2, %[" d "], 4(%[" p "])\n"
#define SORT_BYTE(p) ".insn s 0x2b, 0, %[a], 1(%[" p "])\n"
#define SORT_PACK(d, x, y) GEN_KERNELS_ASM(".insn r 0x7b, 0, 0x78,", d, x, y)
#define SORT_PACK_H(d, x, y) GEN_KERNELS_ASM(".insn r 0x7b, 0, 0x79,", d, x, y)
inline void sort_rows(const Rows& r) {
  const int8_t* from = r.from;
  int8_t* p0 = r.to;
  int8_t* p1 = p0 + r.size;
  int8_t* p2 = p1 + r.size;
  int8_t* p3 = p2 + r.size;
  int32_t rows = r.rows;
  uint32_t a, b, e, f, g, h;
  asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      "1:\n"
      "beqz %[words], 2f\n"
      GEN_KERNELS_LOOP(words, 17)
      SORT_LOAD("a") SORT_LOAD("b") SORT_LOAD("e") SORT_LOAD("f")
      GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7c,", "g", "b", "a")
      GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7d,", "g", "f", "e")
      SORT_STORE("g", "p0")
      SORT_PACK_H("g", "b", "a") SORT_PACK_H("h", "f", "e") SORT_SHUFFLE("g", "h", "last")
      SORT_STORE("g", "p3")
      SORT_SHUFFLE("a", "b", "middle") SORT_SHUFFLE("e", "f", "middle")
      SORT_PACK("g", "e", "a") SORT_STORE("g", "p1")
      SORT_PACK_H("g", "e", "a") SORT_STORE("g", "p2")
      "2:\n"
      "beqz %[rest], 3f\n"
      GEN_KERNELS_LOOP(rest, 8)
      SORT_LOAD("a") SORT_BYTE("p0")
      "srli %[a], %[a], 8\n" SORT_BYTE("p1")
      "srli %[a], %[a], 8\n" SORT_BYTE("p2")
      "srli %[a], %[a], 8\n" SORT_BYTE("p3")
      "3:\n"
      "add %[from], %[from], %[skip]\n"
      "add %[p0], %[p0], %[gap]\n"
      "add %[p1], %[p1], %[gap]\n"
      "add %[p2], %[p2], %[gap]\n"
      "add %[p3], %[p3], %[gap]\n"
      "addi %[rows], %[rows], -1\n"
      "bnez %[rows], 1b\n" GEN_KERNELS_LOOP_END
      : [from] "+&r"(from), [p0] "+&r"(p0), [p1] "+&r"(p1), [p2] "+&r"(p2), [p3] "+&r"(p3),
        [rows] "+&r"(rows), [a] "=&r"(a), [b] "=&r"(b), [e] "=&r"(e), [f] "=&r"(f), [g] "=&r"(g),
        [h] "=&r"(h)
      : [words] "r"(r.words), [rest] "r"(r.rest), [step] "r"(r.step), [skip] "r"(r.skip),
        [gap] "r"(r.gap), [middle] "r"(kMiddle), [last] "r"(kLast)
      : "memory");
}
#undef SORT_LOAD
#undef SORT_SHUFFLE
#undef SORT_STORE
#undef SORT_BYTE
#undef SORT_PACK
#undef SORT_PACK_H
#else
inline void sort_rows(Rows r) {
  for (; r.rows > 0; --r.rows, r.from += r.skip, r.to += r.gap) {
    for (int32_t words = r.words; words > 0; --words, r.to += 4) {
      uint32_t a = load_word(r.from, r.step);
      const uint32_t b = load_word(r.from, r.step);
      uint32_t e = load_word(r.from, r.step);
      const uint32_t f = load_word(r.from, r.step);
      int8_t* to = r.to;
      store_word(to, packhi_b(packlo_b(0, b, a), f, e), r.size);
      const uint32_t last = shuffle2_b(pack_h(b, a), pack_h(f, e), kLast);
      a = shuffle2_b(a, b, kMiddle);
      e = shuffle2_b(e, f, kMiddle);
      store_word(to, pack(e, a), r.size);
      store_word(to, pack_h(e, a), r.size);
      store_word(to, last, 0);
    }
    for (int32_t rest = r.rest; rest > 0; --rest, ++r.to, r.from += r.step) {
      for (int32_t i = 0; i < 4; ++i) {
        r.to[i * r.size] = r.from[i];
      }
    }
  }
}
#endif

// Sorts the pixels of channels c..c+count-1 of image n into the planes (count at most 4).
inline void sort_channels(const ConvCall& call, const Planes& planes, int32_t n, int32_t c,
                          int32_t count) {
  const Image& in = call.input;
  // The planes start padding.h rows above and padding.w columns left of the image, and may end
  // before it does.
  const int32_t top = call.padding.h;
  const int32_t left = call.padding.w;
  const int32_t step = in.channels;
  const int32_t rows = min(planes.rows - top, in.height);
  const int32_t columns = min(planes.stride - left, in.width);
  if (columns <= 0 || rows <= 0) {
    return;
  }
  const int8_t* from = call.in + n * in.height * in.width * step + c;
  int8_t* to = planes.memory + top * planes.stride + left;
  const int32_t skip = (in.width - columns) * step;
  const int32_t gap = planes.stride - columns;
  if (count == 4) {
    sort_rows({from, step, skip, to, planes.size, gap, columns >> 2, columns & 3, rows});
    return;
  }
  for (int32_t y = rows; y > 0; --y, from += skip, to += gap) {
    for (int32_t x = columns; x > 0; --x, from += step, ++to) {
      for (int32_t i = 0; i < count; ++i) {
        to[i * planes.size] = from[i];
      }
    }
  }
}

}  // namespace internal
}  // namespace gen_kernels::corev
