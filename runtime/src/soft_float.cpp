// Float arithmetic for RISC-V without floating-point instructions, in place of libgcc's.
//
// The compiler calls these for float operators. libgcc's are 2 to 6 times larger (5 kB in an image
// with all of them) and no faster. Results are the same to the bit: IEEE 754, rounded to nearest,
// ties to even; subnormals included. NaNs come out quiet. Rounding modes and flags are ignored, as
// libgcc does here.
//
// libgen_kernels_runtime.a stands before libgcc on the linker's line, so these are found first.
// -DGEN_KERNELS_OWN_SOFT_FLOAT=0 leaves them out; tests define GEN_KERNELS_SOFT_FLOAT_NAME to get
// them under other names on any host.
#include "../../kernels/util/soft_float.h"

#if !defined(GEN_KERNELS_OWN_SOFT_FLOAT)
#if defined(__riscv_float_abi_soft) && __riscv_xlen == 32 && !defined(__riscv_flen) && \
    !defined(__riscv_zfinx)
#define GEN_KERNELS_OWN_SOFT_FLOAT 1
#else
#define GEN_KERNELS_OWN_SOFT_FLOAT 0
#endif
#endif

#if GEN_KERNELS_OWN_SOFT_FLOAT || defined(GEN_KERNELS_SOFT_FLOAT_NAME)

#ifndef GEN_KERNELS_SOFT_FLOAT_NAME
#define GEN_KERNELS_SOFT_FLOAT_NAME(name) name
#endif
#define NAME(name) GEN_KERNELS_SOFT_FLOAT_NAME(name)

namespace {

namespace soft = gen_kernels::soft;
using soft::kInfinity;
using soft::kSign;
constexpr uint32_t kQuietNan = 0x7FC00000u;
constexpr uint32_t kHidden = 0x800000u;  // The leading bit that normal numbers do not store.

// The significand; `exponent` is the field, 1 for subnormals: the value is
// significand * 2^(exponent - 150).
__attribute__((always_inline)) inline uint32_t significand(uint32_t bits, int32_t& exponent) {
  const uint32_t fraction = bits & (kHidden - 1);
  exponent = static_cast<int32_t>(soft::exponent_of(bits));
  if (exponent == 0) {
    exponent = 1;
    return fraction;
  }
  return fraction | kHidden;
}

inline bool is_nan(uint32_t bits) { return bits << 1 > kInfinity << 1; }

// sign and high * 2^(field - 157), bit 31 of high set and 0 <= field < 253; `low` is what follows.
__attribute__((always_inline)) inline uint32_t rounded(uint32_t sign, int32_t field, uint32_t high,
                                                       uint32_t low) {
  const uint32_t bits = (sign | static_cast<uint32_t>(field) << 23) + (high >> 8);
  const uint32_t tail = (high & 255) << 1 | (low != 0);
  return bits + (tail + (bits & 1) > 256);
}

// -1, 0, 1 for less, equal, greater; `unordered` when one is a NaN.
inline int compare(uint32_t a, uint32_t b, int unordered) {
  if (is_nan(a) || is_nan(b)) return unordered;
  if ((a | b) << 1 == 0) return 0;
  // Sign and magnitude order as two's complement does once negatives are flipped.
  const auto order = [](uint32_t x) { return static_cast<int32_t>(x >= kSign ? ~x ^ kSign : x); };
  return (order(a) > order(b)) - (order(a) < order(b));
}

}  // namespace

