// The table that tells the runner (runner.cpp) what to run: a model and cases, embedded in the
// image. `gen_kernels.codegen.firmware` writes one; it can be written by hand as well.
#ifndef GEN_KERNELS_RUNNER_H
#define GEN_KERNELS_RUNNER_H

#include <cstddef>
#include <cstdint>

namespace runner {

enum class Kind : uint8_t { kNone, kTensor, kInt, kDouble, kBool };

// One argument. A tensor has `ndim` sizes and a dim order, and its values in memory order at
// `data`; an int or bool is in `integer`, a double in `real`.
struct Input {
  Kind kind;
  int8_t scalar_type;  // ExecuTorch's ScalarType
  uint8_t ndim;
  const int32_t* sizes;
  const uint8_t* dim_order;
  const void* data;
  int64_t integer;
  double real;
};

struct Case {
  const char* method;
  const Input* inputs;
  size_t num_inputs;
};

}  // namespace runner

#endif
