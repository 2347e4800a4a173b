// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/platform/log.h>

#if ET_LOG_ENABLED

#include <executorch/runtime/platform/platform.h>
#include <stdio.h>

namespace executorch::runtime::internal {

et_timestamp_t get_log_timestamp() { return et_pal_current_ticks(); }

void vlogf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
           size_t line, const char* format, va_list args) {
  constexpr et_pal_log_level_t kLevels[] = {kDebug, kInfo, kError, kFatal};
  char text[256];
  const int wanted = vsnprintf(text, sizeof(text), format, args);
  const size_t length = wanted < 0                                       ? 0
                        : static_cast<size_t>(wanted) > sizeof(text) - 1 ? sizeof(text) - 1
                                                                         : size_t(wanted);
  et_pal_emit_log_message(timestamp,
                          level < LogLevel::NumLevels ? kLevels[static_cast<int>(level)] : kUnknown,
                          filename, function, line, text, length);
}

void logf(LogLevel level, et_timestamp_t timestamp, const char* filename, const char* function,
          size_t line, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vlogf(level, timestamp, filename, function, line, format, args);
  va_end(args);
}

}  // namespace executorch::runtime::internal

#endif
