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
  // The planes start padding.h rows above and padding.w columns left of the image, and may end
  // before it does.
  const int32_t top = call.padding.h;
  const int32_t left = call.padding.w;
  const int32_t size = planes.size;
  const int32_t step = in.channels;
  int32_t rows = planes.rows - top < in.height ? planes.rows - top : in.height;
  const int32_t columns = planes.stride - left < in.width ? planes.stride - left : in.width;
  const int8_t* from = call.in + n * in.height * in.width * step + c;
  int8_t* to = planes.memory + top * planes.stride + left;
  if (columns <= 0) {
    return;
  }
  for (; rows > 0; --rows) {
    int32_t x = columns;
    if (count == 4) {
      int8_t* p0 = to;
      int8_t* p1 = p0 + size;
      int8_t* p2 = p1 + size;
      int8_t* p3 = p2 + size;
      for (; x >= 4; x -= 4) {
        // Four pixels of four channels: transpose 4 x 4 bytes.
        constexpr uint32_t kLow = 0x05010400;   // bytes 0 and 1 of both, alternating
        constexpr uint32_t kHigh = 0x07030602;  // bytes 2 and 3
        const uint32_t a = load_word(from, step);
        const uint32_t b = load_word(from, step);
        const uint32_t e = load_word(from, step);
        const uint32_t f = load_word(from, step);
        const uint32_t ab_low = shuffle2_b(a, b, kLow);
        const uint32_t ef_low = shuffle2_b(e, f, kLow);
        const uint32_t ab_high = shuffle2_b(a, b, kHigh);
        const uint32_t ef_high = shuffle2_b(e, f, kHigh);
        store_word(p0, pack(ef_low, ab_low));
        store_word(p1, pack_h(ef_low, ab_low));
        store_word(p2, pack(ef_high, ab_high));
        store_word(p3, pack_h(ef_high, ab_high));
      }
      for (; x > 0; --x) {
        const uint32_t word = load_word(from, step);
        store_byte(p0, static_cast<int32_t>(word), 1);
        store_byte(p1, static_cast<int32_t>(word >> 8), 1);
        store_byte(p2, static_cast<int32_t>(word >> 16), 1);
        store_byte(p3, static_cast<int32_t>(word >> 24), 1);
      }
    } else {
      int8_t* p = to;
      for (; x > 0; --x, from += step, ++p) {
        for (int32_t i = 0; i < count; ++i) {
          p[i * size] = from[i];
        }
      }
    }
    from += (in.width - columns) * step;
    to += planes.stride;
  }
}

// The columns of one output channel, each from the top down.
struct Columns {
  const int8_t* from;
  int32_t row;     // in the plane, from a window's row to the next
  int32_t column;  // from a column of windows to the next
  int32_t next;    // from a window to the one below
  int8_t* to;
  int32_t to_row;
  int32_t to_column;
  int32_t width;
  int32_t height;
  int32_t bias;
};

// Windows of three rows and at most three columns that move one row at a time: each row is loaded
// once. Of two neighbouring columns, the second has its weights a byte up and the same words.
template <bool kPair, class F>
GEN_KERNELS_INLINE void slide_column(const int8_t* from, int8_t* to, const Columns& c, uint32_t w0,
                                     uint32_t w1, uint32_t w2, const F& finish) {
  const int32_t row = c.row;
  const int32_t bias = c.bias;
  const int32_t across = kPair ? c.to_column : c.to_row;
  const int32_t back = c.to_row - across;
  const uint32_t v0 = w0 << 8;
  const uint32_t v1 = w1 << 8;
  const uint32_t v2 = w2 << 8;
  const auto out = [&](uint32_t r0, uint32_t r1, uint32_t r2) __attribute__((always_inline)) {
    const int32_t left = sdotsp_b(sdotsp_b(sdotsp_b(bias, r0, w0), r1, w1), r2, w2);
    if constexpr (kPair) {
      const int32_t right = sdotsp_b(sdotsp_b(sdotsp_b(bias, r0, v0), r1, v1), r2, v2);
      store_byte(to, finish(left), across);
      store_byte(to, finish(right), back);
    } else {
      store_byte(to, finish(left), across);
    }
  };
  uint32_t a = load_word(from, row);
  uint32_t b = load_word(from, row);
  int32_t left = c.height;
  if (left >= 3) {
    do {
      const uint32_t d = load_word(from, row);
      out(a, b, d);
      a = load_word(from, row);
      out(b, d, a);
      b = load_word(from, row);
      out(d, a, b);
      left -= 3;
    } while (left >= 3);
  }
  for (; left > 0; --left) {
    const uint32_t d = load_word(from, row);
    out(a, b, d);
    a = b;
    b = d;
  }
}

