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

// Whether the rescales below give requantize()'s results: Signed for sums below 2^29 in magnitude,
// the others for all.
inline bool fast_rescale(int32_t multiplier, int32_t shift, int32_t offset) {
  return multiplier >= 0 && shift <= -1 && shift >= (offset == 0 ? -26 : -20) &&
         offset >= INT8_MIN && offset <= INT8_MAX;
}

// How a sum becomes a byte, from the fastest: see the structures of these names.
enum class Kind : int32_t { kNarrow, kShort, kCut, kSigned };

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

// Each kind is a function from sum to byte and, for loops whose registers are full, a text of
// instructions that does the same for the operand named `s`, with a Channel's and `t` beside it.
#define GEN_KERNELS_ASM(insn, d, x, y) insn " %[" d "], %[" x "], %[" y "]\n"
#define GEN_KERNELS_CUT(s) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x3b,", s, s, "limit")
#define GEN_KERNELS_MAC(s, y) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x48,", "t", s, y)
#define GEN_KERNELS_TOP_BYTE(s) GEN_KERNELS_ASM(".insn r 0x5b, 2, 0x18,", s, "t", "c")
#define GEN_KERNELS_ADD_NR(d) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x40,", d, "b", "c")

// Cuts the sum at zero and at `limit` and takes P's digits from place 7 + right on, by two short
// products: q's eight digits stand at the top of a word, whatever overflows. For `relu` and shifts
// of at most 7: a cut sum has 16 digits.
struct Narrow {
  Channel k;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = clipur(sum, k.limit);
    return add_n24(mac(mulu_16(sum, k.a), sum, k.b), k.c);
  }
};
#define GEN_KERNELS_NARROW(s)                            \
  GEN_KERNELS_CUT(s)                                     \
  GEN_KERNELS_ASM(".insn r 0x5b, 5, 0x10,", "t", s, "a") \
  GEN_KERNELS_MAC(s, "b")                                \
  GEN_KERNELS_TOP_BYTE(s)

// The same for shifts of at most 9: a cut sum has 18 digits. Both halves of `a` are the same.
struct Short {
  Channel k;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = clipur(sum, k.limit);
    return add_n24(mac(machhu(mulu_16(sum, k.a), sum, k.a), sum, k.b), k.c);
  }
};
#define GEN_KERNELS_SHORT(s)                             \
  GEN_KERNELS_CUT(s)                                     \
  GEN_KERNELS_ASM(".insn r 0x5b, 5, 0x10,", "t", s, "a") \
  GEN_KERNELS_ASM(".insn r 0x5b, 7, 0x20,", "t", s, "a") \
  GEN_KERNELS_MAC(s, "b")                                \
  GEN_KERNELS_TOP_BYTE(s)

// Cuts the sum in the same way and takes P's digits from place 30 on. For `relu`.
struct Cut {
  Channel k;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    return add_nr(mulh(clipur(sum, k.limit) << 2, k.a), k.b, static_cast<uint32_t>(k.c));
  }
};
#define GEN_KERNELS_CUT_LONG(s) \
  GEN_KERNELS_CUT(s)            \
  "slli %[t], %[" s "], 2\n" GEN_KERNELS_ASM("mulh", s, "t", "a") GEN_KERNELS_ADD_NR(s)

// Any call.
struct Signed {
  Channel k;
  int32_t least, most;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    const auto scaled = static_cast<int32_t>(static_cast<uint32_t>(sum) << 2);
    const int32_t high = mac(mulh(scaled, k.a), scaled >> 31, 2);
    return min(max(add_nr(high, k.b, static_cast<uint32_t>(k.c)), least), most);
  }
};
#define GEN_KERNELS_SIGNED(s, two, least, most)                                          \
  "slli %[" s "], %[" s "], 2\n" GEN_KERNELS_ASM(                                        \
      "mulh", "t", s, "a") "srai %[" s "], %[" s "], 31\n" GEN_KERNELS_MAC(s, two)       \
      GEN_KERNELS_ADD_NR("t") GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x2d,", "t", "t", least) \
          GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x2b,", s, "t", most)

