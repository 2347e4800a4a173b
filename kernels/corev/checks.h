// What the convolutions ask of a call.
#pragma once

#include "corev/rescale.h"
#include "cortex_m/common.h"

namespace gen_kernels::corev {

// Whether the pixels of an image follow each other, channels innermost.
inline bool is_dense(const cortex_m::Image& i) {
  return (i.channel_stride == 1 || i.channels == 1) &&
         (i.column_stride == i.channels || i.width == 1) &&
         (i.row_stride == i.width * i.channels || i.height == 1) &&
         (i.batch_stride == i.height * i.width * i.channels || i.batch == 1);
}

// Whether all biases are below `most` in magnitude.
inline bool biases_below(const int32_t* bias, int32_t count, int32_t most) {
  int32_t least = 0;
  int32_t largest = 0;
  for (; count > 0; --count, ++bias) {
    least = min(least, *bias);
    largest = max(largest, *bias);
  }
  return -most < least && largest < most;
}

// Whether all output channels of a convolution can take the fast rescale, and the zero point is an
// int8. `taps` products make a sum.
template <class Call>
bool rescales_fast(const Call& call, int32_t channels, int32_t taps) {
  constexpr int32_t kMost = 1 << 28;  // of the bias and of the rest of a sum
  const int32_t offset = call.input_offset;
  if (offset < -INT8_MAX || offset > -INT8_MIN || taps > kMost / (255 * 128)) {
    return false;
  }
  int32_t multiplier = INT32_MAX;  // the smallest
  int32_t shift = 0;               // the smallest
  int32_t largest = -1;            // shift
  for (int32_t o = 0; o < channels; ++o) {
    multiplier = min(multiplier, call.multiplier[o]);
    shift = min(shift, call.shift[o]);
    largest = max(largest, call.shift[o]);
  }
  const Finish finish = finish_of(call.requant);
  if (largest >= 0 || (channels > 0 && !fast_rescale(multiplier, shift, finish.zero))) {
    return false;
  }
  // Long rescales may need bounds of the sums.
  return kind_of(multiplier, shift, finish) < Kind::kCut || call.bias == nullptr ||
         biases_below(call.bias, channels, kMost);
}

}  // namespace gen_kernels::corev
