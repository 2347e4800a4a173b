// SPDX-License-Identifier: BSD-3-Clause
//
// The types of the runtime, one by one; runtime_services.cpp has the rest.
// The same checks hold for ExecuTorch's own runtime; what only this one promises stands inside
// #ifdef GEN_KERNELS_RUNTIME.
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/platform/runtime.h>

#include <cmath>
#include <cstring>

#include "check.h"

using namespace executorch::runtime;
using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
template <typename T>
using Array = executorch::aten::ArrayRef<T>;

namespace {

void test_scalar() {
  CHECK(Scalar(3).isIntegral(false) && Scalar(3).to<int64_t>() == 3);
  CHECK(Scalar(true).isBoolean() && !Scalar(true).isIntegral(false));
  CHECK(Scalar(true).isIntegral(true) && Scalar(true).to<int64_t>() == 1 &&
        Scalar(true).to<bool>());
  CHECK(Scalar(2.5).isFloatingPoint() && Scalar(2.5).to<double>() == 2.5);
  CHECK(Scalar(Half(0.5f)).to<double>() == 0.5 && Scalar(BFloat16(-2.f)).to<double>() == -2.0);
  CHECK(Scalar().to<int64_t>() == 0);
}

void test_array_ref() {
  const int64_t data[] = {1, 2, 3, 4};
  const Array<int64_t> all(data);
  CHECK(all.size() == 4 && all.front() == 1 && all.back() == 4 && all.at(2) == 3 && !all.empty());
  CHECK(all.slice(1, 2) == Array<int64_t>(data + 1, size_t{2}) && all.slice(3).size() == 1);
  CHECK(all != all.slice(1) && Array<int64_t>().empty());
  const int64_t one = 7;
  CHECK(Array<int64_t>(one).size() == 1);
  int64_t numbers[] = {5, 6};
  Span<int64_t> span(numbers);
  span[1] = 9;
  CHECK(numbers[1] == 9 && span.size() == 2 && span.end() - span.begin() == 2);
}

void test_evalue() {
  CHECK(EValue().isNone() && EValue().tag == Tag::None);
  CHECK(EValue(int64_t{-4}).isInt() && EValue(int64_t{-4}).toInt() == -4);
  CHECK(EValue(true).isBool() && EValue(true).toBool() && EValue(1.5).toDouble() == 1.5);
  CHECK(EValue(Scalar(1.5)).isDouble() && EValue(Scalar(2)).isInt() &&
        EValue(Scalar(false)).isBool());
  CHECK(EValue(true).toScalar().isBoolean() && EValue(int64_t{6}).isScalar());
  CHECK(EValue(int64_t{6}).to<Scalar>().to<int64_t>() == 6);
  CHECK(EValue(int64_t{6}).toScalarType() == ScalarType::Float);
  CHECK(!EValue().toOptional<int64_t>().has_value());
  CHECK(EValue(int64_t{2}).toOptional<int64_t>().value() == 2);
  CHECK(EValue(int64_t{2}).toOptional<Scalar>()->to<int64_t>() == 2);
  CHECK(EValue(2.0).tryTo<int64_t>().error() == Error::InvalidType);
  CHECK(EValue().tryTo<Tensor>().error() == Error::InvalidType);
  CHECK(EValue(2.0).tryTo<double>().get() == 2.0);
  CHECK(EValue().tryToOptional<double>().ok() && !EValue().tryToOptional<double>()->has_value());
  CHECK(EValue(int64_t{1}).tryToOptional<double>().error() == Error::InvalidType);

  const char text[] = "sum";
  Array<char> characters(text, size_t{3});
  CHECK(EValue(&characters).isString() && EValue(&characters).toString() == "sum");
  const bool truths[] = {true, false};
  Array<bool> bools(truths);
  CHECK(EValue(&bools).toBoolList().size() == 2 && EValue(&bools).isBoolList());
  const double reals[] = {0.5};
  Array<double> doubles(reals);
  CHECK(EValue(&doubles).toDoubleList()[0] == 0.5 && EValue(&doubles).isDoubleList());

  // A list of values shows what its items are now.
  EValue items[] = {EValue(int64_t{1}), EValue(int64_t{2})};
  EValue* wrapped[] = {&items[0], &items[1]};
  int64_t unwrapped[2];
  BoxedEvalueList<int64_t> list(wrapped, unwrapped, 2);
  EValue value(&list);
  CHECK(value.isIntList() && value.toIntList()[1] == 2);
  items[1] = EValue(int64_t{5});
  CHECK(value.toIntList()[1] == 5 && value.toIntList()[0] == 1);
  items[0] = EValue(1.0);
  CHECK(value.tryTo<Array<int64_t>>().error() == Error::InvalidType);

  int32_t sizes[] = {2};
  uint8_t order[] = {0};
  int32_t strides[] = {1};
  float data[] = {1, 2};
  TensorImpl impl(ScalarType::Float, 1, sizes, data, order, strides);
  EValue tensor{Tensor(&impl)};
  CHECK(tensor.isTensor() && tensor.toTensor().unsafeGetTensorImpl() == &impl);
  EValue* with_none[] = {&tensor, nullptr};
  std::optional<Tensor> room[2];
  BoxedEvalueList<std::optional<Tensor>> optional(with_none, room, 2);
  EValue optional_value(&optional);
  CHECK(optional_value.isListOptionalTensor());
  const auto got = optional_value.toListOptionalTensor();
  CHECK(got.size() == 2 && got[0].has_value() && !got[1].has_value());
  EValue copy = tensor;
  tensor = EValue(int64_t{3});
  CHECK(copy.isTensor() && tensor.isInt());
}

void test_tensor() {
  int32_t sizes[] = {2, 3, 4, 5};
  uint8_t order[] = {0, 2, 3, 1};
  int32_t strides[4];
  CHECK(dim_order_to_stride(sizes, order, 4, strides) == Error::Ok);
  CHECK(strides[0] == 60 && strides[1] == 1 && strides[2] == 15 && strides[3] == 3);
  TensorImpl impl(ScalarType::Short, 4, sizes, nullptr, order, strides,
                  TensorShapeDynamism::DYNAMIC_BOUND);
  const Tensor tensor(&impl);
  CHECK(tensor.numel() == 120 && tensor.nbytes() == 240 && tensor.element_size() == 2);
  CHECK(tensor.dim() == 4 && tensor.size(2) == 4 && tensor.strides()[1] == 1);
  CHECK(is_channels_last_dim_order(order, 4) && !is_contiguous_dim_order(order, 4));
  const int32_t smaller[] = {1, 3, 2, 5};
  CHECK(resize_tensor(tensor, Array<int32_t>(smaller)) == Error::Ok);
  CHECK(tensor.numel() == 30 && tensor.size(2) == 2);
  CHECK(strides[0] == 30 && strides[1] == 1 && strides[2] == 15 && strides[3] == 3);
  // Up to the number of elements that it began with, whatever the shape.
  const int64_t other[] = {5, 4, 3, 2};
  CHECK(resize_tensor(tensor, Array<int64_t>(other)) == Error::Ok && tensor.size(0) == 5);
  const int32_t larger[] = {2, 3, 4, 6};
  CHECK(resize_tensor(tensor, Array<int32_t>(larger)) == Error::NotSupported);
  CHECK(tensor.size(0) == 5);
  const int32_t flat[] = {120};
  CHECK(resize_tensor(tensor, Array<int32_t>(flat)) == Error::NotSupported);
  const int32_t none[] = {0, 3, 4, 5};
  CHECK(resize_tensor(tensor, Array<int32_t>(none)) == Error::Ok && tensor.numel() == 0);

  int32_t fixed_sizes[] = {2, 2};
  uint8_t fixed_order[] = {0, 1};
  int32_t fixed_strides[] = {2, 1};
  int32_t data[4] = {1, 2, 3, 4};
  TensorImpl fixed_impl(ScalarType::Int, 2, fixed_sizes, data, fixed_order, fixed_strides);
  const Tensor fixed(&fixed_impl);
  CHECK(resize_tensor(fixed, Array<int32_t>(fixed_sizes)) == Error::Ok);
  const int32_t one_by_four[] = {1, 4};
  CHECK(resize_tensor(fixed, Array<int32_t>(one_by_four)) == Error::NotSupported);
  CHECK(fixed.const_data_ptr<int32_t>()[3] == 4);
  fixed.mutable_data_ptr<int32_t>()[3] = 8;
  CHECK(data[3] == 8);

  int32_t more[4] = {};
  TensorImpl more_impl(ScalarType::Int, 2, fixed_sizes, more, fixed_order, fixed_strides);
  const Tensor more_tensor(&more_impl);
  CHECK(internal::copy_tensor_data(more_tensor, fixed) == Error::Ok && more[3] == 8);
  CHECK(internal::share_tensor_data(more_tensor, fixed) == Error::Ok);
  CHECK(more_tensor.const_data_ptr() == data);
  CHECK(internal::set_tensor_data(more_tensor, more, sizeof(more)) == Error::Ok);
  CHECK(internal::set_tensor_data(more_tensor, more, 15) == Error::InvalidArgument);
  internal::reset_data_ptr(more_tensor);
  CHECK(more_tensor.const_data_ptr() == nullptr);
  CHECK(internal::copy_tensor_data(more_tensor, fixed) == Error::InvalidArgument);

  TensorImpl scalar_impl(ScalarType::Double, 0, nullptr);
  CHECK(Tensor(&scalar_impl).numel() == 1 && Tensor(&scalar_impl).nbytes() == 8);
  CHECK(tensors_have_same_dim_order(fixed, more_tensor) && tensor_is_default_dim_order(fixed) &&
        tensor_is_channels_last_dim_order(tensor));

  const int32_t negative[] = {2, -1};
  CHECK(executorch::aten::safe_numel(negative, 2).error() == Error::InvalidArgument);
  const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};
  CHECK(executorch::aten::safe_numel(huge, 4).error() == Error::InvalidArgument);
  const uint8_t twice[] = {0, 0};
  int32_t ignored[2];
  CHECK(dim_order_to_stride(fixed_sizes, twice, 2, ignored) == Error::InvalidArgument);
  uint8_t found[4];
  const int32_t by_stride[] = {60, 1, 15, 3};
  CHECK(stride_to_dim_order(by_stride, 4, found) == Error::Ok && memcmp(found, order, 4) == 0);
}

