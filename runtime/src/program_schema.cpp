// SPDX-License-Identifier: BSD-3-Clause
#include "program_schema.h"

#include "features.h"

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
  bool is_needed = true;  ///< What a build does not handle it does not look at either.
};

// Sorted by owner. What indexes count comes before them.
constexpr TypedField kTyped[] = {
    {kProgramType, {program::kExecutionPlan, Kind::Tables, kPlan}},
    {kProgramType, {program::kConstantBuffer, Kind::Tables, kBuffer}, features::kInlineConstants},
    {kProgramType, {program::kBackendDelegateData, Kind::Tables, kBuffer}, features::kDelegates},
    {kProgramType, {program::kSegments, Kind::Tables, kSegment}},
    {kProgramType, {program::kConstantSegment, Kind::Table, kSubsegments}},
    {kProgramType,
     {program::kMutableDataSegments, Kind::Tables, kSubsegments},
     features::kSpecialTensors},
    {kProgramType, {program::kNamedData, Kind::Tables, kNamedData}},
    {kProgramType, {program::kVersion, Kind::Word}},
    {kPlan, {plan::kName, Kind::String}},
    {kPlan, {plan::kValues, Kind::Tables, kEValue}},
    {kPlan, {plan::kInputs, Kind::Indexes, kEValue}},
    {kPlan, {plan::kOutputs, Kind::Indexes, kEValue}},
    {kPlan, {plan::kOperators, Kind::Tables, kOperator}},
    {kPlan, {plan::kDelegates, Kind::Tables, kDelegate}},
    {kPlan, {plan::kChains, Kind::Tables, kChain}},
    {kPlan, {plan::kNonConstBufferSizes, Kind::Longs}},
    {kPlan, {plan::kNonConstBufferDevice, Kind::Tables, kBufferDevice}},
    {kEValue, {evalue::kType, Kind::RequiredUnion, kNull, 11}},
    // Has none in good files; but it is read as the numbers are.
    {kNull, {0, Kind::Long}},
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
    {kString, {0, Kind::String}, features::kOtherLists},
    {kIntList, {0, Kind::WideIndexes, kEValue}, features::kIntLists},
    {kDoubleList, {0, Kind::Longs}, features::kOtherLists},
    {kBoolList, {0, Kind::Bytes}, features::kOtherLists},
    {kTensorList, {0, Kind::Indexes, kEValue}, features::kTensorLists},
    {kOptionalTensorList, {0, Kind::OptionalIndexes, kEValue}, features::kTensorLists},
    {kAllocation, {allocation::kMemoryId, Kind::Word}},
    {kAllocation, {allocation::kOffsetLow, Kind::Word}},
    {kAllocation, {allocation::kOffsetHigh, Kind::Word}},
    {kExtra, {extra::kFullyQualifiedName, Kind::String}},
    {kExtra, {extra::kMutableDataSegmentsIndex, Kind::Long}},
    {kExtra, {extra::kLocation, Kind::Byte}},
    {kChain, {chain::kInstructions, Kind::Tables, kInstruction}},
    {kInstruction, {instruction::kType, Kind::RequiredUnion, kKernelCall, 5}},
    {kKernelCall, {call::kArgs, Kind::Indexes, kEValue}},
    {kKernelCall, {call::kIndex, Kind::Index, kOperator}},
    {kDelegateCall, {call::kArgs, Kind::Indexes, kEValue}, features::kDelegates},
    {kDelegateCall, {call::kIndex, Kind::Index, kDelegate}, features::kDelegates},
    {kMove, {move::kFrom, Kind::Index, kEValue}, features::kControlFlow},
    {kMove, {move::kTo, Kind::Index, kEValue}, features::kControlFlow},
    {kJump, {jump::kCondition, Kind::Index, kEValue}, features::kControlFlow},
    {kJump, {jump::kDestination, Kind::Bound, kInstruction}, features::kControlFlow},
    {kFree, {free_call::kValue, Kind::Index, kEValue}, features::kControlFlow},
    {kOperator, {op::kName, Kind::String}},
    {kOperator, {op::kOverload, Kind::String}},
    {kDelegate, {delegate::kId, Kind::String}, features::kDelegates},
    {kDelegate, {delegate::kProcessed, Kind::Table, kProcessed}, features::kDelegates},
    {kDelegate, {delegate::kCompileSpecs, Kind::Tables, kCompileSpec}, features::kDelegates},
    {kProcessed, {processed::kLocation, Kind::Byte}, features::kDelegates},
    {kProcessed, {processed::kIndex, Kind::Word}, features::kDelegates},
    {kCompileSpec, {compile_spec::kKey, Kind::String}, features::kDelegates},
    {kCompileSpec, {compile_spec::kValue, Kind::Bytes}, features::kDelegates},
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
constexpr size_t count_fields() {
  size_t count = 0;
  for (const TypedField& row : kTyped) {
    count += row.is_needed;
  }
  return count;
}

struct Tables {
  Field fields[count_fields()] = {};
  uint8_t first[kTypes + 1] = {};
};

constexpr Tables make_tables() {
  Tables tables;
  size_t count = 0;
  size_t type = 0;
  for (const TypedField& row : kTyped) {
    while (type <= row.owner) {
      tables.first[type++] = static_cast<uint8_t>(count);
    }
    if (row.is_needed) {
      tables.fields[count++] = row.field;
    }
  }
  while (type <= kTypes) {
    tables.first[type++] = static_cast<uint8_t>(count);
  }
  return tables;
}

constexpr Tables kTables = make_tables();
static_assert(kTypes <= flat::kMaxTypes);

}  // namespace

constexpr flat::Schema kProgram = {kTables.fields, kTables.first};

}  // namespace gen_kernels::schema
