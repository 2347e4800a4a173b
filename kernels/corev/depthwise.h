// Depthwise convolution, four channels at a time: their pixels are sorted into
// planes of one channel each, where a row of the window is one word.
#pragma once

#include <type_traits>

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

// Sorts `count` times four pixels of four channels, `step` apart, into four planes.
GEN_KERNELS_INLINE void transpose(const int8_t*& from, int32_t step, int8_t*& p0, int8_t*& p1,
                                  int8_t*& p2, int8_t*& p3, int32_t count) {
  constexpr uint32_t kLow = 0x05010400;   // bytes 0 and 1 of both, alternating
  constexpr uint32_t kHigh = 0x07030602;  // bytes 2 and 3
#if GEN_KERNELS_COREV
#define TRANSPOSE_LOAD(d) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", d, "from", "step")
#define TRANSPOSE_SHUFFLE(d, x, by) GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x70,", d, x, by)
#define TRANSPOSE_STORE(p) ".insn s 0x2b, 2, %[t], 4(%[" p "])\n"
#define TRANSPOSE_PACK(x, y) GEN_KERNELS_ASM(".insn r 0x7b, 0, 0x78,", "t", x, y)
#define TRANSPOSE_PACK_H(x, y) GEN_KERNELS_ASM(".insn r 0x7b, 0, 0x79,", "t", x, y)
  uint32_t a;
  uint32_t b;
  uint32_t e;
  uint32_t f;
  uint32_t g;
  uint32_t h;
  uint32_t t;
  asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 18)
               TRANSPOSE_LOAD("a") TRANSPOSE_LOAD("b") TRANSPOSE_LOAD("e") TRANSPOSE_LOAD("f")
               "mv %[g], %[a]\n"
               "mv %[h], %[e]\n"
               TRANSPOSE_SHUFFLE("a", "b", "low") TRANSPOSE_SHUFFLE("e", "f", "low")
               TRANSPOSE_SHUFFLE("g", "b", "high") TRANSPOSE_SHUFFLE("h", "f", "high")
               TRANSPOSE_PACK("e", "a") TRANSPOSE_STORE("p0")
               TRANSPOSE_PACK_H("e", "a") TRANSPOSE_STORE("p1")
               TRANSPOSE_PACK("h", "g") TRANSPOSE_STORE("p2")
               TRANSPOSE_PACK_H("h", "g") TRANSPOSE_STORE("p3") GEN_KERNELS_LOOP_END
               : [from] "+&r"(from), [p0] "+&r"(p0), [p1] "+&r"(p1), [p2] "+&r"(p2),
                 [p3] "+&r"(p3), [a] "=&r"(a), [b] "=&r"(b), [e] "=&r"(e), [f] "=&r"(f),
                 [g] "=&r"(g), [h] "=&r"(h), [t] "=&r"(t)
               : [n] "r"(count), [step] "r"(step), [low] "r"(kLow), [high] "r"(kHigh)
               : "memory");
#undef TRANSPOSE_LOAD
#undef TRANSPOSE_SHUFFLE
#undef TRANSPOSE_STORE
#undef TRANSPOSE_PACK
#undef TRANSPOSE_PACK_H
#else
  for (; count > 0; --count) {
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
#endif
}

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
  const int32_t down = planes.stride;
  const int32_t skip = (in.width - columns) * step;
  const int32_t words = count == 4 ? columns >> 2 : 0;
  const int32_t rest = columns - 4 * words;
  for (; rows > 0; --rows, from += skip, to += down) {
    int8_t* p0 = to;
    if (count == 4) {
      int8_t* p1 = p0 + size;
      int8_t* p2 = p1 + size;
      int8_t* p3 = p2 + size;
      if (words > 0) {
        transpose(from, step, p0, p1, p2, p3, words);
      }
      for (int32_t x = rest; x > 0; --x) {
        const uint32_t word = load_word(from, step);
        store_byte(p0, static_cast<int32_t>(word), 1);
        store_byte(p1, static_cast<int32_t>(word >> 8), 1);
        store_byte(p2, static_cast<int32_t>(word >> 16), 1);
        store_byte(p3, static_cast<int32_t>(word >> 24), 1);
      }
    } else {
      for (int32_t x = rest; x > 0; --x, from += step, ++p0) {
        for (int32_t i = 0; i < count; ++i) {
          p0[i * size] = from[i];
        }
      }
    }
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
  int32_t thirds;  // height / 3, and what is left
  int32_t rest;
  bool sliding;  // windows for slide_down()
  int32_t bias;
};

