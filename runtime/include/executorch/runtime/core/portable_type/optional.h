// SPDX-License-Identifier: BSD-3-Clause
//
// Older spellings of std::optional.
#pragma once

#include <executorch/runtime/platform/compiler.h>

#include <optional>

namespace executorch::runtime::etensor {
template <typename T>
using optional = std::optional<T>;
using nullopt_t = std::nullopt_t;
inline constexpr std::nullopt_t nullopt{std::nullopt};
}  // namespace executorch::runtime::etensor

namespace torch::executor {
template <typename T>
using optional = std::optional<T>;
using nullopt_t = std::nullopt_t;
inline constexpr std::nullopt_t nullopt{std::nullopt};
}  // namespace torch::executor
