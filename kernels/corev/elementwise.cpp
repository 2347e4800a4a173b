// CORE-V kernels for cortex_m: quantized_add, quantized_mul, minimum, maximum,
// quantized_activation. The arithmetic of add and mul needs one multiplication
// where the rounding allows it; bytes go by words where rows lie together.
#include "corev/corev.h"
#include "corev/rescale.h"
#include "cortex_m/common.h"

namespace gen_kernels::corev {

using cortex_m::fail;
using cortex_m::fits;
using cortex_m::is_int8;
using cortex_m::walk_rows;

namespace {

// requantize() by one multiplication, where it is `fast`, of sums below 2^29 in magnitude.
struct Rescaler {
  int32_t multiplier, round, shift;
  int32_t second;  // 2: rounds twice, so that halves of negative values go down; 0: once
  bool fast;

  Rescaler(int64_t multiplier_, int64_t shift_)
      : multiplier(static_cast<int32_t>(multiplier_)), round(1), shift(1), second(0), fast(true) {
    const auto by = static_cast<int32_t>(shift_);
    if (fast_rescale(multiplier, by, 0)) {
      round = 1 + (1 << -by);
      shift = 1 - by;
      second = 2;
    } else {
      fast = by == 0 && multiplier >= 0;
    }
  }

  GEN_KERNELS_INLINE int32_t operator()(int32_t value) const {
    const auto scaled = static_cast<int32_t>(static_cast<uint32_t>(value) << 2);
    const int32_t high = mac(mulh(scaled, multiplier), scaled >> 31, second);
    return add_nr(high, round, static_cast<uint32_t>(shift));
  }
};

// Resizes `out` to the broadcast shape, then calls row(a, b, out, steps, count) for each row.
template <class Row>
Tensor& binary(KernelRuntimeContext& context, const Tensor& a, const Tensor& b, Tensor& out,
               Row row) {
  Shape shape = shape_of(a);
  if (!is_int8(a) || !is_int8(b) || !is_int8(out) || !broadcast_into(shape, b.sizes()) ||
      !resize_out(out, shape)) {
    return fail(context, out);
  }
  const Tensor* const inputs[] = {&a, &b};
  const bool ok = walk_rows(out, inputs, 2, row);
  return ok ? out : fail(context, out);
}

// Byte by byte: f(a, b).
template <class F>
GEN_KERNELS_INLINE void each_byte(const Walk& w, size_t count, const char* a, const char* b,
                                  char* to, F f) {
  const ptrdiff_t a_step = w.step(1);
  const ptrdiff_t b_step = w.step(2);
  const ptrdiff_t to_step = w.step(0);
  for (; count > 0; --count, a += a_step, b += b_step, to += to_step) {
    *to = static_cast<char>(f(static_cast<int8_t>(*a), static_cast<int8_t>(*b)));
  }
}

// By words where both inputs and the output lie together, or one input is a single value.
template <class Words, class F>
Tensor& by_words(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                 Tensor& out, Words words, F f) {
  return binary(context, self, other, out, [&](const Walk& w) {
    size_t count = w.row();
    const char* a = w.at[1];
    const char* b = w.at[2];
    char* to = w.at[0];
    if (w.step(0) == 1 && w.step(1) == 1 && w.step(2) == 1) {
      GEN_KERNELS_PATH("words");
      const auto* left = reinterpret_cast<const int8_t*>(a);
      const auto* right = reinterpret_cast<const int8_t*>(b);
      auto* result = reinterpret_cast<int8_t*>(to);
      const size_t whole = count & ~size_t{3};
      for (size_t i = whole; i > 0; i -= 4) {
        const uint32_t x = load_word(left);
        store_word(result, words(x, load_word(right)));
      }
      a += whole;
      b += whole;
      to += whole;
      count -= whole;
    }
    each_byte(w, count, a, b, to, f);
  });
}

}  // namespace
}  // namespace gen_kernels::corev

