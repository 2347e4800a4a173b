// SPDX-License-Identifier: BSD-3-Clause
//
// Values of a method: checked once, when it is loaded; made from the program when they are needed.
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <new>

#include "method_state.h"
#include "storage.h"

namespace executorch::runtime::internal {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using schema::ValueKind;

namespace {

constexpr bool kVerify = ET_ENABLE_PROGRAM_VERIFICATION;

ScalarType scalar_type_of(const flat::View& tensor) {
  return static_cast<ScalarType>(tensor.u8(schema::tensor::kScalarType));
}

/// Bytes of a tensor with these sizes, or SIZE_MAX when it cannot be. The product of the sizes,
/// empty ones left out, must fit in a stride.
size_t checked_nbytes(const uint8_t* sizes, size_t element_size) {
  int32_t extent = 1;
  bool is_empty = false;
  for (uint32_t i = 0; i < flat::vector_size(sizes); ++i) {
    const auto size = static_cast<int32_t>(flat::vector_u32(sizes, i));
    if (size == 0) {
      is_empty = true;
    } else if (size < 0 || __builtin_mul_overflow(extent, size, &extent)) {
      return SIZE_MAX;
    }
  }
  size_t nbytes;
  return __builtin_mul_overflow(static_cast<size_t>(extent), element_size, &nbytes) ? SIZE_MAX
         : is_empty                                                                 ? 0
                                                                                    : nbytes;
}

}  // namespace

Items::Items(const Serialized& list)
    : data_(flat::field_vector(list.table, 0)),
      size_(flat::vector_size(data_)),
      is_wide_(list.kind == ValueKind::IntList) {}

uint32_t Items::operator[](uint32_t i) const {
  if (is_wide_) {
    const uint64_t item = flat::vector_u64(data_, i);
    return item > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(item);
  }
  return flat::vector_u32(data_, i);
}

Serialized MethodState::serialized(uint32_t index) const {
  const flat::View entry(flat::vector_table(values, index));
  return {static_cast<ValueKind>(entry.u8(schema::evalue::kType)),
          entry.table(schema::evalue::kValue)};
}

void MethodState::mark(uint32_t index) {
  if (!is_marked(index)) {
    marks[index / 32] |= 1u << index % 32;
    ++n_slots;
  }
}

Slot& MethodState::slot(uint32_t index) const {
  size_t first = 0;
  size_t last = n_slots;
  while (last - first > 1) {
    const size_t middle = (first + last) / 2;
    (slots[middle].index <= index ? first : last) = middle;
  }
  return slots[first];
}

Error MethodState::address(const Storage& storage, size_t nbytes, const void*& address) const {
  address = nullptr;
  if (storage.place == Place::Constant) {
    const Result<const void*> constant = program.get_constant_buffer_data(storage.constant, nbytes);
    ET_CHECK_OK_OR_RETURN_ERROR(constant.error());
    address = constant.get();
  } else if (storage.place == Place::Planned) {
    HierarchicalAllocator* planned = memory.planned_memory();
    ET_CHECK_OR_RETURN_ERROR(planned != nullptr, InvalidState, "No planned memory was given");
    const Result<void*> place =
        planned->get_offset_address(storage.buffer(), storage.offset(), nbytes);
    ET_CHECK_OK_OR_RETURN_ERROR(place.error());
    address = place.get();
  }
  return Error::Ok;
}

Error MethodState::check_tensor(uint32_t index, const uint8_t* table,
                                const NamedDataMap* named_data) {
  const flat::View view(table);
  const Storage storage(view);
  const uint8_t dynamism = view.u8(schema::tensor::kShapeDynamism);
  const uint8_t* sizes = view.vector(schema::tensor::kSizes);
  const ScalarType type = scalar_type_of(view);
  if constexpr (kVerify) {
    const uint8_t* dim_order = view.vector(schema::tensor::kDimOrder);
    const uint32_t dims = flat::vector_size(sizes);
    ET_CHECK_OR_RETURN_ERROR(
        isValid(type) && dims == flat::vector_size(dim_order) &&
            validate_dim_order(flat::vector_data(dim_order), dims) &&
            dynamism <= static_cast<uint8_t>(TensorShapeDynamism::DYNAMIC_UNBOUND) &&
            view.u32(schema::tensor::kStorageOffset) == 0,
        InvalidProgram, "Value %" PRIu32 " is no tensor", index);
  }
  const size_t element_size = elementSize(type);
  const size_t nbytes = checked_nbytes(sizes, element_size);
  ET_CHECK_OR_RETURN_ERROR(nbytes != SIZE_MAX, InvalidProgram, "Value %" PRIu32 " has a bad size",
                           index);
  const void* address = nullptr;
  ET_CHECK_OK_OR_RETURN_ERROR(this->address(storage, nbytes, address));
  // The program decides where constants, and in their buffers planned tensors, begin.
  if constexpr (kVerify) {
    const size_t begin =
        storage.place == Place::Constant ? reinterpret_cast<uintptr_t>(address) : storage.offset();
    ET_CHECK_OR_RETURN_ERROR(nbytes == 0 || begin % element_size == 0, InvalidProgram,
                             "Value %" PRIu32 " is not aligned", index);
  }
  ET_CHECK_OR_RETURN_ERROR(!storage.is_external || named_data != nullptr, InvalidState,
                           "Value %" PRIu32 " needs external data", index);
  if (storage.place == Place::Planned) {
    if (storage.is_external) {
      ET_CHECK_OK_OR_RETURN_ERROR(
          named_data->load_data_into(storage.name(), const_cast<void*>(address), nbytes));
    } else if (storage.constant != 0) {
      ET_CHECK_OK_OR_RETURN_ERROR(program.load_initial_state(
          storage.state_segments(), storage.constant, nbytes, const_cast<void*>(address)));
    }
  }
  if (dynamism != 0 || (storage.place == Place::Planned ? !storage.name().empty()
                                                        : storage.place != Place::Constant)) {
    mark(index);
  }
  return Error::Ok;
}

Error MethodState::check_items(const Serialized& list) const {
  const Items items(list);
  const bool is_optional = list.kind == ValueKind::OptionalTensorList;
  for (uint32_t i = 0; i < items.size(); ++i) {
    const uint32_t item = items[i];
    if (is_optional && item == UINT32_MAX) {
      continue;
    }
    ET_CHECK_OR_RETURN_ERROR(item < flat::vector_size(values), InvalidProgram,
                             "An item of a list is missing");
    const ValueKind kind = serialized(item).kind;
    ET_CHECK_OR_RETURN_ERROR(
        kind == (list.kind == ValueKind::IntList ? ValueKind::Int : ValueKind::Tensor) ||
            (is_optional && kind == ValueKind::Null),
        InvalidProgram, "An item of a list is of another kind");
  }
  return Error::Ok;
}

Error MethodState::check_value(uint32_t index, const NamedDataMap* named_data) {
  const Serialized value = serialized(index);
  if (value.kind == ValueKind::Tensor) {
    return check_tensor(index, value.table, named_data);
  }
  if constexpr (kVerify) {
    ET_CHECK_OR_RETURN_ERROR(value.kind != ValueKind::None, InvalidProgram,
                             "Value %" PRIu32 " has no kind", index);
    if (value.kind == ValueKind::BoolList) {
      const uint8_t* items = flat::field_vector(value.table, 0);
      for (uint32_t i = 0; i < flat::vector_size(items); ++i) {
        ET_CHECK_OR_RETURN_ERROR(flat::vector_data(items)[i] <= 1, InvalidProgram,
                                 "List %" PRIu32 " has a bad item", index);
      }
    } else if (value.is_list() && value.kind != ValueKind::DoubleList) {
      return check_items(value);
    }
  }
  return Error::Ok;
}

size_t MethodState::block_size(const Serialized& value) const {
  size_t size = sizeof(EValue);
  if (value.is_plain()) {
    return size;
  }
  if (value.kind == ValueKind::Tensor) {
    const flat::View view(value.table);
    const size_t shape =
        Arena::round_up(flat::vector_size(view.vector(schema::tensor::kSizes)) * sizeof(int32_t));
    const bool is_static = view.u8(schema::tensor::kShapeDynamism) == 0;
    return size + Arena::round_up(sizeof(TensorImpl)) + (is_static ? shape : 2 * shape);
  }
  const Items items(value);
  switch (value.kind) {
    case ValueKind::DoubleList:
      size += items.size() * sizeof(double);
      [[fallthrough]];
    case ValueKind::String:
    case ValueKind::BoolList:
      return size + sizeof(ArrayRef<char>);
    default:
      size += Arena::round_up(sizeof(BoxedEvalueList<int64_t>));
  }
  if (value.kind == ValueKind::IntList) {
    return size + items.size() * sizeof(int64_t);
  }
  size += Arena::round_up(items.size() * (value.kind == ValueKind::TensorList
                                              ? sizeof(Tensor)
                                              : sizeof(std::optional<Tensor>)));
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (items[i] != UINT32_MAX) {
      size += block_size(serialized(items[i])) - sizeof(EValue);
    }
  }
  return size;
}

