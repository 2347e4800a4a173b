// A C interface to the kernel registry: calls any registered operator boxed, the way a Method does.
// Built as a host shared library and driven from Python with ctypes (see library.py, caller.py).
//
// This is test code on the host: it may use the heap.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace et = executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;

extern "C" {

constexpr int kMaxDims = 16;

struct GkTensor {
  void* data;
  int32_t dtype;
  int32_t ndim;
  int32_t dynamism;  // 0: static, 1: bounded
  int32_t sizes[kMaxDims];
  uint8_t dim_order[kMaxDims];
};

enum GkKind : int32_t {
  kNone,
  kInt,
  kDouble,
  kBool,
  kTensor,
  kString,
  kIntList,
  kDoubleList,
  kBoolList,
  kTensorList,
  kOptionalTensorList,
};

struct GkArg {
  int32_t kind;
  int32_t count;
  int64_t i;
  double d;
  const char* text;
  GkTensor* tensors;      // count of them; a null data pointer with ndim -1 is "no tensor"
  const int64_t* ints;    // count of them
  const double* doubles;  // count of them
  const uint8_t* bools;   // count of them
};
}

namespace {

// Owns what EValues point to, for the length of one call.
struct Storage {
  struct Shape {
    int32_t sizes[kMaxDims];
    int32_t strides[kMaxDims];
    uint8_t dim_order[kMaxDims];
  };
  std::vector<std::unique_ptr<Shape>> shapes;
  std::vector<std::unique_ptr<TensorImpl>> impls;
  std::vector<std::unique_ptr<et::EValue[]>> values;
  std::vector<std::unique_ptr<et::EValue*[]>> pointers;
  std::vector<std::unique_ptr<int64_t[]>> ints;
  std::vector<std::unique_ptr<double[]>> doubles;
  std::vector<std::unique_ptr<bool[]>> bools;
  std::vector<void*> raw;
  ~Storage() {
    for (void* p : raw) std::free(p);
  }

  TensorImpl* tensor(const GkTensor& t) {
    auto shape = std::make_unique<Shape>();
    std::memcpy(shape->sizes, t.sizes, sizeof(shape->sizes));
    std::memcpy(shape->dim_order, t.dim_order, sizeof(shape->dim_order));
    int32_t stride = 1;
    for (int d = t.ndim - 1; d >= 0; --d) {
      const int axis = t.dim_order[d];
      shape->strides[axis] = stride;
      // A size of 0 keeps strides as for size 1, as dim_order_to_stride does.
      stride *= t.sizes[axis] == 0 ? 1 : t.sizes[axis];
    }
    impls.push_back(
        std::make_unique<TensorImpl>(static_cast<ScalarType>(t.dtype), t.ndim, shape->sizes, t.data,
                                     shape->dim_order, shape->strides,
                                     t.dynamism != 0 ? et::TensorShapeDynamism::DYNAMIC_BOUND
                                                     : et::TensorShapeDynamism::STATIC));
    shapes.push_back(std::move(shape));
    return impls.back().get();
  }

  template <class T>
  T* uninitialised(size_t n) {
    void* p = std::malloc(sizeof(T) * (n + 1));
    raw.push_back(p);
    return static_cast<T*>(p);
  }

  // The boxed elements of a list: n EValues and the pointers to them.
  et::EValue** boxes(size_t n, et::EValue** items) {
    values.push_back(std::make_unique<et::EValue[]>(n + 1));
    pointers.push_back(std::make_unique<et::EValue*[]>(n + 1));
    *items = values.back().get();
    for (size_t i = 0; i < n; ++i) pointers.back()[i] = &values.back()[i];
    return pointers.back().get();
  }
};

et::EValue to_evalue(const GkArg& a, Storage& s) {
  const size_t n = static_cast<size_t>(a.count);
  et::EValue* items = nullptr;
  switch (static_cast<GkKind>(a.kind)) {
    case kNone:
      return et::EValue();
    case kInt:
      return et::EValue(a.i);
    case kDouble:
      return et::EValue(a.d);
    case kBool:
      return et::EValue(a.i != 0);
    case kTensor:
      return et::EValue(Tensor(s.tensor(a.tensors[0])));
    case kString: {
      auto* text = s.uninitialised<executorch::aten::ArrayRef<char>>(1);
      new (text) executorch::aten::ArrayRef<char>(a.text, std::strlen(a.text));
      return et::EValue(text);
    }
    case kIntList: {
      et::EValue** boxes = s.boxes(n, &items);
      for (size_t i = 0; i < n; ++i) items[i] = et::EValue(a.ints[i]);
      auto* list = s.uninitialised<et::BoxedEvalueList<int64_t>>(1);
      new (list) et::BoxedEvalueList<int64_t>(boxes, s.uninitialised<int64_t>(n), a.count);
      return et::EValue(list);
    }
    case kDoubleList: {
      auto* list = s.uninitialised<executorch::aten::ArrayRef<double>>(1);
      new (list) executorch::aten::ArrayRef<double>(a.doubles, n);
      return et::EValue(list);
    }
    case kBoolList: {
      auto* list = s.uninitialised<executorch::aten::ArrayRef<bool>>(1);
      new (list) executorch::aten::ArrayRef<bool>(reinterpret_cast<const bool*>(a.bools), n);
      return et::EValue(list);
    }
    case kTensorList: {
      et::EValue** boxes = s.boxes(n, &items);
      for (size_t i = 0; i < n; ++i) items[i] = et::EValue(Tensor(s.tensor(a.tensors[i])));
      auto* list = s.uninitialised<et::BoxedEvalueList<Tensor>>(1);
      auto* memory = s.uninitialised<Tensor>(n);
      for (size_t i = 0; i < n; ++i) new (&memory[i]) Tensor(items[i].toTensor());
      new (list) et::BoxedEvalueList<Tensor>(boxes, memory, a.count);
      return et::EValue(list);
    }
    case kOptionalTensorList: {
      et::EValue** boxes = s.boxes(n, &items);
      using Optional = std::optional<Tensor>;
      auto* memory = s.uninitialised<Optional>(n);
      for (size_t i = 0; i < n; ++i) {
        new (&memory[i]) Optional();
        if (a.tensors[i].ndim >= 0) items[i] = et::EValue(Tensor(s.tensor(a.tensors[i])));
      }
      auto* list = s.uninitialised<et::BoxedEvalueList<Optional>>(1);
      new (list) et::BoxedEvalueList<Optional>(boxes, memory, a.count);
      return et::EValue(list);
    }
  }
  return et::EValue();
}

constexpr size_t kTempBytes = 16u << 20;

}  // namespace