namespace gen_kernels::corev::native {

Tensor& quantized_add_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, int64_t self_multiplier, int64_t self_shift,
                          const Tensor& other, int64_t other_zero_point, int64_t other_multiplier,
                          int64_t other_shift, int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, int64_t activation_min, int64_t activation_max,
                          Tensor& out) {
  if (!fits(self_zero_point, self_multiplier, self_shift, other_zero_point, other_multiplier,
            other_shift) ||
      !fits(output_zero_point, output_multiplier, output_shift, activation_min, activation_max)) {
    return fail(context, out);
  }
  const Rescaler left(self_multiplier, self_shift);
  const Rescaler right(other_multiplier, other_shift);
  const Rescaler result(output_multiplier, output_shift);
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  const int32_t a_zero = i32(self_zero_point);
  const int32_t b_zero = i32(other_zero_point);
  const int32_t zero = i32(output_zero_point);
  const int32_t low = i32(activation_min);
  const int32_t high = i32(activation_max);
  const auto is_byte = [](int32_t value) { return value >= INT8_MIN && value <= INT8_MAX; };
  // Differences of bytes, shifted by 20, stay below 2^28, and so do their rescaled values; the sum
  // below 2^29. Other zero points, and left shifts, take the general way.
  const bool plain = is_byte(a_zero) && is_byte(b_zero) && left.fast && right.fast && result.fast;
  return binary(context, self, other, out, [&](const Walk& w) {
    if (plain) {
      GEN_KERNELS_PATH("one product");
      // Copies: a byte that is stored could change what lies in memory.
      each_byte(w, w.row(), w.at[1], w.at[2], w.at[0],
                [left, right, result, a_zero, b_zero, zero, low, high](int32_t a, int32_t b) {
                  const int32_t x = left((a - a_zero) * (1 << 20));
                  const int32_t y = right((b - b_zero) * (1 << 20));
                  return min(max(wrap_add(result(x + y), zero), low), high);
                });
      return;
    }
    each_byte(w, w.row(), w.at[1], w.at[2], w.at[0], [&](int32_t a, int32_t b) {
      const int32_t x = requantize(wrap_mul(wrap_add(a, -a_zero), 1 << 20), i32(self_multiplier),
                                   i32(self_shift));
      const int32_t y = requantize(wrap_mul(wrap_add(b, -b_zero), 1 << 20), i32(other_multiplier),
                                   i32(other_shift));
      return Requant{zero, low, high}(wrap_add(x, y), i32(output_multiplier), i32(output_shift));
    });
  });
}

Tensor& quantized_mul_out(KernelRuntimeContext& context, const Tensor& self,
                          int64_t self_zero_point, const Tensor& other, int64_t other_zero_point,
                          int64_t output_zero_point, int64_t output_multiplier,
                          int64_t output_shift, Tensor& out) {
  if (!fits(self_zero_point, other_zero_point, output_zero_point, output_multiplier,
            output_shift)) {
    return fail(context, out);
  }
  const Rescaler result(output_multiplier, output_shift);
  const auto a_zero = static_cast<int32_t>(self_zero_point);
  const auto b_zero = static_cast<int32_t>(other_zero_point);
  const auto zero = static_cast<int32_t>(output_zero_point);
  const auto is_byte = [](int32_t value) { return value >= INT8_MIN && value <= INT8_MAX; };
  const bool plain = is_byte(a_zero) && is_byte(b_zero) && result.fast;
  return binary(context, self, other, out, [&](const Walk& w) {
    if (plain) {
      GEN_KERNELS_PATH("one product");
      each_byte(w, w.row(), w.at[1], w.at[2], w.at[0],
                [result, a_zero, b_zero, zero](int32_t a, int32_t b) {
                  return clip8(wrap_add(result((a - a_zero) * (b - b_zero)), zero));
                });
      return;
    }
    each_byte(w, w.row(), w.at[1], w.at[2], w.at[0], [&](int32_t a, int32_t b) {
      const int32_t product = wrap_mul(wrap_add(a, -a_zero), wrap_add(b, -b_zero));
      return Requant{zero, INT8_MIN, INT8_MAX}(product, static_cast<int32_t>(output_multiplier),
                                               static_cast<int32_t>(output_shift));
    });
  });
}

Tensor& minimum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return by_words(
      context, self, other, out, [](uint32_t a, uint32_t b) { return min_b(a, b); },
      [](int32_t a, int32_t b) { return min(a, b); });
}

Tensor& maximum_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& other,
                    Tensor& out) {
  return by_words(
      context, self, other, out, [](uint32_t a, uint32_t b) { return max_b(a, b); },
      [](int32_t a, int32_t b) { return max(a, b); });
}

Tensor& quantized_activation_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& lut, Tensor& out) {
  if (!is_int8(input) || !is_int8(out) || !is_int8(lut) || numel(lut) != 256 ||
      !is_contiguous(lut) || !resize_out_like(out, input)) {
    return fail(context, out);
  }
  // Unsigned bytes, with the sign turned, are indices.
  const auto* table = const_data<uint8_t>(lut);
  const Tensor* const inputs[] = {&input};
  const bool ok = walk_rows(out, inputs, 1, [&](const Walk& w) {
    size_t count = w.row();
    const auto* from = reinterpret_cast<const int8_t*>(w.at[1]);
    auto* to = reinterpret_cast<int8_t*>(w.at[0]);
    if (w.step(0) == 1 && w.step(1) == 1) {
      GEN_KERNELS_PATH("words");
      for (; count >= 4; count -= 4) {
        const uint32_t at = load_word(from) ^ 0x80808080U;
        const uint32_t a = table[at & 0xff];
        const uint32_t b = table[(at >> 8) & 0xff];
        const uint32_t c = table[(at >> 16) & 0xff];
        const uint32_t d = table[at >> 24];
        store_word(to, packhi_b(packlo_b(0, b, a), d, c));
      }
    }
    for (; count > 0; --count, from += w.step(1), to += w.step(0)) {
      *to = static_cast<int8_t>(table[*from + 128]);
    }
  });
  return ok ? out : fail(context, out);
}

}  // namespace gen_kernels::corev::native
