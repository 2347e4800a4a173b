// Cycles and instructions of each kernel call, through ExecuTorch's event tracer. Runtime,
// registration and application are compiled with -DET_EVENT_TRACER_ENABLED for it.
#ifndef GEN_KERNELS_PROFILE_H
#define GEN_KERNELS_PROFILE_H

#include <executorch/runtime/core/event_tracer.h>

#include <cstddef>
#include <cstdint>

#include "platform.h"

namespace runner {

// Records the kernel calls of one execution; further calls than kMaxCalls are not recorded.
class Profile final : public executorch::runtime::EventTracer {
 public:
  static constexpr size_t kMaxCalls = 1024;

  struct Call {
    const char* name;
    uint32_t instruction;
    uint32_t cycles;
    uint32_t instret;
  };

  Profile() {
    using executorch::runtime::EventTracerProfilingLevel;
    set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileAllEvents);
  }

  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  const Call& call(size_t index) const { return calls_[index]; }

 private:
  using Entry = executorch::runtime::EventTracerEntry;
  using Index = executorch::runtime::DelegateDebugIntId;
  using Tensor = executorch::aten::Tensor;
  template <class T>
  using Result = executorch::runtime::Result<T>;
  static constexpr int64_t kIgnored = -1;

  // Kernels are what happens below an instruction; loading and the method's own scope are not.
  Entry start_profiling(const char* name, executorch::runtime::ChainID,
                        executorch::runtime::DebugHandle) override {
    Entry entry{};
    entry.event_id = kIgnored;
    if (current_chain_id() != executorch::runtime::kUnsetChainId && size_ < kMaxCalls) {
      entry.event_id = static_cast<int64_t>(size_);
      Call& call = calls_[size_++];
      call.name = name;
      call.instruction = current_debug_handle();
      call.instret = static_cast<uint32_t>(platform_instret());
      call.cycles = static_cast<uint32_t>(platform_cycles());
    }
    return entry;
  }
  void end_profiling(Entry entry) override {
    const uint32_t cycles = static_cast<uint32_t>(platform_cycles());
    const uint32_t instret = static_cast<uint32_t>(platform_instret());
    if (entry.event_id != kIgnored) {
      Call& call = calls_[entry.event_id];
      call.cycles = cycles - call.cycles;
      call.instret = instret - call.instret;
    }
  }

  void create_event_block(const char*) override {}
  Entry start_profiling_delegate(const char*, Index) override { return Entry{}; }
  void end_profiling_delegate(Entry, const void*, size_t) override {}
  void log_profiling_delegate(const char*, Index, et_timestamp_t, et_timestamp_t, const void*,
                              size_t) override {}
  void track_allocation(executorch::runtime::AllocatorID, size_t) override {}
  executorch::runtime::AllocatorID track_allocator(const char*) override { return 0; }
  Result<bool> log_evalue(const executorch::runtime::EValue&,
                          executorch::runtime::LoggedEValueType) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Index, const Tensor&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(
      const char*, Index, const executorch::runtime::ArrayRef<Tensor>) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Index, const int&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Index, const bool&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, Index, const double&) override {
    return false;
  }
  void set_delegation_intermediate_output_filter(
      executorch::runtime::EventTracerFilterBase*) override {}

  size_t size_ = 0;
  Call calls_[kMaxCalls];
};

}  // namespace runner

#endif