extern "C" {

// Operators in the registry, as many as fit: fills `names`, returns their count.
int gk_registered(const char** names, int capacity) {
  const auto kernels = et::get_registered_kernels();
  int n = 0;
  for (const auto& kernel : kernels) {
    if (n < capacity) names[n] = kernel.name_;
    ++n;
  }
  return n;
}

// Calls `op` with `n` schema arguments, of which the last `n_out` are the results: returns 0, an
// executorch::runtime::Error number, or -1 when no kernel is registered. Results' sizes and data
// pointers are written back to their GkTensor; a number that the call returns goes to `number`.
int gk_call(const char* op, GkArg* args, int n, int n_out, GkArg* number) {
  et::runtime_init();
  Storage storage;
  std::vector<et::EValue> stack(static_cast<size_t>(n) + 1);
  for (int i = 0; i < n; ++i) stack[static_cast<size_t>(i)] = to_evalue(args[i], storage);
  std::vector<et::EValue*> pointers;
  for (int i = 0; i < n; ++i) pointers.push_back(&stack[static_cast<size_t>(i)]);

  // The return slot: the out argument itself, or a list of the out arguments.
  if (n_out == 1) {
    pointers.push_back(pointers.back());
  } else {
    if (n_out > 1) {
      et::EValue** boxes = pointers.data() + (n - n_out);
      auto* list = storage.uninitialised<et::BoxedEvalueList<Tensor>>(1);
      auto* memory = storage.uninitialised<Tensor>(static_cast<size_t>(n_out));
      for (int i = 0; i < n_out; ++i) new (&memory[i]) Tensor(boxes[i]->toTensor());
      storage.pointers.push_back(std::make_unique<et::EValue*[]>(static_cast<size_t>(n_out)));
      for (int i = 0; i < n_out; ++i) storage.pointers.back()[i] = boxes[i];
      new (list) et::BoxedEvalueList<Tensor>(storage.pointers.back().get(), memory, n_out);
      stack.back() = et::EValue(list);
    }
    pointers.push_back(&stack.back());
  }

  const auto function = et::get_op_function_from_registry(op, {});
  if (!function.ok()) return -1;
  static uint8_t* const temp = static_cast<uint8_t*>(std::malloc(kTempBytes));
  et::MemoryAllocator allocator(kTempBytes, temp);
  et::KernelRuntimeContext context(nullptr, &allocator);
  (*function)(context, et::Span<et::EValue*>(pointers.data(), pointers.size()));

  for (int i = n - n_out; i < n; ++i) {
    const et::EValue& value = stack[static_cast<size_t>(i)];
    auto write_back = [](GkTensor& out, const Tensor& t) {
      out.data = const_cast<void*>(t.const_data_ptr());
      out.ndim = static_cast<int32_t>(t.dim());
      for (int d = 0; d < out.ndim; ++d) out.sizes[d] = static_cast<int32_t>(t.size(d));
      for (int d = 0; d < out.ndim; ++d) {
        out.dim_order[d] = t.dim_order()[static_cast<size_t>(d)];
      }
    };
    if (value.isTensor()) write_back(args[i].tensors[0], value.toTensor());
    if (value.isTensorList()) {
      const auto list = value.toTensorList();
      for (size_t k = 0; k < list.size(); ++k) write_back(args[i].tensors[k], list[k]);
    }
  }
  const et::EValue& value = stack.back();
  number->kind = value.isInt() ? kInt : value.isDouble() ? kDouble : value.isBool() ? kBool : kNone;
  if (value.isInt()) number->i = value.toInt();
  if (value.isBool()) number->i = value.toBool();
  if (value.isDouble()) number->d = value.toDouble();
  return static_cast<int>(context.failure_state());
}
}
