// SPDX-License-Identifier: BSD-3-Clause
//
// Two functions of the C++ library that classes with virtual functions mention, for bare-metal
// programs that link without one. -DGEN_KERNELS_CXX_SUPPORT=0 leaves them to the toolchain.
#ifndef GEN_KERNELS_CXX_SUPPORT
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#define GEN_KERNELS_CXX_SUPPORT 0
#else
#define GEN_KERNELS_CXX_SUPPORT 1
#endif
#endif

#if GEN_KERNELS_CXX_SUPPORT

#include <executorch/runtime/platform/abort.h>
#include <stddef.h>

// Nothing is ever allocated with new: the destructors that would delete are never called.
ET_WEAK void operator delete(void*) noexcept { ::executorch::runtime::runtime_abort(); }
ET_WEAK void operator delete(void*, size_t) noexcept { ::executorch::runtime::runtime_abort(); }

extern "C" ET_WEAK void __cxa_pure_virtual() { ::executorch::runtime::runtime_abort(); }

#endif
