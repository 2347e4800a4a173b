// Operators whose output size depends on values, and their kin: masked_select,
// masked_scatter, nonzero, repeat_interleave.
#include "util/index.h"

namespace gen_kernels {
namespace {

constexpr char kMaskedSelectOut[] = "aten::masked_select.out";
constexpr char kMaskedScatterOut[] = "aten::masked_scatter.out";
constexpr char kNonzeroOut[] = "aten::nonzero.out";
constexpr char kRepeatInterleaveOut[] = "aten::repeat_interleave.Tensor_out";

// Calls f(element) for the element of `data` at every true element of `mask`, in
// row-major order; both have the sizes of `mask`. Stops when f returns false.
template <class F>
bool for_masked(const View& mask, const View& data, F f) {
  Walk w;
  w.operands = 2;
  w.at[0] = mask.data;
  w.at[1] = data.data;
  for (size_t d = mask.rank; d-- > 0;) {
    const ptrdiff_t stride[2] = {mask.strides[d], data.strides[d]};
    add_axis(w, mask.size(d), stride);
  }
  if (w.empty) {
    return true;
  }
  do {
    for (size_t i = 0; i < w.row(); ++i) {
      if (w.at[0][static_cast<ptrdiff_t>(i) * w.step(0)] != 0 &&
          !f(w.at[1] + static_cast<ptrdiff_t>(i) * w.step(1))) {
        return false;
      }
    }
  } while (next_row(w));
  return true;
}

size_t count_true(const View& mask) {
  size_t n = 0;
  for_masked(mask, mask, [&n](char*) { return ++n != 0; });
  return n;
}

bool is_true(const char* at, size_t bytes, bool floating) {
  // Any bit set, but for the sign of a floating-point zero.
  for (size_t i = 0; i < bytes; ++i) {
    const unsigned char sign = floating && i + 1 == bytes ? 0x7F : 0xFF;
    if ((static_cast<unsigned char>(at[i]) & sign) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace gen_kernels

namespace torch {
namespace executor {
namespace native {

using namespace ::gen_kernels;
using ::executorch::aten::Tensor;

Tensor& masked_select_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& mask,
                          Tensor& out) {
  Shape shape = shape_of(self);
  bool ok = mask.scalar_type() == ScalarType::Bool &&
            same_dtype<kSelected<kMaskedSelectOut>>(self, out) &&
            broadcast_into(shape, mask.sizes());
  if (!ok) {
    return finish(context, false, out);
  }
  View where = view_of(mask);
  View from = view_of(self);
  broadcast_view(where, shape.ref());
  broadcast_view(from, shape.ref());
  Shape length;
  ok = length.push(static_cast<int64_t>(count_true(where))) && resize_out(out, length);
  if (ok) {
    char* to = mutable_bytes(out);
    for_masked(where, from, [&](char* element) {
      std::memcpy(to, element, from.element);
      to += from.element;
      return true;
    });
  }
  return finish(context, ok, out);
}

Tensor& masked_scatter_out(KernelRuntimeContext& context, const Tensor& self, const Tensor& mask,
                           const Tensor& source, Tensor& out) {
  constexpr TypeMask types = kSelected<kMaskedScatterOut>;
  Shape shape = shape_of(self);
  bool ok = mask.scalar_type() == ScalarType::Bool && same_dtype<types>(self, out) &&
            same_dtype<types>(source, out) && broadcast_into(shape, mask.sizes());
  if (!ok) {
    return finish(context, false, out);
  }
  View where = view_of(mask);
  View from = view_of(self);
  broadcast_view(where, shape.ref());
  broadcast_view(from, shape.ref());
  ok = count_true(where) <= numel(source) && resize_out(out, shape);
  if (ok) {
    const View to = view_of(out);
    const View values = view_of(source);
    size_t next = 0;
    copy_view<types>(to, from);
    for_masked(where, to, [&](char* element) {
      std::memcpy(element, values.data + element_offset(values, next++), to.element);
      return true;
    });
  }
  return finish(context, ok, out);
}

Tensor& nonzero_out(KernelRuntimeContext& context, const Tensor& self, Tensor& out) {
  const View v = view_of(self);
  const size_t n = numel(self);
  const bool floating = is_floating(self.scalar_type());
  Shape shape;
  int64_t count = 0;
  bool ok = out.scalar_type() == ScalarType::Long &&
            contains(kSelected<kNonzeroOut>, self.scalar_type()) && !is_complex(self.scalar_type());
  for (size_t i = 0; ok && i < n; ++i) {
    count += is_true(v.data + i * v.element, v.element, floating);
  }
  ok =
      ok && shape.push(count) && shape.push(static_cast<int64_t>(v.rank)) && resize_out(out, shape);
  View to = view_of(out);
  for (size_t i = 0; ok && i < n; ++i) {
    if (is_true(v.data + element_offset(v, i), v.element, floating)) {
      size_t rest = i;
      for (size_t d = v.rank; d-- > 0; rest /= v.size(d)) {
        *reinterpret_cast<int64_t*>(to.data + static_cast<ptrdiff_t>(d) * to.strides[1]) =
            static_cast<int64_t>(rest % v.size(d));
      }
      to.offset(0, 1);
    }
  }
  return finish(context, ok, out);
}

Tensor& repeat_interleave_Tensor_out(KernelRuntimeContext& context, const Tensor& repeats,
                                     std::optional<int64_t> output_size, Tensor& out) {
  const View v = view_of(repeats);
  Shape shape;
  int64_t total = 0;
  bool ok = v.rank == 1 && is_index_type(repeats.scalar_type()) &&
            same_dtype<kSelected<kRepeatInterleaveOut>>(repeats, out);
  for (size_t i = 0; ok && i < numel(repeats); ++i) {
    const int64_t times = read_index(v.data + element_offset(v, i), repeats.scalar_type());
    ok = times >= 0 && times <= INT32_MAX - total;
    total += ok ? times : 0;
  }
  // Of nothing eager makes nothing, whatever size it is told.
  ok = ok && (output_size.value_or(total) == total || repeats.numel() == 0) && shape.push(total) &&
       resize_out(out, shape);
  char* to = mutable_bytes(out);
  for (size_t i = 0; ok && i < numel(repeats); ++i) {
    for (int64_t n = read_index(v.data + element_offset(v, i), repeats.scalar_type()); n > 0;
         --n, to += v.element) {
      if (out.scalar_type() == ScalarType::Int) {
        *reinterpret_cast<int32_t*>(to) = static_cast<int32_t>(i);
      } else {
        *reinterpret_cast<int64_t*>(to) = static_cast<int64_t>(i);
      }
    }
  }
  return finish(context, ok, out);
}

}  // namespace native
}  // namespace executor
}  // namespace torch
