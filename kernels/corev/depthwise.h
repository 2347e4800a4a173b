// Depthwise convolution, four channels at a time: their pixels are sorted into
// planes of one channel each, where a row of the window is one word.
#pragma once

#include <cstddef>
#include <type_traits>

#include "corev/corev.h"
#include "corev/matrix.h"
#include "corev/planes.h"
#include "cortex_m/conv.h"

namespace gen_kernels::corev {

namespace internal {

// Columns of windows of three rows, or pairs of neighbours, that move one row at a time: each row
// is loaded once, and a second column sees the same words.
struct Slide {
  int32_t thirds;     // three rows of outputs each, in a hardware loop
  int32_t entry;      // bytes of the entries before that of the rows left
  int32_t from_step;  // from behind a column to the next
  int32_t to_step;
  const int8_t* end;
  int32_t across;  // from an output to the next, and back to the next row
  int32_t back;
  int32_t width;  // bytes of all columns
};

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
  bool sliding;
  Slide pairs;
  Slide singles;
  int32_t bias;
};

// The weights of three rows of at most three columns; and those of the next column, a byte up.
struct Weights {
  uint32_t w0, w1, w2, v0, v1, v2;
};

#if GEN_KERNELS_COREV
#define SLIDE_DOT(x, w) ".insn r 0x7b, 1, 0x54, %[s], %[" x "], %[" w "]\n"
#define SLIDE_OUT(TEXT, result, x, y, z, w0, w1, w2, step)                \
  "mv %[s], %[bias]\n" SLIDE_DOT(x, w0) SLIDE_DOT(y, w1) SLIDE_DOT(z, w2) \
      TEXT("s") ".insn r 0x2b, 3, 0x10, %[" step "], %[to], %[" result "]\n"
#define SLIDE_LOAD(x) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", x, "from", "row")
#define SLIDE_ONE(TEXT, result, x, y, z) \
  SLIDE_LOAD(z) SLIDE_OUT(TEXT, result, x, y, z, "w0", "w1", "w2", "across")
#define SLIDE_TWO(TEXT, result, x, y, z) \
  SLIDE_ONE(TEXT, result, x, y, z) SLIDE_OUT(TEXT, result, x, y, z, "v0", "v1", "v2", "back")
// The words x0, x1, x2 take turns, so that three rows make a round. Rows that make no whole round
// come first: they enter the body where as many are left, while the hardware loop counts nothing.
#define SLIDE(ROW, TEXT, result, length, ...) \
  asm volatile(GEN_KERNELS_LOOP_BEGIN                                                             \
               "auipc %[t], 0\n"                                                                  \
               "lw %[s], 4+%[slide]\n"                                                            \
               ".insn i 0x2b, 4, x0, x0, 16\n"                                                    \
               ".insn i 0x2b, 4, x4, x0, 15 + 3 * (1 + " #length ")\n"                            \
               "add %[entry], %[t], %[s]\n"                                                       \
               "1:\n"                                                                             \
               "lw %[left], 0+%[slide]\n"                                                         \
               "jr 28(%[entry])\n" SLIDE_LOAD("x0") SLIDE_LOAD("x1") "j 2f\n" SLIDE_LOAD("x2")    \
                   SLIDE_LOAD("x0") "j 4f\n" SLIDE_LOAD("x1") SLIDE_LOAD("x2") "j 3f\n"           \
               "2:\n"                                                                             \
               ".insn i 0x2b, 4, x10, %[left], 0\n"                                               \
               "li %[left], 0\n" ROW(TEXT, result, "x0", "x1", "x2")                              \
               "3:\n" ROW(TEXT, result, "x1", "x2", "x0")                                         \
               "4:\n" ROW(TEXT, result, "x2", "x0", "x1")                                         \
               "bnez %[left], 2b\n"                                                               \
               "lw %[s], 8+%[slide]\n"                                                            \
               "lw %[t], 12+%[slide]\n"                                                           \
               "lw %[left], 16+%[slide]\n"                                                        \
               "add %[from], %[from], %[s]\n"                                                     \
               "add %[to], %[to], %[t]\n"                                                         \
               "bne %[from], %[left], 1b\n" GEN_KERNELS_LOOP_END                                  \
               : [x0] "=&r"(x0), [x1] "=&r"(x1), [x2] "=&r"(x2), [from] "+&r"(from),              \
                 [to] "+&r"(to), [s] "=&r"(s), [t] "=&r"(t), [left] "=&r"(left),                  \
                 [entry] "=&r"(entry)                                                             \
               : [slide] "m"(slide), [row] "r"(columns.row), [across] "r"(slide.across),          \
                 [back] "r"(slide.back), [bias] "r"(columns.bias), [w0] "r"(w.w0),                \
                 [w1] "r"(w.w1), [w2] "r"(w.w2), [v0] "r"(w.v0), [v1] "r"(w.v1),                  \
                 [v2] "r"(w.v2)__VA_ARGS__                                                        \
               : "memory")
#define SLIDE_CHANNEL \
  , [limit] "r"(rescale.k.limit), [a] "r"(rescale.k.a), [b] "r"(rescale.k.b), [c] "r"(rescale.k.c)
#define SLIDE_NEAR                                                                                \
  , [least] "r"(rescale.least), [most] "r"(rescale.most), [a] "r"(rescale.a), [b] "r"(rescale.b), \
      [c] "r"(rescale.c), [places] "r"(rescale.places)
#define SLIDE_CENTRED                                                            \
  SLIDE_CHANNEL, [fraction] "r"(rescale.fraction), [centre] "r"(rescale.centre), \
      [step] "r"(rescale.step)
#define SLIDE_DOWN(Rescale, TEXT, result, length, ...)                                     \
  template <bool kPair>                                                                    \
  GEN_KERNELS_INLINE void slide_down(const int8_t*& from, int8_t*& to, const Slide& slide, \
                                     const Columns& columns, const Weights& w,             \
                                     const Rescale& rescale) {                             \
    uint32_t x0, x1, x2;                                                                   \
    int32_t s, t, left;                                                                    \
    const void* entry;                                                                     \
    if constexpr (kPair) {                                                                 \
      SLIDE(SLIDE_TWO, TEXT, result, 2 * (5 + length), __VA_ARGS__);                       \
    } else {                                                                               \
      SLIDE(SLIDE_ONE, TEXT, result, 5 + length, __VA_ARGS__);                             \
    }                                                                                      \
  }
static_assert(offsetof(Slide, end) == 16);
SLIDE_DOWN(Narrow, GEN_KERNELS_NARROW, "s", 4, SLIDE_CHANNEL)
SLIDE_DOWN(Short, GEN_KERNELS_SHORT, "s", 5, SLIDE_CHANNEL)
SLIDE_DOWN(Near, GEN_KERNELS_NEAR, "t", 5, SLIDE_NEAR)
SLIDE_DOWN(Centred, GEN_KERNELS_CENTRED, "s", 7, SLIDE_CENTRED)
#undef SLIDE_DOT
#undef SLIDE_OUT
#undef SLIDE_LOAD
#undef SLIDE_ONE
#undef SLIDE_TWO
#undef SLIDE
#undef SLIDE_CHANNEL
#undef SLIDE_NEAR
#undef SLIDE_CENTRED
#undef SLIDE_DOWN
#else
template <bool kPair, class Rescale>
void slide_down(const int8_t*& from, int8_t*& to, const Slide& slide, const Columns& c,
                const Weights& w, const Rescale& rescale) {
  for (; from != slide.end; from += slide.from_step, to += slide.to_step) {
    uint32_t x0 = load_word(from, c.row);
    uint32_t x1 = load_word(from, c.row);
    for (int32_t left = c.height; left > 0; --left) {
      const uint32_t x2 = load_word(from, c.row);
      store_byte(to, rescale(sdotsp_b(sdotsp_b(sdotsp_b(c.bias, x0, w.w0), x1, w.w1), x2, w.w2)),
                 slide.across);
      if constexpr (kPair) {
        store_byte(to, rescale(sdotsp_b(sdotsp_b(sdotsp_b(c.bias, x0, w.v0), x1, w.v1), x2, w.v2)),
                   slide.back);
      }
      x0 = x1;
      x1 = x2;
    }
  }
}
#endif

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

// One output channel. For flash: Near only slides, Centred slides pairs only, Signed not at all.
template <class Rescale>
__attribute__((noinline)) void slide_all(Columns& columns, const uint32_t* weight, int32_t rows,
                                         const Rescale& constants) {
  Columns c = columns;
  if constexpr (!std::is_same_v<Rescale, Signed>) {
    if (columns.sliding) {
      const Weights w{weight[0],      weight[1],      weight[2],
                      weight[0] << 8, weight[1] << 8, weight[2] << 8};
      columns.pairs.end = columns.from + columns.pairs.width;
      columns.singles.end = columns.pairs.end + columns.singles.width;
      if (columns.pairs.width > 0) {
        slide_down<true>(c.from, c.to, columns.pairs, columns, w, constants);
      }
      if constexpr (!std::is_same_v<Rescale, Centred>) {
        if (columns.singles.width > 0) {
          slide_down<false>(c.from, c.to, columns.singles, columns, w, constants);
        }
        return;
      }
      c.width -= columns.pairs.width;  // a byte a column, where there are pairs
    }
  }
  if constexpr (!std::is_same_v<Rescale, Near>) {
    const Rescale rescale = constants;
    slide(c, weight, rows, rescale);
  }
}

// A window's rows as words; what lies behind a row meets zeros. Returns the sum of the weights.
inline int32_t read_weights(uint32_t* to, const ConvCall& call, int32_t o) {
  // From the last column to the first, where columns behind the last repeat it.
  const int32_t step = call.output_channels;
  const int32_t width = call.kernel.w;
  const int32_t first = width > 3 ? -step : 0;
  const int32_t second = width > 2 ? -step : 0;
  const int32_t third = width > 1 ? -step : 0;
  const int32_t down = (2 * width - 1) * step;
  const uint32_t mask = 0xffffffffU >> (32 - 8 * width);
  const int8_t* from = call.weight + (width - 1) * step + o;
  int32_t sum = 0;
  for (int32_t i = call.kernel.h; i > 0; --i) {
    const uint32_t d = load_byte(from, first);
    const uint32_t c = load_byte(from, second);
    const uint32_t b = load_byte(from, third);
    const uint32_t a = load_byte(from, down);
    const uint32_t word = packhi_b(packlo_b(0, b, a), d, c) & mask;
    sum = sdotsp_b(sum, word, 0x01010101U);
    *to++ = word;
  }
  return sum;
}

// Negates the weights; false, and nothing changed, when one is -128.
inline bool negate(uint32_t* weight, int32_t rows) {
  uint32_t both = 0;
  for (int32_t i = 0; i < rows; ++i) {
    both |= weight[i] & sub_b(0, weight[i]);
  }
  if ((both & 0x80808080U) != 0) {
    return false;
  }
  for (int32_t i = 0; i < rows; ++i) {
    weight[i] = sub_b(0, weight[i]);
  }
  return true;
}

inline void channel(const ConvCall& call, Columns& columns, const Finish& finish, int32_t o) {
  uint32_t weight[Planes::kMostRows];
  const int32_t rows = call.kernel.h;
  const int32_t sum = read_weights(weight, call, o);
  columns.bias = (call.bias != nullptr ? call.bias[o] : 0) + call.input_offset * sum;
  const int32_t multiplier = call.multiplier[o];
  const int32_t shift = call.shift[o];
  const Kind kind = kind_of(multiplier, shift, finish);
  const auto run = [&](const auto& rescale) { slide_all(columns, weight, rows, rescale); };
  if (kind == Kind::kNarrow) {
    run(Narrow{channel_of(kind, multiplier, shift, finish)});
  } else if (kind == Kind::kShort) {
    run(Short{channel_of(kind, multiplier, shift, finish)});
  } else if (can_centre(multiplier, shift, finish)) {
    const Range range = range_of(multiplier, shift, finish);
    if (columns.sliding && is_near(range) && negate(weight, rows)) {
      columns.bias = -columns.bias;
      run(near_of(multiplier, shift, finish, range));
    } else {
      columns.bias -= range.least;
      run(centred_of(multiplier, shift, finish, range));
    }
  } else {
    run(Signed{channel_of(Kind::kSigned, multiplier, shift, finish), finish.low, finish.high});
  }
}

// `count` times `columns` columns of windows.
inline Slide slide_of(const Columns& c, int32_t columns, int32_t count) {
  const int32_t across = columns == 2 ? c.to_column : c.to_row;
  const int32_t step = columns * c.column;
  const auto thirds =
      static_cast<int32_t>(uint64_t{static_cast<uint32_t>(c.height)} * 0xaaaaaaab >> 33);
  return {thirds,
          12 * (c.height - 3 * thirds),
          step - (c.height + 2) * c.row,
          columns * c.to_column - c.height * c.to_row,
          nullptr,
          across,
          c.to_row - across,
          count * step};
}

}  // namespace internal

// Runs a call whose windows are at most 4 wide and kMostRows high, not dilated horizontally.
inline void depthwise(const cortex_m::ConvCall& call, const Planes& planes) {
  const cortex_m::Image& to = call.output;
  const int32_t channels = call.input.channels;
  const int32_t copies = call.output_channels / channels;
  internal::Columns columns;
  columns.row = planes.stride * call.dilation.h;
  columns.column = call.stride.w;
  columns.next = planes.stride * call.stride.h;
  columns.to_row = to.width * to.channels;
  columns.to_column = to.channels;
  columns.width = to.width;
  columns.height = to.height;
  columns.sliding =
      call.kernel.h == 3 && call.kernel.w <= 3 && call.stride.h == 1 && call.dilation.h == 1;
  const int32_t pairs = call.stride.w == 1 ? to.width >> 1 : 0;
  columns.pairs = internal::slide_of(columns, 2, pairs);
  columns.singles = internal::slide_of(columns, 1, to.width - 2 * pairs);
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
