// Arithmetic of affine quantisation: rescaling of accumulators, float to
// integer and back. All results are exact: integer steps reproduce what IEEE
// single precision and 64-bit integers give, without a floating-point unit.
#pragma once

#include <cstdint>
#include <cstring>

#include "util/dtype.h"
#include "util/soft_float.h"

namespace gen_kernels {

// ---- Integers that wrap, as two's complement registers do ----

inline int32_t wrap_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t wrap_mul(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

inline int32_t clamp(int32_t value, int32_t low, int32_t high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

// ---- Fixed-point rescaling ----

namespace internal {
// The general case: left shifts, negative multipliers, any right shift up to 62.
GEN_KERNELS_NOINLINE inline int32_t requantize_wide(int32_t value, int32_t multiplier,
                                                    int32_t shift) {
  const int left = shift > 0 ? (shift & 63) : 0;
  const int right = shift < 0 ? (shift < -62 ? 62 : -shift) : 0;
  const auto scaled = static_cast<uint64_t>(static_cast<int64_t>(value)) << left;
  const uint64_t product =
      scaled * static_cast<uint64_t>(static_cast<int64_t>(multiplier)) + (uint64_t{1} << 30);
  int64_t result = static_cast<int64_t>(product) >> 31;
  if (right > 0) {
    const int64_t mask = static_cast<int64_t>((uint64_t{1} << right) - 1);
    const int64_t remainder = result & mask;
    result >>= right;
    result += remainder > (mask >> 1) + (result < 0 ? 1 : 0) ? 1 : 0;
  }
  return static_cast<int32_t>(result);
}
}  // namespace internal

// value * multiplier * 2^(shift - 31), rounded twice: the high product half up,
// then the right shift half away from zero. Results wrap to 32 bits.
inline int32_t requantize(int32_t value, int32_t multiplier, int32_t shift) {
  if (shift > 0 || shift < -30 || multiplier < 0) {
    return internal::requantize_wide(value, multiplier, shift);
  }
  const int64_t product = static_cast<int64_t>(value) * multiplier + (int64_t{1} << 30);
  const auto high = static_cast<int32_t>(product >> 31);
  if (shift == 0) {
    return high;
  }
  // Rounding half away from zero: a negative value needs more than half to round up.
  const int right = -shift;
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << right) - 1);
  const int32_t floor = high >> right;
  return floor + ((high & mask) > (mask >> 1) + (floor < 0 ? 1 : 0) ? 1 : 0);
}

// A per-tensor or per-channel rescale to a clamped int8 with a zero point.
struct Requant {
  int32_t offset;
  int32_t low;
  int32_t high;

