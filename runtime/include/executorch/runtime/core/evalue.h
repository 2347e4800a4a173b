// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/platform/assert.h>

#include <optional>
#include <string_view>

namespace executorch::runtime {

struct EValue;

/// A list of plain values, or one whose items are values of their own. Of the latter get() copies
/// the present values into one array, so that what was written to an item is seen by the next
/// reader.
template <typename T>
class BoxedEvalueList {
 public:
  BoxedEvalueList() = default;
  /// `wrapped` points to `size` items, `unwrapped` to room for `size` plain values. A null item
  /// stands for "no tensor" and is allowed in lists of optional tensors only.
  BoxedEvalueList(EValue** wrapped, T* unwrapped, int size)
      : wrapped_(wrapped), unwrapped_(unwrapped), size_(static_cast<uint32_t>(size)) {
    ET_CHECK(wrapped != nullptr && unwrapped != nullptr && size >= 0);
  }
  /// A list of plain values. Not in ExecuTorch.
  BoxedEvalueList(T* values, uint32_t size) : unwrapped_(values), size_(size) {}

  /// The items' present values. Items of another kind stop the program.
  executorch::aten::ArrayRef<T> get() const;
  /// As get(), but items of another kind give InvalidType, and missing ones InvalidState.
  Result<executorch::aten::ArrayRef<T>> tryGet() const;

 private:
  EValue** wrapped_ = nullptr;
  T* unwrapped_ = nullptr;
  uint32_t size_ = 0;
};

/// A value of a program: a tagged union. 16 bytes on a 32-bit machine. It owns nothing: lists,
/// strings and tensors belong to the method.
struct EValue {
  using Tensor = executorch::aten::Tensor;
  template <typename T>
  using ArrayRef = executorch::aten::ArrayRef<T>;

  union Payload {
    union TriviallyCopyablePayload {
      int64_t as_int;
      double as_double;
      bool as_bool;
      ArrayRef<char>* as_string_ptr;
      ArrayRef<double>* as_double_list_ptr;
      ArrayRef<bool>* as_bool_list_ptr;
      BoxedEvalueList<int64_t>* as_int_list_ptr;
      BoxedEvalueList<Tensor>* as_tensor_list_ptr;
      BoxedEvalueList<std::optional<Tensor>>* as_list_optional_tensor_ptr;
      TriviallyCopyablePayload() : as_int(0) {}
    } copyable_union;
    Tensor as_tensor;
    Payload() : copyable_union() {}
  };

  Payload payload;
  Tag tag;

  EValue() : tag(Tag::None) {}
  EValue(const EValue&) = default;
  EValue& operator=(const EValue&) = default;