TensorImpl* MethodState::item_tensor(uint32_t index, Arena& arena) {
  EValue made;
  const EValue* item = &made;
  if (is_marked(index)) {
    item = &slot(index);
  } else {
    make_value(serialized(index), made, arena);
  }
  TensorImpl* impl = item->isTensor() ? item->payload.as_tensor.unsafeGetTensorImpl() : nullptr;
  return impl == nullptr || (impl->data() == nullptr && impl->numel() != 0) ? nullptr : impl;
}

void MethodState::make_tensor(const uint8_t* table, EValue& value, Arena& arena) {
  const flat::View view(table);
  const auto dynamism = static_cast<TensorShapeDynamism>(view.u8(schema::tensor::kShapeDynamism));
  const uint8_t* sizes_vector = view.vector(schema::tensor::kSizes);
  const uint32_t dims = flat::vector_size(sizes_vector);
  // Neither is written through the tensor, unless its shape can change: then it gets a copy.
  auto* sizes = reinterpret_cast<int32_t*>(const_cast<uint8_t*>(flat::vector_data(sizes_vector)));
  auto* dim_order = const_cast<uint8_t*>(flat::vector_data(view.vector(schema::tensor::kDimOrder)));
  auto* impl = arena.take<TensorImpl>(1);
  auto* strides = arena.take<int32_t>(dims);
  if (dynamism != TensorShapeDynamism::STATIC) {
    sizes = static_cast<int32_t*>(memcpy(arena.take<int32_t>(dims), sizes, dims * 4));
  }
  dim_order_to_stride_nocheck(sizes, dim_order, dims, strides);
  new (impl) TensorImpl(scalar_type_of(view), static_cast<ssize_t>(dims), sizes, nullptr, dim_order,
                        strides, dynamism);
  const void* data;
  (void)address(Storage(view), impl->nbytes(), data);
  impl->set_data(const_cast<void*>(data));
  value.payload.as_tensor = Tensor(impl);
  value.tag = Tag::Tensor;
}

