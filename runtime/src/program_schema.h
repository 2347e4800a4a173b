// SPDX-License-Identifier: BSD-3-Clause
//
// The fields of a program file that the runtime reads, numbered as in ExecuTorch's program.fbs.
#pragma once

#include "flat.h"

namespace gen_kernels::schema {

namespace program {
enum : uint8_t {
  kVersion,
  kExecutionPlan,
  kConstantBuffer,
  kBackendDelegateData,
  kSegments,
  kConstantSegment,
  kMutableDataSegments,
  kNamedData,
};
}
namespace plan {
enum : uint8_t {
  kName,
  kContainerMetaType,
  kValues,
  kInputs,
  kOutputs,
  kChains,
  kOperators,
  kDelegates,
  kNonConstBufferSizes,
  kNonConstBufferDevice,
};
}
namespace buffer_device {
enum : uint8_t { kBufferIndex, kDeviceType, kDeviceIndex };
}
namespace evalue {
enum : uint8_t { kType, kValue };
}
/// Members of the union in EValue. Each but Tensor and Null has one field, number 0.
enum class ValueKind : uint8_t {
  None,
  Null,
  Int,
  Bool,
  Double,
  Tensor,
  String,
  IntList,
  DoubleList,
  BoolList,
  TensorList,
  OptionalTensorList,
};
namespace tensor {
enum : uint8_t {
  kScalarType,
  kStorageOffset,
  kSizes,
  kDimOrder,
  kRequiresGrad,
  kDataBufferIndex,
  kAllocationInfo,
  kLayout,
  kShapeDynamism,
  kExtraTensorInfo,
};
}
namespace allocation {
enum : uint8_t { kMemoryId, kOffsetLow, kOffsetHigh };
}
namespace extra {
enum : uint8_t { kMutableDataSegmentsIndex, kFullyQualifiedName, kLocation };
constexpr uint8_t kLocationExternal = 1;
}  // namespace extra
namespace chain {
enum : uint8_t { kInputs, kOutputs, kInstructions };
}
namespace instruction {
enum : uint8_t { kType, kArguments };
}
/// Members of the union in Instruction.
enum class InstructionKind : uint8_t {
  None,
  KernelCall,
  DelegateCall,
  MoveCall,
  JumpFalseCall,
  FreeCall,
};
namespace call {  // KernelCall and DelegateCall
enum : uint8_t { kIndex, kArgs };
}
namespace move {
enum : uint8_t { kFrom, kTo };
}
namespace jump {
enum : uint8_t { kCondition, kDestination };
}
namespace free_call {
enum : uint8_t { kValue };
}
namespace op {
enum : uint8_t { kName, kOverload };
}
namespace delegate {
enum : uint8_t { kId, kProcessed, kCompileSpecs };
}
namespace processed {
enum : uint8_t { kLocation, kIndex };
constexpr uint8_t kLocationSegment = 1;
}  // namespace processed
namespace compile_spec {
enum : uint8_t { kKey, kValue };
}
namespace buffer {  // Buffer and BackendDelegateInlineData
enum : uint8_t { kStorage };
}
namespace segment {
enum : uint8_t { kOffset, kSize };
}
namespace subsegments {
enum : uint8_t { kSegmentIndex, kOffsets };
}
namespace named_data {
enum : uint8_t { kKey, kSegmentIndex };
}

/// For flat::verify().
extern const flat::Schema kProgram;

}  // namespace gen_kernels::schema
