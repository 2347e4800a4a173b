// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
/// Prepares the platform (et_pal_init). Call it once, before anything else.
void runtime_init();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_init;
}
