// Memory for one call, carved from a single temporary allocation.
#pragma once

#include "util/tensor.h"

namespace gen_kernels::corev {

class Scratch {
 public:
  // False when the context has no such memory; then the portable kernel runs.
  bool reserve(KernelRuntimeContext& context, size_t bytes) {
    auto memory = context.allocate_temp(bytes, alignof(uint32_t));
    at_ = memory.ok() ? static_cast<int8_t*>(memory.get()) : nullptr;
    return at_ != nullptr;
  }
  // The next part, at a word; parts together take what was reserved, each rounded up to words.
  int8_t* take(size_t bytes) {
    int8_t* taken = at_;
    at_ += (bytes + 3) & ~size_t{3};
    return taken;
  }

 private:
  int8_t* at_ = nullptr;
};

}  // namespace gen_kernels::corev
