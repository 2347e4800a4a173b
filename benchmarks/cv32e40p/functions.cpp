// Cycles of elementary functions in single precision: ours by integers, and picolibc's.
// Prints "function <name> <ours> <picolibc's>", the mean of 64 calls, loop included.
#include <stdio.h>

#include <cmath>

#include "platform.h"
#include "util/fmath.h"

namespace {

constexpr int kCalls = 64;
volatile float input;
volatile float output;

template <class F>
unsigned long mean(float low, float high, F f) {
  const uint64_t start = platform_cycles();
  for (int i = 0; i < kCalls; ++i) {
    input = low + (high - low) * static_cast<float>(i) * (1.0F / kCalls);
    output = f(input);
  }
  return static_cast<unsigned long>(platform_cycles() - start) / kCalls;
}

template <class A, class B>
void compare(const char* name, float low, float high, A ours, B theirs) {
  const unsigned long loop = mean(low, high, [](float x) { return x; });
  printf("function %s %lu %lu\n", name, mean(low, high, ours) - loop,
         mean(low, high, theirs) - loop);
}

}  // namespace

void functions() {
  namespace soft = gen_kernels::soft;
  compare("exp", -8, 8, soft::exp, [](float x) { return std::exp(x); });
  compare("log", 0.1F, 20, soft::log, [](float x) { return std::log(x); });
  compare("sqrt", 0.1F, 20, soft::sqrt, [](float x) { return std::sqrt(x); });
  compare("tanh", -4, 4, soft::tanh, [](float x) { return std::tanh(x); });
  compare("sigmoid", -8, 8, soft::sigmoid, [](float x) { return 1 / (1 + std::exp(-x)); });
}
