// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/assert.h>
#include <stdint.h>

#include <limits>
#include <type_traits>

namespace executorch::runtime {

namespace internal {
using executorch::aten::ScalarType;
}

// The C++ type of an element type, and the reverse.
template <executorch::aten::ScalarType type>
struct ScalarTypeToCppType;
template <typename T>
struct CppTypeToScalarType;

#define GEN_KERNELS_TYPE_PAIR(cpp_type, name)                                                      \
  template <>                                                                                      \
  struct ScalarTypeToCppType<executorch::aten::ScalarType::name> {                                 \
    using type = cpp_type;                                                                         \
  };                                                                                               \
  template <>                                                                                      \
  struct CppTypeToScalarType<cpp_type>                                                             \
      : std::integral_constant<executorch::aten::ScalarType, executorch::aten::ScalarType::name> { \
  };
ET_FORALL_SCALAR_TYPES(GEN_KERNELS_TYPE_PAIR)
#undef GEN_KERNELS_TYPE_PAIR

// Calls _(C++ type, enumerator) for a family of types.
#define ET_FORALL_INT_TYPES(_) \
  _(uint8_t, Byte)             \
  _(int8_t, Char)              \
  _(int16_t, Short)            \
  _(int32_t, Int)              \
  _(int64_t, Long)
#define ET_FORALL_FLOAT_TYPES(_) \
  _(float, Float)                \
  _(double, Double)
#define ET_FORALL_FLOATH_TYPES(_) \
  ET_FORALL_FLOAT_TYPES(_)        \
  _(::executorch::aten::Half, Half)
#define ET_FORALL_FLOATHBF16_TYPES(_) \
  ET_FORALL_FLOATH_TYPES(_)           \
  _(::executorch::aten::BFloat16, BFloat16)
#define ET_FORALL_REAL_TYPES(_) \
  ET_FORALL_INT_TYPES(_)        \
  ET_FORALL_FLOAT_TYPES(_)
#define ET_FORALL_REALH_TYPES(_) \
  ET_FORALL_INT_TYPES(_)         \
  ET_FORALL_FLOATH_TYPES(_)
#define ET_FORALL_REALHBF16_TYPES(_) \
  ET_FORALL_INT_TYPES(_)             \
  ET_FORALL_FLOATHBF16_TYPES(_)
#define ET_FORALL_REALHBBF16_TYPES(_) \
  ET_FORALL_REALHBF16_TYPES(_)        \
  _(bool, Bool)

inline constexpr bool isValid(executorch::aten::ScalarType type) {
  return static_cast<int8_t>(type) >= 0 && type < executorch::aten::ScalarType::Undefined;
}

inline const char* toString(executorch::aten::ScalarType type) {
  switch (type) {
#define GEN_KERNELS_NAME_CASE(cpp_type, name) \
  case executorch::aten::ScalarType::name:    \
    return #name;
    ET_FORALL_SCALAR_TYPES(GEN_KERNELS_NAME_CASE)
#undef GEN_KERNELS_NAME_CASE
    case executorch::aten::ScalarType::Undefined:
      return "Undefined";
    default:
      return "UNKNOWN_SCALAR";
  }
}

namespace internal {
inline constexpr uint8_t kElementSizes[] = {
#define GEN_KERNELS_SIZE(cpp_type, name) sizeof(cpp_type),
    ET_FORALL_SCALAR_TYPES(GEN_KERNELS_SIZE)
#undef GEN_KERNELS_SIZE
};
}  // namespace internal

/// Bytes of one element. An invalid type stops the program.
inline constexpr size_t elementSize(executorch::aten::ScalarType type) {
  ET_CHECK_MSG(isValid(type), "Unknown ScalarType %d", static_cast<int>(type));
  return internal::kElementSizes[static_cast<size_t>(type)];
}

inline constexpr bool isIntegralType(executorch::aten::ScalarType type, bool includeBool) {
  return (type >= executorch::aten::ScalarType::Byte &&
          type <= executorch::aten::ScalarType::Long) ||
         (includeBool && type == executorch::aten::ScalarType::Bool);
}
inline constexpr bool isFloatingType(executorch::aten::ScalarType type) {
  return (type >= executorch::aten::ScalarType::Half &&
          type <= executorch::aten::ScalarType::Double) ||
         type == executorch::aten::ScalarType::BFloat16;
}
inline constexpr bool isRealType(executorch::aten::ScalarType type) {
  return isIntegralType(type, false) || type == executorch::aten::ScalarType::Float ||
         type == executorch::aten::ScalarType::Double;
}
inline constexpr bool isRealHType(executorch::aten::ScalarType type) {
  return isRealType(type) || type == executorch::aten::ScalarType::Half;
}
inline constexpr bool isRealHBType(executorch::aten::ScalarType type) {
  return isRealHType(type) || type == executorch::aten::ScalarType::Bool;
}
inline constexpr bool isRealHBF16Type(executorch::aten::ScalarType type) {
  return isRealHType(type) || type == executorch::aten::ScalarType::BFloat16;
}
inline constexpr bool isRealHBBF16Type(executorch::aten::ScalarType type) {
  return isRealHBType(type) || type == executorch::aten::ScalarType::BFloat16;
}
inline constexpr bool isComplexType(executorch::aten::ScalarType type) {
  return type >= executorch::aten::ScalarType::ComplexHalf &&
         type <= executorch::aten::ScalarType::ComplexDouble;
}
inline constexpr bool isQIntType(executorch::aten::ScalarType type) {
  return (type >= executorch::aten::ScalarType::QInt8 &&
          type <= executorch::aten::ScalarType::QInt32) ||
         type == executorch::aten::ScalarType::QUInt4x2 ||
         type == executorch::aten::ScalarType::QUInt2x4;
}
inline constexpr bool isBitsType(executorch::aten::ScalarType type) {
  return type >= executorch::aten::ScalarType::Bits1x8 &&
         type <= executorch::aten::ScalarType::Bits16;
}
inline constexpr bool isFloat8Type(executorch::aten::ScalarType type) {
  return type >= executorch::aten::ScalarType::Float8_e5m2 &&
         type <= executorch::aten::ScalarType::Float8_e4m3fnuz;
}
inline constexpr bool isBarebonesUnsignedType(executorch::aten::ScalarType type) {
  return type >= executorch::aten::ScalarType::UInt16 &&
         type <= executorch::aten::ScalarType::UInt64;
}

template <typename T, bool includeBool>
struct is_integral_type
    : std::bool_constant<isIntegralType(CppTypeToScalarType<T>::value, includeBool)> {};
template <typename T>
struct is_complex_type : std::bool_constant<isComplexType(CppTypeToScalarType<T>::value)> {};

/// The type of a complex number's parts; any other type is its own.
inline constexpr executorch::aten::ScalarType toRealValueType(executorch::aten::ScalarType type) {
  if (!isComplexType(type)) {
    return type;
  }
  return static_cast<executorch::aten::ScalarType>(static_cast<int>(type) - 3);
}

inline constexpr bool canCast(executorch::aten::ScalarType from, executorch::aten::ScalarType to) {
  if (isComplexType(from) && !isComplexType(to)) {
    return false;
  }
  if (isFloatingType(from) && isIntegralType(to, false)) {
    return false;
  }
  return from == executorch::aten::ScalarType::Bool || to != executorch::aten::ScalarType::Bool;
}

namespace internal {
/// 1 for 16-bit floating point, 2 for float, 3 for double, also inside complex; 0 for integers.
inline constexpr int float_level(ScalarType type) {
  const ScalarType real = toRealValueType(type);
  return real == ScalarType::Double ? 3 : real == ScalarType::Float ? 2 : isFloatingType(real);
}
}  // namespace internal

/// ATen's type promotion. `half_to_float` turns a 16-bit floating-point result into Float. Types
/// without arithmetic promote with themselves only; any other pair gives Undefined.
inline constexpr executorch::aten::ScalarType promoteTypes(executorch::aten::ScalarType a,
                                                           executorch::aten::ScalarType b,
                                                           bool half_to_float = false) {
  using executorch::aten::ScalarType;
  ScalarType result = ScalarType::Undefined;
  if (a == b) {
    result = a;
  } else if ((isRealHBBF16Type(a) || isComplexType(a)) &&
             (isRealHBBF16Type(b) || isComplexType(b))) {
    const int level_a = internal::float_level(a);
    const int level_b = internal::float_level(b);
    int level = level_a > level_b ? level_a : level_b;
    const bool brain = a == ScalarType::BFloat16 || b == ScalarType::BFloat16;
    if (level == 1 && brain && level_a == level_b) {
      level = 2;
    }
    if (isComplexType(a) || isComplexType(b)) {
      result = static_cast<ScalarType>(static_cast<int>(ScalarType::ComplexHalf) + level - 1);
    } else if (level > 1 || (level == 1 && !brain)) {
      result = static_cast<ScalarType>(static_cast<int>(ScalarType::Half) + level - 1);
    } else if (level == 1) {
      result = ScalarType::BFloat16;
    } else if (a == ScalarType::Bool || b == ScalarType::Bool) {
      result = a == ScalarType::Bool ? b : a;
    } else {
      result = a > b ? a : b;
      if (result == ScalarType::Char) {
        result = ScalarType::Short;  // Byte with Char
      }
    }
  }
  if (half_to_float && (result == ScalarType::Half || result == ScalarType::BFloat16)) {
    result = ScalarType::Float;
  }
  return result;
}

template <typename T1, typename T2, bool half_to_float = false>
struct promote_types {
  using type = typename ScalarTypeToCppType<promoteTypes(
      CppTypeToScalarType<T1>::value, CppTypeToScalarType<T2>::value, half_to_float)>::type;
};

}  // namespace executorch::runtime