template <class F>
__attribute__((noinline)) void slide_3(const Columns& c, const uint32_t* weight, const F& end) {
  const F finish = end;
  const uint32_t w0 = weight[0];
  const uint32_t w1 = weight[1];
  const uint32_t w2 = weight[2];
  const int8_t* from = c.from;
  int8_t* to = c.to;
  int32_t x = c.width;
  for (; x >= 2 && c.column == 1; x -= 2, from += 2, to += 2 * c.to_column) {
    slide_column<true>(from, to, c, w0, w1, w2, finish);
  }
  for (; x > 0; --x, from += c.column, to += c.to_column) {
    slide_column<false>(from, to, c, w0, w1, w2, finish);
  }
}

// Any windows.
template <class F>
__attribute__((noinline)) void slide(const Columns& c, const uint32_t* weight, int32_t rows,
                                     const F& end) {
  const F finish = end;
  const int8_t* from_column = c.from;
  int8_t* to_column = c.to;
  for (int32_t x = c.width; x > 0; --x) {
    const int8_t* from = from_column;
    int8_t* to = to_column;
    for (int32_t left = c.height; left > 0; --left) {
      const int8_t* at = from;
      int32_t sum = c.bias;
      for (int32_t i = 0; i < rows; ++i) {
        sum = sdotsp_b(sum, load_word(at, c.row), weight[i]);
      }
      store_byte(to, finish(sum), c.to_row);
      from += c.next;
    }
    from_column += c.column;
    to_column += c.to_column;
  }
}

inline void channel(const ConvCall& call, Columns& columns, int32_t o) {
  // The window's rows as words; what lies behind a row meets zeros.
  uint32_t weight[Planes::kMostRows];
  const auto* from = reinterpret_cast<const uint8_t*>(call.weight + o);
  const int32_t step = call.output_channels;
  int32_t sum = 0;
  for (int32_t i = 0; i < call.kernel.h; ++i) {
    uint32_t word = *from;
    from += step;
    for (int32_t j = 1; j < call.kernel.w; ++j, from += step) {
      word |= static_cast<uint32_t>(*from) << (8 * j);
    }
    weight[i] = word;
    sum = sdotsp_b(sum, word, 0x01010101U);
  }
  const int32_t bias = (call.bias != nullptr ? call.bias[o] : 0) + call.input_offset * sum;
  columns.bias = bias;
  const bool three =
      call.kernel.h == 3 && call.kernel.w <= 3 && call.stride.h == 1 && call.dilation.h == 1;
  const auto run = [&](const auto& end) {
    three ? slide_3(columns, weight, end) : slide(columns, weight, call.kernel.h, end);
  };
  const int32_t multiplier = call.multiplier[o];
  const int32_t shift = call.shift[o];
  const Finish finish = finish_of(call.requant);
  const Kind kind = kind_of(multiplier, shift, finish);
  const Channel c = channel_of(kind, multiplier, shift, finish);
  if (kind == Kind::kShort) {
    run(Short(c));
  } else if (kind == Kind::kCut) {
    run(Cut(c));
  } else {
    run(Signed(c, finish));
  }
}

}  // namespace internal

// Runs a call whose windows are at most 4 wide and kMostRows high, not dilated horizontally.
inline void depthwise(const cortex_m::ConvCall& call, const Planes& planes) {
  const cortex_m::Image& to = call.output;
  const int32_t channels = call.input.channels;
  const int32_t copies = call.output_channels / channels;
  internal::Columns columns{};
  columns.row = planes.stride * call.dilation.h;
  columns.column = call.stride.w;
  columns.next = planes.stride * call.stride.h;
  columns.to_row = to.width * to.channels;
  columns.to_column = to.channels;
  columns.width = to.width;
  columns.height = to.height;
  fill(planes.memory, -call.input_offset, 4 * planes.size);
  for (int32_t n = 0; n < call.input.batch; ++n) {
    int8_t* out = call.out + n * to.height * to.width * to.channels;
    for (int32_t c = 0, o = 0; c < channels; c += 4) {
      const int32_t count = channels - c < 4 ? channels - c : 4;
      internal::sort_channels(call, planes, n, c, count);
      columns.from = planes.memory;
      for (int32_t i = 0; i < count; ++i, columns.from += planes.size) {
        for (int32_t k = 0; k < copies; ++k, ++o) {
          columns.to = out + o;
          internal::channel(call, columns, o);
        }
      }
    }
  }
}

}  // namespace gen_kernels::corev