// Calls use(make), where make(Channel) is the rescale of this kind.
template <class Use>
GEN_KERNELS_INLINE void with_kind(Kind kind, const Finish& finish, const Use& use) {
  switch (kind) {
    case Kind::kNarrow:
      return use([](const Channel& k) { return Narrow{k}; });
    case Kind::kShort:
      return use([](const Channel& k) { return Short{k}; });
    case Kind::kCut:
      return use([](const Channel& k) { return Cut{k}; });
    case Kind::kSigned:
      return use([&](const Channel& k) { return Signed{k, finish.low, finish.high}; });
  }
}

// The fastest kind that a channel can have; for several, of their smallest multiplier and shift.
inline Kind kind_of(int32_t multiplier, int32_t shift, const Finish& finish) {
  if (!finish.relu || multiplier < (1 << 30) || shift < -20) {
    return Kind::kSigned;
  }
  return shift < -9 ? Kind::kCut : shift < -7 ? Kind::kShort : Kind::kNarrow;
}

// Sums that give `high` have a P / 2^(31 + right) from 1/2 + 2^(-right - 1) below high - zero to
// 1/2 - 2^(-right - 1) above; this one's is less than 1/2 below and 1/1000 above. The divisor is as
// large as may be: that makes the division short.
inline int32_t limit_of(int32_t multiplier, int32_t shift, const Finish& finish) {
  const uint32_t most = static_cast<uint32_t>(finish.high - finish.zero) << 24;
  return static_cast<int32_t>(most / static_cast<uint32_t>(multiplier >> 8) << (-1 - shift));
}

inline Channel channel_of(Kind kind, int32_t multiplier, int32_t shift, const Finish& finish) {
  const int32_t right = -shift;
  if (kind <= Kind::kShort) {
    const uint32_t low = static_cast<uint32_t>(multiplier) << (9 - right);
    return {limit_of(multiplier, shift, finish), static_cast<int32_t>(pack(low, low)),
            multiplier >> (7 + right), finish.zero * (1 << 24) + (1 << 23) + ((1 << 23) >> right)};
  }
  return {kind == Kind::kCut ? limit_of(multiplier, shift, finish) : 0, multiplier,
          1 + (1 + 2 * finish.zero) * (1 << right), right + 1};
}

// The constants of `count` channels, at least 4. Those behind the last full four come with their
// predecessors once more.
inline void channels_of(Four* to, const int32_t* multiplier, const int32_t* shift, int32_t count,
                        const Finish& finish) {
  const Finish f = finish;  // in registers: what is stored might change the other
  for (int32_t done = 0; done < count; done += 4, ++to) {
    const int32_t first = min(done, count - 4);
    const int32_t* m = multiplier + first;
    const int32_t* s = shift + first;
    const Kind kind =
        kind_of(min(min(m[0], m[1]), min(m[2], m[3])), min(min(s[0], s[1]), min(s[2], s[3])), f);
    to->kind = kind;
    Channel* channel = to->channel;
    Channel* const end = channel + 4;
    if (kind <= Kind::kShort) {  // two loops, which the compiler makes for one kind each
      do {
        *channel = channel_of(kind, *m++, *s++, f);
      } while (++channel != end);
    } else {
      do {
        *channel = channel_of(kind, *m++, *s++, f);
      } while (++channel != end);
    }
  }
}

// Any clamp within int8, for shifts from -2 to -8. A sum below zero loses one at the first
// rounding.
inline bool can_centre(int32_t multiplier, int32_t shift, const Finish& finish) {
  return multiplier >= (1 << 30) && shift >= -8 && shift <= -2 && finish.low >= INT8_MIN &&
         finish.low <= finish.high && finish.high <= INT8_MAX;
}

// Sums that give finish.low and finish.high, as the limit of channel_of().
struct Range {
  int32_t least, most;
};
inline Range range_of(int32_t multiplier, int32_t shift, const Finish& finish) {
  // What 8 results take, at a shift of 8; the 255th ends at most 1/8 early.
  const auto sums =
      static_cast<int32_t>((uint32_t{1} << 31) / static_cast<uint32_t>(multiplier >> 11));
  const auto sum_of = [&](int32_t result) {
    const int32_t steps = result - finish.zero;
    return steps < 0 ? -(-steps * sums >> (11 + shift)) : steps * sums >> (11 + shift);
  };
  return {sum_of(finish.low), sum_of(finish.high)};
}

