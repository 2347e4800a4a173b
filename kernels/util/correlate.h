// The engine of convolution and of its gradients: each output element is the dot product of the
// taps of its window, summed over one more dimension (channels or the batch).
#pragma once

#include "util/dot.h"
#include "util/window.h"

namespace gen_kernels {

// The walk's operands are input, kernel, bias and output.
struct Correlation {
  Windows windows;
  Run sum;  // The extra dimension; steps are in bytes here and below.
  ptrdiff_t input_step[kSpatial];
  ptrdiff_t kernel_step[kSpatial];
};

template <class T>
void correlate_cell(const void* context, char* const* at, const Taps* taps) {
  const auto& c = *static_cast<const Correlation*>(context);
  const char* input = at[0];
  const char* kernel = at[1];
  // The longer of the extra dimension and the innermost goes inside, where a step costs least.
  const size_t inner = c.sum.count > taps[0].count ? kSpatial : 0;
  Run runs[1 + kSpatial];
  runs[kSpatial - inner] = c.sum;
  for (size_t d = 0; d < kSpatial; ++d) {
    const Taps& t = taps[d];
    input += t.input * c.input_step[d];
    kernel += t.tap * c.kernel_step[d];
    runs[d == 0 ? inner : d] = {t.count, t.input_step * c.input_step[d],
                                t.tap_step * c.kernel_step[d]};
  }
  Dot<T> dot;
  do {
    for (int32_t m = 0; m < runs[3].count; ++m) {
      const char* a = input + m * runs[3].a_step;
      const char* b = kernel + m * runs[3].b_step;
      for (int32_t n = runs[2].count; n > 0; --n) {
        dot.run(a, b, runs[1], runs[0]);
        a += runs[2].a_step;
        b += runs[2].b_step;
      }
    }
  } while (dot.again());
  OpMath<T> start{};
  if (at[2] != nullptr) start = static_cast<OpMath<T>>(*reinterpret_cast<const T*>(at[2]));
  *reinterpret_cast<T*>(at[3]) = static_cast<T>(dot.value(start));
}

template <class T>
void correlate(Correlation& c) {
  for_each_window(c.windows, correlate_cell<T>, &c);
}

}  // namespace gen_kernels