bool MethodState::make_value(const Serialized& from, EValue& value, Arena& arena) {
  auto& payload = value.payload.copyable_union;
  switch (from.kind) {
    case ValueKind::Tensor:
      make_tensor(from.table, value, arena);
      return true;
    case ValueKind::Int:
    case ValueKind::Double: {
      // Both are 8 bytes in the file and in the union.
      const uint64_t bits = flat::field_u64(from.table, 0);
      memcpy(static_cast<void*>(&payload), &bits, sizeof(bits));
      value.tag = from.kind == ValueKind::Int ? Tag::Int : Tag::Double;
      return true;
    }
    case ValueKind::Bool:
      payload.as_bool = flat::field_u8(from.table, 0) != 0;
      value.tag = Tag::Bool;
      return true;
    case ValueKind::None:
    case ValueKind::Null:
      value.tag = Tag::None;
      return true;
    default:
      break;
  }

  const uint8_t* vector = flat::field_vector(from.table, 0);
  const uint32_t count = flat::vector_size(vector);
  const uint8_t* bytes = flat::vector_data(vector);
  switch (from.kind) {
    case ValueKind::String:
      payload.as_string_ptr = new (arena.take<ArrayRef<char>>(1))
          ArrayRef<char>(reinterpret_cast<const char*>(bytes), count);
      value.tag = Tag::String;
      return true;
    case ValueKind::BoolList:
      payload.as_bool_list_ptr = new (arena.take<ArrayRef<bool>>(1))
          ArrayRef<bool>(reinterpret_cast<const bool*>(bytes), count);
      value.tag = Tag::ListBool;
      return true;
    case ValueKind::DoubleList: {
      auto* list = arena.take<ArrayRef<double>>(1);
      // Copied, since in the file they may lie at a multiple of 4.
      auto* numbers = arena.take<double>(count);
      memcpy(numbers, bytes, count * sizeof(double));
      payload.as_double_list_ptr = new (list) ArrayRef<double>(numbers, count);
      value.tag = Tag::ListDouble;
      return true;
    }
    default:
      break;
  }

  const Items items(from);
  if (from.kind == ValueKind::IntList) {
    auto* list = arena.take<BoxedEvalueList<int64_t>>(1);
    auto* numbers = arena.take<int64_t>(count);
    for (uint32_t i = 0; i < count; ++i) {
      numbers[i] = is_marked(items[i])
                       ? slot(items[i]).payload.copyable_union.as_int
                       : static_cast<int64_t>(flat::field_u64(serialized(items[i]).table, 0));
    }
    payload.as_int_list_ptr = new (list) BoxedEvalueList<int64_t>(numbers, count);
    value.tag = Tag::ListInt;
    return true;
  }
  if (from.kind == ValueKind::TensorList) {
    auto* list = arena.take<BoxedEvalueList<Tensor>>(1);
    auto* tensors = arena.take<Tensor>(count);
    for (uint32_t i = 0; i < count; ++i) {
      TensorImpl* impl = item_tensor(items[i], arena);
      if (impl == nullptr) {
        return false;
      }
      new (&tensors[i]) Tensor(impl);
    }
    payload.as_tensor_list_ptr = new (list) BoxedEvalueList<Tensor>(tensors, count);
    value.tag = Tag::ListTensor;
    return true;
  }
  auto* list = arena.take<BoxedEvalueList<std::optional<Tensor>>>(1);
  auto* tensors = arena.take<std::optional<Tensor>>(count);
  for (uint32_t i = 0; i < count; ++i) {
    TensorImpl* impl = items[i] == UINT32_MAX ? nullptr : item_tensor(items[i], arena);
    if (impl != nullptr) {
      new (&tensors[i]) std::optional<Tensor>(impl);
    } else {
      new (&tensors[i]) std::optional<Tensor>();
    }
  }
  payload.as_list_optional_tensor_ptr =
      new (list) BoxedEvalueList<std::optional<Tensor>>(tensors, count);
  value.tag = Tag::ListOptionalTensor;
  return true;
}

