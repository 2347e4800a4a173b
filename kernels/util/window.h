// The walk of convolutions and pools: every output position, and the taps of its window.
//
// A tap is a kernel element that meets an input element. Along one dimension both follow an
// arithmetic progression (the input backwards in a transposed convolution), cut where it leaves the
// input, so that the loops over a window test nothing.
#pragma once

#include "util/tensor.h"

namespace gen_kernels {

// One spatial dimension: at output position p, kernel element k meets input element
// (p * stride + offset + k * tap_stride) / divisor where that is a whole number in [0, inputs).
struct Axis {
  int32_t inputs = 1;
  int32_t kernel = 1;
  int32_t stride = 1;
  int32_t offset = 0;
  int32_t tap_stride = 1;
  int32_t divisor = 1;
};

// Kernel elements tap + i * tap_step meet input elements input + i * input_step, i in [0, count).
struct Taps {
  int32_t count = 0;
  int32_t tap = 0;
  int32_t tap_step = 0;
  int32_t input = 0;
  int32_t input_step = 0;
};

GEN_KERNELS_NOINLINE inline Taps find_taps(const Axis& axis, size_t position) {
  Taps t;
  int32_t at = static_cast<int32_t>(position) * axis.stride + axis.offset;
  for (int32_t k = 0; k < axis.kernel; ++k, at += axis.tap_stride) {
    const int32_t input = at / axis.divisor;
    if (at < 0 || input >= axis.inputs || input * axis.divisor != at) continue;
    if (t.count == 0) {
      t.tap = k;
      t.input = input;
    } else if (t.count == 1) {
      t.tap_step = k - t.tap;
      t.input_step = input - t.input;
    }
    ++t.count;
  }
  return t;
}

inline constexpr size_t kSpatial = 3;

// Three spatial dimensions, innermost first, and a walk over all output elements: rows of one
// element, then the spatial dimensions in the same order, then whole images.
struct Windows {
  Walk walk;
  Axis axes[kSpatial];
};

// Adds the next loop, innermost first, with its step in bytes for each operand of the walk.
inline void add_loop(Walk& w, size_t count, ptrdiff_t a, ptrdiff_t b, ptrdiff_t c, ptrdiff_t d) {
  w.empty |= count == 0;
  w.size[w.axes] = count;
  w.index[w.axes] = 0;
  w.stride[w.axes][0] = a;
  w.stride[w.axes][1] = b;
  w.stride[w.axes][2] = c;
  w.stride[w.axes][3] = d;
  ++w.axes;
}

// Computes one output element. `at` is the place of each operand, that of the output exact, that
// of others their image's; `taps` are the window's, innermost dimension first.
using Cell = void (*)(const void* context, char* const* at, const Taps* taps);

GEN_KERNELS_NOINLINE inline void for_each_window(Windows& w, Cell cell, const void* context) {
  Taps taps[kSpatial];
  if (w.walk.empty) return;
  do {
    for (size_t i = 0; i < kSpatial; ++i) {
      const size_t position = w.walk.index[1 + i];
      taps[i] = find_taps(w.axes[i], position);
      if (position != 0) break;  // The outer dimensions have not moved.
    }
    cell(context, w.walk.at, taps);
  } while (next_row(w.walk));
}

}  // namespace gen_kernels
