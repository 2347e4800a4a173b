// These kernels are for speed: -Os costs them a few percent.
#pragma GCC optimize("O2")
// CORE-V kernels for cortex_m: quantized_linear, quantized_batch_matmul. What does
// not fit the fast path runs on the portable kernel.
#include "cortex_m/linear.h"

#include "corev/checks.h"
#include "corev/matrix.h"
#include "corev/scratch.h"

namespace gen_kernels::corev {
namespace {

using cortex_m::MatmulCall;

// How the sums of a product become bytes.
struct Way {
  Finish finish;
  Kind kind;
};

// False: `call` cannot run here. Without the cut of a `relu`, the sums need bounds.
__attribute__((noinline)) bool find_way(Way& way, const MatmulCall& call) {
  constexpr int32_t kMost = 1 << 28;
  const auto small = [](int32_t offset) { return offset >= -255 && offset <= 255; };
  if (call.columns < 4 || call.inner < 4 || call.inner > kMost / (383 * 383) ||
      !small(call.left_offset) || !small(call.right_offset) ||
      !fast_rescale(call.multiplier, call.shift, call.requant.offset)) {
    return false;
  }
  const Finish finish = finish_of(call.requant);
  way = {finish, kind_of(call.multiplier, call.shift, finish)};
  return way.kind != Kind::kSigned || call.bias == nullptr ||
         biases_below(call.bias, call.columns, kMost);
}

// Copies `words` words, each changed by `flip`.
void copy_flipped(int8_t*& to, const int8_t*& from, int32_t words, uint32_t flip) {
#if GEN_KERNELS_COREV
  const int32_t pairs = words >> 1;
  if (pairs > 0) {
    uint32_t a;
    uint32_t b;
    asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 6)
                 ".insn i 0x0b, 2, %[a], %[from], 4\n"
                 ".insn i 0x0b, 2, %[b], %[from], 4\n"
                 "xor %[a], %[a], %[flip]\n"
                 "xor %[b], %[b], %[flip]\n"
                 ".insn s 0x2b, 2, %[a], 4(%[to])\n"
                 ".insn s 0x2b, 2, %[b], 4(%[to])\n" GEN_KERNELS_LOOP_END
                 : [a] "=&r"(a), [b] "=&r"(b), [from] "+&r"(from), [to] "+&r"(to)
                 : [n] "r"(pairs), [flip] "r"(flip)
                 : "memory");
    words &= 1;
  }
#endif
  for (; words > 0; --words) {
    store_word(to, load_word(from) ^ flip);
  }
}

// Rows of `inner` bytes as rows of `padded` bytes, zeros behind, each byte changed by `flip`.
void pad_rows(int8_t* to, const int8_t* from, int32_t rows, int32_t inner, int32_t padded,
              uint32_t flip) {
  for (; rows > 0; --rows) {
    copy_flipped(to, from, inner >> 2, flip);
    for (int32_t i = inner & ~3; i < padded; ++i) {
      *to++ = i < inner ? static_cast<int8_t>(*from++ ^ static_cast<int8_t>(flip)) : 0;
    }
  }
}

// The offsets' share of the sums of one row: what does not depend on the column.
int32_t row_share(const MatmulCall& call, const int8_t* row, int32_t inner) {
  return call.right_offset * (sum_bytes(row, inner) + call.inner * call.left_offset);
}

