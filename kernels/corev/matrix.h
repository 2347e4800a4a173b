// int8 matrix products with requantisation: the engine of the convolutions and
// the linear layer.
//
//   out[row][o] = clamp(rescale(bias[o] + sum_k x[row][k] * w[o][k]) + zero)
//
// Four output channels by four rows at a time: 64 products for 8 loads and 16
// dot products, 2.67 MAC a cycle in the loop. Of a single row, sixteen channels:
// 64 products for 17 loads and 16 dot products, 1.94 MAC a cycle.
#pragma once

#include "corev/tile.h"
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

// `groups` tiles of one row, or of `rows` fours of rows each.
inline __attribute__((noinline)) void tile(const Product& p, Tile what, const int8_t* x,
                                           const int8_t* w, const int32_t* bias, const Four* four,
                                           int8_t* out, int32_t rows, int32_t groups) {
  const bool fours = what == Tile::kRows;
  const int32_t next = p.uniform ? 0 : static_cast<int32_t>(sizeof(Four));
  const int32_t channels = fours ? 4 : 16;
  run_tiles({what, x, w, p.inner, bias, four, next, out, fours ? p.out_stride : 4, rows,
             w + groups * channels * p.inner, p.finish.low, p.finish.high,
             4 - (channels - 1) * p.inner});
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
inline __attribute__((noinline)) void multiply_rows(const Product& p, const int8_t* w,
                                                    const int32_t* bias, const Four* four,
                                                    int8_t* out, int32_t groups) {
  const int8_t* x = p.x;
  int32_t left = p.rows;
  if (!p.is_unsigned) {
    const int32_t fours = left >> 2;
    if (fours > 0) {
      tile(p, Tile::kRows, x, w, bias, four, out, fours, groups);
    }
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
  const int32_t* const end = to + count;
  if (bias == nullptr || offset == 0) {
    for (int32_t o = 0; o < count; ++o) {
      to[o] = bias != nullptr ? bias[o] : 0;
    }
    bias = to;
  }
  if (offset == 0) {
    return;
  }
#if GEN_KERNELS_COREV
  const int32_t back = 4 - 3 * inner;
  for (; end - to >= 4; w += 3 * inner, to += 4, bias += 4) {
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
    to[0] = mac(bias[0], offset, s.c0);
    to[1] = mac(bias[1], offset, s.c1);
    to[2] = mac(bias[2], offset, s.c2);
    to[3] = mac(bias[3], offset, s.c3);
  }
#endif
  for (; to != end; ++to, ++bias, w += inner) {
    *to = mac(*bias, offset, sum_bytes(w, inner));
  }
}

}  // namespace gen_kernels::corev
