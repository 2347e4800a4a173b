// SPDX-License-Identifier: BSD-3-Clause
//
// Finding kernels without building names or keys: both are compared piece by piece.
#pragma once

#include <executorch/runtime/kernel/operator_registry.h>

namespace executorch::runtime::internal {

/// An operator as a program names it. `overload` may be empty.
struct OperatorName {
  const char* name;
  const char* overload;

  /// As strcmp() of "name.overload", or of "name" alone, with `other`.
  int compare(const char* other) const;
};

/// Reads a kernel key and compares it with the tensors of a call, in order.
class KeyCursor {
 public:
  explicit KeyCursor(const char* key) : at_(key) {}
  bool begin() { return expect('v') && expect('1'); }
  bool tensor(executorch::aten::ScalarType dtype, const uint8_t* dim_order, size_t dims);
  bool at_end() const { return *at_ == '\0'; }

 private:
  bool expect(char c);
  bool number(unsigned value);

  const char* at_;
  char separator_ = '/';
};

/// Whether a specialised kernel's key fits the arguments of a call.
using KeyMatcher = bool (*)(const char* key, void* args);

/// The kernel whose key fits, else the fallback, else null. `kernels`, when not empty, are searched
/// in place of the registry.
OpFunction find_kernel(const OperatorName& name, Span<const Kernel> kernels, KeyMatcher matches,
                       void* args);

}  // namespace executorch::runtime::internal
