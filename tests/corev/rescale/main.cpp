// The rescales of corev/rescale.h against the definition, which rounds twice in 64 bits.
//
// For each multiplier, shift, zero point and clamp, and each kind that takes them: the sums on both
// sides of every step of the result, the ends of the cut, the smallest and the largest sums. With
// EXHAUSTIVE, and for the kinds of short products, every sum up to beyond the cut as well.
// Prints "<kind> channels <n> sums <n> wrong <n>" for each kind.
#include <stdio.h>

#include <cstdint>

#include "corev/rescale.h"

using namespace gen_kernels::corev;  // NOLINT: a test program
using gen_kernels::Requant;

namespace {

#ifndef MULTIPLIERS
#define MULTIPLIERS 40  // at random, beside the corners
#endif
#ifndef EXHAUSTIVE
#define EXHAUSTIVE 1
#endif

// A sum's byte by the definition: the product's high half rounded half up, then the right shift
// rounded half away from zero, then the zero point and the clamp.
int32_t expected(int64_t sum, int32_t multiplier, int32_t shift, const Requant& requant) {
  const int64_t product = sum * multiplier + (int64_t{1} << 30);
  const int64_t high = product >> 31;
  const int64_t half = int64_t{1} << (-shift - 1);
  const int64_t magnitude = ((high < 0 ? -high : high) + half) >> -shift;
  const int64_t value = (high < 0 ? -magnitude : magnitude) + requant.offset;
  return static_cast<int32_t>(value < requant.low    ? requant.low
                              : value > requant.high ? requant.high
                                                     : value);
}

struct Count {
  uint32_t channels = 0;
  uint64_t sums = 0;
  uint32_t wrong = 0;
};
Count counts[6];

template <class Rescale>
struct Check {
  const Rescale& rescale;
  int32_t multiplier, shift;
  Requant requant;
  int32_t bound;  // of the sums in magnitude
  Count& count;

  void one(int64_t sum) const {
    if (sum < -int64_t{bound} || sum > bound) {
      return;
    }
    const auto s = static_cast<int32_t>(sum);
    const int32_t got = static_cast<int8_t>(rescale(s));
    ++count.sums;
    if (got != expected(s, multiplier, shift, requant) && count.wrong++ < 8) {
      printf("sum %ld multiplier %ld shift %ld zero %ld: %ld\n", static_cast<long>(s),
             static_cast<long>(multiplier), static_cast<long>(shift),
             static_cast<long>(requant.offset), static_cast<long>(got));
    }
  }
  void around(int64_t sum) const {
    one(sum - 1);
    one(sum);
    one(sum + 1);
  }
  // The smallest sum whose result is at least `result`.
  int64_t step(int32_t result) const {
    int64_t low = -int64_t{bound} - 1;
    int64_t high = int64_t{bound} + 1;
    while (high - low > 1) {
      const int64_t middle = (low + high) >> 1;
      (expected(middle, multiplier, shift, requant) >= result ? high : low) = middle;
    }
    return high;
  }
  void run(int32_t limit, bool all) const {
    ++count.channels;
    for (int32_t result = requant.low; result <= requant.high; ++result) {
      around(step(result));
    }
    around(0);
    around(limit);
    around(bound);
    around(-int64_t{bound});
    for (int32_t sum = -100; all && sum < limit + 1000; ++sum) {
      one(sum);
    }
  }
};

// Takes the origin of a Centred first, or the negated sum for a Near, as the kernels do with the
// bias.
struct FromOrigin {
  Centred k;
  int32_t operator()(int32_t sum) const {
    return k(static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(k.origin)));
  }
};
struct Negated {
  Near k;
  int32_t operator()(int32_t sum) const { return k(-sum); }
};

template <class Rescale>
void check(const Rescale& rescale, int32_t multiplier, int32_t shift, const Requant& requant,
           Kind kind) {
  const bool bounded = kind == Kind::kSigned;
  const Check<Rescale> c{rescale,
                         multiplier,
                         shift,
                         requant,
                         bounded ? (1 << 29) - 1 : INT32_MAX,
                         counts[static_cast<int>(kind)]};
  c.run(rescale.k.limit, EXHAUSTIVE != 0 && kind <= Kind::kShort);
}