// Takes the negated sum, where that has 16 digits from `least` to `most`. As an addend of two
// halves, its high half is minus one for sums above zero, nothing for others: what those keep (zero
// may lose it). Of P, the digits from place 16 on are enough.
struct Near {
  int32_t least, most;
  int32_t a;  // the multiplier's low half, signed, negated
  int32_t b;  // halves: what sums above zero keep, and the rest of the multiplier, both negated
  int32_t c;
  int32_t places;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = min(max(sum, least), most);
    const int32_t high =
        sdotsp_h(muls_16(sum, a), static_cast<uint32_t>(sum), static_cast<uint32_t>(b));
    return add_nr(high, c, static_cast<uint32_t>(places));
  }
};
#define GEN_KERNELS_NEAR(s)                                \
  GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x2d,", s, s, "least") \
  GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x2b,", s, s, "most")  \
  GEN_KERNELS_ASM(".insn r 0x5b, 4, 0x10,", "t", s, "a")   \
  GEN_KERNELS_ASM(".insn r 0x7b, 0, 0x54,", "t", s, "b")   \
  GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x40,", "t", "c", "places")

inline bool is_near(const Range& range) {
  return range.least > INT16_MIN && range.most <= -INT16_MIN;
}

inline Near near_of(int32_t multiplier, int32_t shift, const Finish& finish, const Range& range) {
  const int32_t half = multiplier & 0xffff;
  const int32_t carry = half > 0x8000 ? 1 : 0;
  const int32_t rest = (multiplier >> 16) + carry;
  const int32_t places = 15 - shift;
  return {-range.most,
          -range.least,
          (carry << 16) - half,
          INT32_MIN | (-rest & 0xffff),
          (1 << (places - 1)) - (1 << 14) + finish.zero * (1 << places),
          places};
}

// The others: as Short, for sums from which `origin`, the least that matters, is already taken.
struct Centred {
  Channel k;
  int32_t origin;
  int32_t fraction;  // of `round`
  int32_t centre;    // where sums are zero
  int32_t step;      // what sums below lose
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = clipur(sum, k.limit);
    const uint32_t product = static_cast<uint32_t>(sum) * static_cast<uint32_t>(k.a);
    const auto digits = static_cast<int32_t>(addu_n15(product, static_cast<uint32_t>(fraction)));
    return add_n24(mac(mac(digits, sum, k.b), sum < centre ? 1 : 0, step), k.c);
  }
};
#define GEN_KERNELS_CENTRED(s)                                    \
  GEN_KERNELS_CUT(s)                                              \
  GEN_KERNELS_ASM("mul", "t", s, "a")                             \
  GEN_KERNELS_ASM(".insn r 0x5b, 2, 0x2f,", "t", "t", "fraction") \
  GEN_KERNELS_MAC(s, "b")                                         \
  GEN_KERNELS_ASM("slt", s, s, "centre")                          \
  GEN_KERNELS_MAC(s, "step")                                      \
  GEN_KERNELS_TOP_BYTE(s)

inline Centred centred_of(int32_t multiplier, int32_t shift, const Finish& finish,
                          const Range& range) {
  const int32_t right = -shift;
  const int32_t places = 7 + right;
  const int64_t round =
      int64_t{range.least} * multiplier + (int64_t{1} << 30) + (int64_t{1} << (30 + right));
  const int32_t mask = (1 << places) - 1;
  const auto top = static_cast<uint32_t>(finish.zero) << 24;
  return {{range.most - range.least, (multiplier & mask) << (8 - right), multiplier >> places,
           static_cast<int32_t>(static_cast<uint32_t>(round >> places) + top)},
          range.least,
          (static_cast<int32_t>(round) & mask) << (8 - right),
          -range.least,
          -(1 << (24 - right))};
}

}  // namespace gen_kernels::corev