// The weights of three rows of at most three columns; and those of the next column, a byte up.
struct Weights {
  uint32_t w0, w1, w2, v0, v1, v2;
};

// One column of such windows, or two neighbours, that move one row at a time: each row is loaded
// once, and the second column sees the same words. Computes `count` times three rows of outputs;
// the two last rows of inputs are in x0 and x1, before and after.
#if GEN_KERNELS_COREV
#define SLIDE_DOT(x, w) ".insn r 0x7b, 1, 0x54, %[s], %[" x "], %[" w "]\n"
#define SLIDE_OUT(TEXT, x, y, z, w0, w1, w2, step)                        \
  "mv %[s], %[bias]\n" SLIDE_DOT(x, w0) SLIDE_DOT(y, w1) SLIDE_DOT(z, w2) \
      TEXT("s") ".insn r 0x2b, 3, 0x10, %[" step "], %[to], %[s]\n"
#define SLIDE_LOAD(x) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", x, "from", "row")
#define SLIDE_ONE(TEXT, x, y, z) SLIDE_LOAD(z) SLIDE_OUT(TEXT, x, y, z, "w0", "w1", "w2", "across")
#define SLIDE_TWO(TEXT, x, y, z) \
  SLIDE_ONE(TEXT, x, y, z) SLIDE_OUT(TEXT, x, y, z, "v0", "v1", "v2", "back")
#define SLIDE(ROW, TEXT, length, ...)                                                              \
  asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 3 * (1 + length))                        \
                   ROW(TEXT, "x0", "x1", "x2") ROW(TEXT, "x1", "x2", "x0")                         \
                       ROW(TEXT, "x2", "x0", "x1") GEN_KERNELS_LOOP_END                            \
               : [x0] "+&r"(x0), [x1] "+&r"(x1), [from] "+&r"(from), [to] "+&r"(to),               \
                 [x2] "=&r"(x2), [s] "=&r"(s), [t] "=&r"(t)                                        \
               : [n] "r"(c.thirds), [row] "r"(row), [across] "r"(across), [back] "r"(back),        \
                 [bias] "r"(bias), [w0] "r"(w.w0), [w1] "r"(w.w1), [w2] "r"(w.w2), [v0] "r"(w.v0), \
                 [v1] "r"(w.v1), [v2] "r"(w.v2), [limit] "r"(rescale.k.limit),                     \
                 [a] "r"(rescale.k.a), [b] "r"(rescale.k.b), [c] "r"(rescale.k.c)__VA_ARGS__       \
               : "memory")
#define SLIDE_CENTRE \
  , [fraction] "r"(rescale.fraction), [centre] "r"(rescale.centre), [step] "r"(rescale.step)
#define SLIDE_ROWS(Rescale, TEXT, length, ...)                                                   \
  template <bool kPair>                                                                          \
  GEN_KERNELS_INLINE void slide_rows(const Rescale& rescale, const Weights& w, const Columns& c, \
                                     int32_t across, int32_t back, const int8_t*& from,          \
                                     int8_t*& to, uint32_t& x0, uint32_t& x1) {                  \
    const int32_t row = c.row;                                                                   \
    const int32_t bias = c.bias;                                                                 \
    uint32_t x2;                                                                                 \
    int32_t s;                                                                                   \
    int32_t t;                                                                                   \
    if constexpr (kPair) {                                                                       \
      SLIDE(SLIDE_TWO, TEXT, 2 * (5 + length), __VA_ARGS__);                                     \
    } else {                                                                                     \
      SLIDE(SLIDE_ONE, TEXT, 5 + length, __VA_ARGS__);                                           \
    }                                                                                            \
  }
SLIDE_ROWS(Narrow, GEN_KERNELS_NARROW, 4, )
SLIDE_ROWS(Short, GEN_KERNELS_SHORT, 5, )
SLIDE_ROWS(Centred, GEN_KERNELS_CENTRED, 7, SLIDE_CENTRE)
#undef SLIDE_DOT
#undef SLIDE_OUT
#undef SLIDE_LOAD
#undef SLIDE_ONE
#undef SLIDE_TWO
#undef SLIDE
#undef SLIDE_ROWS
#undef SLIDE_CENTRE
#endif

