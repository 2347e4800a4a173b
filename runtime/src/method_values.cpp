// SPDX-License-Identifier: BSD-3-Clause
//
// Values of a method: checked once, when it is loaded; made from the program when they are needed.
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <new>

#include "method_state.h"

namespace executorch::runtime::internal {

namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using schema::ValueKind;

namespace {

/// Where a tensor's elements are.
enum class Place { Runtime, Constant, Planned, External };

/// The parts of a serialised tensor that decide where its elements are.
struct Storage {
  explicit Storage(const uint8_t* tensor)
      : allocation(flat::field_table(tensor, schema::tensor::kAllocationInfo)),
        extra(flat::field_table(tensor, schema::tensor::kExtraTensorInfo)),
        constant(flat::field_u32(tensor, schema::tensor::kDataBufferIndex)) {
    const bool is_external = extra != nullptr && flat::field_u8(extra, schema::extra::kLocation) ==
                                                     schema::extra::kLocationExternal;
    place = allocation != nullptr ? Place::Planned
            : is_external         ? Place::External
            : constant != 0       ? Place::Constant
                                  : Place::Runtime;
    has_external_state = is_external && place == Place::Planned;
  }

  std::string_view name() const {
    if (extra == nullptr) {
      return {};
    }
    const uint8_t* text = flat::field_vector(extra, schema::extra::kFullyQualifiedName);
    return {flat::string_data(text), flat::vector_size(text)};
  }
  /// Position in the planned buffer; SIZE_MAX when it is beyond this machine.
  size_t offset() const {
    const uint64_t offset = flat::field_u32(allocation, schema::allocation::kOffsetLow) |
                            uint64_t{flat::field_u32(allocation, schema::allocation::kOffsetHigh)}
                                << 32;
    return offset > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(offset);
  }
  /// Planned buffers are numbered from 1 in a program.
  uint32_t buffer() const { return flat::field_u32(allocation, schema::allocation::kMemoryId) - 1; }

