// From the sum of an output to its byte: requantize(), the zero point and the clamp, exactly.
//
// requantize() rounds twice. With P = sum * multiplier and right = -shift, as nested floors of one
// product, and with the zero point:
//   q = floor((P + 2^30 + (2^(right - 1) - [sum < 0]) * 2^31) / 2^(31 + right)) + zero
// All addends are multiples of 2^30: of P, the digits from some place below that on are enough.
#pragma once

#include "corev/corev.h"
#include "util/quant.h"

namespace gen_kernels::corev {

// The clamp of a call. With `relu`, results below the zero point are cut, so that the rounding of
// negative sums does not matter.
struct Finish {
  int32_t zero;
  int32_t low;
  int32_t high;
  bool relu;
};

inline Finish finish_of(const Requant& requant) {
  const bool relu = requant.low == requant.offset && requant.low >= INT8_MIN &&
                    requant.high >= requant.low && requant.high <= INT8_MAX;
  return {requant.offset, requant.low, requant.high, relu};
}

// Whether the rescales below give requantize()'s results for sums below 2^29 in magnitude.
inline bool fast_rescale(int32_t multiplier, int32_t shift, int32_t offset) {
  return multiplier >= 0 && shift <= -1 && shift >= (offset == 0 ? -26 : -20) &&
         offset >= INT8_MIN && offset <= INT8_MAX;
}

// How a sum becomes a byte, from the fastest: see the structures of these names.
enum class Kind : int32_t { kShort, kCut, kSigned };

// What an output channel needs after the sum. `limit`: the sum that is as good as all above it.
struct Channel {
  int32_t limit;
  int32_t a, b, c;
};

// Four channels of one kind.
struct Four {
  Channel channel[4];
  Kind kind;
};

// in_place() of these structures gives four results, in one asm block: with a tile's sums in the
// registers there is no room to compute two at a time, as the compiler would.
#if GEN_KERNELS_COREV
#define GEN_KERNELS_FOUR(INSTRUCTIONS, ...)                                                   \
  int32_t t;                                                                                  \
  asm volatile(INSTRUCTIONS(s0) INSTRUCTIONS(s1) INSTRUCTIONS(s2) INSTRUCTIONS(s3)            \
               : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3), [t] "=&r"(t) \
               : __VA_ARGS__)
#else
#define GEN_KERNELS_FOUR(INSTRUCTIONS, ...) \
  s0 = (*this)(s0);                         \
  s1 = (*this)(s1);                         \
  s2 = (*this)(s2);                         \
  s3 = (*this)(s3)
#endif

// Cuts the sum at zero and at `limit` and takes P's digits from place 7 + right on, by two short
// products: q's eight digits stand at the top of a word, whatever overflows. Six cycles with the
// store. For `relu` and shifts of at most 8: a cut sum has 17 digits.
struct Short {
  int32_t limit, low, high, round;

  GEN_KERNELS_INLINE explicit Short(const Channel& c)
      : limit(c.limit), low(c.a), high(c.b), round(c.c) {}
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = clipur(sum, limit);
    const uint32_t product = static_cast<uint32_t>(sum) * static_cast<uint32_t>(low);
    return add_n24(mac(static_cast<int32_t>(product >> 15), sum, high), round);
  }
  GEN_KERNELS_INLINE void in_place(int32_t& s0, int32_t& s1, int32_t& s2, int32_t& s3) const {
#define FINISH(s)                           \
  ".insn r 0x2b, 3, 0x3b, %[" #s "], %[" #s \
  "], %[limit]\n"                           \
  "mul %[t], %[" #s                         \
  "], %[low]\n"                             \
  "srli %[t], %[t], 15\n"                   \
  ".insn r 0x2b, 3, 0x48, %[t], %[" #s      \
  "], %[high]\n"                            \
  ".insn r 0x5b, 2, 0x18, %[" #s "], %[t], %[round]\n"
    GEN_KERNELS_FOUR(
        FINISH, [limit] "r"(limit), [low] "r"(low), [high] "r"(high), [round] "r"(round));
#undef FINISH
  }
};

// Cuts the sum in the same way and takes P's digits from place 30 on. Nine cycles with the store.
// For `relu`.
struct Cut {
  int32_t limit, multiplier, round, shift;