void test_types() {
  CHECK(elementSize(ScalarType::Byte) == 1 && elementSize(ScalarType::Half) == 2 &&
        elementSize(ScalarType::ComplexDouble) == 16 && elementSize(ScalarType::BFloat16) == 2 &&
        elementSize(ScalarType::UInt64) == 8 && elementSize(ScalarType::QInt32) == 4);
  CHECK(static_cast<int>(ScalarType::BFloat16) == 15 && static_cast<int>(ScalarType::UInt64) == 29);
  CHECK(isIntegralType(ScalarType::Bool, true) && !isIntegralType(ScalarType::Bool, false));
  CHECK(isFloatingType(ScalarType::BFloat16) && !isFloatingType(ScalarType::Long));
  CHECK(canCast(ScalarType::Int, ScalarType::Float) &&
        !canCast(ScalarType::Float, ScalarType::Int));
  CHECK(!canCast(ScalarType::Int, ScalarType::Bool) && canCast(ScalarType::Bool, ScalarType::Int));
  CHECK(std::strcmp(toString(ScalarType::Char), "Char") == 0);
  CHECK(!isValid(ScalarType::Undefined) && isValid(ScalarType::Bits8));
  CHECK(std::strcmp(to_string(Error::InvalidProgram), "Error::InvalidProgram") == 0);
  const Half half(1.0f / 3);
  CHECK(half + Half(1.f) == Half(1.0f / 3 + 1) && half * 3 == Half(static_cast<float>(half) * 3));
  CHECK(float(half * 2.0f) == static_cast<float>(half) * 2.0f);
  CHECK(std::isinf(float(Half(70000.f))) && float(Half(65519.f)) == 65504.f);
  CHECK(float(std::numeric_limits<Half>::max()) == 65504.f &&
        float(std::numeric_limits<BFloat16>::epsilon()) == 0.0078125f);
}

