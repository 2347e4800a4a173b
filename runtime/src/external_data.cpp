// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <new>

#include "method_state.h"
#include "tensor_view.h"

namespace executorch::runtime::internal {

Error load_external(MethodState& state, uint32_t index, const NamedDataMap* named_data) {
  const std::string_view name = TensorView(state.serialized(index).table).name();
  const executorch::aten::Tensor& tensor = state.slot(index).toTensor();
  const Result<const TensorLayout> layout = named_data->get_tensor_layout(name);
  if (!layout.ok()) {
    return layout.error();
  }
  ET_CHECK_OR_RETURN_ERROR(
      layout->scalar_type() == tensor.scalar_type() &&
          ArrayRef<int32_t>(layout->sizes().data(), layout->sizes().size()) == tensor.sizes() &&
          ArrayRef<uint8_t>(layout->dim_order().data(), layout->dim_order().size()) ==
              tensor.dim_order(),
      InvalidExternalData, "External data of another shape");
  auto* node = state.memory.method_allocator()->allocateInstance<ExternalData>();
  if (node == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  Result<FreeableBuffer> data = named_data->get_data(name);
  if (!data.ok()) {
    return data.error();
  }
  new (node) ExternalData{std::move(*data), state.external_data};
  state.external_data = node;
  ET_CHECK_OR_RETURN_ERROR(node->data.size() >= tensor.nbytes(), InvalidExternalData,
                           "External data is too short");
  return set_tensor_data(tensor, const_cast<void*>(node->data.data()), node->data.size());
}

}  // namespace executorch::runtime::internal