  const uint8_t* allocation;
  const uint8_t* extra;
  uint32_t constant;
  Place place;
  bool has_external_state;
};

Result<void*> planned_address(const MethodState& state, const Storage& storage, size_t nbytes) {
  HierarchicalAllocator* planned = state.memory.planned_memory();
  ET_CHECK_OR_RETURN_ERROR(planned != nullptr, InvalidState, "No planned memory was given");
  return planned->get_offset_address(storage.buffer(), storage.offset(), nbytes);
}

/// Bytes of a tensor with these sizes, or InvalidProgram. The product of the sizes, empty ones
/// left out, must fit in a stride.
Result<size_t> checked_nbytes(const uint8_t* sizes, ScalarType type) {
  int32_t extent = 1;
  bool is_empty = false;
  for (uint32_t i = 0; i < flat::vector_size(sizes); ++i) {
    const int32_t size = static_cast<int32_t>(flat::vector_u32(sizes, i));
    if (size == 0) {
      is_empty = true;
    } else if (size < 0 || __builtin_mul_overflow(extent, size, &extent)) {
      return Error::InvalidProgram;
    }
  }
  const size_t element = elementSize(type);
  if (is_empty) {
    return size_t{0};
  }
  return static_cast<size_t>(extent) > SIZE_MAX / element
             ? Result<size_t>(Error::InvalidProgram)
             : Result<size_t>(static_cast<size_t>(extent) * element);
}

bool is_list(Tag tag) { return tag >= Tag::ListBool; }

}  // namespace

ValueKind MethodState::kind(uint32_t index) const {
  return static_cast<ValueKind>(
      flat::field_u8(flat::vector_table(values, index), schema::evalue::kType));
}

const uint8_t* MethodState::content(uint32_t index) const {
  return flat::field_table(flat::vector_table(values, index), schema::evalue::kValue);
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

Error MethodState::check_tensor(uint32_t index, const NamedDataMap* named_data) {
  const uint8_t* tensor = content(index);
  const auto type = static_cast<ScalarType>(flat::field_u8(tensor, schema::tensor::kScalarType));
  const uint8_t* sizes = flat::field_vector(tensor, schema::tensor::kSizes);
  const uint8_t* dim_order = flat::field_vector(tensor, schema::tensor::kDimOrder);
  const uint32_t dims = flat::vector_size(sizes);
  const uint8_t dynamism = flat::field_u8(tensor, schema::tensor::kShapeDynamism);
  ET_CHECK_OR_RETURN_ERROR(
      isValid(type) && dims <= kTensorDimensionLimit && flat::vector_size(dim_order) == dims &&
          validate_dim_order(flat::vector_data(dim_order), dims) &&
          dynamism <= static_cast<uint8_t>(TensorShapeDynamism::DYNAMIC_UNBOUND),
      InvalidProgram, "Value %" PRIu32 " is no tensor", index);
  ET_CHECK_OR_RETURN_ERROR(flat::field_u32(tensor, schema::tensor::kStorageOffset) == 0,
                           NotSupported, "Value %" PRIu32 " has a storage offset", index);
  const Result<size_t> nbytes = checked_nbytes(sizes, type);
  if (!nbytes.ok()) {
    return nbytes.error();
  }

  const Storage storage(tensor);
  bool lasts = dynamism != static_cast<uint8_t>(TensorShapeDynamism::STATIC);
  switch (storage.place) {
    case Place::Planned: {
      ET_CHECK_OR_RETURN_ERROR(
          storage.buffer() != UINT32_MAX && storage.offset() % (elementSize(type)) == 0,
          InvalidProgram, "Value %" PRIu32 " has a bad place", index);
      const Result<void*> address = planned_address(*this, storage, nbytes.get());
      if (!address.ok()) {
        return address.error();
      }
      if (storage.has_external_state) {
        ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidState,
                                 "Value %" PRIu32 " needs external data", index);
        ET_CHECK_OK_OR_RETURN_ERROR(
            named_data->load_data_into(storage.name(), address.get(), nbytes.get()));
      } else if (storage.constant != 0) {
        const uint64_t segments =
            storage.extra == nullptr
                ? 0
                : flat::field_u64(storage.extra, schema::extra::kMutableDataSegmentsIndex);
        ET_CHECK_OK_OR_RETURN_ERROR(segments > UINT32_MAX
                                        ? Error::InvalidProgram
                                        : program.load_initial_state(static_cast<size_t>(segments),
                                                                     storage.constant, nbytes.get(),
                                                                     address.get()));
      }
      lasts = lasts || !storage.name().empty();
      break;
    }
    case Place::Constant: {
      const Result<const void*> address =
          program.get_constant_buffer_data(storage.constant, nbytes.get());
      if (!address.ok()) {
        return address.error();
      }
      ET_CHECK_OR_RETURN_ERROR(
          nbytes.get() == 0 || reinterpret_cast<uintptr_t>(address.get()) % elementSize(type) == 0,
          InvalidProgram, "Value %" PRIu32 " is not aligned", index);
      break;
    }
    case Place::External:
      ET_CHECK_OR_RETURN_ERROR(named_data != nullptr, InvalidState,
                               "Value %" PRIu32 " needs external data", index);
      [[fallthrough]];
    case Place::Runtime:
      lasts = true;
  }
  if (lasts) {
    mark(index);
  }
  return Error::Ok;
}

Error MethodState::check_value(uint32_t index, const NamedDataMap* named_data) {
  const ValueKind value_kind = kind(index);
  if (value_kind == ValueKind::Tensor) {
    return check_tensor(index, named_data);
  }
  ET_CHECK_OR_RETURN_ERROR(value_kind != ValueKind::None, InvalidProgram,
                           "Value %" PRIu32 " has no kind", index);
  if constexpr (!ET_ENABLE_PROGRAM_VERIFICATION) {
    return Error::Ok;
  }
  const bool is_int_list = value_kind == ValueKind::IntList;
  const bool is_optional = value_kind == ValueKind::OptionalTensorList;
  if (is_int_list || is_optional || value_kind == ValueKind::TensorList) {
    const uint8_t* items = flat::field_vector(content(index), 0);
    for (uint32_t i = 0; i < flat::vector_size(items); ++i) {
      // An index beyond 32 bits is out of range as well.
      const uint64_t item =
          is_int_list ? flat::vector_u64(items, i) : uint64_t{flat::vector_u32(items, i)};
      if (is_optional && item == UINT32_MAX) {
        continue;
      }
      ET_CHECK_OR_RETURN_ERROR(item < n_values, InvalidProgram,
                               "List %" PRIu32 " has an item out of range", index);
      const ValueKind item_kind = kind(static_cast<uint32_t>(item));
      ET_CHECK_OR_RETURN_ERROR(item_kind == (is_int_list ? ValueKind::Int : ValueKind::Tensor) ||
                                   (is_optional && item_kind == ValueKind::Null),
                               InvalidProgram, "List %" PRIu32 " has an item of another kind",
                               index);
    }
  } else if (value_kind == ValueKind::BoolList) {
    const uint8_t* items = flat::field_vector(content(index), 0);
    for (uint32_t i = 0; i < flat::vector_size(items); ++i) {
      ET_CHECK_OR_RETURN_ERROR(flat::vector_data(items)[i] <= 1, InvalidProgram,
                               "List %" PRIu32 " has a bad item", index);
    }
  }
  return Error::Ok;
}

size_t MethodState::block_size(uint32_t index) const {
  const ValueKind value_kind = kind(index);
  size_t size = sizeof(EValue);
  if (value_kind <= ValueKind::Double) {
    return size;
  }
  const uint8_t* table = content(index);
  if (value_kind == ValueKind::Tensor) {
    const uint32_t dims = flat::vector_size(flat::field_vector(table, schema::tensor::kSizes));
    const size_t shape = Arena::round_up(dims * sizeof(int32_t));
    const bool is_static = flat::field_u8(table, schema::tensor::kShapeDynamism) == 0;
    return size + Arena::round_up(sizeof(TensorImpl)) + (is_static ? shape : 2 * shape);
  }
  const uint8_t* items = flat::field_vector(table, 0);
  const size_t count = flat::vector_size(items);
  switch (value_kind) {
    case ValueKind::String:
    case ValueKind::BoolList:
      return size + Arena::round_up(sizeof(ArrayRef<char>));
    case ValueKind::DoubleList:
      return size + Arena::round_up(sizeof(ArrayRef<double>)) + count * sizeof(double);
    default:
      size += Arena::round_up(sizeof(BoxedEvalueList<int64_t>));
  }
  if (value_kind == ValueKind::IntList) {
    return size + count * sizeof(int64_t);
  }
  const bool is_optional = value_kind == ValueKind::OptionalTensorList;
  size += Arena::round_up(count * (is_optional ? sizeof(std::optional<Tensor>) : sizeof(Tensor)));
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t item = flat::vector_u32(items, i);
    size += is_optional && item == UINT32_MAX ? 0 : block_size(item) - sizeof(EValue);
  }
  return size;
}

