// ScalarType <-> C++ type, sets of types, and the dtype selection of a build.
//
// Every question about selection is a constant expression: with
// EXECUTORCH_SELECTIVE_BUILD_DTYPE defined, code for a dtype that no selected
// model uses is never instantiated. Without it every dtype is selected.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstdint>
#include <type_traits>

#if defined(EXECUTORCH_SELECTIVE_BUILD_DTYPE)
#include "selected_op_variants.h"
#endif

namespace gen_kernels {

using ::executorch::aten::BFloat16;
using ::executorch::aten::Half;
using ::executorch::aten::ScalarType;

// For code that is shared rather than repeated: one copy in the library, never a local clone.
#if defined(__clang__)
#define GEN_KERNELS_NOINLINE __attribute__((noinline))
#else
#define GEN_KERNELS_NOINLINE __attribute__((noinline, noclone))
#endif

// A value that carries a type: `[](auto tag) { using T = typename decltype(tag)::type; }`.
template <class T>
struct Tag {
  using type = T;
};

// The ScalarType of a C++ type; Undefined for others.
template <class T>
inline constexpr ScalarType kScalarType = ScalarType::Undefined;
template <>
inline constexpr ScalarType kScalarType<uint8_t> = ScalarType::Byte;
template <>
inline constexpr ScalarType kScalarType<int8_t> = ScalarType::Char;
template <>
inline constexpr ScalarType kScalarType<int16_t> = ScalarType::Short;
template <>
inline constexpr ScalarType kScalarType<int32_t> = ScalarType::Int;
template <>
inline constexpr ScalarType kScalarType<int64_t> = ScalarType::Long;
template <>
inline constexpr ScalarType kScalarType<Half> = ScalarType::Half;
template <>
inline constexpr ScalarType kScalarType<float> = ScalarType::Float;
template <>
inline constexpr ScalarType kScalarType<double> = ScalarType::Double;
template <>
inline constexpr ScalarType kScalarType<bool> = ScalarType::Bool;
template <>
inline constexpr ScalarType kScalarType<BFloat16> = ScalarType::BFloat16;
template <>
inline constexpr ScalarType kScalarType<uint16_t> = ScalarType::UInt16;
template <>
inline constexpr ScalarType kScalarType<uint32_t> = ScalarType::UInt32;
template <>
inline constexpr ScalarType kScalarType<uint64_t> = ScalarType::UInt64;

// ---- Sets of dtypes: a bit for each ScalarType number ----

using TypeMask = uint32_t;

constexpr TypeMask bit(ScalarType type) {
  return TypeMask{1} << (static_cast<unsigned>(type) & 31U);
}

// A type that comes as an argument, and not from a tensor, can be any number.
constexpr bool contains(TypeMask mask, ScalarType type) {
  return static_cast<unsigned>(type) < 32U && ((mask >> static_cast<unsigned>(type)) & 1U) != 0;
}

// True when exactly one dtype is in the set: mixed-dtype code folds away.
constexpr bool is_single(TypeMask mask) { return mask != 0 && (mask & (mask - 1)) == 0; }

// A list of C++ types, the form that dispatch() takes.
template <class... T>
struct Types {
  static constexpr TypeMask mask = (TypeMask{0} | ... | bit(kScalarType<T>));
};

using IntTypes = Types<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using IntBTypes = Types<bool, uint8_t, int8_t, int16_t, int32_t, int64_t>;
using FloatTypes = Types<float, double>;
using FloatHBF16Types = Types<float, double, Half, BFloat16>;
using RealTypes = Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t>;
using RealBTypes = Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, bool>;
using RealHTypes = Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, Half>;
using RealHBTypes = Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, Half, bool>;
using RealHBF16Types =
    Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, Half, BFloat16>;
using RealHBBF16Types =
    Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, Half, bool, BFloat16>;
// Every dtype with arithmetic: the above and the wide unsigned integers.
using AllTypes = Types<float, double, uint8_t, int8_t, int16_t, int32_t, int64_t, Half, bool,
                       BFloat16, uint16_t, uint32_t, uint64_t>;

inline constexpr TypeMask kFloatMask = FloatHBF16Types::mask;
// The 16-bit floats, which compute in float.
inline constexpr TypeMask kHalfMask = Types<Half, BFloat16>::mask;
inline constexpr TypeMask kComplexMask =
    bit(ScalarType::ComplexHalf) | bit(ScalarType::ComplexFloat) | bit(ScalarType::ComplexDouble);
// Integers without Bool, as PyTorch's isIntegralType(type, false).
inline constexpr TypeMask kIntMask =
    IntTypes::mask | bit(ScalarType::UInt16) | bit(ScalarType::UInt32) | bit(ScalarType::UInt64);
inline constexpr TypeMask kAllMask = AllTypes::mask;

constexpr bool is_floating(ScalarType type) { return contains(kFloatMask, type); }
constexpr bool is_integer(ScalarType type) { return contains(kIntMask, type); }
constexpr bool is_complex(ScalarType type) { return contains(kComplexMask, type); }

// The dtype of a complex number's parts.
constexpr ScalarType real_type(ScalarType complex) {
  return complex == ScalarType::ComplexHalf    ? ScalarType::Half
         : complex == ScalarType::ComplexFloat ? ScalarType::Float
                                               : ScalarType::Double;
}

// Bytes an element takes; 0 for Undefined.
constexpr uint8_t type_size(ScalarType type) {
  constexpr TypeMask two = Types<int16_t, uint16_t, Half, BFloat16>::mask | bit(ScalarType::Bits16);
  constexpr TypeMask four = Types<int32_t, uint32_t, float>::mask | bit(ScalarType::QInt32) |
                            bit(ScalarType::ComplexHalf);
  constexpr TypeMask eight = Types<int64_t, uint64_t, double>::mask | bit(ScalarType::ComplexFloat);
  if (type >= ScalarType::Undefined) {
    return 0;
  }
  return contains(four, type)                ? 4
         : contains(two, type)               ? 2
         : contains(eight, type)             ? 8
         : type == ScalarType::ComplexDouble ? 16
                                             : 1;
}

// ---- Selection ----

// Whether the build selected `type` for operator `Op` ("aten::add.out").
template <const char* Op>
constexpr bool is_selected([[maybe_unused]] ScalarType type) {
#if defined(EXECUTORCH_SELECTIVE_BUILD_DTYPE)
  return ::should_include_kernel_dtype(Op, type);
#else
  return true;
#endif
}

namespace internal {
template <const char* Op>
constexpr TypeMask selected_mask() {
  TypeMask mask = 0;
  for (int8_t i = 0; i < static_cast<int8_t>(ScalarType::Undefined); ++i) {
    if (is_selected<Op>(static_cast<ScalarType>(i))) {
      mask |= bit(static_cast<ScalarType>(i));
    }
  }
  return mask;
}
}  // namespace internal

// The dtypes selected for `Op`. Engines take this set as a template argument, so
// operators with equal selections share one instance.
template <const char* Op>
inline constexpr TypeMask kSelected = internal::selected_mask<Op>();

namespace internal {
template <TypeMask Mask, class T, class F>
inline __attribute__((always_inline)) bool dispatch_one(ScalarType type, F& f) {
  if constexpr (contains(Mask, kScalarType<T>)) {
    if (type == kScalarType<T>) {
      f(Tag<T>{});
      return true;
    }
  }
  return false;
}

template <TypeMask Mask, class F, class... T>
inline __attribute__((always_inline)) bool dispatch_list(ScalarType type, F& f, Types<T...>) {
  return (false || ... || dispatch_one<Mask, T>(type, f));
}
}  // namespace internal

// Calls f(Tag<T>{}) for the type of `type` among `List` and `Mask`; false when it is not in both.
template <TypeMask Mask, class List, class F>
inline __attribute__((always_inline)) bool dispatch_mask(ScalarType type, F&& f) {
  return internal::dispatch_list<Mask>(type, f, List{});
}

// Calls f(Tag<T>{}) when `type` is in `List` and selected for `Op`. False otherwise: fail the
// context.
template <const char* Op, class List, class F>
inline __attribute__((always_inline)) bool dispatch(ScalarType type, F&& f) {
  return internal::dispatch_list<kSelected<Op>>(type, f, List{});
}

// The type that arithmetic on T is done in, as PyTorch's opmath_type: float for Half and BFloat16.
template <class T>
using OpMath = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// Value conversion as PyTorch's c10::convert: to bool by comparing with zero,
// integers wrap, Half and BFloat16 go through float.
template <class To, class From>
inline To convert(From value) {
  constexpr bool from_half = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (from_half) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Wide =
        std::conditional_t<(sizeof(To) < 4) || std::is_same_v<To, int32_t>, int32_t, int64_t>;
    return static_cast<To>(static_cast<Wide>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace gen_kernels
