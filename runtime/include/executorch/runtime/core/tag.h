// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/defines.h>
#include <executorch/runtime/platform/compiler.h>
#include <stdint.h>

namespace executorch::runtime {

#define EXECUTORCH_FORALL_TAGS(_) \
  _(None)                         \
  _(Tensor)                       \
  _(String)                       \
  _(Double)                       \
  _(Int)                          \
  _(Bool)                         \
  _(ListBool)                     \
  _(ListDouble)                   \
  _(ListInt)                      \
  _(ListTensor)                   \
  _(ListScalar)                   \
  _(ListOptionalTensor)

/// What an EValue holds.
enum class Tag : uint32_t {
#define GEN_KERNELS_TAG(name) name,
  EXECUTORCH_FORALL_TAGS(GEN_KERNELS_TAG)
#undef GEN_KERNELS_TAG
};

#if ET_ENABLE_ENUM_STRINGS
inline const char* tag_to_string(Tag tag) {
  switch (tag) {
#define GEN_KERNELS_TAG(name) \
  case Tag::name:             \
    return #name;
    EXECUTORCH_FORALL_TAGS(GEN_KERNELS_TAG)
#undef GEN_KERNELS_TAG
  }
  return "Unknown";
}
#endif

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Tag;
}