// A switch over the element type. In the statement that follows, CTYPE_ALIAS is the C++ type; a
// type outside the family fails the kernel.
#define GEN_KERNELS_SWITCH_CASE(CTYPE_ALIAS, cpp_type, name, ...) \
  case ::executorch::aten::ScalarType::name: {                    \
    using CTYPE_ALIAS [[maybe_unused]] = cpp_type;                \
    return __VA_ARGS__();                                         \
  }
#define GEN_KERNELS_SWITCH(TYPE, CONTEXT, ...)                         \
  [&] {                                                                \
    switch (TYPE) {                                                    \
      __VA_ARGS__                                                      \
      default:                                                         \
        (CONTEXT).fail(::executorch::runtime::Error::InvalidArgument); \
    }                                                                  \
  }()
#define GEN_KERNELS_INT_CASES(ALIAS, ...)                     \
  GEN_KERNELS_SWITCH_CASE(ALIAS, uint8_t, Byte, __VA_ARGS__)  \
  GEN_KERNELS_SWITCH_CASE(ALIAS, int8_t, Char, __VA_ARGS__)   \
  GEN_KERNELS_SWITCH_CASE(ALIAS, int16_t, Short, __VA_ARGS__) \
  GEN_KERNELS_SWITCH_CASE(ALIAS, int32_t, Int, __VA_ARGS__)   \
  GEN_KERNELS_SWITCH_CASE(ALIAS, int64_t, Long, __VA_ARGS__)
