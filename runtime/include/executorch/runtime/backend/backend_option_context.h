// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace executorch::runtime {
class BackendOptionContext final {};
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::BackendOptionContext;
}
