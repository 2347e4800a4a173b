// SPDX-License-Identifier: BSD-3-Clause
//
// Older spellings of std::string_view.
#pragma once

#include <string_view>

namespace executorch::runtime::etensor {
using string_view = std::string_view;
}

namespace torch::executor {
using string_view = std::string_view;
}