bool MethodState::make_tensor(uint32_t index, Tensor& tensor, Arena& arena) {
  if (is_marked(index)) {
    const Slot& lasting = slot(index);
    if (!lasting.isTensor()) {
      return false;
    }
    tensor = lasting.toTensor();
    return true;
  }
  EValue value;
  make_value(index, value, arena);
  tensor = value.toTensor();
  return true;
}

bool MethodState::make_value(uint32_t index, EValue& value, Arena& arena) {
  const ValueKind value_kind = kind(index);
  const uint8_t* table = content(index);
  if (value_kind == ValueKind::Tensor) {
    const auto type = static_cast<ScalarType>(flat::field_u8(table, schema::tensor::kScalarType));
    const auto dynamism =
        static_cast<TensorShapeDynamism>(flat::field_u8(table, schema::tensor::kShapeDynamism));
    const uint8_t* sizes_vector = flat::field_vector(table, schema::tensor::kSizes);
    const uint32_t dims = flat::vector_size(sizes_vector);
    // Neither is written through the tensor, unless its shape can change: then it gets a copy.
    auto* sizes = reinterpret_cast<int32_t*>(const_cast<uint8_t*>(flat::vector_data(sizes_vector)));
    auto* dim_order = const_cast<uint8_t*>(
        flat::vector_data(flat::field_vector(table, schema::tensor::kDimOrder)));
    auto* impl = arena.take<TensorImpl>(1);
    auto* strides = arena.take<int32_t>(dims);
    if (dynamism != TensorShapeDynamism::STATIC) {
      sizes = static_cast<int32_t*>(memcpy(arena.take<int32_t>(dims), sizes, dims * 4));
    }
    dim_order_to_stride_nocheck(sizes, dim_order, dims, strides);
    new (impl)
        TensorImpl(type, static_cast<ssize_t>(dims), sizes, nullptr, dim_order, strides, dynamism);
    const Storage storage(table);
    if (storage.place == Place::Planned) {
      impl->set_data(planned_address(*this, storage, impl->nbytes()).get());
    } else if (storage.place == Place::Constant) {
      impl->set_data(const_cast<void*>(
          program.get_constant_buffer_data(storage.constant, impl->nbytes()).get()));
    }
    value = EValue(Tensor(impl));
    return true;
  }

  switch (value_kind) {
    case ValueKind::Int:
      value = EValue(static_cast<int64_t>(flat::field_u64(table, 0)));
      return true;
    case ValueKind::Bool:
      value = EValue(flat::field_u8(table, 0) != 0);
      return true;
    case ValueKind::Double: {
      const uint64_t bits = flat::field_u64(table, 0);
      double number;
      memcpy(&number, &bits, sizeof(number));
      value = EValue(number);
      return true;
    }
    default:
      break;
  }
  value = EValue();
  if (value_kind <= ValueKind::Null) {
    return true;
  }

  const uint8_t* items = flat::field_vector(table, 0);
  const uint32_t count = flat::vector_size(items);
  switch (value_kind) {
    case ValueKind::String:
      value = EValue(new (arena.take<ArrayRef<char>>(1))
                         ArrayRef<char>(flat::string_data(items), count));
      return true;
    case ValueKind::BoolList:
      value = EValue(new (arena.take<ArrayRef<bool>>(1)) ArrayRef<bool>(
          reinterpret_cast<const bool*>(flat::vector_data(items)), count));
      return true;
    case ValueKind::DoubleList: {
      auto* list = arena.take<ArrayRef<double>>(1);
      // Copied, since in the file they may lie at a multiple of 4.
      auto* numbers = arena.take<double>(count);
      memcpy(numbers, flat::vector_data(items), count * sizeof(double));
      value = EValue(new (list) ArrayRef<double>(numbers, count));
      return true;
    }
    case ValueKind::IntList: {
      auto* list = arena.take<BoxedEvalueList<int64_t>>(1);
      auto* numbers = arena.take<int64_t>(count);
      for (uint32_t i = 0; i < count; ++i) {
        const auto item = static_cast<uint32_t>(flat::vector_u64(items, i));
        numbers[i] = is_marked(item) ? slot(item).payload.copyable_union.as_int
                                     : static_cast<int64_t>(flat::field_u64(content(item), 0));
      }
      value = EValue(new (list) BoxedEvalueList<int64_t>(numbers, count));
      return true;
    }
    case ValueKind::TensorList: {
      auto* list = arena.take<BoxedEvalueList<Tensor>>(1);
      auto* tensors = arena.take<Tensor>(count);
      for (uint32_t i = 0; i < count; ++i) {
        if (!make_tensor(flat::vector_u32(items, i), tensors[i], arena)) {
          return false;
        }
      }
      value = EValue(new (list) BoxedEvalueList<Tensor>(tensors, count));
      return true;
    }
    default: {  // OptionalTensorList
      auto* list = arena.take<BoxedEvalueList<std::optional<Tensor>>>(1);
      auto* tensors = arena.take<std::optional<Tensor>>(count);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t item = flat::vector_u32(items, i);
        new (&tensors[i]) std::optional<Tensor>();
        Tensor tensor(nullptr);
        if (item != UINT32_MAX && kind(item) == ValueKind::Tensor) {
          if (!make_tensor(item, tensor, arena)) {
            return false;
          }
          tensors[i] = tensor;
        }
      }
      value = EValue(new (list) BoxedEvalueList<std::optional<Tensor>>(tensors, count));
      return true;
    }
  }
}