  int8_t operator()(int32_t value, int32_t multiplier, int32_t shift) const {
    return static_cast<int8_t>(
        clamp(wrap_add(requantize(value, multiplier, shift), offset), low, high));
  }
};

// ---- Single precision by its bits ----

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

namespace internal {

// mantissa * 2^(exponent - 63) as a float, rounded half to even. The mantissa is
// normalised (bit 63 set); `sticky` says that smaller non-zero digits were cut.
inline float pack_float(bool negative, int exponent, uint64_t mantissa, bool sticky) {
  const uint32_t sign = negative ? 0x80000000U : 0U;
  if (exponent > 127) {
    return float_from_bits(sign | 0x7f800000U);
  }
  int drop = 40;
  if (exponent < -126) {
    const int more = -126 - exponent;
    drop = more > 23 ? 64 : drop + more;
    exponent = -127;
    if (more > 24) {
      return float_from_bits(sign);
    }
  }
  const uint64_t kept = drop == 64 ? 0 : mantissa >> drop;
  const uint64_t rest = drop == 64 ? mantissa : mantissa << (64 - drop);
  const uint64_t half = uint64_t{1} << 63;
  const bool up = rest > half || (rest == half && (sticky || (kept & 1) != 0));
  // A carry out of the mantissa steps the exponent, also into infinity or the first normal number.
  const auto base = static_cast<uint32_t>(exponent + 127) << 23;
  const uint32_t bits = exponent == -127 ? 0U : base - 0x800000U;
  return float_from_bits(sign | (bits + static_cast<uint32_t>(kept) + (up ? 1U : 0U)));
}

struct DoubleParts {
  uint64_t mantissa;  // bit 52 set
  int exponent;       // value = mantissa * 2^(exponent - 52)
  bool negative;
  bool finite;
};

inline DoubleParts split(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int biased = static_cast<int>((bits >> 52) & 0x7ff);
  DoubleParts parts{bits & 0xfffffffffffffU, biased - 1023, (bits >> 63) != 0, biased != 0x7ff};
  if (biased != 0) {
    parts.mantissa |= uint64_t{1} << 52;
  } else {
    parts.exponent = -1022;
    while (parts.mantissa != 0 && (parts.mantissa >> 52) == 0) {
      parts.mantissa <<= 1;
      --parts.exponent;
    }
  }
  return parts;
}

}  // namespace internal

// static_cast<float>(value) without the double library.
GEN_KERNELS_NOINLINE inline float to_float(double value) {
#if GEN_KERNELS_SOFT_FLOAT
  const internal::DoubleParts parts = internal::split(value);
  if (!parts.finite) {
    const bool nan = (parts.mantissa & 0xfffffffffffffU) != 0;
    return float_from_bits((parts.negative ? 0x80000000U : 0U) | (nan ? 0x7fc00000U : 0x7f800000U));
  }
  if (parts.mantissa == 0) {
    return parts.negative ? -0.0F : 0.0F;
  }
  return internal::pack_float(parts.negative, parts.exponent, parts.mantissa << 11, false);
#else
  return static_cast<float>(value);
#endif
}

// static_cast<float>(1.0 / value): the quotient is rounded to double first, as PyTorch's scalars
// are.
GEN_KERNELS_NOINLINE inline float reciprocal(double value) {
#if GEN_KERNELS_SOFT_FLOAT
  const internal::DoubleParts parts = internal::split(value);
  if (!parts.finite || parts.mantissa == 0) {
    const bool nan = !parts.finite && (parts.mantissa & 0xfffffffffffffU) != 0;
    const uint32_t magnitude = nan ? 0x7fc00000U : parts.finite ? 0x7f800000U : 0U;
    return float_from_bits((parts.negative ? 0x80000000U : 0U) | magnitude);
  }
  if (parts.mantissa == uint64_t{1} << 52) {
    return internal::pack_float(parts.negative, -parts.exponent, uint64_t{1} << 63, false);
  }
  // 32 digits of 2^52 / mantissa, at most two too many or one too few, decide all but ties of the
  // float's 24 digits.
  if (const auto high = static_cast<uint32_t>(parts.mantissa >> 21);
      high > 0x80000000U && parts.exponent < 100 && parts.exponent > -100) {
    const uint32_t digits = soft::quotient(0x80000000U, high);
    if ((digits & 0xff) - 0x7c > 8) {
      return internal::pack_float(parts.negative, -parts.exponent - 1, uint64_t{digits} << 32,
                                  false);
    }
  }
  // 2^(52 + 53) / mantissa, 54 digits of which the last rounds.
  uint64_t remainder = uint64_t{1} << 52;
  uint64_t quotient = 0;
  for (int i = 0; i < 54; ++i) {
    quotient <<= 1;
    if (remainder >= parts.mantissa) {
      remainder -= parts.mantissa;
      quotient |= 1;
    }
    remainder <<= 1;
  }
  // Round the 53 significant digits of the double quotient: one more digit and the remainder
  // decide.
  const bool guard = remainder >= parts.mantissa;
  const bool tail = (guard ? remainder - parts.mantissa : remainder) != 0;
  quotient += guard && (tail || (quotient & 1) != 0) ? 1 : 0;
  if ((quotient >> 53) != 0) {
    return internal::pack_float(parts.negative, -parts.exponent, uint64_t{1} << 63, false);
  }
  return internal::pack_float(parts.negative, -parts.exponent - 1, quotient << 11, false);
#else
  return static_cast<float>(1.0 / value);
#endif
}

// The nearest integer, halves to even. Exact for every float.
inline float round_even(float value) {
  const float magnitude = value < 0 ? -value : value;
  if (!(magnitude < 8388608.0F)) {
    return value;  // integers already, infinity, NaN
  }
  volatile float shifted = magnitude + 8388608.0F;  // rounds at the last integer digit
  const float rounded = shifted - 8388608.0F;
  return value < 0 ? -rounded : rounded;
}

// ---- Float to integer ----

// Quantises floats with one scale: clamp(round(x * (1 / scale)) + zero_point).
class Quantizer {
 public:
  // inverse: 1 / scale, rounded to float. NaN quantises to 0 (as PyTorch's int8 conversion gives).
  Quantizer(float inverse, int64_t zero_point, int64_t low, int64_t high)
      : inverse_(inverse), zero_(zero_point), low_(low), high_(high) {
#if GEN_KERNELS_SOFT_FLOAT
    const uint32_t bits = float_bits(inverse);
    const uint32_t exponent = (bits >> 23) & 0xff;
    constexpr int64_t kSmall = 1 << 20;
    small_ = exponent != 0 && exponent != 0xff && zero_point > -kSmall && zero_point < kSmall &&
             low > -kSmall && high < kSmall && low <= high;
    mantissa_ = (bits & 0x7fffffU) | 0x800000U;
    exponent_ = static_cast<int>(exponent) - 127 - 23;
#endif
  }

