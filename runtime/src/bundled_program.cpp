// SPDX-License-Identifier: BSD-3-Clause
//
// Bundled programs: FlatBuffers data with the identifier "BP08" (ExecuTorch's
// bundled_program_schema.fbs).
#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/executor/program.h>

#include "flat.h"

namespace executorch::bundled_program {

namespace flat = gen_kernels::flat;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::Method;
using executorch::runtime::Result;

namespace {

namespace root {
enum : uint8_t { kVersion, kSuites, kProgram };
}
namespace suite {
enum : uint8_t { kMethodName, kCases };
}
namespace test_case {
enum : uint8_t { kInputs, kOutputs };
}
namespace value {
enum : uint8_t { kType, kValue };
}
enum class ValueKind : uint8_t { None, Tensor, Int, Bool, Double };
namespace tensor {
enum : uint8_t { kScalarType, kSizes, kData, kDimOrder };
}

using flat::Kind;
enum Type : uint8_t { kRoot, kSuite, kCase, kValueType, kTensor, kInt, kBool, kDouble };
constexpr flat::Field kFields[] = {
    {root::kSuites, Kind::Tables, kSuite},
    {root::kProgram, Kind::Bytes},
    {suite::kMethodName, Kind::String},
    {suite::kCases, Kind::Tables, kCase},
    {test_case::kInputs, Kind::Tables, kValueType},
    {test_case::kOutputs, Kind::Tables, kValueType},
    {value::kType, Kind::Union, kTensor, 4},
    {tensor::kSizes, Kind::Words},
    {tensor::kData, Kind::Bytes},
    {tensor::kDimOrder, Kind::Bytes},
    {tensor::kScalarType, Kind::Byte},
    {0, Kind::Long},
    {0, Kind::Byte},
    {0, Kind::Long},
};
constexpr uint8_t kFirst[] = {0, 2, 4, 6, 7, 11, 12, 13, 14};
constexpr flat::Schema kSchema = {kFields, kFirst};

const uint8_t* find_case(const Method& method, SerializedBundledProgram* bundled, size_t index) {
  const auto* bytes = static_cast<const uint8_t*>(bundled);
  const uint8_t* suites = flat::field_vector(bytes + flat::load<uint32_t>(bytes), root::kSuites);
  for (uint32_t i = 0; i < flat::vector_size(suites); ++i) {
    const uint8_t* candidate = flat::vector_table(suites, i);
    const char* name = flat::string_data(flat::field_vector(candidate, suite::kMethodName));
    if (strcmp(name, method.method_meta().name()) == 0) {
      const uint8_t* cases = flat::field_vector(candidate, suite::kCases);
      return index < flat::vector_size(cases) ? flat::vector_table(cases, index) : nullptr;
    }
  }
  return nullptr;
}

/// A tensor of the file, with its strides.
struct BundledTensor {
  static Error check(const uint8_t* table) {
    const uint8_t* sizes = flat::field_vector(table, tensor::kSizes);
    const uint8_t* dim_order = flat::field_vector(table, tensor::kDimOrder);
    const uint32_t dims = flat::vector_size(sizes);
    const auto type = static_cast<ScalarType>(flat::field_u8(table, tensor::kScalarType));
    if (dims > kTensorDimensionLimit || flat::vector_size(dim_order) != dims ||
        !runtime::isValid(type) ||
        !runtime::validate_dim_order(flat::vector_data(dim_order), dims)) {
      return Error::InvalidProgram;
    }
    const Result<ssize_t> numel = executorch::aten::safe_numel(
        reinterpret_cast<const int32_t*>(flat::vector_data(sizes)), static_cast<ssize_t>(dims));
    const uint32_t available = flat::vector_size(flat::field_vector(table, tensor::kData));
    if (!numel.ok() || static_cast<size_t>(numel.get()) > available / runtime::elementSize(type)) {
      return Error::InvalidProgram;
    }
    return Error::Ok;
  }

  explicit BundledTensor(const uint8_t* table)
      : impl(static_cast<ScalarType>(flat::field_u8(table, tensor::kScalarType)),
             static_cast<ssize_t>(flat::vector_size(flat::field_vector(table, tensor::kSizes))),
             reinterpret_cast<int32_t*>(data_of(table, tensor::kSizes)),
             data_of(table, tensor::kData), data_of(table, tensor::kDimOrder), strides) {
    runtime::dim_order_to_stride_nocheck(impl.sizes().data(), impl.dim_order().data(),
                                         impl.sizes().size(), strides);
  }

  int32_t strides[kTensorDimensionLimit];
  TensorImpl impl;

