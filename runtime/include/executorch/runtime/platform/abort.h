// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
/// Stops the program through et_pal_abort().
ET_NORETURN void runtime_abort();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_abort;
}
