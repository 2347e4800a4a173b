// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/platform.h>

namespace executorch::runtime {
/// Converts ticks of the platform's clock to nanoseconds.
inline uint64_t ticks_to_ns(et_timestamp_t ticks) {
  const et_tick_ratio_t ratio = pal_ticks_to_ns_multiplier();
  return ticks * ratio.numerator / ratio.denominator;
}
}  // namespace executorch::runtime