void channel(int32_t multiplier, int32_t shift, const Requant& requant) {
  if (!fast_rescale(multiplier, shift, requant.offset)) {
    return;
  }
  const Finish finish = finish_of(requant);
  // A channel also runs as a slower kind, that of its neighbours.
  for (int32_t i = static_cast<int32_t>(kind_of(multiplier, shift, finish)); i < 4; ++i) {
    const auto kind = static_cast<Kind>(i);
    const Channel k = channel_of(kind, multiplier, shift, finish);
    with_kind(kind, finish, [&](auto make) { check(make(k), multiplier, shift, requant, kind); });
  }
}

template <class Rescale>
void centred(const Rescale& rescale, int32_t multiplier, int32_t shift, const Requant& requant,
             const Range& range, Count& count) {
  const Check<Rescale> c{rescale, multiplier, shift, requant, (1 << 29) - 1, count};
  c.run(range.most, false);
  c.around(range.least);
  for (int32_t sum = range.least - 1000; EXHAUSTIVE != 0 && sum < range.most + 1000; ++sum) {
    c.one(sum);
  }
}

void centred(int32_t multiplier, int32_t shift, const Requant& requant) {
  const Finish finish = finish_of(requant);
  if (can_centre(multiplier, shift, finish)) {
    const Range range = range_of(multiplier, shift, finish);
    const FromOrigin any{centred_of(multiplier, shift, finish, range)};
    centred(any, multiplier, shift, requant, range, counts[4]);
    if (is_near(range)) {
      const Negated near{near_of(multiplier, shift, finish, range)};
      centred(near, multiplier, shift, requant, range, counts[5]);
    }
  }
}

uint32_t random32() {
  static uint32_t state = 1;
  state = state * 1664525U + 1013904223U;
  return state ^ (state >> 15);
}

void multiplier(int32_t m) {
  static constexpr Requant kClamps[] = {{-128, -128, 127}, {-128, -128, 0},    {-128, -128, -128},
                                        {-128, -120, 90},  {0, 0, 127},        {127, 127, 127},
                                        {-7, -7, 100},     {-128, -128, -127}, {0, -128, 127},
                                        {127, -128, 127},  {5, -128, 127},     {5, -3, 60}};
  const uint32_t pick = random32();
  for (int32_t shift = -26; shift < 0; ++shift) {
    const Requant& other = kClamps[1 + (pick + static_cast<uint32_t>(-shift)) % 11];
    channel(m, shift, kClamps[0]);
    channel(m, shift, other);
    centred(m, shift, kClamps[0]);
    centred(m, shift, other);
  }
}

}  // namespace

int main() {
  static constexpr int32_t kCorners[] = {1 << 30,    (1 << 30) + 1, INT32_MAX,  INT32_MAX - 1,
                                         0x7fff8000, 0x7fff7fff,    0x40007fff, 0x40008000,
                                         0x55555555, 0x60000000,    0x7f000001, 0,
                                         1,          32767,         32768,      0x3fffffff};
  for (const int32_t m : kCorners) {
    multiplier(m);
  }
  for (int32_t i = 0; i < MULTIPLIERS; ++i) {
    multiplier((1 << 30) + static_cast<int32_t>(random32() & 0x3fffffff));
  }
  static const char* const kNames[] = {"narrow", "short", "cut", "signed", "centred", "near"};
  bool good = true;
  for (int i = 0; i < 6; ++i) {
    printf("%s channels %lu sums %lu wrong %lu\n", kNames[i],
           static_cast<unsigned long>(counts[i].channels),
           static_cast<unsigned long>(counts[i].sums), static_cast<unsigned long>(counts[i].wrong));
    good = good && counts[i].wrong == 0;
  }
  return good ? 0 : 1;
}
