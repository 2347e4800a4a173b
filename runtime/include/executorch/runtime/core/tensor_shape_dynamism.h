// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdint.h>

namespace executorch::runtime {
/// How far a tensor's shape may change while a method runs.
enum class TensorShapeDynamism : uint8_t {
  STATIC = 0,           ///< Not at all.
  DYNAMIC_BOUND = 1,    ///< Up to the number of elements that it was made with.
  DYNAMIC_UNBOUND = 2,  ///< As far as its memory allows.
};
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::TensorShapeDynamism;
}
