// Depthwise convolution, four channels at a time: their pixels are sorted into
// planes of one channel each, where a row of the window is one word.
#pragma once

#include "corev/corev.h"
#include "corev/matrix.h"
#include "cortex_m/conv.h"

namespace gen_kernels::corev {

// Planes of four channels: the part of the padded input that the windows read.
struct Planes {
  static constexpr int32_t kMostRows = 8;  // of a window

  int8_t* memory;  // 4 * size bytes, words
  int32_t rows;
  int32_t
      stride;    // bytes from a row to the next, a multiple of 4; a window's word may end in slack
  int32_t size;  // of a plane
};

namespace internal {

using cortex_m::ConvCall;
using cortex_m::Image;

// Sorts the pixels of channels c..c+count-1 of image n into the planes (count at most 4).
inline void sort_channels(const ConvCall& call, const Planes& planes, int32_t n, int32_t c,
                          int32_t count) {
  const Image& in = call.input;
  // The planes start padding.h rows above and padding.w columns left of the image.
  const int32_t top = call.padding.h;
  const int32_t left = call.padding.w;
  const int32_t last_row = planes.rows - top < in.height ? planes.rows - top : in.height;
  const int32_t last_column = planes.stride - left < in.width ? planes.stride - left : in.width;
  const int32_t step = in.channels;
  for (int32_t y = 0; y < last_row; ++y) {
    const int8_t* from = call.in + ((n * in.height + y) * in.width) * in.channels + c;
    int8_t* p0 = planes.memory + (top + y) * planes.stride + left;
    int32_t x = 0;
    if (count == 4) {
      int8_t* p1 = p0 + planes.size;
      int8_t* p2 = p1 + planes.size;
      int8_t* p3 = p2 + planes.size;
      for (; x + 4 <= last_column; x += 4) {
        // Four pixels of four channels: transpose 4 x 4 bytes.
        const uint32_t a = load_word(from, step);
        const uint32_t b = load_word(from, step);
        const uint32_t e = load_word(from, step);
        const uint32_t f = load_word(from, step);
        constexpr uint32_t kLow = 0x05010400;   // bytes 0 and 1 of both, alternating
        constexpr uint32_t kHigh = 0x07030602;  // bytes 2 and 3
        const uint32_t ab_low = shuffle2_b(a, b, kLow);
        const uint32_t ef_low = shuffle2_b(e, f, kLow);
        const uint32_t ab_high = shuffle2_b(a, b, kHigh);
        const uint32_t ef_high = shuffle2_b(e, f, kHigh);
        store_word(p0, pack(ef_low, ab_low));
        store_word(p1, pack_h(ef_low, ab_low));
        store_word(p2, pack(ef_high, ab_high));
        store_word(p3, pack_h(ef_high, ab_high));
      }
      for (; x < last_column; ++x) {
        const uint32_t word = load_word(from, step);
        store_byte(p0, static_cast<int32_t>(word), 1);
        store_byte(p1, static_cast<int32_t>(word >> 8), 1);
        store_byte(p2, static_cast<int32_t>(word >> 16), 1);
        store_byte(p3, static_cast<int32_t>(word >> 24), 1);
      }
      continue;
    }
    for (; x < last_column; ++x, from += step, ++p0) {
      for (int32_t i = 0; i < count; ++i) {
        p0[i * planes.size] = from[i];
      }
    }
  }
}

// How an output channel ends: from the sum to the output byte.
template <bool kRelu, bool kFull>
struct Rescale {
  int32_t multiplier, round, shift;
  const Finish& finish;
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    return rescale<kRelu, kFull>(sum, multiplier, round, shift, finish);
  }
};

// The same for right shifts of at most 6, in half the cycles: sums beyond 16 bits saturate anyway,
// and a product of 16 by 31 bits is two short ones. Only for `relu` and `full`.
struct ShortRescale {
  int32_t low, high, bound, round, shift;

