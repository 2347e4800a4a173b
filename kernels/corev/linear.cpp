// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantized_linear, quantized_batch_matmul. What does
// not fit the fast path runs on the portable kernel.
#include "cortex_m/linear.h"

#include "corev/matrix.h"
#include "corev/scratch.h"

namespace gen_kernels::corev {
namespace {

using cortex_m::MatmulCall;

// Whether one product of `call` can run here; the sums need their bounds for the fast rescale.
bool fits(const MatmulCall& call) {
  constexpr int32_t kMost = 1 << 28;
  const auto small = [](int32_t offset) { return offset >= -255 && offset <= 255; };
  if (call.columns < 4 || call.inner < 4 || call.inner > kMost / (383 * 383) ||
      !small(call.left_offset) || !small(call.right_offset) ||
      !fast_rescale(call.multiplier, call.shift, call.requant.offset)) {
    return false;
  }
  for (int32_t n = 0; call.bias != nullptr && n < call.columns; ++n) {
    if (call.bias[n] >= kMost || call.bias[n] <= -kMost) {
      return false;
    }
  }
  return true;
}

// Rows of `inner` bytes as rows of `padded` bytes, zeros behind, each byte changed by `flip`.
void pad_rows(int8_t* to, const int8_t* from, int32_t rows, int32_t inner, int32_t padded,
              uint32_t flip) {
  for (; rows > 0; --rows) {
    int32_t left = inner;
    for (; left >= 4; left -= 4) {
      store_word(to, load_word(from) ^ flip);
    }
    for (; left > 0; --left) {
      *to++ = static_cast<int8_t>(*from++ ^ static_cast<int8_t>(flip));
    }
    for (left = inner; left < padded; ++left) {
      *to++ = 0;
    }
  }
}

// The offsets' share of the sums of one row: what does not depend on the column.
int32_t row_share(const MatmulCall& call, const int8_t* row, int32_t inner) {
  return call.right_offset * (sum_bytes(row, inner) + call.inner * call.left_offset);
}

// Scratch: a bias of 4 bytes a column, unless the call's own serves; both operands again when rows
// are no whole words; the left one when its offset is 128 and there are few rows.
bool run(KernelRuntimeContext& context, MatmulCall call, int32_t batches) {
  if (!fits(call)) {
    return false;
  }
  const int32_t inner = (call.inner + 3) & ~3;
  const bool padded = inner != call.inner;
  // Zero points of -128, as behind a ReLU: as unsigned bytes the inputs are what they stand for,
  // and no sum of the weights is needed, which would cost as much as half a row of products.
  const bool is_unsigned = call.left_offset == 128 && call.right_offset == 0 && call.rows < 4;
  const bool left_copy = padded || is_unsigned;
  const bool sums = !is_unsigned && call.left_offset != 0;
  const bool own_bias = sums || call.right_offset != 0 || call.bias == nullptr;
  const size_t bias_bytes = own_bias ? static_cast<size_t>(call.columns) * sizeof(int32_t) : 0;
  const size_t right_bytes = padded ? static_cast<size_t>(call.columns * inner) : 0;
  const size_t left_bytes = left_copy ? static_cast<size_t>(call.rows * inner) : 0;
  Scratch scratch;
  if (bias_bytes + right_bytes + left_bytes != 0 &&
      !scratch.reserve(context, bias_bytes + right_bytes + left_bytes)) {
    return false;
  }
  auto* bias = reinterpret_cast<int32_t*>(scratch.take(bias_bytes));
  int8_t* right = scratch.take(right_bytes);
  int8_t* left = scratch.take(left_bytes);
  const Finish finish = finish_of(call.requant);
  Four four;
  four.kind = kind_of(call.multiplier, call.shift, finish);
  for (Channel& channel : four.channel) {
    channel = channel_of(four.kind, call.multiplier, call.shift, finish);
  }
  Product product{call.left,    call.right, own_bias ? bias : call.bias,
                  &four,        true,       call.rows,
                  call.columns, inner,      call.out,
                  call.columns, finish,     is_unsigned};
  for (; batches > 0; --batches) {
    if (padded) {
      pad_rows(right, call.right, call.columns, call.inner, inner, 0);
    }
    if (left_copy) {
      pad_rows(left, call.left, call.rows, call.inner, inner, is_unsigned ? 0x80808080U : 0);
    }
    product.x = left_copy ? left : call.left;
    product.w = padded ? right : call.right;
    product.out = call.out;
    for (int32_t n = 0; own_bias && n < call.columns; ++n) {
      bias[n] = (call.bias != nullptr ? call.bias[n] : 0) +
                (sums ? call.left_offset * sum_bytes(product.w + n * inner, inner) : 0);
    }
    if (call.right_offset == 0) {
      multiply(product);
    } else {
      // Row by row: each moves the biases from the row before's share of the sums to its own.
      int32_t share = 0;
      product.rows = 1;
      for (int32_t m = 0; m < call.rows; ++m) {
        const int32_t own = row_share(call, product.x, inner);
        for (int32_t n = 0; n < call.columns; ++n) {
          bias[n] += own - share;
        }
        share = own;
        multiply(product);
        product.x += inner;
        product.out += call.columns;
      }
    }
    call.left += call.rows * call.inner;
    call.right += call.columns * call.inner;
    call.out += call.rows * call.columns;
  }
  return true;
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

using cortex_m::fail;
using cortex_m::MatmulCall;

Tensor& quantized_linear_out(KernelRuntimeContext& context, const Tensor& input,
                             const Tensor& weights, const std::optional<Tensor>& bias,
                             const std::optional<Tensor>& kernel_sum, int64_t input_offset,
                             int64_t filter_offset, int64_t output_offset,
                             ArrayRef<int64_t> requantize_multipliers,
                             ArrayRef<int64_t> requantize_shifts, int64_t activation_max,
                             int64_t activation_min, Tensor& out) {
  MatmulCall call;
  if (!cortex_m::prepare_linear(call, input, weights, bias, kernel_sum, input_offset, filter_offset,
                                output_offset, requantize_multipliers, requantize_shifts,
                                activation_max, activation_min, out)) {
    return fail(context, out);
  }
  if (!run(context, call, 1)) {
    cortex_m::matmul(call);
  }
  return out;
}

Tensor& quantized_batch_matmul_out(KernelRuntimeContext& context, const Tensor& lhs,
                                   int64_t lhs_zero_point, const Tensor& rhs_transposed,
                                   int64_t rhs_zero_point, int64_t output_zero_point,
                                   int64_t output_multiplier, int64_t output_shift, const Tensor&,
                                   Tensor& out) {
  MatmulCall call;
  if (!cortex_m::prepare_batch(call, lhs, lhs_zero_point, rhs_transposed, rhs_zero_point,
                               output_zero_point, output_multiplier, output_shift, out)) {
    return fail(context, out);
  }
  const auto batches = static_cast<int32_t>(size_at(out, 0));
  if (!run(context, call, batches)) {
    cortex_m::batch_matmul(call, batches);
  }
  return out;
}

}  // namespace gen_kernels::corev::native
