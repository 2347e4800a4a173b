// SPDX-License-Identifier: BSD-3-Clause
#include "program_schema.h"

namespace gen_kernels::schema {

namespace {

using flat::Field;
using flat::Kind;

enum Type : uint8_t {
  kProgramType,
  kPlan,
  kEValue,
  // Members of EValue's union, in its order. Null, Int ... OptionalTensorList.
  kNull,
  kInt,
  kBool,
  kDouble,
  kTensor,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
  kAllocation,
  kExtra,
  kChain,
  kInstruction,
  // Members of Instruction's union, in its order.
  kKernelCall,
  kDelegateCall,
  kMove,
  kJump,
  kFree,
  kOperator,
  kDelegate,
  kProcessed,
  kCompileSpec,
  kBuffer,
  kSegment,
  kSubsegments,
  kNamedData,
  kBufferDevice,
  kTypes,
};
static_assert(kTypes <= flat::kMaxTypes);

struct TypedField {
  Type owner;
  Field field;
};

// Sorted by owner.
constexpr TypedField kTyped[] = {
    {kProgramType, {program::kVersion, Kind::Word, 0, 0}},
    {kProgramType, {program::kExecutionPlan, Kind::Tables, kPlan, 0}},
    {kProgramType, {program::kConstantBuffer, Kind::Tables, kBuffer, 0}},
    {kProgramType, {program::kBackendDelegateData, Kind::Tables, kBuffer, 0}},
    {kProgramType, {program::kSegments, Kind::Tables, kSegment, 0}},
    {kProgramType, {program::kConstantSegment, Kind::Table, kSubsegments, 0}},
    {kProgramType, {program::kMutableDataSegments, Kind::Tables, kSubsegments, 0}},
    {kProgramType, {program::kNamedData, Kind::Tables, kNamedData, 0}},
    {kPlan, {plan::kName, Kind::String, 0, 0}},
    {kPlan, {plan::kValues, Kind::Tables, kEValue, 0}},
    {kPlan, {plan::kInputs, Kind::Words, 0, 0}},
    {kPlan, {plan::kOutputs, Kind::Words, 0, 0}},
    {kPlan, {plan::kChains, Kind::Tables, kChain, 0}},
    {kPlan, {plan::kOperators, Kind::Tables, kOperator, 0}},
    {kPlan, {plan::kDelegates, Kind::Tables, kDelegate, 0}},
    {kPlan, {plan::kNonConstBufferSizes, Kind::Longs, 0, 0}},
    {kPlan, {plan::kNonConstBufferDevice, Kind::Tables, kBufferDevice, 0}},
    {kEValue, {evalue::kType, Kind::Union, kNull, 11}},
    {kInt, {0, Kind::Long, 0, 0}},
    {kBool, {0, Kind::Byte, 0, 0}},
    {kDouble, {0, Kind::Long, 0, 0}},
    {kTensor, {tensor::kScalarType, Kind::Byte, 0, 0}},
    {kTensor, {tensor::kStorageOffset, Kind::Word, 0, 0}},
    {kTensor, {tensor::kSizes, Kind::Words, 0, 0}},
    {kTensor, {tensor::kDimOrder, Kind::Bytes, 0, 0}},
    {kTensor, {tensor::kDataBufferIndex, Kind::Word, 0, 0}},
    {kTensor, {tensor::kAllocationInfo, Kind::Table, kAllocation, 0}},
    {kTensor, {tensor::kShapeDynamism, Kind::Byte, 0, 0}},
    {kTensor, {tensor::kExtraTensorInfo, Kind::Table, kExtra, 0}},
    {kString, {0, Kind::String, 0, 0}},
    {kIntList, {0, Kind::Longs, 0, 0}},
    {kDoubleList, {0, Kind::Longs, 0, 0}},
    {kBoolList, {0, Kind::Bytes, 0, 0}},
    {kTensorList, {0, Kind::Words, 0, 0}},
    {kOptionalTensorList, {0, Kind::Words, 0, 0}},
    {kAllocation, {allocation::kMemoryId, Kind::Word, 0, 0}},
    {kAllocation, {allocation::kOffsetLow, Kind::Word, 0, 0}},
    {kAllocation, {allocation::kOffsetHigh, Kind::Word, 0, 0}},
    {kExtra, {extra::kMutableDataSegmentsIndex, Kind::Long, 0, 0}},
    {kExtra, {extra::kFullyQualifiedName, Kind::String, 0, 0}},
    {kExtra, {extra::kLocation, Kind::Byte, 0, 0}},
    {kChain, {chain::kInstructions, Kind::Tables, kInstruction, 0}},
    {kInstruction, {instruction::kType, Kind::Union, kKernelCall, 5}},
    {kKernelCall, {call::kIndex, Kind::Word, 0, 0}},
    {kKernelCall, {call::kArgs, Kind::Words, 0, 0}},
    {kDelegateCall, {call::kIndex, Kind::Word, 0, 0}},
    {kDelegateCall, {call::kArgs, Kind::Words, 0, 0}},
    {kMove, {move::kFrom, Kind::Word, 0, 0}},
    {kMove, {move::kTo, Kind::Word, 0, 0}},
    {kJump, {jump::kCondition, Kind::Word, 0, 0}},
    {kJump, {jump::kDestination, Kind::Word, 0, 0}},
    {kFree, {free_call::kValue, Kind::Word, 0, 0}},
    {kOperator, {op::kName, Kind::String, 0, 0}},
    {kOperator, {op::kOverload, Kind::String, 0, 0}},
    {kDelegate, {delegate::kId, Kind::String, 0, 0}},
    {kDelegate, {delegate::kProcessed, Kind::Table, kProcessed, 0}},
    {kDelegate, {delegate::kCompileSpecs, Kind::Tables, kCompileSpec, 0}},
    {kProcessed, {processed::kLocation, Kind::Byte, 0, 0}},
    {kProcessed, {processed::kIndex, Kind::Word, 0, 0}},
    {kCompileSpec, {compile_spec::kKey, Kind::String, 0, 0}},
    {kCompileSpec, {compile_spec::kValue, Kind::Bytes, 0, 0}},
    {kBuffer, {buffer::kStorage, Kind::Bytes, 0, 0}},
    {kSegment, {segment::kOffset, Kind::Long, 0, 0}},
    {kSegment, {segment::kSize, Kind::Long, 0, 0}},
    {kSubsegments, {subsegments::kSegmentIndex, Kind::Word, 0, 0}},
    {kSubsegments, {subsegments::kOffsets, Kind::Longs, 0, 0}},
    {kNamedData, {named_data::kKey, Kind::String, 0, 0}},
    {kNamedData, {named_data::kSegmentIndex, Kind::Word, 0, 0}},
    {kBufferDevice, {buffer_device::kBufferIndex, Kind::Word, 0, 0}},
    {kBufferDevice, {buffer_device::kDeviceType, Kind::Byte, 0, 0}},
    {kBufferDevice, {buffer_device::kDeviceIndex, Kind::Byte, 0, 0}},
};
constexpr size_t kFieldCount = sizeof(kTyped) / sizeof(kTyped[0]);

struct Tables {
  Field fields[kFieldCount] = {};
  uint8_t first[kTypes + 1] = {};
};

constexpr Tables make_tables() {
  Tables tables;
  size_t type = 0;
  for (size_t i = 0; i < kFieldCount; ++i) {
    tables.fields[i] = kTyped[i].field;
    while (type <= kTyped[i].owner) {
      tables.first[type++] = static_cast<uint8_t>(i);
    }
  }
  while (type <= kTypes) {
    tables.first[type++] = kFieldCount;
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

constexpr flat::Schema kProgram = {kTables.fields, kTables.first, kTypes};

}  // namespace gen_kernels::schema