Result<int> half_of(int number) {
  ET_CHECK_OR_RETURN_ERROR(number % 2 == 0, InvalidArgument, "%d is odd", number);
  return number / 2;
}
Error quarter_of(int number, int* out) {
  *out = ET_UNWRAP(half_of(ET_UNWRAP(half_of(number))));
  return Error::Ok;
}
Error eighth_of(int number, int* out) {
  int quarter = 0;
  ET_CHECK_OK_OR_RETURN_ERROR(quarter_of(number, &quarter));
  ET_ASSIGN_OR_RETURN(eighth, half_of(quarter));
  *out = eighth;
  return Error::Ok;
}

void test_result() {
  int out = 0;
  CHECK(quarter_of(12, &out) == Error::Ok && out == 3);
  CHECK(quarter_of(6, &out) == Error::InvalidArgument);
  CHECK(eighth_of(24, &out) == Error::Ok && out == 3);
  CHECK(eighth_of(12, &out) == Error::InvalidArgument && eighth_of(6, &out) != Error::Ok);
  CHECK(Result<int>(Error::Ok).error() == Error::Internal && !Result<int>(Error::Ok).ok());
  Result<int> moved(half_of(4));
  CHECK(moved.ok() && *moved == 2 && moved.error() == Error::Ok);
}

}  // namespace

int main() {
  runtime_init();
  test_scalar();
  test_array_ref();
  test_evalue();
  test_tensor();
  test_types();
  test_result();
  return finish();
}
