// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stddef.h>

namespace executorch::runtime {
/// The most dimensions that a tensor can have.
constexpr size_t kTensorDimensionLimit = 16;
}  // namespace executorch::runtime
