// SPDX-License-Identifier: BSD-3-Clause
//
// Parts of the runtime that programs may do without. `gen-kernels` writes runtime_features.h, which
// sets to 1 what the given models use; found on the include path when the runtime is compiled, it
// makes the runtime smaller: what it does not name is left out. A program that needs a missing part
// is refused with NotSupported when it or its method is loaded.
#pragma once

#if __has_include("runtime_features.h")
#include "runtime_features.h"
#define GEN_KERNELS_OTHER_PARTS 0
#else
#define GEN_KERNELS_OTHER_PARTS 1
#endif

/// Lists of ints as arguments.
#ifndef GEN_KERNELS_WITH_INT_LISTS
#define GEN_KERNELS_WITH_INT_LISTS GEN_KERNELS_OTHER_PARTS
#endif
/// Lists of tensors and of optional tensors; operators with several results have one.
#ifndef GEN_KERNELS_WITH_TENSOR_LISTS
#define GEN_KERNELS_WITH_TENSOR_LISTS GEN_KERNELS_OTHER_PARTS
#endif
/// Strings, and lists of doubles and bools.
#ifndef GEN_KERNELS_WITH_OTHER_LISTS
#define GEN_KERNELS_WITH_OTHER_LISTS GEN_KERNELS_OTHER_PARTS
#endif
/// Instructions that move, jump and free.
#ifndef GEN_KERNELS_WITH_CONTROL_FLOW
#define GEN_KERNELS_WITH_CONTROL_FLOW GEN_KERNELS_OTHER_PARTS
#endif
#ifndef GEN_KERNELS_WITH_DELEGATES
#define GEN_KERNELS_WITH_DELEGATES GEN_KERNELS_OTHER_PARTS
#endif
/// Tensors that are neither constants nor planned, whose shape changes, that have an initial state
/// or a name, or that are kept outside the program.
#ifndef GEN_KERNELS_WITH_SPECIAL_TENSORS
#define GEN_KERNELS_WITH_SPECIAL_TENSORS GEN_KERNELS_OTHER_PARTS
#endif
/// Inputs that are no tensors.
#ifndef GEN_KERNELS_WITH_NUMBER_INPUTS
#define GEN_KERNELS_WITH_NUMBER_INPUTS GEN_KERNELS_OTHER_PARTS
#endif
/// ExecuTorch's own operators, executorch_prim::...
#ifndef GEN_KERNELS_WITH_PRIM_OPERATORS
#define GEN_KERNELS_WITH_PRIM_OPERATORS GEN_KERNELS_OTHER_PARTS
#endif
/// Constants in the FlatBuffers data, as old files have them.
#ifndef GEN_KERNELS_WITH_INLINE_CONSTANTS
#define GEN_KERNELS_WITH_INLINE_CONSTANTS GEN_KERNELS_OTHER_PARTS
#endif
/// Kernels for certain dtypes and dim orders alone. register_kernels() refuses them without.
#ifndef GEN_KERNELS_WITH_KERNEL_KEYS
#define GEN_KERNELS_WITH_KERNEL_KEYS GEN_KERNELS_OTHER_PARTS
#endif

namespace gen_kernels::features {

inline constexpr bool kIntLists = GEN_KERNELS_WITH_INT_LISTS;
inline constexpr bool kTensorLists = GEN_KERNELS_WITH_TENSOR_LISTS;
inline constexpr bool kOtherLists = GEN_KERNELS_WITH_OTHER_LISTS;
inline constexpr bool kControlFlow = GEN_KERNELS_WITH_CONTROL_FLOW;
inline constexpr bool kDelegates = GEN_KERNELS_WITH_DELEGATES;
inline constexpr bool kSpecialTensors = GEN_KERNELS_WITH_SPECIAL_TENSORS;
inline constexpr bool kNumberInputs = GEN_KERNELS_WITH_NUMBER_INPUTS;
inline constexpr bool kPrimOperators = GEN_KERNELS_WITH_PRIM_OPERATORS;
inline constexpr bool kInlineConstants = GEN_KERNELS_WITH_INLINE_CONSTANTS;
inline constexpr bool kKernelKeys = GEN_KERNELS_WITH_KERNEL_KEYS;
inline constexpr bool kLists = kIntLists || kTensorLists || kOtherLists;

}  // namespace gen_kernels::features
