// SPDX-License-Identifier: BSD-3-Clause
//
// Defaults for what an application leaves undefined.
#define ET_INTERNAL_PLATFORM_WEAKNESS ET_WEAK

#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

extern "C" {

void et_pal_init(void) {}

void et_pal_abort(void) { __builtin_trap(); }

et_timestamp_t et_pal_current_ticks(void) { return 0; }

et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) { return {1, 1}; }

void et_pal_emit_log_message(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t,
                             const char*, size_t) {}

void* et_pal_allocate(size_t) { return nullptr; }

void et_pal_free(void*) {}
}

namespace executorch::runtime {

void runtime_init() { et_pal_init(); }

void runtime_abort() { et_pal_abort(); }

}  // namespace executorch::runtime
