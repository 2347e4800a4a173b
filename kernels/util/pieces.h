// Copies made of rectangular pieces: padding, flip and roll cut every axis of the
// output into at most three runs, each a strided run of the input's axis.
#pragma once

#include "util/view.h"

namespace gen_kernels {

// `count` output indices from `out` on; they read `in`, `in + step`, ...
struct Run {
  int64_t out;
  int64_t count;
  int64_t in;
  int64_t step;
};

struct Axis {
  size_t runs = 0;
  Run run[3];

  // Runs without elements vanish.
  void add(int64_t out, int64_t count, int64_t in, int64_t step) {
    if (count > 0) {
      run[runs++] = {out, count, in, step};
    }
  }
};

// Copies every combination of one run an axis.
template <TypeMask Mask>
inline void copy_pieces(const View& to, const View& from, const Axis* axes) {
  uint8_t choice[kMaxDims] = {};
  for (size_t d = 0; d < to.rank; ++d) {
    if (axes[d].runs == 0) {
      return;
    }
  }
  for (;;) {
    View piece = to;
    View source = from;
    for (size_t d = 0; d < to.rank; ++d) {
      const Run& run = axes[d].run[choice[d]];
      piece.slice(d, run.out, 1, run.count);
      source.slice(d, run.in, run.step, run.count);
    }
    copy_view<Mask>(piece, source);
    size_t d = 0;
    while (d < to.rank && ++choice[d] == axes[d].runs) {
      choice[d++] = 0;
    }
    if (d == to.rank) {
      return;
    }
  }
}

}  // namespace gen_kernels
