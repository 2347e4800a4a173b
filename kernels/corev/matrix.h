// int8 matrix products with requantisation: the engine of the convolutions and
// the linear layer.
//
//   out[row][o] = clamp(rescale(bias[o] + sum_k x[row][k] * w[o][k]) + zero)
//
// Four output channels by four rows at a time: 64 products for 8 loads and 16
// dot products, 2.67 MAC a cycle in the loop.
#pragma once

#include "corev/corev.h"
#include "util/quant.h"
#include "util/tensor.h"

namespace gen_kernels::corev {

// What an output channel needs after the sum; 16 bytes, loaded together.
struct Channel {
  int32_t bias;        // with the input offset times the sum of the weights
  int32_t multiplier;  // 31 digits
  int32_t round;       // halves and the zero point, in units of the shifted product
  int32_t shift;       // of the product
};

// The clamp of a call. With `relu`, results below the zero point are cut, so that the rounding of
// negative sums does not matter; with `full`, the clamp is int8's own range.
struct Finish {
  int32_t low;
  int32_t high;
  bool relu;
  bool full;
};

inline Finish finish_of(const Requant& requant) {
  return {requant.low, requant.high, requant.low >= requant.offset,
          requant.low <= INT8_MIN && requant.high >= INT8_MAX};
}

// Whether the fast rescale below gives requantize()'s results for sums below 2^29 in magnitude.
inline bool fast_rescale(int32_t multiplier, int32_t shift, int32_t offset) {
  return multiplier >= 0 && shift <= -1 && shift >= (offset == 0 ? -26 : -20) &&
         offset >= INT8_MIN && offset <= INT8_MAX;
}

inline Channel channel_of(int32_t bias, int32_t multiplier, int32_t shift, int32_t offset) {
  // requantize() rounds twice; as nested floors of one product P = sum * multiplier that is
  //   floor((P + 2^30 + (half - [sum < 0]) * 2^31) / 2^(31 + right)), half = 2^(right - 1),
  // where all addends are multiples of 2^30: the product's digits above 2^30 are enough.
  const int32_t right = -shift;
  return {bias, multiplier, 1 + (1 << right) + offset * (1 << (right + 1)), right + 1};
}

template <bool kRelu, bool kFull>
inline int32_t rescale(int32_t sum, int32_t multiplier, int32_t round, int32_t shift, int32_t low,
                       int32_t highest) {
  const int32_t scaled = static_cast<int32_t>(static_cast<uint32_t>(sum) << 2);
  int32_t high = mulh(scaled, multiplier);
  if constexpr (!kRelu) {
    high = mac(high, scaled >> 31, 2);
  }
  high = add_nr(high, round, static_cast<uint32_t>(shift));
  if constexpr (kFull) {
    return clip8(high);
  } else {
    return min(max(high, low), highest);
  }
}

// The same for right shifts of at most 7 under `relu` and `full`, in half the cycles: sums below
// zero and beyond 16 bits are clamped anyway, and 16 by 31 digits are two short products.
inline bool rescales_short(int32_t multiplier, int32_t shift, const Finish& finish) {
  return finish.relu && finish.full && shift >= -7 && multiplier >= (1 << 30);
}

inline Channel short_channel_of(int32_t bias, int32_t multiplier, int32_t shift, int32_t offset) {
  // As channel_of(), with the product's digits above 2^16: all addends are multiples of 2^14 there.
  const int32_t right = -shift;
  const int32_t places = 15 + right;
  return {bias, multiplier, (1 << 14) + (1 << (14 + right)) + offset * (1 << places), places};
}

inline int32_t rescale_short(int32_t sum, int32_t multiplier, int32_t high, int32_t round,
                             int32_t shift) {
  sum = clipu16(sum);
  const int32_t product = mac(mulu_16(sum, multiplier), sum, high);
  return clip8(add_nr(product, round, static_cast<uint32_t>(shift)));
}

// A product: `rows` of x and `channels` (at least 4) of w, each of `inner` bytes, a multiple of 4.
struct Product {
  const int8_t* x;
  const int8_t* w;
  const Channel* channel;
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
GEN_KERNELS_INLINE void dots_4x1(Sums& s, const Channel* channel, const int8_t* w, const int8_t* x,
                                 int32_t stride, int32_t words) {
  s = {channel[0].bias, channel[1].bias, channel[2].bias, channel[3].bias};
#if GEN_KERNELS_COREV
  const int32_t back = 4 - 3 * stride;
  uint32_t w0;
  uint32_t w1;
  uint32_t w2;
  uint32_t w3;
  uint32_t x0;
#define DOTS_4X1(DOT)                                                                              \
  asm volatile(                                                                                    \
      GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 9) ".insn i 0x0b, 2, %[x0], %[x], 4\n" LOAD(      \
          w0, w, stride) LOAD(w1, w, stride) LOAD(w2, w, stride) LOAD(w3, w, back) DOT(s0, x0, w0) \
          DOT(s1, x0, w1) DOT(s2, x0, w2) DOT(s3, x0, w3) GEN_KERNELS_LOOP_END                     \
      : [s0] "+&r"(s.c0), [s1] "+&r"(s.c1), [s2] "+&r"(s.c2), [s3] "+&r"(s.c3), [w0] "=&r"(w0),    \
        [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "=&r"(w3), [x0] "=&r"(x0), [w] "+&r"(w), [x] "+&r"(x) \
      : [n] "r"(words), [stride] "r"(stride), [back] "r"(back)                                     \
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

// The sums of four channels and four rows, from `words` words of each.
GEN_KERNELS_INLINE void dots_4x4(Sums& r0, Sums& r1, Sums& r2, Sums& r3, const Channel* channel,
                                 const int8_t* w, const int8_t* x, int32_t stride, int32_t words) {
#if GEN_KERNELS_COREV
  // One pointer walks the four rows of an operand: three steps of a row, then back to the next
  // word.
  const int32_t back = 4 - 3 * stride;
  uint32_t w0 = static_cast<uint32_t>(words);
  const Channel* w1 = channel;
  uint32_t w2;
  uint32_t w3;
  uint32_t x0;
  uint32_t x1;
#define COPY(d, a) "mv %[" #d "], %[" #a "]\n"
  asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      "lw %[s00], 0(%[w1])\n"
      "lw %[s10], 16(%[w1])\n"
      "lw %[s20], 32(%[w1])\n"
      "lw %[s30], 48(%[w1])\n" COPY(s01, s00) COPY(s02, s00) COPY(s03, s00) COPY(s11, s10)
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
    dots_4x1<false>(*rows[j], channel, w, x + j * stride, stride, words);
  }
#endif
}

template <bool kRelu, bool kFull>
struct Engine {
  const Product& p;

  // Four rows. Written out, with one pointer that walks the four rows of a channel and on to the
  // next channel: sums and pointers fill the registers.
  __attribute__((noinline)) void tile(const int8_t* x, const int8_t* w, const Channel* channel,
                                      int8_t* out, int32_t groups) const {
    const int32_t inner = p.inner;
    const int32_t low = p.finish.low;
    const int32_t high = p.finish.high;
    const auto finish = [low, high](int32_t sum, const Channel& c) __attribute__((always_inline)) {
      return rescale<kRelu, kFull>(sum, c.multiplier, c.round, c.shift, low, high);
    };
    do {
      Sums r0;
      Sums r1;
      Sums r2;
      Sums r3;
      dots_4x4(r0, r1, r2, r3, channel, w, x, inner, inner >> 2);
      const int32_t down = p.out_stride;
      const int32_t up = 1 - 3 * down;
#define GEN_KERNELS_CHANNEL(i)                 \
  {                                            \
    const Channel c = channel[i];              \
    store_byte(out, finish(r0.c##i, c), down); \
    store_byte(out, finish(r1.c##i, c), down); \
    store_byte(out, finish(r2.c##i, c), down); \
    store_byte(out, finish(r3.c##i, c), up);   \
  }
      GEN_KERNELS_CHANNEL(0)
      GEN_KERNELS_CHANNEL(1)
      GEN_KERNELS_CHANNEL(2)
      GEN_KERNELS_CHANNEL(3)
#undef GEN_KERNELS_CHANNEL
      w += 4 * inner;
      channel += 4;
    } while (--groups > 0);
  }

  // One row.
  template <bool kUnsigned>
  __attribute__((noinline)) void strip(const int8_t* x, const int8_t* w, const Channel* channel,
                                       int8_t* out, int32_t groups) const {
    const int32_t inner = p.inner;
    const int32_t low = p.finish.low;
    const int32_t high = p.finish.high;
    const auto finish = [low, high](int32_t sum, const Channel& c) __attribute__((always_inline)) {
      return rescale<kRelu, kFull>(sum, c.multiplier, c.round, c.shift, low, high);
    };
    do {
      Sums s;
      dots_4x1<kUnsigned>(s, channel, w, x, inner, inner >> 2);
      store_byte(out, finish(s.c0, channel[0]), 1);
      store_byte(out, finish(s.c1, channel[1]), 1);
      store_byte(out, finish(s.c2, channel[2]), 1);
      store_byte(out, finish(s.c3, channel[3]), 1);
      w += 4 * inner;
      channel += 4;
    } while (--groups > 0);
  }

  // All rows, for some groups of channels.
  void rows(const int8_t* w, const Channel* channel, int8_t* out, int32_t groups) const {
    const int8_t* x = p.x;
    int32_t left = p.rows;
    if (!p.is_unsigned) {
      for (; left >= 4; left -= 4) {
        tile(x, w, channel, out, groups);
        x += 4 * p.inner;
        out += 4 * p.out_stride;
      }
    }
    for (; left > 0; --left) {
      p.is_unsigned ? strip<true>(x, w, channel, out, groups)
                    : strip<false>(x, w, channel, out, groups);
      x += p.inner;
      out += p.out_stride;
    }
  }

  // The channels behind the last full group are computed with their predecessors once more.
  void run() const {
    rows(p.w, p.channel, p.out, p.channels >> 2);
    if ((p.channels & 3) != 0) {
      const int32_t last = p.channels - 4;
      rows(p.w + last * p.inner, p.channel + last, p.out + last, 1);
    }
  }
};

}  // namespace internal

inline void multiply(const Product& product) {
  if (product.finish.relu && product.finish.full) {
    internal::Engine<true, true>{product}.run();
  } else {
    internal::Engine<false, false>{product}.run();
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

}  // namespace gen_kernels::corev
