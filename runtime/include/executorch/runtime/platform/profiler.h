// SPDX-License-Identifier: BSD-3-Clause
//
// Names of ExecuTorch's first profiler, which generated code mentions. They do nothing: the event
// tracer (core/event_tracer.h) is the way to measure.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define EXECUTORCH_BEGIN_PROF(name) (0)
#define EXECUTORCH_END_PROF(token_id) ((void)(token_id))
#define EXECUTORCH_SCOPE_PROF(name) ((void)0)
#define EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(chain_idx, instruction_idx) ((void)0)
#define EXECUTORCH_RESET_PROFILE_RESULTS() ((void)0)
#define EXECUTORCH_DUMP_PROFILE_RESULTS(result) ((void)0)
#define EXECUTORCH_TRACK_ALLOCATOR(name) ((void)(name), -1)
#define EXECUTORCH_TRACK_ALLOCATION(id, size) ((void)(id), (void)(size))
#define EXECUTORCH_PROFILE_CREATE_BLOCK(name) ((void)0)