 private:
  // Nothing is written through them.
  static uint8_t* data_of(const uint8_t* table, uint8_t id) {
    return const_cast<uint8_t*>(flat::vector_data(flat::field_vector(table, id)));
  }
};

double load_double(const uint8_t* table) {
  const uint64_t bits = flat::field_u64(table, 0);
  double number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

bool is_close(double actual, double expected, double rtol, double atol) {
  if (actual == expected || (actual != actual && expected != expected)) {
    return true;
  }
  const double difference = actual > expected ? actual - expected : expected - actual;
  return difference <= atol + rtol * (expected < 0 ? -expected : expected);
}

template <typename T>
bool all_close(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  for (ssize_t i = 0; i < expected.numel(); ++i) {
    if (!is_close(static_cast<double>(actual.const_data_ptr<T>()[i]),
                  static_cast<double>(expected.const_data_ptr<T>()[i]), rtol, atol)) {
      return false;
    }
  }
  return true;
}

bool is_equal(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.scalar_type() != expected.scalar_type() || actual.sizes() != expected.sizes()) {
    return false;
  }
  switch (expected.scalar_type()) {
    case ScalarType::Float:
      return all_close<float>(actual, expected, rtol, atol);
    case ScalarType::Double:
      return all_close<double>(actual, expected, rtol, atol);
    case ScalarType::Half:
      return all_close<executorch::aten::Half>(actual, expected, rtol, atol);
    case ScalarType::BFloat16:
      return all_close<executorch::aten::BFloat16>(actual, expected, rtol, atol);
    default:
      return memcmp(actual.const_data_ptr(), expected.const_data_ptr(), expected.nbytes()) == 0;
  }
}

}  // namespace

bool is_bundled_program(const void* file_data, size_t file_data_len) {
  return file_data_len >= 8 && memcmp(static_cast<const uint8_t*>(file_data) + 4, "BP08", 4) == 0;
}

Error get_program_data(const void* file_data, size_t file_data_len, const void** out_program_data,
                       size_t* out_program_data_len) {
  *out_program_data = file_data;
  *out_program_data_len = file_data_len;
  if (!is_bundled_program(file_data, file_data_len)) {
    return Error::Ok;
  }
  const auto* bytes = static_cast<const uint8_t*>(file_data);
  ET_CHECK_OR_RETURN_ERROR(
      reinterpret_cast<uintptr_t>(bytes) % runtime::Program::kMinimumAlignment == 0,
      InvalidArgument, "The file must lie at a multiple of 16");
  if constexpr (ET_ENABLE_PROGRAM_VERIFICATION) {
    ET_CHECK_OR_RETURN_ERROR(flat::verify(kSchema, bytes, file_data_len), InvalidProgram,
                             "The bundled program is damaged");
  }
  const uint8_t* program = flat::field_vector(bytes + flat::load<uint32_t>(bytes), root::kProgram);
  *out_program_data = flat::vector_data(program);
  *out_program_data_len = flat::vector_size(program);
  return Error::Ok;
}

Error load_bundled_input(Method& method, SerializedBundledProgram* bundled_program,
                         size_t testset_idx) {
  const uint8_t* found = find_case(method, bundled_program, testset_idx);
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, InvalidArgument, "No test case %zu", testset_idx);
  const uint8_t* inputs = flat::field_vector(found, test_case::kInputs);
  ET_CHECK_OR_RETURN_ERROR(flat::vector_size(inputs) == method.inputs_size(), InvalidArgument,
                           "The case has another number of inputs");
  for (uint32_t i = 0; i < flat::vector_size(inputs); ++i) {
    const uint8_t* input = flat::vector_table(inputs, i);
    const uint8_t* content = flat::field_table(input, value::kValue);
    Error error = Error::InvalidArgument;
    switch (static_cast<ValueKind>(flat::field_u8(input, value::kType))) {
      case ValueKind::Tensor: {
        ET_CHECK_OK_OR_RETURN_ERROR(BundledTensor::check(content));
        BundledTensor bundled(content);
        error = method.set_input(Tensor(&bundled.impl), i);
        break;
      }
      case ValueKind::Int:
        error = method.set_input(static_cast<int64_t>(flat::field_u64(content, 0)), i);
        break;
      case ValueKind::Bool:
        error = method.set_input(flat::field_u8(content, 0) != 0, i);
        break;
      case ValueKind::Double:
        error = method.set_input(load_double(content), i);
        break;
      case ValueKind::None:
        break;
    }
    ET_CHECK_OK_OR_RETURN_ERROR(error);
  }
  return Error::Ok;
}

Error verify_method_outputs(Method& method, SerializedBundledProgram* bundled_program,
                            size_t testset_idx, double rtol, double atol) {
  const uint8_t* found = find_case(method, bundled_program, testset_idx);
  ET_CHECK_OR_RETURN_ERROR(found != nullptr, InvalidArgument, "No test case %zu", testset_idx);
  const uint8_t* outputs = flat::field_vector(found, test_case::kOutputs);
  ET_CHECK_OR_RETURN_ERROR(flat::vector_size(outputs) != 0, NotSupported,
                           "The case has no expected outputs");
  ET_CHECK_OR_RETURN_ERROR(flat::vector_size(outputs) == method.outputs_size(), InvalidArgument,
                           "The case has another number of outputs");
  for (uint32_t i = 0; i < flat::vector_size(outputs); ++i) {
    const uint8_t* expected = flat::vector_table(outputs, i);
    const uint8_t* content = flat::field_table(expected, value::kValue);
    const EValue& actual = method.get_output(i);
    bool same = false;
    switch (static_cast<ValueKind>(flat::field_u8(expected, value::kType))) {
      case ValueKind::Tensor: {
        ET_CHECK_OK_OR_RETURN_ERROR(BundledTensor::check(content));
        BundledTensor bundled(content);
        same = actual.isTensor() && is_equal(actual.toTensor(), Tensor(&bundled.impl), rtol, atol);
        break;
      }
      case ValueKind::Int:
        same =
            actual.isInt() && actual.toInt() == static_cast<int64_t>(flat::field_u64(content, 0));
        break;
      case ValueKind::Bool:
        same = actual.isBool() && actual.toBool() == (flat::field_u8(content, 0) != 0);
        break;
      case ValueKind::Double:
        same = actual.isDouble() && is_close(actual.toDouble(), load_double(content), rtol, atol);
        break;
      case ValueKind::None:
        break;
    }
    ET_CHECK_OR_RETURN_ERROR(same, NotFound, "Output %" PRIu32 " differs", i);
  }
  return Error::Ok;
}

}  // namespace executorch::bundled_program