extern "C" {

int NAME(__clzsi2)(uint32_t x);
float NAME(__addsf3)(float a, float b);
float NAME(__subsf3)(float a, float b);
float NAME(__mulsf3)(float a, float b);
float NAME(__divsf3)(float a, float b);
int NAME(__eqsf2)(float a, float b);
int NAME(__nesf2)(float a, float b);
int NAME(__ltsf2)(float a, float b);
int NAME(__lesf2)(float a, float b);
int NAME(__gtsf2)(float a, float b);
int NAME(__gesf2)(float a, float b);
int NAME(__unordsf2)(float a, float b);
float NAME(__floatsisf)(int32_t value);
float NAME(__floatunsisf)(uint32_t value);
float NAME(__floatdisf)(int64_t value);
float NAME(__truncdfsf2)(double value);

// Leading zeros of x, which is not 0.
int NAME(__clzsi2)(uint32_t x) {
  int zeros = x >> 16 == 0 ? 16 : 0;
  x <<= zeros;
  if (x >> 24 == 0) x <<= 8, zeros += 8;
  if (x >> 28 == 0) x <<= 4, zeros += 4;
  if (x >> 30 == 0) x <<= 2, zeros += 2;
  return zeros + (static_cast<int32_t>(x) >= 0);
}

float NAME(__addsf3)(float x, float y) {
  uint32_t a = soft::to_bits(x);
  uint32_t b = soft::to_bits(y);
  if (a << 1 < b << 1) {
    const uint32_t larger = b;
    b = a;
    a = larger;
  }
  const uint32_t sign = a & kSign;
  const bool differ = static_cast<int32_t>(a ^ b) < 0;
  if ((a & kInfinity) == kInfinity) {
    const bool invalid = is_nan(a) || (differ && b << 1 == kInfinity << 1);
    return soft::from_bits(invalid ? kQuietNan : a);
  }
  int32_t exponent;
  int32_t lower;
  // Three more bits: guard, round, and whether anything was lost.
  uint32_t sum = significand(a, exponent) << 3;
  uint32_t addend = significand(b, lower) << 3;
  const int32_t shift = exponent - lower;
  if (shift > 26) {
    addend = addend != 0;
  } else if (shift > 0) {
    const bool lost = addend << (32 - shift) != 0;
    addend = addend >> shift | lost;
  }
  if (differ) {
    sum -= addend;
    if (sum == 0) return 0;
    while (sum < kHidden << 3 && exponent > 1) {
      sum <<= 1;
      --exponent;
    }
  } else {
    sum += addend;
    if (sum >= kHidden << 4) {
      sum = sum >> 1 | (sum & 1);
      ++exponent;
    }
  }
  const uint32_t tail = sum & 7;
  sum >>= 3;
  sum += tail + (sum & 1) > 4;
  // The hidden bit adds one to the exponent field; a carry out of the fraction one more.
  const uint32_t bits = (static_cast<uint32_t>(exponent - 1) << 23) + sum;
  return soft::from_bits(sign | (bits > kInfinity ? kInfinity : bits));
}

float NAME(__subsf3)(float a, float b) {
  return NAME(__addsf3)(a, soft::from_bits(soft::to_bits(b) ^ kSign));
}

float NAME(__mulsf3)(float x, float y) {
  const uint32_t a = soft::to_bits(x);
  const uint32_t b = soft::to_bits(y);
  const uint32_t sign = (a ^ b) & kSign;
  int32_t ea;
  int32_t eb;
  const uint32_t ma = significand(a, ea) << 8;
  const uint32_t mb = significand(b, eb) << 8;
  const uint64_t product = uint64_t{ma} * mb;
  const int32_t exponent = ea + eb - 127;
  if (static_cast<int32_t>(ma & mb) < 0 && ea < 255 && eb < 255) {
    auto high = static_cast<uint32_t>(product >> 32);
    auto low = static_cast<uint32_t>(product);
    int32_t field = exponent;  // One less than the result's: the hidden bit adds one.
    if (static_cast<int32_t>(high) < 0) {
      ++field;
    } else {
      high = high << 1 | low >> 31;
      low <<= 1;
    }
    --field;
    if (static_cast<uint32_t>(field) < 253) return soft::from_bits(rounded(sign, field, high, low));
  }
  uint32_t bits = kInfinity;
  if (ea == 255 || eb == 255) {
    // A factor of 0 makes an infinity invalid.
    if (is_nan(a) || is_nan(b) || a << 1 == 0 || b << 1 == 0) bits = kQuietNan;
  } else {
    bits = soft::to_bits(soft::scale(static_cast<int64_t>(product >> 16), exponent - 173));
  }
  return soft::from_bits(sign | bits);
}

float NAME(__divsf3)(float x, float y) {
  const uint32_t a = soft::to_bits(x);
  const uint32_t b = soft::to_bits(y);
  const uint32_t sign = (a ^ b) & kSign;
  int32_t ea;
  int32_t eb;
  uint32_t rest = significand(a, ea);
  uint32_t divisor = significand(b, eb);
  if (ea == 255 || eb == 255 || rest == 0 || divisor == 0) {
    const bool both = (ea == 255 && eb == 255) || (rest == 0 && divisor == 0);
    if (is_nan(a) || is_nan(b) || both) return soft::from_bits(kQuietNan);
    return soft::from_bits(sign | (ea == 255 || divisor == 0 ? kInfinity : 0));
  }
  for (; rest < kHidden; --ea) rest <<= 1;
  for (; divisor < kHidden; --eb) divisor <<= 1;
  if (rest < divisor) {
    rest <<= 1;
    --ea;
  }
  // 1 + 3 * 8 bits of the quotient: the significand and one to round by.
  uint32_t quotient = 1;
  rest -= divisor;
  for (int i = 0; i < 3; ++i) {
    rest <<= 8;
    quotient = quotient << 8 | rest / divisor;
    rest %= divisor;
  }
  const int32_t field = ea - eb + 126;
  if (static_cast<uint32_t>(field) < 253) {
    return soft::from_bits(rounded(sign, field, quotient << 7, rest));
  }
  const int64_t exact = int64_t{quotient} << 1 | (rest != 0);
  return soft::from_bits(sign | soft::to_bits(soft::scale(exact, ea - eb - 25)));
}

// The compiler tests the sign of the result; NaNs make every comparison but != false.
int NAME(__eqsf2)(float a, float b) { return compare(soft::to_bits(a), soft::to_bits(b), 1); }
int NAME(__nesf2)(float a, float b) { return NAME(__eqsf2)(a, b); }
int NAME(__ltsf2)(float a, float b) { return NAME(__eqsf2)(a, b); }
int NAME(__lesf2)(float a, float b) { return NAME(__eqsf2)(a, b); }
int NAME(__gtsf2)(float a, float b) { return compare(soft::to_bits(a), soft::to_bits(b), -1); }
int NAME(__gesf2)(float a, float b) { return NAME(__gtsf2)(a, b); }

int NAME(__unordsf2)(float a, float b) {
  return is_nan(soft::to_bits(a)) || is_nan(soft::to_bits(b));
}

float NAME(__floatsisf)(int32_t value) { return soft::scale(value, 0); }
float NAME(__floatunsisf)(uint32_t value) { return soft::scale(value, 0); }
float NAME(__floatdisf)(int64_t value) { return soft::scale(value, 0); }

float NAME(__truncdfsf2)(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto high = static_cast<uint32_t>(bits >> 32);
  const uint32_t sign = high & kSign;
  const auto exponent = static_cast<int32_t>(high << 1 >> 21);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 2047) {
    return soft::from_bits(fraction != 0 ? kQuietNan : sign | kInfinity);
  }
  if (exponent == 0) return soft::from_bits(sign);  // Far below the smallest float.
  const auto magnitude = static_cast<int64_t>(fraction | uint64_t{1} << 52);
  return soft::from_bits(sign | soft::to_bits(soft::scale(magnitude, exponent - 1075)));
}

}  // extern "C"

#endif