template <bool kPair, class Rescale>
GEN_KERNELS_INLINE void slide_down(const int8_t* from, int8_t* to, const Columns& c,
                                   const Weights& w, const Rescale& rescale) {
  const int32_t row = c.row;
  const int32_t bias = c.bias;
  const int32_t across = kPair ? c.to_column : c.to_row;
  const int32_t back = c.to_row - across;
  uint32_t x0 = load_word(from, row);
  uint32_t x1 = load_word(from, row);
#if GEN_KERNELS_COREV
  if (c.thirds > 0) {
    slide_rows<kPair>(rescale, w, c, across, back, from, to, x0, x1);
  }
  int32_t left = c.rest;
#else
  int32_t left = c.height;
#endif
  for (; left > 0; --left) {
    const uint32_t x2 = load_word(from, row);
    store_byte(to, rescale(sdotsp_b(sdotsp_b(sdotsp_b(bias, x0, w.w0), x1, w.w1), x2, w.w2)),
               across);
    if constexpr (kPair) {
      store_byte(to, rescale(sdotsp_b(sdotsp_b(sdotsp_b(bias, x0, w.v0), x1, w.v1), x2, w.v2)),
                 back);
    }
    x0 = x1;
    x1 = x2;
  }
}

// Any windows; those of three rows, which move by more than one row, with the weights in registers.
template <class Rescale>
GEN_KERNELS_INLINE void slide(const Columns& c, const uint32_t* weight, int32_t rows,
                              const Rescale& rescale) {
  const int8_t* from_column = c.from;
  int8_t* to_column = c.to;
  const uint32_t w0 = weight[0];
  const uint32_t w1 = weight[1];
  const uint32_t w2 = weight[2];
  for (int32_t width = c.width; width > 0; --width) {
    const int8_t* from = from_column;
    int8_t* to = to_column;
    for (int32_t left = c.height; left > 0; --left) {
      const int8_t* at = from;
      int32_t sum = c.bias;
      if (rows == 3) {
        sum = sdotsp_b(sum, load_word(at, c.row), w0);
        sum = sdotsp_b(sum, load_word(at, c.row), w1);
        sum = sdotsp_b(sum, load_word(at, c.row), w2);
      } else {
        for (int32_t i = 0; i < rows; ++i) {
          sum = sdotsp_b(sum, load_word(at, c.row), weight[i]);
        }
      }
      store_byte(to, rescale(sum), c.to_row);
      from += c.next;
    }
    from_column += c.column;
    to_column += c.to_column;
  }
}

// One output channel.
template <class Rescale>
__attribute__((noinline)) void slide_all(const Columns& columns, const uint32_t* weight,
                                         int32_t rows, const Rescale& constants) {
  const Columns c = columns;
  const Rescale rescale = constants;
  if constexpr (!std::is_same_v<Rescale, Signed>) {
    if (c.sliding) {
      const int8_t* from = c.from;
      int8_t* to = c.to;
      int32_t width = c.width;
      const Weights w{weight[0],      weight[1],      weight[2],
                      weight[0] << 8, weight[1] << 8, weight[2] << 8};
      if (c.column == 1) {
        for (; width >= 2; width -= 2, from += 2, to += 2 * c.to_column) {
          slide_down<true>(from, to, c, w, rescale);
        }
      }
      for (; width > 0; --width, from += c.column, to += c.to_column) {
        slide_down<false>(from, to, c, w, rescale);
      }
      return;
    }
  }
  slide(c, weight, rows, rescale);
}

inline void channel(const ConvCall& call, Columns& columns, const Finish& finish, int32_t o) {
  // The window's rows as words; what lies behind a row meets zeros.
  uint32_t weight[Planes::kMostRows] = {};
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
  const int32_t multiplier = call.multiplier[o];
  const int32_t shift = call.shift[o];
  const Kind kind = kind_of(multiplier, shift, finish);
  const auto run = [&](const auto& rescale) { slide_all(columns, weight, call.kernel.h, rescale); };
  if (kind == Kind::kNarrow) {
    run(Narrow{channel_of(kind, multiplier, shift, finish)});
  } else if (kind == Kind::kShort) {
    run(Short{channel_of(kind, multiplier, shift, finish)});
  } else if (can_centre(multiplier, shift, finish)) {
    const Centred centred = centred_of(multiplier, shift, finish);
    columns.bias -= centred.origin;
    run(centred);
  } else {
    run(Signed{channel_of(Kind::kSigned, multiplier, shift, finish), finish.low, finish.high});
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
  columns.thirds = to.height / 3;
  columns.rest = to.height % 3;
  columns.sliding =
      call.kernel.h == 3 && call.kernel.w <= 3 && call.stride.h == 1 && call.dilation.h == 1;
  const Finish finish = finish_of(call.requant);
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
          internal::channel(call, columns, finish, o);
        }
      }
    }
  }
}

}  // namespace gen_kernels::corev
