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

struct TypedField {
  Type owner;
  Field field;
};

// Sorted by owner; numbers last.
constexpr TypedField kTyped[] = {
    {kProgramType, {program::kExecutionPlan, Kind::Tables, kPlan}},
    {kProgramType, {program::kConstantBuffer, Kind::Tables, kBuffer}},
    {kProgramType, {program::kBackendDelegateData, Kind::Tables, kBuffer}},
    {kProgramType, {program::kSegments, Kind::Tables, kSegment}},
    {kProgramType, {program::kConstantSegment, Kind::Table, kSubsegments}},
    {kProgramType, {program::kMutableDataSegments, Kind::Tables, kSubsegments}},
    {kProgramType, {program::kNamedData, Kind::Tables, kNamedData}},
    {kProgramType, {program::kVersion, Kind::Word}},
    {kPlan, {plan::kName, Kind::String}},
    {kPlan, {plan::kValues, Kind::Tables, kEValue}},
    {kPlan, {plan::kInputs, Kind::Words}},
    {kPlan, {plan::kOutputs, Kind::Words}},
    {kPlan, {plan::kChains, Kind::Tables, kChain}},
    {kPlan, {plan::kOperators, Kind::Tables, kOperator}},
    {kPlan, {plan::kDelegates, Kind::Tables, kDelegate}},
    {kPlan, {plan::kNonConstBufferSizes, Kind::Longs}},
    {kPlan, {plan::kNonConstBufferDevice, Kind::Tables, kBufferDevice}},
    {kEValue, {evalue::kType, Kind::Union, 11}},
    {kEValue, {evalue::kValue, Kind::Member, kOptionalTensorList}},
    {kInt, {0, Kind::Long}},
    {kBool, {0, Kind::Byte}},
    {kDouble, {0, Kind::Long}},
    {kTensor, {tensor::kSizes, Kind::Words}},
    {kTensor, {tensor::kDimOrder, Kind::Bytes}},
    {kTensor, {tensor::kAllocationInfo, Kind::Table, kAllocation}},
    {kTensor, {tensor::kExtraTensorInfo, Kind::Table, kExtra}},
    {kTensor, {tensor::kScalarType, Kind::Byte}},
    {kTensor, {tensor::kStorageOffset, Kind::Word}},
    {kTensor, {tensor::kDataBufferIndex, Kind::Word}},
    {kTensor, {tensor::kShapeDynamism, Kind::Byte}},
    {kString, {0, Kind::String}},
    {kIntList, {0, Kind::Longs}},
    {kDoubleList, {0, Kind::Longs}},
    {kBoolList, {0, Kind::Bytes}},
    {kTensorList, {0, Kind::Words}},
    {kOptionalTensorList, {0, Kind::Words}},
    {kAllocation, {allocation::kMemoryId, Kind::Word}},
    {kAllocation, {allocation::kOffsetLow, Kind::Word}},
    {kAllocation, {allocation::kOffsetHigh, Kind::Word}},
    {kExtra, {extra::kFullyQualifiedName, Kind::String}},
    {kExtra, {extra::kMutableDataSegmentsIndex, Kind::Long}},
    {kExtra, {extra::kLocation, Kind::Byte}},
    {kChain, {chain::kInstructions, Kind::Tables, kInstruction}},
    {kInstruction, {instruction::kType, Kind::Union, 5}},
    {kInstruction, {instruction::kArguments, Kind::Member, kFree}},
    {kKernelCall, {call::kArgs, Kind::Words}},
    {kKernelCall, {call::kIndex, Kind::Word}},
    {kDelegateCall, {call::kArgs, Kind::Words}},
    {kDelegateCall, {call::kIndex, Kind::Word}},
    {kMove, {move::kFrom, Kind::Word}},
    {kMove, {move::kTo, Kind::Word}},
    {kJump, {jump::kCondition, Kind::Word}},
    {kJump, {jump::kDestination, Kind::Word}},
    {kFree, {free_call::kValue, Kind::Word}},
    {kOperator, {op::kName, Kind::String}},
    {kOperator, {op::kOverload, Kind::String}},
    {kDelegate, {delegate::kId, Kind::String}},
    {kDelegate, {delegate::kProcessed, Kind::Table, kProcessed}},
    {kDelegate, {delegate::kCompileSpecs, Kind::Tables, kCompileSpec}},
    {kProcessed, {processed::kLocation, Kind::Byte}},
    {kProcessed, {processed::kIndex, Kind::Word}},
    {kCompileSpec, {compile_spec::kKey, Kind::String}},
    {kCompileSpec, {compile_spec::kValue, Kind::Bytes}},
    {kBuffer, {buffer::kStorage, Kind::Bytes}},
    {kSegment, {segment::kOffset, Kind::Long}},
    {kSegment, {segment::kSize, Kind::Long}},
    {kSubsegments, {subsegments::kOffsets, Kind::Longs}},
    {kSubsegments, {subsegments::kSegmentIndex, Kind::Word}},
    {kNamedData, {named_data::kKey, Kind::String}},
    {kNamedData, {named_data::kSegmentIndex, Kind::Word}},
    {kBufferDevice, {buffer_device::kBufferIndex, Kind::Word}},
    {kBufferDevice, {buffer_device::kDeviceType, Kind::Byte}},
    {kBufferDevice, {buffer_device::kDeviceIndex, Kind::Byte}},
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

constexpr flat::Schema kProgram = {kTables.fields, kTables.first};

}  // namespace gen_kernels::schema