EValue* MethodState::value(uint32_t index, Arena& arena) {
  if (is_marked(index)) {
    Slot& lasting = slot(index);
    // Items of a list may have changed: lists are made anew.
    if (!is_list(lasting.tag)) {
      return &lasting;
    }
  }
  EValue* made = new (arena.take<EValue>(1)) EValue();
  return make_value(index, *made, arena) ? made : nullptr;
}

void MethodState::refresh(Slot& lasting) {
  if (is_list(lasting.tag)) {
    // The list begins its block.
    Arena arena(reinterpret_cast<uint8_t*>(lasting.payload.copyable_union.as_int_list_ptr));
    make_value(lasting.index, lasting, arena);
  }
}

Error MethodState::make_slots(const NamedDataMap* named_data) {
  for (uint32_t i = 0; i < (n_values + 31) / 32; ++i) {
    n_slots += static_cast<uint32_t>(__builtin_popcount(marks[i]));
  }
  MemoryAllocator& pool = *memory.method_allocator();
  slots = pool.allocateList<Slot>(n_slots);
  if (slots == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  Slot* next = slots;
  for (uint32_t i = 0; i < n_values; ++i) {
    if (is_marked(i)) {
      new (next) Slot();
      next->index = i & 0x7fffffffu;
      next->is_set = 0;
      ++next;
    }
  }
  // Lists last: they need their items.
  for (const bool lists : {false, true}) {
    for (Slot& lasting : Span<Slot>(slots, n_slots)) {
      const uint32_t index = lasting.index;
      const ValueKind value_kind = kind(index);
      if ((value_kind >= ValueKind::IntList) != lists) {
        continue;
      }
      const size_t size = block_size(index) - sizeof(EValue);
      auto* block = size == 0 ? nullptr : static_cast<uint8_t*>(pool.allocate(size, 8));
      if (block == nullptr && size != 0) {
        return Error::MemoryAllocationFailed;
      }
      Arena arena(block);
      if (!make_value(index, lasting, arena)) {
        return Error::InvalidProgram;
      }
      if (value_kind != ValueKind::Tensor) {
        continue;
      }
      const Storage storage(content(index));
      if (storage.place == Place::External) {
        ET_CHECK_OK_OR_RETURN_ERROR(load_external(storage.name(), lasting.toTensor(), named_data));
      }
    }
  }
  return Error::Ok;
}

Error MethodState::load_external(std::string_view name, const Tensor& tensor,
                                 const NamedDataMap* named_data) {
  const Result<const TensorLayout> layout = named_data->get_tensor_layout(name);
  if (!layout.ok()) {
    return layout.error();
  }
  const ArrayRef<int32_t> sizes(layout->sizes().data(), layout->sizes().size());
  const ArrayRef<uint8_t> dim_order(layout->dim_order().data(), layout->dim_order().size());
  ET_CHECK_OR_RETURN_ERROR(layout->scalar_type() == tensor.scalar_type() &&
                               sizes == tensor.sizes() && dim_order == tensor.dim_order(),
                           InvalidExternalData, "External data of another shape");
  auto* node = memory.method_allocator()->allocateInstance<ExternalData>();
  if (node == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  Result<FreeableBuffer> data = named_data->get_data(name);
  if (!data.ok()) {
    return data.error();
  }
  new (node) ExternalData{std::move(*data), external_data};
  external_data = node;
  ET_CHECK_OR_RETURN_ERROR(node->data.size() >= tensor.nbytes(), InvalidExternalData,
                           "External data is too short");
  return set_tensor_data(tensor, const_cast<void*>(node->data.data()), node->data.size());
}

bool MethodState::is_planned(uint32_t index) const {
  return kind(index) == ValueKind::Tensor && Storage(content(index)).place != Place::Runtime;
}

Result<Tensor> MethodState::attribute(std::string_view name) const {
  for (const Slot& lasting : Span<Slot>(slots, n_slots)) {
    if (kind(lasting.index) == ValueKind::Tensor && lasting.isTensor()) {
      const Storage storage(content(lasting.index));
      if (storage.place == Place::Planned && storage.name() == name) {
        return lasting.toTensor();
      }
    }
  }
  return Error::NotFound;
}

}  // namespace executorch::runtime::internal
