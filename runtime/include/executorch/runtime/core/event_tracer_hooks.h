// SPDX-License-Identifier: BSD-3-Clause
//
// The calls to the event tracer. Without ET_EVENT_TRACER_ENABLED each is empty.
#pragma once

#include <executorch/runtime/core/event_tracer.h>

#ifdef ET_EVENT_TRACER_ENABLED
#define GEN_KERNELS_TRACER(tracer) (tracer)
#else
// A constant null: the compiler removes whatever asks for a tracer.
#define GEN_KERNELS_TRACER(tracer) ((void)(tracer), static_cast<EventTracer*>(nullptr))
#endif

namespace executorch::runtime::internal {

inline bool event_tracer_enabled() {
#ifdef ET_EVENT_TRACER_ENABLED
  return true;
#else
  return false;
#endif
}

/// One event from construction to destruction: an operator, or anything a kernel wants to time.
class EventTracerProfileOpScope final {
 public:
  EventTracerProfileOpScope(EventTracer* tracer, const char* name)
#ifdef ET_EVENT_TRACER_ENABLED
      : tracer_(tracer != nullptr && tracer->event_tracer_profiling_level() >
                                         EventTracerProfilingLevel::kProfileMethodOnly
                    ? tracer
                    : nullptr) {
    if (tracer_ != nullptr) {
      entry_ = tracer_->start_profiling(name);
    }
  }
  ~EventTracerProfileOpScope() {
    if (tracer_ != nullptr) {
      tracer_->end_profiling(entry_);
    }
  }

 private:
  EventTracer* tracer_;
  EventTracerEntry entry_;
#else
  {
    (void)tracer;
    (void)name;
  }
#endif
};

using EventTracerProfileScope = EventTracerProfileOpScope;

/// One event from construction to destruction: a whole method.
class EventTracerProfileMethodScope final {
 public:
  EventTracerProfileMethodScope(EventTracer* tracer, const char* name)
#ifdef ET_EVENT_TRACER_ENABLED
      : tracer_(tracer) {
    if (tracer_ != nullptr) {
      entry_ = tracer_->start_profiling(name);
    }
  }
  ~EventTracerProfileMethodScope() {
    if (tracer_ != nullptr) {
      tracer_->end_profiling(entry_);
    }
  }

 private:
  EventTracer* tracer_;
  EventTracerEntry entry_;
#else
  {
    (void)tracer;
    (void)name;
  }
#endif
};

/// Tells the tracer which instruction the events in between belong to.
class EventTracerProfileInstructionScope final {
 public:
  EventTracerProfileInstructionScope(EventTracer* tracer, ChainID chain, DebugHandle instruction)
#ifdef ET_EVENT_TRACER_ENABLED
      : tracer_(tracer) {
    if (tracer_ != nullptr) {
      tracer_->set_chain_debug_handle(chain, instruction);
    }
  }
  ~EventTracerProfileInstructionScope() {
    if (tracer_ != nullptr) {
      tracer_->set_chain_debug_handle(kUnsetChainId, kUnsetDebugHandle);
    }
  }

 private:
  EventTracer* tracer_;
#else
  {
    (void)tracer;
    (void)chain;
    (void)instruction;
  }
#endif
};

inline void event_tracer_create_event_block(EventTracer* tracer, const char* name) {
  if (EventTracer* active = GEN_KERNELS_TRACER(tracer)) {
    active->create_event_block(name);
  }
}
inline EventTracerEntry event_tracer_begin_profiling_event(EventTracer* tracer, const char* name) {
  if (EventTracer* active = GEN_KERNELS_TRACER(tracer)) {
    return active->start_profiling(name);
  }
  return EventTracerEntry();
}
inline void event_tracer_end_profiling_event(EventTracer* tracer, EventTracerEntry entry) {
  if (EventTracer* active = GEN_KERNELS_TRACER(tracer)) {
    active->end_profiling(entry);
  }
}
inline AllocatorID event_tracer_track_allocator(EventTracer* tracer, const char* name) {
  EventTracer* active = GEN_KERNELS_TRACER(tracer);
  return active != nullptr ? active->track_allocator(name) : 0;
}
inline void event_tracer_track_allocation(EventTracer* tracer, AllocatorID id, size_t size) {
  if (EventTracer* active = GEN_KERNELS_TRACER(tracer)) {
    active->track_allocation(id, size);
  }
}
inline void event_tracer_log_evalue(EventTracer* tracer, EValue& value) {
  EventTracer* active = GEN_KERNELS_TRACER(tracer);
  if (active != nullptr &&
      active->event_tracer_debug_level() >= EventTracerDebugLogLevel::kIntermediateOutputs) {
    (void)active->log_evalue(value, LoggedEValueType::kIntermediateOutput);
  }
}
inline void event_tracer_log_evalue_output(EventTracer* tracer, const EValue& value) {
  EventTracer* active = GEN_KERNELS_TRACER(tracer);
  if (active != nullptr &&
      active->event_tracer_debug_level() >= EventTracerDebugLogLevel::kProgramOutputs) {
    (void)active->log_evalue(value, LoggedEValueType::kProgramOutput);
  }
}
inline void event_tracer_set_bundled_input_index(EventTracer* tracer, int index) {
  if (EventTracer* active = GEN_KERNELS_TRACER(tracer)) {
    active->set_bundled_input_index(index);
  }
}

}  // namespace executorch::runtime::internal

namespace torch::executor::internal {
using ::executorch::runtime::internal::event_tracer_begin_profiling_event;
using ::executorch::runtime::internal::event_tracer_create_event_block;
using ::executorch::runtime::internal::event_tracer_end_profiling_event;
using ::executorch::runtime::internal::event_tracer_log_evalue;
using ::executorch::runtime::internal::event_tracer_log_evalue_output;
using ::executorch::runtime::internal::event_tracer_set_bundled_input_index;
using ::executorch::runtime::internal::event_tracer_track_allocation;
using ::executorch::runtime::internal::event_tracer_track_allocator;
using ::executorch::runtime::internal::EventTracerProfileInstructionScope;
using ::executorch::runtime::internal::EventTracerProfileMethodScope;
using ::executorch::runtime::internal::EventTracerProfileOpScope;
using ::executorch::runtime::internal::EventTracerProfileScope;
}  // namespace torch::executor::internal
