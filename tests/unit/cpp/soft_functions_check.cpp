// Errors of the elementary functions of kernels/util/fmath.h, in units of the last place, against
// the host's in double, over all floats or every n-th.
//
//   soft_functions_check [n]
//
// Prints "name largest-error at-x floats" for each function. Where a function is constant or the
// identity to single precision, fewer floats are tried.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "util/fmath.h"

using namespace gen_kernels::soft;

namespace {

// The distance in units of the last place of a float; wrong specials are far.
double ulps(float got, double expected) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(expected)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  if (expected == 0) return got == 0 ? 0 : 1e9;
  uint64_t bits;
  std::memcpy(&bits, &expected, sizeof bits);
  int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023 - 23;
  exponent = exponent < -149 ? -149 : exponent;
  const uint64_t inverse = static_cast<uint64_t>(1023 - exponent) << 52;
  double scale;
  std::memcpy(&scale, &inverse, sizeof scale);
  return std::fabs(static_cast<double>(got) - expected) * scale;
}

double sigmoid_double(double x) { return 1 / (1 + std::exp(-x)); }

// The function changes between the exponents `low` and `high`.
void check(const char* name, float (*function)(float), double (*exact)(double), uint32_t low,
           uint32_t high, uint32_t step) {
  double most = 0;
  float at = 0;
  unsigned long count = 0;
  for (uint64_t bits = 0; bits <= UINT32_MAX;) {
    const float x = from_bits(static_cast<uint32_t>(bits));
    const double error = ulps(function(x), exact(static_cast<double>(x)));
    if (!(error <= most)) {
      most = error;
      at = x;
    }
    ++count;
    const uint32_t field = exponent_of(static_cast<uint32_t>(bits));
    bits += field >= low && field <= high ? step : 997;
  }
  std::printf("%s %.4f %a %lu\n", name, most, static_cast<double>(at), count);
}

}  // namespace

int main(int count, char** arguments) {
  const uint32_t step = count > 1 ? static_cast<uint32_t>(std::atoi(arguments[1])) : 1;
  check("exp", exp, std::exp, 100, 134, step);
  check("log", log, std::log, 0, 254, step);
  check("sqrt", sqrt, std::sqrt, 0, 254, step);
  check("tanh", tanh, std::tanh, 110, 131, step);
  check("sigmoid", sigmoid, sigmoid_double, 100, 134, step);
  return 0;
}