// One row of few columns, four at a time; what makes no four comes with its predecessors once more.
// Inputs at -128 are as unsigned bytes what they stand for. Signed serves all calls whose sums are
// bounded, and those with a ReLU: beyond 30 digits nothing changes.
// False: others.
GEN_KERNELS_INLINE bool run_few(const MatmulCall& call, const Finish& finish) {
  constexpr uint32_t kFlip = 0x80808080;
  const int32_t inner = call.inner;
  const int32_t offset = call.left_offset;
  if (call.rows != 1 || call.columns >= 16 || (inner & 3) != 0 || (offset & ~128) != 0 ||
      call.right_offset != 0 || call.bias == nullptr) {
    return false;
  }
  GEN_KERNELS_PATH("direct");
  const Channel k = channel_of(Kind::kSigned, call.multiplier, call.shift, finish);
  const int8_t* const x = call.left;
  const int8_t* w = call.right;
  const int32_t* bias = call.bias;
  int8_t* out = call.out;
  int32_t groups = call.columns >> 2;
  int32_t again = -call.columns & 3;
#if GEN_KERNELS_COREV
#define FEW_LOAD(d, step) GEN_KERNELS_ASM(".insn r 0x2b, 3, 0x02,", d, "w", step)
#define FEW_DOTS(insn)                   \
  FEW_LOAD("w1", "stride")               \
  GEN_KERNELS_ASM(insn, "s0", "t", "w0") \
  FEW_LOAD("w0", "stride")               \
  GEN_KERNELS_ASM(insn, "s1", "t", "w1") \
  FEW_LOAD("w1", "back")                 \
  GEN_KERNELS_ASM(insn, "s2", "t", "w0") GEN_KERNELS_ASM(insn, "s3", "t", "w1")
#define FEW_RESULT(s) \
  ".insn r 0x2b, 3, 0x38, %[" s "], %[" s "], x30\n" GEN_KERNELS_SIGNED(s, "two", "least", "most")
  int32_t s0, s1, s2, s3, t;
  uint32_t w0, w1;
  const int8_t* at;
  for (;; groups = 1, again = 0) {
    asm volatile(
      GEN_KERNELS_LOOP_BEGIN
      "1:\n"
      "lw %[s0], 0(%[bias])\n"
      "lw %[s1], 4(%[bias])\n"
      "lw %[s2], 8(%[bias])\n"
      "lw %[s3], 12(%[bias])\n"
      "mv %[at], %[x]\n"
      "beqz %[offset], 2f\n"
      GEN_KERNELS_LOOP(n, 10)
      ".insn i 0x0b, 2, %[t], %[at], 4\n"
      FEW_LOAD("w0", "stride")
      "xor %[t], %[t], %[flip]\n"
      FEW_DOTS(".insn r 0x7b, 1, 0x50,")
      "j 3f\n"
      "2:\n"
      GEN_KERNELS_LOOP(n, 9)
      ".insn i 0x0b, 2, %[t], %[at], 4\n"
      FEW_LOAD("w0", "stride")
      FEW_DOTS(".insn r 0x7b, 1, 0x54,")
      "3:\n"
      FEW_RESULT("s0") FEW_RESULT("s1") FEW_RESULT("s2") FEW_RESULT("s3")
      GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7c,", "s0", "s1", "s0")
      GEN_KERNELS_ASM(".insn r 0x7b, 1, 0x7d,", "s0", "s3", "s2")
      ".insn s 0x2b, 2, %[s0], 4(%[out])\n"
      "sub %[w], %[w], %[back]\n"
      "addi %[w], %[w], 4\n"
      "addi %[bias], %[bias], 16\n"
      "addi %[groups], %[groups], -1\n"
      "bnez %[groups], 1b\n" GEN_KERNELS_LOOP_END
      : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [t] "=&r"(t),
        [w0] "=&r"(w0), [w1] "=&r"(w1), [at] "=&r"(at), [w] "+&r"(w), [bias] "+&r"(bias),
        [out] "+&r"(out), [groups] "+&r"(groups)
      : [x] "r"(x), [n] "r"(inner >> 2), [stride] "r"(inner), [back] "r"(4 - 3 * inner),
        [offset] "r"(offset), [flip] "r"(kFlip), [a] "r"(k.a), [b] "r"(k.b),
        [c] "r"(k.c), [two] "r"(2), [least] "r"(finish.low), [most] "r"(finish.high)
      : "memory");
    if (again == 0) {
      return true;
    }
    w -= again * inner;
    bias -= again;
    out -= again;
  }
#undef FEW_LOAD
#undef FEW_DOTS
#undef FEW_RESULT
#else
  const Signed rescale{k, finish.low, finish.high};
  for (groups = 4 * groups + (again != 0 ? 4 - again : 0); groups > 0; --groups) {
    const int8_t* at = x;
    int32_t sum = *bias++;
    for (int32_t left = inner; left > 0; left -= 4) {
      const uint32_t word = load_word(at);
      sum = offset != 0 ? sdotusp_b(sum, word ^ kFlip, load_word(w))
                        : sdotsp_b(sum, word, load_word(w));
    }
    *out++ = static_cast<int8_t>(rescale(clip30(sum)));
  }
  return true;
#endif
}

// Scratch: a bias of 4 bytes a column, unless the call's own serves; both operands again when rows
// are no whole words; the left one when its offset is 128 and there are few rows.
bool run(KernelRuntimeContext& context, const MatmulCall& call, const Way& way, int32_t batches) {
  const Finish finish = way.finish;
  const Kind kind = way.kind;
  const int32_t inner = (call.inner + 3) & ~3;
  const bool padded = inner != call.inner;
  // Zero points of -128, as behind a ReLU: as unsigned bytes the inputs are what they stand for,
  // and no sum of the weights is needed, which would cost as much as half a row of products.
  const bool is_unsigned = call.left_offset == 128 && call.right_offset == 0 && call.rows < 4;
  const bool left_copy = padded || is_unsigned;
  const bool own_bias =
      (!is_unsigned && call.left_offset != 0) || call.right_offset != 0 || call.bias == nullptr;
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
  GEN_KERNELS_PATH(padded ? "padded" : "direct");
  const Channel channel = channel_of(kind, call.multiplier, call.shift, finish);
  const Four four{{channel, channel, channel, channel}, kind};
  Product product{call.left,    call.right, own_bias ? bias : call.bias,
                  &four,        true,       call.rows,
                  call.columns, inner,      call.out,
                  call.columns, finish,     is_unsigned};
  const int8_t* from_left = call.left;
  const int8_t* from_right = call.right;
  int8_t* out = call.out;
  for (; batches > 0; --batches) {
    if (padded) {
      pad_rows(right, from_right, call.columns, call.inner, inner, 0);
    }
    if (left_copy) {
      pad_rows(left, from_left, call.rows, call.inner, inner, is_unsigned ? 0x80808080U : 0);
    }
    product.x = left_copy ? left : from_left;
    product.w = padded ? right : from_right;
    product.out = out;
    if (own_bias) {
      fold_offset(bias, call.bias, is_unsigned ? 0 : call.left_offset, product.w, call.columns,
                  inner);
    }
    // With a right offset row by row: each moves the biases from the row before's share of the sums
    // to its own.
    int32_t share = 0;
    product.rows = call.right_offset == 0 ? call.rows : 1;
    for (int32_t m = 0; m < call.rows; m += product.rows) {
      if (call.right_offset != 0) {
        const int32_t own = row_share(call, product.x, inner);
        for (int32_t n = 0; n < call.columns; ++n) {
          bias[n] += own - share;
        }
        share = own;
      }
      multiply(product);
      product.x += inner;
      product.out += call.columns;
    }
    from_left += call.rows * call.inner;
    from_right += call.columns * call.inner;
    out += call.rows * call.columns;
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
  Way way;
  if (!find_way(way, call) || !(run_few(call, way.finish) || run(context, call, way, 1))) {
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
  Way way;
  if (!find_way(way, call) || !run(context, call, way, batches)) {
    cortex_m::batch_matmul(call, batches);
  }
  return out;
}

}  // namespace gen_kernels::corev::native
