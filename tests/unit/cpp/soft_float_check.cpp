// Compares the project's float arithmetic by integers with the host's floating-point unit.
//
// Prints one line a difference and exits 1 when there is any.
#define GEN_KERNELS_SOFT_FLOAT_NAME(name) check##name
#include <cmath>
#include <cstdio>
#include <limits>

#include "../../../runtime/src/soft_float.cpp"
#include "util/dot.h"
#include "util/fmath.h"

namespace {

using namespace gen_kernels;

int failures = 0;

// xorshift64, as published by Marsaglia.
uint32_t random_bits() {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<uint32_t>(state >> 16);
}

// All kinds of floats: corners, subnormals, near to one another, anything.
uint32_t any_float() {
  static const uint32_t corners[] = {0,          0x80000000, 1,          0x80000001, 0x007FFFFF,
                                     0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
                                     0x3F800000, 0xBF800000, 0x3F800001, 0x33800000, 0x34000000};
  const uint32_t r = random_bits();
  switch (random_bits() & 7) {
    case 0:
      return corners[r % (sizeof(corners) / sizeof(corners[0]))];
    case 1:
      return r & 0x807FFFFF;
    case 2:
      return (r & 0x81FFFFFF) + 0x3F000000;
    case 3:
      return (r & 0x807FFFFF) | (r % 61 + 100) << 23;
    default:
      return r;
  }
}

bool same(float a, float b) {
  return a != a ? b != b : gen_kernels::soft::to_bits(a) == gen_kernels::soft::to_bits(b);
}

void expect(const char* what, float a, float b, float got, float expected) {
  if (same(got, expected) || ++failures > 20) return;
  std::printf("%s of %a and %a: %a, expected %a\n", what, static_cast<double>(a),
              static_cast<double>(b), static_cast<double>(got), static_cast<double>(expected));
}

void check_arithmetic() {
  uint32_t p = any_float();
  uint32_t q = (random_bits() & 15) == 0 ? p ^ (random_bits() & 0x80000003) : any_float();
  const volatile float a = gen_kernels::soft::from_bits(p);
  const volatile float b = gen_kernels::soft::from_bits(q);
  expect("+", a, b, check__addsf3(a, b), a + b);
  expect("-", a, b, check__subsf3(a, b), a - b);
  expect("*", a, b, check__mulsf3(a, b), a * b);
  expect("/", a, b, check__divsf3(a, b), a / b);
  const auto truth = [&](const char* what, bool got, bool expected) {
    expect(what, a, b, got, expected);
  };
  truth("==", check__eqsf2(a, b) == 0, a == b);
  truth("!=", check__nesf2(a, b) != 0, a != b);
  truth("<", check__ltsf2(a, b) < 0, a < b);
  truth("<=", check__lesf2(a, b) <= 0, a <= b);
  truth(">", check__gtsf2(a, b) > 0, a > b);
  truth(">=", check__gesf2(a, b) >= 0, a >= b);
  truth("unordered", check__unordsf2(a, b) != 0, std::isunordered(a, b));
  expect("int32", a, 0, check__floatsisf(static_cast<int32_t>(p)),
         static_cast<float>(static_cast<int32_t>(p)));
  expect("uint32", a, 0, check__floatunsisf(p), static_cast<float>(p));
  const auto wide = static_cast<int64_t>((uint64_t{p} << 32 | q) >> (random_bits() & 63));
  expect("int64", a, b, check__floatdisf(wide), static_cast<float>(wide));
  // A double with more digits than a float, often in a float's range.
  uint64_t bits = uint64_t{random_bits()} << 32 | random_bits();
  if ((p & 1) != 0) {
    bits = (bits & 0x800FFFFFFFFFFFFF) | uint64_t{0x360 + random_bits() % 0x100} << 52;
  }
  double number;
  std::memcpy(&number, &bits, sizeof(number));
  expect("double", a, b, check__truncdfsf2(number), static_cast<float>(number));
  expect("sqrt", a, 0, gen_kernels::soft::sqrt(a), std::sqrt(static_cast<float>(a)));
  if (p != 0) truth("clz", check__clzsi2(p) == __builtin_clz(p), true);
}

// The distance in units of the last place of a float.
double ulps(float got, double expected) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  int exponent;
  std::frexp(rounded, &exponent);
  const double unit = std::ldexp(1.0, (exponent < -125 ? -125 : exponent) - 24);
  return std::fabs(static_cast<double>(got) - expected) / unit;
}

void check_function(const char* name, float x, float got, double expected, double most = 0.75) {
  if (ulps(got, expected) < most || ++failures > 20) return;
  std::printf("%s(%a): %a, expected %a\n", name, static_cast<double>(x), static_cast<double>(got),
              expected);
}

// A dot product must be as near to the exact one as float rounding of its terms allows, and follow
// IEEE 754 where specials occur.
void check_dot() {
  constexpr int kMost = 64;
  float a[kMost];
  float b[kMost];
  const int n = static_cast<int>(random_bits() % (kMost + 1));
  double exact = 0;
  double magnitude = 0;
  const bool specials = (random_bits() & 7) == 0;
  for (int i = 0; i < n; ++i) {
    const auto number = [&] {
      const uint32_t r = any_float();
      if (specials) return gen_kernels::soft::from_bits(r);
      return gen_kernels::soft::from_bits((r & 0x807FFFFF) | (r % 41 + 107) << 23) *
             static_cast<float>(random_bits() & 1);
    };
    a[i] = number();
    b[i] = number();
    const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    exact += product;
    magnitude += std::fabs(product);
  }
  SoftDot<float> dot;
  const Run inner{n, sizeof(float), sizeof(float)};
  do {
    dot.run(reinterpret_cast<const char*>(a), reinterpret_cast<const char*>(b), {1, 0, 0}, inner);
  } while (dot.again());
  const float got = dot.value();
  if (std::isnan(exact) && std::isnan(got)) return;
  if (magnitude > 1e38 && !std::isfinite(got)) return;
  const double bound = magnitude * (n + 1) * 0x1p-24 + 0x1p-149;
  if (std::fabs(static_cast<double>(got) - exact) <= bound) return;
  if (static_cast<double>(got) == exact || ++failures > 20) return;
  std::printf("dot of %d: %a, expected %a\n", n, static_cast<double>(got), exact);
}

}  // namespace

int main() {
  for (int i = 0; i < 1000000; ++i) check_arithmetic();
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 4001) {
    const float x = gen_kernels::soft::from_bits(static_cast<uint32_t>(bits));
    check_function("exp", x, gen_kernels::soft::exp(x), std::exp(static_cast<double>(x)));
    check_function("log", x, gen_kernels::soft::log(x), std::log(static_cast<double>(x)));
    check_function("tanh", x, gen_kernels::soft::tanh(x), std::tanh(static_cast<double>(x)));
  }
  for (int i = 0; i < 50000; ++i) check_dot();
  if (failures > 0) std::printf("%d differences\n", failures);
  return failures > 0 ? 1 : 0;
}
