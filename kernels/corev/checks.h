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

// Whether all output channels of a convolution can take the fast rescale, and the zero point is an
// int8. `taps` products make a sum.
template <class Call>
bool rescales_fast(const Call& call, int32_t channels, int32_t taps) {
  constexpr int32_t kMost = 1 << 28;  // of the bias and of the rest of a sum
  const int32_t offset = call.input_offset;
  if (offset < -INT8_MAX || offset > -INT8_MIN || taps > kMost / (255 * 128)) {
    return false;
  }
  for (int32_t o = 0; o < channels; ++o) {
    const int32_t bias = call.bias != nullptr ? call.bias[o] : 0;
    if (bias >= kMost || bias <= -kMost ||
        !fast_rescale(call.multiplier[o], call.shift[o], call.requant.offset)) {
      return false;
    }
  }
  return true;
}

}  // namespace gen_kernels::corev
