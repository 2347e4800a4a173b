// SPDX-License-Identifier: BSD-3-Clause
//
// Compiler features under the names that ExecuTorch's headers give them.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#if __cplusplus < 201703L
#error "the runtime needs C++17"
#endif

// Tells sources that they compile against this micro runtime and not against ExecuTorch's.
#define GEN_KERNELS_RUNTIME 1

#define ET_NORETURN [[noreturn]]
#define ET_NODISCARD [[nodiscard]]
#define ET_UNUSED [[maybe_unused]]
#define ET_FALLTHROUGH [[fallthrough]]
#define ET_DEPRECATED [[deprecated]]
// ExecuTorch marks unstable calls as deprecated; here they are as stable as the rest.
#define ET_EXPERIMENTAL
#define ET_NOINLINE __attribute__((noinline))
#define ET_INLINE __attribute__((always_inline)) inline
#define ET_WEAK __attribute__((weak))
#define ET_RESTRICT __restrict__
#define ET_UNREACHABLE() __builtin_unreachable()
#define ET_PRINTFLIKE(format_index, first_argument) \
  __attribute__((format(printf, format_index, first_argument)))

// Used as `if ET_UNLIKELY (condition)`: the parentheses belong to the macro.
#if __cplusplus >= 202002L
#define ET_LIKELY(condition) (condition) [[likely]]
#define ET_UNLIKELY(condition) (condition) [[unlikely]]
#else
#define ET_LIKELY(condition) (condition)
#define ET_UNLIKELY(condition) (condition)
#endif

#define ET_LINE __LINE__
#define ET_FUNCTION __func__
#if defined(__FILE_NAME__)
#define ET_SHORT_FILENAME __FILE_NAME__
#else
#define ET_SHORT_FILENAME __FILE__
#endif

#define ET_PRIsize_t "zu"
#define ET_PRIssize_t "zd"

#define ET_HAVE_GNU_STATEMENT_EXPRESSIONS 1
#define ET_HAS_EXCEPTIONS 0

// Older spellings.
#define __ET_DEPRECATED ET_DEPRECATED
#define __ET_FALLTHROUGH ET_FALLTHROUGH
#define __ET_FUNCTION ET_FUNCTION
#define __ET_INLINE ET_INLINE
#define __ET_LIKELY ET_LIKELY
#define __ET_LINE ET_LINE
#define __ET_NODISCARD ET_NODISCARD
#define __ET_NOINLINE ET_NOINLINE
#define __ET_NORETURN ET_NORETURN
#define __ET_PRINTFLIKE ET_PRINTFLIKE
#define __ET_SHORT_FILENAME ET_SHORT_FILENAME
#define __ET_UNLIKELY ET_UNLIKELY
#define __ET_UNREACHABLE ET_UNREACHABLE
#define __ET_UNUSED ET_UNUSED
#define __ET_WEAK ET_WEAK
