// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "program_schema.h"

namespace executorch::runtime::internal {

/// Where a tensor's elements are: set at run time, in the program, in a planned buffer, or in a
/// file of its own.
enum class Place : uint8_t { Runtime, Constant, Planned, External };

/// The parts of a serialised tensor that decide it.
struct Storage {
  explicit Storage(const gen_kernels::flat::View& tensor);

  /// The fully qualified name, empty when there is none.
  std::string_view name() const;
  /// Position in the planned buffer, 0 without one; SIZE_MAX when it is beyond this machine.
  size_t offset() const;
  /// Number of the planned buffer. They are counted from 1 in a program: 0 becomes UINT32_MAX.
  uint32_t buffer() const;
  /// Where the initial state is: an index into the program's mutable_data_segments.
  size_t state_segments() const;

  const uint8_t* allocation;
  const uint8_t* extra;
  uint32_t constant;  ///< Number of the constant, or of the initial state; 0 for none.
  Place place;
  bool is_external;
};

}  // namespace executorch::runtime::internal
