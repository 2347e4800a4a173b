// The integer averages of kernels/cortex_m/pool.h against the float steps that define them: for
// every count of values that whole numbers decide (1 to 256) and every sum that they can have.
//
// Around each sum lie several draws of the values, in random order, and of the scale's mantissa,
// corners included: the float sum depends on both. Prints what differs; exit code 1 then.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cortex_m/pool.h"

using namespace gen_kernels;
using namespace gen_kernels::cortex_m;

namespace {

uint64_t state = 1;
uint32_t random32() {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<uint32_t>(state >> 32);
}
int32_t below(int32_t n) {
  return static_cast<int32_t>((uint64_t{random32()} * static_cast<uint32_t>(n)) >> 32);
}

int8_t values[256];

// Values with a given sum: near its mean, or anywhere; in random order.
void draw(int32_t count, int32_t sum) {
  const bool wide = (random32() & 1) != 0;
  const int32_t spread = wide ? 256 : 1 + below(16);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t left = count - 1 - i;  // values still to come
    const int32_t mean = (sum - (sum < 0 ? left : 0)) / (left + 1);
    int32_t low = mean - spread;
    int32_t high = mean + spread;
    const int32_t least = sum - left * 127;
    const int32_t most = sum + left * 128;
    low = low < -128 ? -128 : low;
    high = high > 127 ? 127 : high;
    low = low < least ? least : low;
    high = high > most ? most : high;
    const int32_t value = low + below(high - low + 1);
    values[i] = static_cast<int8_t>(value);
    sum -= value;
  }
  if (sum != 0) {
    std::abort();
  }
  for (int32_t i = count - 1; i > 0; --i) {
    const int32_t j = below(i + 1);
    const int8_t swap = values[i];
    values[i] = values[j];
    values[j] = swap;
  }
}

uint32_t mantissa() {
  switch (below(8)) {
    case 0:
      return static_cast<uint32_t>(below(4));  // a power of two and just above
    case 1:
      return 0x7fffff - static_cast<uint32_t>(below(4));
    case 2:
      return random32() & 0x7f0000;  // few digits: exact products
    default:
      return random32() & 0x7fffff;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 1;
  long windows = 0;
  long half = 0;
  long wrong = 0;
  const Taps rows{0, 1};
  Image image{};
  image.row_stride = 256;
  image.column_stride = 1;
  for (int32_t count = 1; count <= Average::kMostTaps; ++count) {
    Mean mean;
    mean.set(count);
    const Taps columns{0, count};
    for (int32_t sum = -128 * count; sum <= 127 * count; ++sum) {
      uint32_t remainder = 0;
      const int32_t value = mean.divide(mean.start() + 2 * sum, remainder);
      const bool tie = remainder == 0;
      for (int i = 0; i < (tie ? 8 * draws : 1); ++i) {
        draw(count, sum);
        static constexpr int32_t kZeros[] = {-128, 0, 127};
        const int which = below(4);
        Average average;
        average.zero = which < 3 ? kZeros[which] : below(256) - 128;
        const auto exponent = static_cast<uint32_t>(60 + below(120));
        average.scale = float_from_bits((random32() & 0x80000000U) | (exponent << 23) | mantissa());
        average.plain = true;
        const int32_t expected = average.by_floats(values, image, rows, columns);
        int32_t got = expected;
        if (tie) {
          got = average.half_way<PlainBits>(2 * (value - average.zero) - 1, values, image, rows,
                                            columns);
          ++half;
        } else if (mean.decides(remainder)) {
          got = value;
        }
        ++windows;
        if (got != expected && ++wrong < 10) {
          std::printf("count %d sum %d zero %d scale %a: %d instead of %d\n", count, sum,
                      average.zero, static_cast<double>(average.scale), got, expected);
        }
      }
    }
  }
  std::printf("windows %ld half-way %ld wrong %ld\n", windows, half, wrong);
  return wrong != 0 ? 1 : 0;
}