#define GEN_KERNELS_FLOAT_CASES(ALIAS, ...)                 \
  GEN_KERNELS_SWITCH_CASE(ALIAS, float, Float, __VA_ARGS__) \
  GEN_KERNELS_SWITCH_CASE(ALIAS, double, Double, __VA_ARGS__)
#define GEN_KERNELS_HALF_CASE(ALIAS, ...) \
  GEN_KERNELS_SWITCH_CASE(ALIAS, ::executorch::aten::Half, Half, __VA_ARGS__)
#define GEN_KERNELS_BFLOAT16_CASE(ALIAS, ...) \
  GEN_KERNELS_SWITCH_CASE(ALIAS, ::executorch::aten::BFloat16, BFloat16, __VA_ARGS__)
#define GEN_KERNELS_BOOL_CASE(ALIAS, ...) GEN_KERNELS_SWITCH_CASE(ALIAS, bool, Bool, __VA_ARGS__)

#define ET_SWITCH_INT_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...) \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT, GEN_KERNELS_INT_CASES(ALIAS, __VA_ARGS__))
#define ET_SWITCH_FLOAT_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...) \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT, GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__))
#define ET_SWITCH_FLOATH_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)  \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT,                              \
                     GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__) \
                         GEN_KERNELS_HALF_CASE(ALIAS, __VA_ARGS__))
