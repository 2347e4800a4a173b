// Calls two kernels with an event tracer that prints what it is told.
#include <executorch/runtime/core/event_tracer.h>

#include <cstdio>

#include "NativeFunctions.h"
#include "boxed.h"

using executorch::runtime::AllocatorID;
using executorch::runtime::ChainID;
using executorch::runtime::DebugHandle;
using executorch::runtime::DelegateDebugIntId;
using executorch::runtime::EventTracer;
using executorch::runtime::EventTracerDebugLogLevel;
using executorch::runtime::EventTracerEntry;
using executorch::runtime::EventTracerFilterBase;
using executorch::runtime::EventTracerProfilingLevel;
using executorch::runtime::get_op_function_from_registry;
using executorch::runtime::LoggedEValueType;
using executorch::runtime::Result;

static Data input, a, b, c;

std::tuple<Tensor&, Tensor&> my::native::split_out(KernelRuntimeContext&, const Tensor&, int64_t,
                                                   Tensor& low, Tensor& high) {
  return {low, high};
}

std::tuple<Tensor&, Tensor&, Tensor&> my::native::three_out(KernelRuntimeContext&, const Tensor&,
                                                            Tensor& out0, Tensor& out1,
                                                            Tensor& out2) {
  return {out0, out1, out2};
}

static EValue* stack_begin[6];
static int events = 0;

struct Printer : EventTracer {
  Printer() {
    set_event_tracer_debug_level(EventTracerDebugLogLevel::kIntermediateOutputs);
    set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileAllEvents);
  }
  void create_event_block(const char*) override {}
  EventTracerEntry start_profiling(const char* name, ChainID, DebugHandle) override {
    std::printf("start %s\n", name);
    EventTracerEntry entry{};
    entry.event_id = ++events;
    return entry;
  }
  void end_profiling(EventTracerEntry entry) override {
    std::printf("end %d\n", static_cast<int>(entry.event_id));
  }
  Result<bool> log_evalue(const EValue& value, LoggedEValueType type) override {
    CHECK(type == LoggedEValueType::kIntermediateOutput);
    for (int i = 0; i < 6; ++i) {
      if (stack_begin[i] == &value) {
        std::printf("log %d\n", i);
        break;
      }
    }
    return true;
  }
  EventTracerEntry start_profiling_delegate(const char*, DelegateDebugIntId) override { return {}; }
  void end_profiling_delegate(EventTracerEntry, const void*, size_t) override {}
  void log_profiling_delegate(const char*, DelegateDebugIntId, et_timestamp_t, et_timestamp_t,
                              const void*, size_t) override {}
  void track_allocation(AllocatorID, size_t) override {}
  AllocatorID track_allocator(const char*) override { return 0; }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const Tensor&) override {
    return true;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const executorch::aten::ArrayRef<Tensor>) override {
    return true;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const int&) override {
    return true;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const bool&) override {
    return true;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const double&) override {
    return true;
  }
  void set_delegation_intermediate_output_filter(EventTracerFilterBase*) override {}
};

template <size_t kSize>
static void traced(const char* name, EValue* (&stack)[kSize]) {
  for (size_t i = 0; i < 6; ++i) stack_begin[i] = i < kSize ? stack[i] : nullptr;
  auto function = get_op_function_from_registry(name);
  CHECK(function.ok());
  Printer printer;
  KernelRuntimeContext context(&printer);
  (*function)(context, Span<EValue*>(stack, kSize));
  CHECK(context.failure_state() == Error::Ok);
}

int main() {
  register_kernels_twice();
  EValue self(input.tensor), at(int64_t{2}), x(a.tensor), y(b.tensor), z(c.tensor), list;
  EValue* two[] = {&self, &at, &x, &y, &list};
  traced("my::split.out", two);
  EValue* three[] = {&self, &x, &y, &z, &list};
  traced("my::three.out", three);
}
