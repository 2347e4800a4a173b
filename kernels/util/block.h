// Loads and stores between memory of any selected dtype and a compute type C
// (float, double, int64_t or int32_t). One instance per C and set of dtypes is
// shared by all operators: conversion code is not repeated in the kernels.
#pragma once

#include <cstddef>

#include "util/dtype.h"

namespace gen_kernels {

// The compute type of integer dtypes: 32 bits are enough without a wider dtype.
template <TypeMask Mask>
using IntCompute = std::conditional_t<(Mask & (bit(ScalarType::Long) | bit(ScalarType::UInt32) |
                                               bit(ScalarType::UInt64))) != 0,
                                      int64_t, int32_t>;

// The dtypes that compute in C when they are an operator's common dtype.
template <class C>
inline constexpr TypeMask kComputedIn =
    std::is_same_v<C, float>    ? Types<float, Half, BFloat16>::mask
    : std::is_same_v<C, double> ? Types<double>::mask
                                : kIntMask | bit(ScalarType::Bool);

// dst[i] = element at src + i * step bytes, for n elements of dtype `type` in Mask.
template <class C, TypeMask Mask>
GEN_KERNELS_NOINLINE inline void load_block(C* dst, const void* src, ptrdiff_t step,
                                            ScalarType type, size_t n) {
  const char* from = static_cast<const char*>(src);
  dispatch_mask<Mask, AllTypes>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < n; ++i, from += step) {
      dst[i] = convert<C>(*reinterpret_cast<const T*>(from));
    }
  });
}

// Stores n values one after another as dtype `type`, which is in Mask.
template <class C, TypeMask Mask>
GEN_KERNELS_NOINLINE inline void store_block(void* dst, const C* src, ScalarType type, size_t n) {
  dispatch_mask<Mask, AllTypes>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(dst);
    for (size_t i = 0; i < n; ++i) {
      to[i] = convert<T>(src[i]);
    }
  });
}

// One element; see load_block and store_block.
template <class C, TypeMask Mask>
inline C load_one(const void* src, ScalarType type) {
  C value{};
  load_block<C, Mask>(&value, src, 0, type, 1);
  return value;
}

template <class C, TypeMask Mask>
inline void store_one(void* dst, C value, ScalarType type) {
  store_block<C, Mask>(dst, &value, type, 1);
}

}  // namespace gen_kernels