  /* implicit */ EValue(int64_t value) : tag(Tag::Int) { payload.copyable_union.as_int = value; }
  /* implicit */ EValue(double value) : tag(Tag::Double) {
    payload.copyable_union.as_double = value;
  }
  /* implicit */ EValue(bool value) : tag(Tag::Bool) { payload.copyable_union.as_bool = value; }
  /* implicit */ EValue(Tensor value) : tag(Tag::Tensor) { payload.as_tensor = value; }
  /* implicit */ EValue(executorch::aten::Scalar value) : EValue() {
    if (value.isIntegral(false)) {
      *this = EValue(value.to<int64_t>());
    } else if (value.isFloatingPoint()) {
      *this = EValue(value.to<double>());
    } else {
      *this = EValue(value.to<bool>());
    }
  }
  /* implicit */ EValue(ArrayRef<char>* value) : tag(Tag::String) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_string_ptr = value;
  }
  /* implicit */ EValue(ArrayRef<bool>* value) : tag(Tag::ListBool) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_bool_list_ptr = value;
  }
  /* implicit */ EValue(ArrayRef<double>* value) : tag(Tag::ListDouble) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_double_list_ptr = value;
  }
  /* implicit */ EValue(BoxedEvalueList<int64_t>* value) : tag(Tag::ListInt) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_int_list_ptr = value;
  }
  /* implicit */ EValue(BoxedEvalueList<Tensor>* value) : tag(Tag::ListTensor) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_tensor_list_ptr = value;
  }
  /* implicit */ EValue(BoxedEvalueList<std::optional<Tensor>>* value)
      : tag(Tag::ListOptionalTensor) {
    ET_CHECK(value != nullptr);
    payload.copyable_union.as_list_optional_tensor_ptr = value;
  }

  bool isNone() const { return tag == Tag::None; }
  bool isInt() const { return tag == Tag::Int; }
  bool isDouble() const { return tag == Tag::Double; }
  bool isBool() const { return tag == Tag::Bool; }
  bool isScalar() const { return isInt() || isDouble() || isBool(); }
  bool isTensor() const { return tag == Tag::Tensor; }
  bool isString() const { return tag == Tag::String; }
  bool isIntList() const { return tag == Tag::ListInt; }
  bool isBoolList() const { return tag == Tag::ListBool; }
  bool isDoubleList() const { return tag == Tag::ListDouble; }
  bool isTensorList() const { return tag == Tag::ListTensor; }
  bool isListOptionalTensor() const { return tag == Tag::ListOptionalTensor; }

  // Readers. A value of another kind stops the program.
  int64_t toInt() const {
    check(isInt());
    return payload.copyable_union.as_int;
  }
  double toDouble() const {
    check(isDouble());
    return payload.copyable_union.as_double;
  }
  bool toBool() const {
    check(isBool());
    return payload.copyable_union.as_bool;
  }
  executorch::aten::Scalar toScalar() const {
    if (isDouble()) {
      return toDouble();
    }
    if (isBool()) {
      return toBool();
    }
    return toInt();
  }
  const Tensor& toTensor() const {
    check(isTensor());
    return payload.as_tensor;
  }
  Tensor& toTensor() {
    check(isTensor());
    return payload.as_tensor;
  }
  std::string_view toString() const {
    check(isString());
    const ArrayRef<char>& text = *payload.copyable_union.as_string_ptr;
    return std::string_view(text.data(), text.size());
  }
  ArrayRef<int64_t> toIntList() const {
    check(isIntList());
    return payload.copyable_union.as_int_list_ptr->get();
  }
  ArrayRef<bool> toBoolList() const {
    check(isBoolList());
    return *payload.copyable_union.as_bool_list_ptr;
  }
  ArrayRef<double> toDoubleList() const {
    check(isDoubleList());
    return *payload.copyable_union.as_double_list_ptr;
  }
  ArrayRef<Tensor> toTensorList() const {
    check(isTensorList());
    return payload.copyable_union.as_tensor_list_ptr->get();
  }
  ArrayRef<std::optional<Tensor>> toListOptionalTensor() const {
    check(isListOptionalTensor());
    return payload.copyable_union.as_list_optional_tensor_ptr->get();
  }
  executorch::aten::ScalarType toScalarType() const {
    return static_cast<executorch::aten::ScalarType>(toInt());
  }
  executorch::aten::MemoryFormat toMemoryFormat() const {
    return static_cast<executorch::aten::MemoryFormat>(toInt());
  }
  executorch::aten::Layout toLayout() const {
    return static_cast<executorch::aten::Layout>(toInt());
  }
  executorch::aten::Device toDevice() const {
    return executorch::aten::Device(static_cast<executorch::aten::DeviceType>(toInt()), -1);
  }

  // The same as a Result: a value of another kind gives InvalidType.
  Result<int64_t> tryToInt() const {
    ET_CHECK_OR_RETURN_ERROR(isInt(), InvalidType, "EValue is not an int.");
    return payload.copyable_union.as_int;
  }
  Result<double> tryToDouble() const {
    ET_CHECK_OR_RETURN_ERROR(isDouble(), InvalidType, "EValue is not a double.");
    return payload.copyable_union.as_double;
  }
  Result<bool> tryToBool() const {
    ET_CHECK_OR_RETURN_ERROR(isBool(), InvalidType, "EValue is not a bool.");
    return payload.copyable_union.as_bool;
  }
  Result<executorch::aten::Scalar> tryToScalar() const {
    ET_CHECK_OR_RETURN_ERROR(isScalar(), InvalidType, "EValue is not a scalar.");
    return toScalar();
  }
  Result<Tensor> tryToTensor() const {
    ET_CHECK_OR_RETURN_ERROR(isTensor(), InvalidType, "EValue is not a tensor.");
    return payload.as_tensor;
  }
  Result<std::string_view> tryToString() const {
    ET_CHECK_OR_RETURN_ERROR(isString(), InvalidType, "EValue is not a string.");
    return toString();
  }
  Result<ArrayRef<int64_t>> tryToIntList() const {
    ET_CHECK_OR_RETURN_ERROR(isIntList(), InvalidType, "EValue is not a list of ints.");
    return payload.copyable_union.as_int_list_ptr->tryGet();
  }
  Result<ArrayRef<bool>> tryToBoolList() const {
    ET_CHECK_OR_RETURN_ERROR(isBoolList(), InvalidType, "EValue is not a list of bools.");
    return *payload.copyable_union.as_bool_list_ptr;
  }
  Result<ArrayRef<double>> tryToDoubleList() const {
    ET_CHECK_OR_RETURN_ERROR(isDoubleList(), InvalidType, "EValue is not a list of doubles.");
    return *payload.copyable_union.as_double_list_ptr;
  }
  Result<ArrayRef<Tensor>> tryToTensorList() const {
    ET_CHECK_OR_RETURN_ERROR(isTensorList(), InvalidType, "EValue is not a list of tensors.");
    return payload.copyable_union.as_tensor_list_ptr->tryGet();
  }
  Result<ArrayRef<std::optional<Tensor>>> tryToListOptionalTensor() const {
    ET_CHECK_OR_RETURN_ERROR(isListOptionalTensor(), InvalidType,
                             "EValue is not a list of optional tensors.");
    return payload.copyable_union.as_list_optional_tensor_ptr->tryGet();
  }
  Result<executorch::aten::ScalarType> tryToScalarType() const {
    return try_enum<executorch::aten::ScalarType>();
  }
  Result<executorch::aten::MemoryFormat> tryToMemoryFormat() const {
    return try_enum<executorch::aten::MemoryFormat>();
  }
  Result<executorch::aten::Layout> tryToLayout() const {
    return try_enum<executorch::aten::Layout>();
  }
  Result<executorch::aten::Device> tryToDevice() const {
    ET_CHECK_OR_RETURN_ERROR(isInt(), InvalidType, "EValue is not an int.");
    return toDevice();
  }

  /// The value as any of the types above, with the reader of that type.
  template <typename T>
  decltype(auto) to() const& {
    return Reader<T>::get(*this);
  }
  template <typename T>
  decltype(auto) to() & {
    if constexpr (std::is_same_v<T, Tensor>) {
      return toTensor();
    } else {
      return Reader<T>::get(*this);
    }
  }
  template <typename T>
  T to() && {
    return Reader<T>::get(*this);
  }
  template <typename T>
  Result<T> tryTo() const {
    return Reader<T>::try_get(*this);
  }

  /// None as nullopt, else the value.
  template <typename T>
  std::optional<T> toOptional() const {
    if (isNone()) {
      return std::nullopt;
    }
    return to<T>();
  }
  template <typename T>
  Result<std::optional<T>> tryToOptional() const {
    if (isNone()) {
      return std::optional<T>(std::nullopt);
    }
    Result<T> value = tryTo<T>();
    if (!value.ok()) {
      return value.error();
    }
    return std::optional<T>(value.get());
  }

 private:
  template <typename T>
  struct Reader;

  static void check(bool right_kind) { ET_CHECK_MSG(right_kind, "EValue has another kind."); }
  template <typename T>
  Result<T> try_enum() const {
    ET_CHECK_OR_RETURN_ERROR(isInt(), InvalidType, "EValue is not an int.");
    return static_cast<T>(payload.copyable_union.as_int);
  }
};