  // False when the channel does not allow it.
  bool set(int32_t multiplier, int32_t right, int32_t offset) {
    if (right > 6 || multiplier < (1 << 30)) {
      return false;
    }
    low = multiplier & 0x7fff;
    high = multiplier >> 15;
    shift = 16 + right;
    // At `bound` the result is 300, beyond the clamp for any zero point; nothing overflows below.
    bound = static_cast<int32_t>((uint32_t{300} << shift) / static_cast<uint32_t>(high));
    round = (1 << 15) + (1 << (15 + right)) + offset * (1 << shift);
    return bound <= INT16_MAX;
  }
  GEN_KERNELS_INLINE int32_t operator()(int32_t sum) const {
    sum = clip_r(sum, bound);
    return clip8(add_nr(mac(muls_15(sum, low), sum, high), round, static_cast<uint32_t>(shift)));
  }
};

struct Column {
  const int8_t* from;
  int32_t stride;  // from a window's row to the next
  int8_t* to;
  int32_t to_stride;
  int32_t count;
  int32_t bias;
};

// A column of outputs whose windows have three rows and move one row at a time.
template <class F>
__attribute__((noinline)) void slide_3(const Column& column, uint32_t w0, uint32_t w1, uint32_t w2,
                                       const F& end) {
  const int8_t* from = column.from;
  int8_t* to = column.to;
  const int32_t stride = column.stride;
  const int32_t to_stride = column.to_stride;
  const int32_t bias = column.bias;
  const F finish = end;
  uint32_t a = load_word(from, stride);
  uint32_t b = load_word(from, stride);
  int32_t left = column.count;
  const auto out = [&](uint32_t r0, uint32_t r1, uint32_t r2) __attribute__((always_inline)) {
    store_byte(to, finish(sdotsp_b(sdotsp_b(sdotsp_b(bias, r0, w0), r1, w1), r2, w2)), to_stride);
  };
  for (; left >= 3; left -= 3) {
    const uint32_t c = load_word(from, stride);
    out(a, b, c);
    a = load_word(from, stride);
    out(b, c, a);
    b = load_word(from, stride);
    out(c, a, b);
  }
  for (; left > 0; --left) {
    const uint32_t c = load_word(from, stride);
    out(a, b, c);
    a = b;
    b = c;
  }
}

// A column of outputs with any window; `next` is the way from one window to the next.
template <class F>
__attribute__((noinline)) void slide(const Column& column, const uint32_t* weight, int32_t rows,
                                     int32_t next, const F& end) {
  const int8_t* from = column.from;
  int8_t* to = column.to;
  const F finish = end;
  for (int32_t left = column.count; left > 0; --left, from += next) {
    const int8_t* row = from;
    int32_t sum = column.bias;
    for (int32_t i = 0; i < rows; ++i) {
      sum = sdotsp_b(sum, load_word(row, column.stride), weight[i]);
    }
    store_byte(to, finish(sum), column.to_stride);
  }
}

// All columns of one output channel.
template <class F>
void each_column(const ConvCall& call, const Planes& planes, Column column, const uint32_t* weight,
                 const F& end) {
  const bool three = call.kernel.h == 3 && call.stride.h == 1 && call.dilation.h == 1;
  column.stride = planes.stride * call.dilation.h;
  for (int32_t x = call.output.width; x > 0; --x) {
    if (three) {
      slide_3(column, weight[0], weight[1], weight[2], end);
    } else {
      slide(column, weight, call.kernel.h, planes.stride * call.stride.h, end);
    }
    column.from += call.stride.w;
    column.to += call.output.channels;
  }
}

inline void channel(const ConvCall& call, const Planes& planes, const int8_t* plane, int32_t n,
                    int32_t o) {
  const Image& to = call.output;
  // The window's rows as words; what lies behind a row meets zeros.
  uint32_t weight[Planes::kMostRows];
  const int8_t* from = call.weight + o;
  int32_t sum = 0;
  for (int32_t i = 0; i < call.kernel.h; ++i) {
    uint32_t word = 0;
    for (int32_t j = 0; j < call.kernel.w; ++j, from += call.output_channels) {
      word |= (static_cast<uint32_t>(*from) & 0xff) << (8 * j);
    }
    weight[i] = word;
    sum = sdotsp_b(sum, word, 0x01010101U);
  }
  const int32_t bias = (call.bias != nullptr ? call.bias[o] : 0) + call.input_offset * sum;
  const Channel c = channel_of(bias, call.multiplier[o], call.shift[o], call.requant.offset);
  const Finish finish = finish_of(call.requant);
  const Column column{
      plane,     0,   call.out + n * to.height * to.width * to.channels + o, to.width * to.channels,
      to.height, bias};
  ShortRescale quick{};
  if (!finish.relu || !finish.full) {
    each_column(call, planes, column, weight,
                Rescale<false, false>{c.multiplier, c.round, c.shift, finish});
  } else if (quick.set(c.multiplier, -call.shift[o], call.requant.offset)) {
    each_column(call, planes, column, weight, quick);
  } else {
    each_column(call, planes, column, weight,
                Rescale<true, true>{c.multiplier, c.round, c.shift, finish});
  }
}

}  // namespace internal

// Runs a call whose windows are at most 4 wide and kMostRows high, not dilated horizontally.
inline void depthwise(const cortex_m::ConvCall& call, const Planes& planes) {
  const int32_t channels = call.input.channels;
  const int32_t copies = call.output_channels / channels;
  fill(planes.memory, -call.input_offset, 4 * planes.size);
  for (int32_t n = 0; n < call.input.batch; ++n) {
    for (int32_t c = 0; c < channels; c += 4) {
      const int32_t count = channels - c < 4 ? channels - c : 4;
      internal::sort_channels(call, planes, n, c, count);
      for (int32_t i = 0; i < count * copies; ++i) {
        internal::channel(call, planes, planes.memory + i / copies * planes.size, n,
                          c * copies + i);
      }
    }
  }
}

}  // namespace gen_kernels::corev