EValue* MethodState::value(uint32_t index, Arena& arena) {
  if (is_marked(index)) {
    Slot& lasting = slot(index);
    // Items of a list may have changed: lists are made anew.
    if (lasting.tag < Tag::ListBool) {
      return &lasting;
    }
  }
  EValue* made = new (arena.take<EValue>(1)) EValue();
  return make_value(serialized(index), *made, arena) ? made : nullptr;
}

Slot& MethodState::output(size_t i) {
  Slot& lasting = slot(list_item(schema::plan::kOutputs, i));
  if (lasting.tag >= Tag::ListBool) {
    // The list begins its block.
    Arena arena(lasting.payload.copyable_union.as_int_list_ptr);
    make_value(serialized(lasting.index), lasting, arena);
  }
  return lasting;
}

Error MethodState::make_slots(const NamedDataMap* named_data, ExternalLoader load_external) {
  MemoryAllocator& pool = *memory.method_allocator();
  slots = pool.allocateList<Slot>(n_slots);
  if (slots == nullptr && n_slots != 0) {
    return Error::MemoryAllocationFailed;
  }
  Slot* next = slots;
  for (uint32_t i = 0; i < flat::vector_size(values); ++i) {
    if (is_marked(i)) {
      new (next) Slot();
      next->index = i & INT32_MAX;
      next->is_set = 0;
      ++next;
    }
  }
  // Lists last: they need their items.
  for (uint32_t pass = 0; pass < 2; ++pass) {
    for (Slot* lasting = slots; lasting != next; ++lasting) {
      const Serialized from = serialized(lasting->index);
      if (from.is_list() != (pass == 1)) {
        continue;
      }
      const size_t size = block_size(from) - sizeof(EValue);
      void* block = size == 0 ? nullptr : pool.allocate(size, 8);
      if (block == nullptr && size != 0) {
        return Error::MemoryAllocationFailed;
      }
      Arena arena(block);
      make_value(from, *lasting, arena);
      if (from.kind == ValueKind::Tensor &&
          Storage(flat::View(from.table)).place == Place::External) {
        ET_CHECK_OK_OR_RETURN_ERROR(load_external(*this, lasting->index, named_data));
      }
    }
  }
  return Error::Ok;
}

bool MethodState::is_planned(uint32_t index) const {
  return Storage(flat::View(serialized(index).table)).place != Place::Runtime;
}

Result<Tensor> MethodState::attribute(std::string_view name) const {
  for (const Slot& lasting : Span<Slot>(slots, n_slots)) {
    const Serialized from = serialized(lasting.index);
    if (from.kind == ValueKind::Tensor && lasting.isTensor()) {
      const Storage storage{flat::View(from.table)};
      if (storage.place == Place::Planned && storage.name() == name) {
        return lasting.toTensor();
      }
    }
  }
  return Error::NotFound;
}

}  // namespace executorch::runtime::internal