#define GEN_KERNELS_EVALUE_READER(type, name)                                        \
  template <>                                                                        \
  struct EValue::Reader<type> {                                                      \
    static decltype(auto) get(const EValue& value) { return value.to##name(); }      \
    static Result<type> try_get(const EValue& value) { return value.tryTo##name(); } \
  };
GEN_KERNELS_EVALUE_READER(int64_t, Int)
GEN_KERNELS_EVALUE_READER(double, Double)
GEN_KERNELS_EVALUE_READER(bool, Bool)
GEN_KERNELS_EVALUE_READER(executorch::aten::Scalar, Scalar)
GEN_KERNELS_EVALUE_READER(executorch::aten::Tensor, Tensor)
GEN_KERNELS_EVALUE_READER(std::string_view, String)
GEN_KERNELS_EVALUE_READER(executorch::aten::ScalarType, ScalarType)
GEN_KERNELS_EVALUE_READER(executorch::aten::MemoryFormat, MemoryFormat)
GEN_KERNELS_EVALUE_READER(executorch::aten::Layout, Layout)
GEN_KERNELS_EVALUE_READER(executorch::aten::Device, Device)
GEN_KERNELS_EVALUE_READER(executorch::aten::ArrayRef<int64_t>, IntList)
GEN_KERNELS_EVALUE_READER(executorch::aten::ArrayRef<bool>, BoolList)
GEN_KERNELS_EVALUE_READER(executorch::aten::ArrayRef<double>, DoubleList)
GEN_KERNELS_EVALUE_READER(executorch::aten::ArrayRef<executorch::aten::Tensor>, TensorList)
GEN_KERNELS_EVALUE_READER(executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>,
                          ListOptionalTensor)
#undef GEN_KERNELS_EVALUE_READER

template <typename T>
struct EValue::Reader<std::optional<T>> {
  static std::optional<T> get(const EValue& value) { return value.toOptional<T>(); }
  static Result<std::optional<T>> try_get(const EValue& value) { return value.tryToOptional<T>(); }
};

// Defined once, in runtime/src/evalue.cpp.
extern template class BoxedEvalueList<int64_t>;
extern template class BoxedEvalueList<executorch::aten::Tensor>;
extern template class BoxedEvalueList<std::optional<executorch::aten::Tensor>>;

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::BoxedEvalueList;
using ::executorch::runtime::EValue;
}  // namespace torch::executor
