// SPDX-License-Identifier: BSD-3-Clause
//
// Logging. Off by default: ET_LOG then expands to nothing, and neither its text nor its arguments
// reach the image. Compile everything with -DET_LOG_ENABLED=1 to turn it on.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ET_LOG_ENABLED
#define ET_LOG_ENABLED 0
#endif

/// Messages below this level are left out at compile time.
#ifndef ET_MIN_LOG_LEVEL
#define ET_MIN_LOG_LEVEL Info
#endif

namespace executorch::runtime {

enum class LogLevel : uint8_t { Debug, Info, Error, Fatal, NumLevels };

namespace internal {
et_timestamp_t get_log_timestamp();
ET_PRINTFLIKE(6, 0)
void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
           size_t line, const char* format, va_list args);
ET_PRINTFLIKE(6, 7)
void logf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
          size_t line, const char* format, ...);
}  // namespace internal
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::LogLevel;
}

#if ET_LOG_ENABLED
#define ET_LOG(level, format, ...)                                                           \
  do {                                                                                       \
    constexpr auto et_level = ::executorch::runtime::LogLevel::level;                        \
    if constexpr (et_level >= ::executorch::runtime::LogLevel::ET_MIN_LOG_LEVEL) {           \
      ::executorch::runtime::internal::logf(                                                 \
          et_level, ::executorch::runtime::internal::get_log_timestamp(), ET_SHORT_FILENAME, \
          ET_FUNCTION, ET_LINE, format, ##__VA_ARGS__);                                      \
    }                                                                                        \
  } while (0)
#define ET_CHECK_OR_LOG_ERROR(condition, format, ...) \
  do {                                                \
    if (!(condition)) {                               \
      ET_LOG(Error, format, ##__VA_ARGS__);           \
    }                                                 \
  } while (0)
#else
#define ET_LOG(level, format, ...) ((void)0)
#define ET_CHECK_OR_LOG_ERROR(condition, format, ...) ((void)0)
#endif
