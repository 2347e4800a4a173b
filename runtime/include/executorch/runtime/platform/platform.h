// SPDX-License-Identifier: BSD-3-Clause
//
// What the runtime asks of the platform. Each function has a weak default in
// runtime/src/platform.cpp; an application defines those that it wants otherwise.
#pragma once

#include <executorch/runtime/platform/compiler.h>
#include <executorch/runtime/platform/types.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ET_INTERNAL_PLATFORM_WEAKNESS
#define ET_INTERNAL_PLATFORM_WEAKNESS
#endif

extern "C" {

/// Nanoseconds a tick, as a fraction.
typedef struct {
  uint64_t numerator;
  uint64_t denominator;
} et_tick_ratio_t;

typedef enum {
  kDebug = 'D',
  kInfo = 'I',
  kError = 'E',
  kFatal = 'F',
  kUnknown = '?',
} et_pal_log_level_t;

void et_pal_init(void) ET_INTERNAL_PLATFORM_WEAKNESS;
ET_NORETURN void et_pal_abort(void) ET_INTERNAL_PLATFORM_WEAKNESS;
et_timestamp_t et_pal_current_ticks(void) ET_INTERNAL_PLATFORM_WEAKNESS;
et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) ET_INTERNAL_PLATFORM_WEAKNESS;
/// `message` holds `length` characters and a terminating zero.
void et_pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level,
                             const char* filename, const char* function, size_t line,
                             const char* message, size_t length) ET_INTERNAL_PLATFORM_WEAKNESS;
/// The runtime itself never allocates; the defaults give nothing.
void* et_pal_allocate(size_t size) ET_INTERNAL_PLATFORM_WEAKNESS;
void et_pal_free(void* ptr) ET_INTERNAL_PLATFORM_WEAKNESS;
}

namespace executorch::runtime {
inline void pal_init() { et_pal_init(); }
ET_NORETURN inline void pal_abort() { et_pal_abort(); }
inline et_timestamp_t pal_current_ticks() { return et_pal_current_ticks(); }
inline et_tick_ratio_t pal_ticks_to_ns_multiplier() { return et_pal_ticks_to_ns_multiplier(); }
inline void* pal_allocate(size_t size) { return et_pal_allocate(size); }
inline void pal_free(void* ptr) { et_pal_free(ptr); }
}  // namespace executorch::runtime
