// cortex_m: transpose, pad.
#include "cortex_m/layout.h"

namespace cortex_m::native {

using namespace ::gen_kernels;
using namespace ::gen_kernels::cortex_m;

Tensor& transpose_out(KernelRuntimeContext& context, const Tensor& input, ArrayRef<int64_t> perm,
                      Tensor& out) {
  Walk w;
  if (!prepare_transpose(w, input, perm, out)) {
    return fail(context, out);
  }
  copy_rows(w, element_size(out));
  return out;
}

Tensor& pad_out(KernelRuntimeContext& context, const Tensor& input, ArrayRef<int64_t> pre_pad,
                ArrayRef<int64_t> post_pad, int64_t pad_value, Tensor& out) {
  Walk w;
  if (!prepare_pad(w, input, pre_pad, post_pad, out)) {
    return fail(context, out);
  }
  std::memset(out.mutable_data_ptr(), static_cast<int>(pad_value & 0xff), numel(out));
  copy_rows(w, 1);
  return out;
}

}  // namespace cortex_m::native
