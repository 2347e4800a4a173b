// SPDX-License-Identifier: BSD-3-Clause
//
// Values of a method, made from the program when they are needed. Nothing is checked here.
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <new>

#include "features.h"
#include "method_state.h"
#include "tensor_view.h"

namespace executorch::runtime::internal {

namespace features = gen_kernels::features;
namespace flat = gen_kernels::flat;
namespace schema = gen_kernels::schema;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using schema::ValueKind;

Serialized serialized(const uint8_t* values, uint32_t index) {
  // No good program lacks one of the two fields. Calls and lists come here for each value.
  const uint8_t* entry = flat::vector_table(values, index);
  const uint8_t* vtable = entry - flat::load<int32_t>(entry);
  static_assert(schema::evalue::kType == 0 && schema::evalue::kValue == 1);
  return {static_cast<ValueKind>(entry[flat::load<uint16_t>(vtable + 4)]),
          flat::follow(entry + flat::load<uint16_t>(vtable + 6))};
}

Slot& MethodState::slot(uint32_t index) const {
  // Then only inputs and outputs last.
  if constexpr (!features::kSpecialTensors && !features::kControlFlow) {
    Slot* found = slots;
    while (found->index != index) {
      ++found;
    }
    return *found;
  }
  size_t first = 0;
  size_t last = n_slots;
  while (last - first > 1) {
    const size_t middle = (first + last) / 2;
    (slots[middle].index <= index ? first : last) = middle;
  }
  return slots[first];
}

Error MethodState::address(const TensorView& tensor, size_t nbytes, const void*& address) const {
  if (tensor.place == Place::Constant) {
    return program.find_constant(tensor.constant(), nbytes, address);
  }
  address = nullptr;
  if (tensor.place == Place::Planned) {
    HierarchicalAllocator* planned = memory.planned_memory();
    ET_CHECK_OR_RETURN_ERROR(planned != nullptr, InvalidState, "No planned memory was given");
    const Result<void*> place =
        planned->get_offset_address(tensor.buffer - 1, tensor.offset, nbytes);
    ET_CHECK_OK_OR_RETURN_ERROR(place.error());
    address = place.get();
  }
  return Error::Ok;
}

// Inline: it is called once.
[[gnu::always_inline]] inline void MethodState::make_tensor(const uint8_t* table, EValue& value,
                                                            Arena& arena) {
  const TensorView tensor(table);
  const uint32_t dims = tensor.dims();
  // Neither is written through the tensor, unless its shape can change: then it gets a copy.
  auto* sizes = const_cast<int32_t*>(tensor.sizes());
  auto* dim_order = const_cast<uint8_t*>(tensor.dim_order());
  auto* impl = arena.take<TensorImpl>(1);
  auto* strides = arena.take<int32_t>(dims);
  const TensorShapeDynamism dynamism =
      features::kSpecialTensors ? tensor.dynamism() : TensorShapeDynamism::STATIC;
  if (dynamism != TensorShapeDynamism::STATIC) {
    sizes = static_cast<int32_t*>(memcpy(arena.take<int32_t>(dims), sizes, dims * 4));
  }
  int32_t numel = 1;
  int32_t stride = 1;
  for (uint32_t i = dims; i-- > 0;) {
    const uint32_t dim = dim_order[i];
    const int32_t size = sizes[dim];
    strides[dim] = stride;
    numel *= size;
    // An empty dimension counts as 1, so that the others keep the strides of a shape in use.
    stride = size == 0 ? stride : stride * size;
  }
  const void* data = nullptr;
  if (tensor.place == Place::Planned) {
    data = memory.planned_memory()->address(tensor.buffer - 1, tensor.offset);
  } else if (tensor.place == Place::Constant) {
    (void)program.find_constant(tensor.constant(), 0, data);
  }
  new (impl) TensorImpl(tensor.type, dims, sizes, const_cast<void*>(data), dim_order, strides,
                        dynamism, numel);
  value.payload.as_tensor = Tensor(impl);
  value.tag = Tag::Tensor;
}

bool MethodState::make_value(const Serialized& from, EValue& value, Arena& arena) {
  if (from.kind == ValueKind::Tensor) {
    make_tensor(from.table, value, arena);
    return true;
  }
  if (features::kLists && from.kind > ValueKind::Tensor) {
    return make_list(from, value, arena);
  }
  // A number is 8 bytes in the file and in the union, a bool one; Null has none, and reads as 0.
  constexpr uint32_t kTags =
      static_cast<uint32_t>(Tag::Int) << 4 * static_cast<int>(ValueKind::Int) |
      static_cast<uint32_t>(Tag::Bool) << 4 * static_cast<int>(ValueKind::Bool) |
      static_cast<uint32_t>(Tag::Double) << 4 * static_cast<int>(ValueKind::Double);
  value.tag = static_cast<Tag>(kTags >> 4 * static_cast<uint32_t>(from.kind) & 15u);
  const uint8_t* at = flat::field(from.table, 0);
  value.payload.copyable_union.as_int =
      from.kind == ValueKind::Bool ? *at != 0 : static_cast<int64_t>(flat::load<uint64_t>(at));
  return true;
}

bool MethodState::make_list(const Serialized& from, EValue& value, Arena& arena) {
  auto& payload = value.payload.copyable_union;
  const Items items(from);
  const uint32_t count = items.size();
  if constexpr (features::kIntLists) {
    if (from.kind == ValueKind::IntList) {
      auto* list = arena.take<BoxedEvalueList<int64_t>>(1);
      auto* numbers = arena.take<int64_t>(count);
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t item = items[i];
        numbers[i] = is_marked(item)
                         ? slot(item).payload.copyable_union.as_int
                         : static_cast<int64_t>(flat::field_u64(serialized(item).table, 0));
      }
      payload.as_int_list_ptr = new (list) BoxedEvalueList<int64_t>(numbers, count);
      value.tag = Tag::ListInt;
      return true;
    }
  }
  if constexpr (features::kOtherLists) {
    const uint8_t* bytes = flat::vector_data(flat::field_vector(from.table, 0));
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
  }
  if constexpr (features::kTensorLists) {
    if (from.kind == ValueKind::TensorList) {
      auto* list = arena.take<BoxedEvalueList<Tensor>>(1);
      auto* tensors = arena.take<Tensor>(count);
      uint32_t made = 0;
      for (; made < count; ++made) {
        TensorImpl* impl = item_tensor(items[made], arena);
        if (impl == nullptr) {
          break;
        }
        new (&tensors[made]) Tensor(impl);
      }
      // Also a list with an item that cannot be used yet is a value: an output is made again.
      payload.as_tensor_list_ptr = new (list) BoxedEvalueList<Tensor>(tensors, made);
      value.tag = Tag::ListTensor;
      return made == count;
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
  value.tag = Tag::None;
  return false;
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

EValue* MethodState::value(uint32_t index, Arena& arena) {
  if (is_marked(index)) {
    Slot& lasting = slot(index);
    // Items of a list may have changed: lists are made anew.
    if (!features::kLists || lasting.tag < Tag::ListBool) {
      return &lasting;
    }
  }
  EValue* made = new (arena.take<EValue>(1)) EValue();
  return make_value(serialized(index), *made, arena) ? made : nullptr;
}

Slot& MethodState::output(size_t i) {
  Slot& lasting = slot(list_item(schema::plan::kOutputs, i));
  if (features::kLists && lasting.tag >= Tag::ListBool) {
    // The list begins its block.
    Arena arena(lasting.payload.copyable_union.as_int_list_ptr);
    make_value(serialized(lasting.index), lasting, arena);
  }
  return lasting;
}

bool MethodState::is_planned(uint32_t index) const {
  return TensorView(serialized(index).table).place != Place::Runtime;
}

Result<Tensor> MethodState::attribute(std::string_view name) const {
  for (const Slot& lasting : Span<Slot>(slots, n_slots)) {
    const Serialized from = serialized(lasting.index);
    if (from.kind == ValueKind::Tensor && lasting.isTensor()) {
      const TensorView tensor(from.table);
      if (tensor.place == Place::Planned && tensor.name() == name) {
        return lasting.toTensor();
      }
    }
  }
  return Error::NotFound;
}

size_t MethodState::list_size(uint8_t list) const {
  return flat::vector_size(flat::field_vector(plan, list));
}

uint32_t MethodState::list_item(uint8_t list, size_t i) const {
  return flat::vector_u32(flat::field_vector(plan, list), i);
}

}  // namespace executorch::runtime::internal