#define ET_SWITCH_FLOATHBF16_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)                     \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT,                                                     \
                     GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__) GEN_KERNELS_HALF_CASE( \
                         ALIAS, __VA_ARGS__) GEN_KERNELS_BFLOAT16_CASE(ALIAS, __VA_ARGS__))
#define ET_SWITCH_REAL_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)  \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT,                            \
                     GEN_KERNELS_INT_CASES(ALIAS, __VA_ARGS__) \
                         GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__))
#define ET_SWITCH_REALB_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)                          \
  GEN_KERNELS_SWITCH(TYPE, CONTEXT,                                                     \
                     GEN_KERNELS_INT_CASES(ALIAS, __VA_ARGS__) GEN_KERNELS_FLOAT_CASES( \
                         ALIAS, __VA_ARGS__) GEN_KERNELS_BOOL_CASE(ALIAS, __VA_ARGS__))
#define ET_SWITCH_REALHBF16_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)                          \
  GEN_KERNELS_SWITCH(                                                                       \
      TYPE, CONTEXT,                                                                        \
      GEN_KERNELS_INT_CASES(ALIAS, __VA_ARGS__) GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__) \
          GEN_KERNELS_HALF_CASE(ALIAS, __VA_ARGS__) GEN_KERNELS_BFLOAT16_CASE(ALIAS, __VA_ARGS__))
#define ET_SWITCH_REALHBBF16_TYPES(TYPE, CONTEXT, NAME, ALIAS, ...)                               \
  GEN_KERNELS_SWITCH(                                                                             \
      TYPE, CONTEXT,                                                                              \
      GEN_KERNELS_INT_CASES(ALIAS, __VA_ARGS__) GEN_KERNELS_FLOAT_CASES(ALIAS, __VA_ARGS__)       \
          GEN_KERNELS_HALF_CASE(ALIAS, __VA_ARGS__) GEN_KERNELS_BFLOAT16_CASE(ALIAS, __VA_ARGS__) \
              GEN_KERNELS_BOOL_CASE(ALIAS, __VA_ARGS__))

namespace torch::executor {
using ::executorch::runtime::canCast;
using ::executorch::runtime::CppTypeToScalarType;
using ::executorch::runtime::elementSize;
using ::executorch::runtime::isComplexType;
using ::executorch::runtime::isFloatingType;
using ::executorch::runtime::isIntegralType;
using ::executorch::runtime::isRealHBBF16Type;
using ::executorch::runtime::isRealHBF16Type;
using ::executorch::runtime::isRealHBType;
using ::executorch::runtime::isRealHType;
using ::executorch::runtime::isRealType;
using ::executorch::runtime::isValid;
using ::executorch::runtime::promoteTypes;
using ::executorch::runtime::ScalarTypeToCppType;
using ::executorch::runtime::toRealValueType;
using ::executorch::runtime::toString;
}  // namespace torch::executor