  GEN_KERNELS_INLINE explicit Cut(const Channel& c)
      : limit(c.limit), multiplier(c.a), round(c.b), shift(c.c) {}
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    return add_nr(mulh(clipur(sum, limit) << 2, multiplier), round, static_cast<uint32_t>(shift));
  }
  GEN_KERNELS_INLINE void in_place(int32_t& s0, int32_t& s1, int32_t& s2, int32_t& s3) const {
#define FINISH(s)                           \
  ".insn r 0x2b, 3, 0x3b, %[" #s "], %[" #s \
  "], %[limit]\n"                           \
  "slli %[t], %[" #s                        \
  "], 2\n"                                  \
  "mulh %[" #s                              \
  "], %[t], %[multiplier]\n"                \
  ".insn r 0x2b, 3, 0x40, %[" #s "], %[round], %[shift]\n"
    GEN_KERNELS_FOUR(FINISH, [limit] "r"(limit), [multiplier] "r"(multiplier), [round] "r"(round),
                     [shift] "r"(shift));
#undef FINISH
  }
};

// Any call. Twelve cycles with the store.
struct Signed {
  int32_t multiplier, round, shift, least, most;

  GEN_KERNELS_INLINE Signed(const Channel& c, const Finish& finish)
      : multiplier(c.a), round(c.b), shift(c.c), least(finish.low), most(finish.high) {}
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    const auto scaled = static_cast<int32_t>(static_cast<uint32_t>(sum) << 2);
    const int32_t high = mac(mulh(scaled, multiplier), scaled >> 31, 2);
    return min(max(add_nr(high, round, static_cast<uint32_t>(shift)), least), most);
  }
  GEN_KERNELS_INLINE void in_place(int32_t& s0, int32_t& s1, int32_t& s2, int32_t& s3) const {
#define FINISH(s)                                     \
  "slli %[" #s "], %[" #s                             \
  "], 2\n"                                            \
  "mulh %[t], %[" #s                                  \
  "], %[multiplier]\n"                                \
  "srai %[" #s "], %[" #s                             \
  "], 31\n"                                           \
  ".insn r 0x2b, 3, 0x48, %[t], %[" #s                \
  "], %[two]\n"                                       \
  ".insn r 0x2b, 3, 0x40, %[t], %[round], %[shift]\n" \
  ".insn r 0x2b, 3, 0x2d, %[t], %[t], %[least]\n"     \
  ".insn r 0x2b, 3, 0x2b, %[" #s "], %[t], %[most]\n"
    GEN_KERNELS_FOUR(FINISH, [multiplier] "r"(multiplier), [round] "r"(round), [shift] "r"(shift),
                     [least] "r"(least), [most] "r"(most), [two] "r"(2));
#undef FINISH
  }
};

// The fastest kind that a channel can have.
inline Kind kind_of(int32_t multiplier, int32_t shift, const Finish& finish) {
  if (!finish.relu || multiplier < (1 << 30) || shift < -20) {
    return Kind::kSigned;
  }
  return shift < -8 ? Kind::kCut : Kind::kShort;
}

inline Channel channel_of(Kind kind, int32_t multiplier, int32_t shift, const Finish& finish) {
  const int32_t right = -shift;
  Channel channel{0, multiplier, 1 + (1 << right) + finish.zero * (1 << (right + 1)), right + 1};
  if (kind != Kind::kSigned) {
    // Sums that give `high` have a P / 2^(31 + right) from 1/2 + 2^(-right - 1) below high - zero
    // to 1/2 - 2^(-right - 1) above; this one's is less than 1/2 below and 1/64 above.
    const auto most = static_cast<uint32_t>(finish.high - finish.zero);
    const auto limit = (most << 24) / static_cast<uint32_t>(multiplier >> 15);
    channel.limit = static_cast<int32_t>(right < 8 ? limit >> (8 - right) : limit << (right - 8));
  }
  if (kind == Kind::kShort) {
    const int32_t places = 7 + right;
    channel.a = (multiplier & ((1 << places) - 1)) << (8 - right);
    channel.b = multiplier >> places;
    channel.c = (1 << 23) + (1 << (23 - right)) + finish.zero * (1 << 24);
  }
  return channel;
}

// The constants of `count` channels, at least 4. Those behind the last full four come with their
// predecessors once more.
inline void channels_of(Four* to, const int32_t* multiplier, const int32_t* shift, int32_t count,
                        const Finish& finish) {
  for (int32_t done = 0; done < count; done += 4, ++to) {
    const int32_t first = min(done, count - 4);
    to->kind = Kind::kShort;
    for (int32_t i = first; i < first + 4; ++i) {
      const Kind kind = kind_of(multiplier[i], shift[i], finish);
      to->kind = kind > to->kind ? kind : to->kind;
    }
    for (int32_t i = 0; i < 4; ++i) {
      to->channel[i] = channel_of(to->kind, multiplier[first + i], shift[first + i], finish);
    }
  }
}

}  // namespace gen_kernels::corev