  int64_t operator()(float value) const {
#if GEN_KERNELS_SOFT_FLOAT
    const uint32_t bits = float_bits(value);
    const uint32_t exponent = (bits >> 23) & 0xff;
    if (small_ && (bits << 1) == 0) {
      return clamp(static_cast<int32_t>(zero_), static_cast<int32_t>(low_),
                   static_cast<int32_t>(high_));
    }
    if (small_ && exponent != 0 && exponent != 0xff) {
      return small(bits, static_cast<int>(exponent) - 127 - 23);
    }
#endif
    const float rounded = round_even(value * inverse_) + static_cast<float>(zero_);
    if (!(rounded == rounded)) {
      return 0;
    }
    const auto low = static_cast<float>(low_);
    const auto high = static_cast<float>(high_);
    return rounded <= low ? low_ : rounded >= high ? high_ : static_cast<int64_t>(rounded);
  }

 private:
#if GEN_KERNELS_SOFT_FLOAT
  // Both factors are normal and the range is small: the product's digits decide.
  int64_t small(uint32_t bits, int exponent) const {
    uint64_t product =
        static_cast<uint64_t>((bits & 0x7fffffU) | 0x800000U) * mantissa_;  // 47 or 48 digits
    int e = exponent + exponent_;  // |x * inverse| = product * 2^e
    const bool negative = ((bits ^ float_bits(inverse_)) >> 31) != 0;
    // First rounding: to the 24 digits of a float.
    const int extra = (product >> 47) != 0 ? 24 : 23;
    const auto rest = static_cast<uint32_t>(product) & ((1U << extra) - 1);
    const uint32_t half = 1U << (extra - 1);
    auto m = static_cast<uint32_t>(product >> extra);
    m += rest > half || (rest == half && (m & 1) != 0) ? 1 : 0;
    e += extra;
    // Second rounding: to an integer.
    int32_t magnitude = 1 << 22;  // beyond every small range
    if (e <= -26) {
      magnitude = 0;  // below one half: m < 2^25
    } else if (e < 0) {
      const uint32_t mask = (1U << -e) - 1;
      const uint32_t tie = 1U << (-e - 1);
      const uint32_t whole = m >> -e;
      const uint32_t fraction = m & mask;
      magnitude = static_cast<int32_t>(
          whole + (fraction > tie || (fraction == tie && (whole & 1) != 0) ? 1 : 0));
      magnitude = magnitude > (1 << 22) ? 1 << 22 : magnitude;
    }
    const auto zero = static_cast<int32_t>(zero_);
    return clamp((negative ? -magnitude : magnitude) + zero, static_cast<int32_t>(low_),
                 static_cast<int32_t>(high_));
  }

  bool small_;
  uint32_t mantissa_;
  int exponent_;
#endif
  float inverse_;
  int64_t zero_;
  int64_t low_;
  int64_t high_;
};

// ---- Integer to float ----

// static_cast<float>(value) * scale, rounded once, for |value| <= 2^24 (exact as a float).
inline float scale_integer(int32_t value, float scale) {
#if GEN_KERNELS_SOFT_FLOAT
  const uint32_t bits = float_bits(scale);
  const uint32_t exponent = (bits >> 23) & 0xff;
  if (exponent > 24 && exponent < 200) {  // no underflow, no overflow, no special number
    if (value == 0) {
      return float_from_bits(bits & 0x80000000U);
    }
    const bool negative = (value < 0) != ((bits >> 31) != 0);
    const auto magnitude = static_cast<uint32_t>(value < 0 ? -value : value);
    uint64_t product =
        static_cast<uint64_t>(magnitude) * ((bits & 0x7fffffU) | 0x800000U);  // up to 49 digits
    const int lead = __builtin_clzll(product);
    product <<= lead;
    return internal::pack_float(negative, static_cast<int>(exponent) - 127 - 23 + 63 - lead,
                                product, false);
  }
#endif
  return static_cast<float>(value) * scale;
}

}  // namespace gen_kernels
