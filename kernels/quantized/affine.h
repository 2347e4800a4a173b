// What the quantized_decomposed operators share: values of any selected dtype as
// float or integer, and walks with a scale and a zero point per tensor, channel or token.
//
// Results are those of PyTorch's definitions (torch/ao/quantization/fx/_decomposed.py).
#pragma once

#include <optional>

#include "util/quant.h"
#include "util/view.h"

namespace gen_kernels::quantized {

using FloatInputs = Types<float, Half, BFloat16>;
using FloatOutputs = Types<float, double, Half, BFloat16>;
using Integers = Types<uint8_t, int8_t, uint16_t, int16_t, int32_t>;

inline Tensor& fail(KernelRuntimeContext& context, Tensor& out) {
  context.fail(Error::InvalidArgument);
  return out;
}

// Which of `List` operator `Op` may meet.
template <const char* Op, class List>
inline constexpr TypeMask kMask = kSelected<Op> & List::mask;

template <TypeMask Mask>
inline float load_float(const void* from, ScalarType type) {
  float value = 0.0F;
  dispatch_mask<Mask, FloatInputs>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = static_cast<float>(*static_cast<const T*>(from));
  });
  return value;
}

template <TypeMask Mask>
inline int32_t load_integer(const void* from, ScalarType type) {
  int32_t value = 0;
  dispatch_mask<Mask, Integers>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = static_cast<int32_t>(*static_cast<const T*>(from));
  });
  return value;
}

template <TypeMask Mask>
inline void store_integer(void* to, ScalarType type, int64_t value) {
  dispatch_mask<Mask, Integers>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *static_cast<T*>(to) = static_cast<T>(value);
  });
}

// `value` converted to `type`; a float or a double.
template <TypeMask Mask, class Real>
inline void store_real(void* to, ScalarType type, Real value) {
  dispatch_mask<Mask, FloatOutputs>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *static_cast<T*>(to) = convert<T>(value);
  });
}

// `value` as a number of dtype `type` holds it (Half and BFloat16 round).
inline float rounded_to(ScalarType type, float value) {
  if (type == ScalarType::Half) {
    return static_cast<float>(Half(value));
  }
  return type == ScalarType::BFloat16 ? static_cast<float>(BFloat16(value)) : value;
}

// Whether quantised values in [low, high] fit dtype `type`.
inline bool in_range(ScalarType type, int64_t low, int64_t high) {
  switch (type) {
    case ScalarType::Byte:
      return low >= 0 && high <= UINT8_MAX;
    case ScalarType::Char:
      return low >= INT8_MIN && high <= INT8_MAX;
    case ScalarType::UInt16:
      return low >= 0 && high <= UINT16_MAX;
    case ScalarType::Short:
      return low >= INT16_MIN && high <= INT16_MAX;
    case ScalarType::Int:
      return low >= INT32_MIN && high <= INT32_MAX;
    default:
      return false;
  }
}

inline double scale_value(const Tensor& scale) {
  return scale.scalar_type() == ScalarType::Double ? *const_data<double>(scale)
                                                   : static_cast<double>(*const_data<float>(scale));
}
inline bool is_scale(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Double;
}
inline bool is_zero_point(ScalarType type) {
  return type == ScalarType::Long || type == ScalarType::Int;
}

inline int64_t zero_point_value(const void* at, ScalarType type) {
  return type == ScalarType::Long ? *static_cast<const int64_t*>(at)
                                  : *static_cast<const int32_t*>(at);
}

// Where scales and zero points lie along an input's dimensions.
enum class Along { kChannel, kToken };

// A walk over out, input, scales and zero points, in the memory order of `out`; per channel the
// parameters follow dimension `axis`, per token all dimensions but the last. Without scales the
// walk has the first two operands, without zero points their place has no meaning.
GEN_KERNELS_NOINLINE inline void start_walk(Walk& w, Tensor& out, const Tensor& in,
                                            const Tensor* scales, const Tensor* zero_points,
                                            Along along, size_t axis) {
  const View to = view_of(out);
  const View from = view_of(in);
  w.operands = scales != nullptr ? 4 : 2;
  w.at[0] = to.data;
  w.at[1] = from.data;
  ptrdiff_t scale_size = 0;
  ptrdiff_t zero_size = 0;
  if (scales != nullptr) {
    w.at[2] = w.at[3] = const_cast<char*>(const_bytes(*scales));
    scale_size = scales->element_size();
  }
  if (zero_points != nullptr) {
    w.at[3] = const_cast<char*>(const_bytes(*zero_points));
    zero_size = zero_points->element_size();
  }
  ptrdiff_t step[kMaxDims] = {};  // in scales
  ptrdiff_t next = 1;
  for (size_t d = to.rank; d-- > 0;) {
    const bool moves = along == Along::kChannel ? d == axis : d + 1 < to.rank;
    step[d] = moves ? next : 0;
    next *= moves ? to.sizes[d] : 1;
  }
  for (size_t i = to.rank; i-- > 0;) {
    const size_t d = out.dim_order().data()[i];
    const ptrdiff_t stride[] = {to.strides[d], from.strides[d], step[d] * scale_size,
                                step[d] * zero_size};
    add_axis(w, to.size(d), stride);
  }
}

// Whether scales (and zero points) have one value for each channel or token of `in`.
inline bool parameters_fit(const Tensor& in, const Tensor& scales, const Tensor* zero_points,
                           Along along, size_t axis) {
  size_t count = along == Along::kChannel ? size_at(in, axis) : 1;
  for (size_t d = 0; along == Along::kToken && d + 1 < rank(in); ++d) {
    count *= size_at(in, d);
  }
  return is_scale(scales.scalar_type()) && numel(scales) == count && is_contiguous(scales) &&
         (zero_points == nullptr || (is_zero_point(zero_points->scalar_type()) &&
                                     numel(*zero_points) == count && is_contiguous(*zero_points)));
}

}  // namespace gen_kernels::quantized
