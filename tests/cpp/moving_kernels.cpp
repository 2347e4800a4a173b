// SPDX-License-Identifier: BSD-3-Clause
//
// Moving, indexing and boxed kernels on small tensors with expected values worked out by hand from
// PyTorch's documented rules. Exits with the number of failures, those of pointwise_kernels.cpp
// included.
#include <executorch/runtime/core/evalue.h>

#include <optional>
#include <vector>

#include "kernel_test.h"

using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::aten::TensorList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Span;
using Context = executorch::runtime::KernelRuntimeContext;
using OptTensors = ArrayRef<std::optional<Tensor>>;

namespace torch::executor::native {
Tensor& permute_copy_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& view_copy_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& expand_copy_out(Context&, const Tensor&, IntArrayRef, bool, Tensor&);
Tensor& slice_copy_Tensor_out(Context&, const Tensor&, int64_t, std::optional<int64_t>,
                              std::optional<int64_t>, int64_t, Tensor&);
Tensor& cat_out(Context&, TensorList, int64_t, Tensor&);
Tensor& constant_pad_nd_out(Context&, const Tensor&, IntArrayRef, const Scalar&, Tensor&);
Tensor& reflection_pad1d_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& replication_pad2d_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& roll_out(Context&, const Tensor&, IntArrayRef, IntArrayRef, Tensor&);
Tensor& flip_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& tril_out(Context&, const Tensor&, int64_t, Tensor&);
Tensor& repeat_out(Context&, const Tensor&, IntArrayRef, Tensor&);
Tensor& gather_out(Context&, const Tensor&, int64_t, const Tensor&, bool, Tensor&);
Tensor& scatter_add_out(Context&, const Tensor&, int64_t, const Tensor&, const Tensor&, Tensor&);
Tensor& index_select_out(Context&, const Tensor&, int64_t, const Tensor&, Tensor&);
Tensor& index_Tensor_out(Context&, const Tensor&, OptTensors, Tensor&);
Tensor& index_put_(Context&, Tensor&, OptTensors, const Tensor&, bool);
Tensor& nonzero_out(Context&, const Tensor&, Tensor&);
Tensor& arange_start_out(Context&, const Scalar&, const Scalar&, const Scalar&, Tensor&);
Tensor& full_out(Context&, IntArrayRef, const Scalar&, Tensor&);
}  // namespace torch::executor::native

namespace gen_kernels::prim {
void floordiv_scalar(Context&, Span<EValue*>);
void mod_int(Context&, Span<EValue*>);
void truediv_scalar(Context&, Span<EValue*>);
void et_copy_index_tensor(Context&, Span<EValue*>);
void et_view_default(Context&, Span<EValue*>);
}  // namespace gen_kernels::prim

namespace {

using namespace kernel_test;
using namespace torch::executor::native;

IntArrayRef list(const std::vector<int64_t>& values) { return {values.data(), values.size()}; }

void moving() {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  {
    Context context;
    Box<float> a({2, 3}, six), out({3, 2});
    permute_copy_out(context, a.tensor, list({-1, 0}), out.tensor);
    EXPECT(out, {3, 2}, {1, 4, 2, 5, 3, 6});
    permute_copy_out(context, a.tensor, list({0, 0}), out.tensor);
    EXPECT_FAILURE(out);
  }
  {
    Context context;
    Box<float> a({2, 3}, six), out({3, 2});
    view_copy_out(context, a.tensor, list({3, -1}), out.tensor);
    EXPECT(out, {3, 2}, {1, 2, 3, 4, 5, 6});
    view_copy_out(context, a.tensor, list({4, -1}), out.tensor);
    EXPECT_FAILURE(out);
  }
  {
    Context context;
    Box<float> a({2, 1}, {1, 2}), out({2, 2, 2});
    expand_copy_out(context, a.tensor, list({2, -1, 2}), false, out.tensor);
    EXPECT(out, {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2});
  }
  {  // ends beyond the size are cut
    Context context;
    Box<float> a({2, 3}, six), out({2, 3});
    slice_copy_Tensor_out(context, a.tensor, 1, -2, 100, 1, out.tensor);
    EXPECT(out, {2, 2}, {2, 3, 5, 6});
    slice_copy_Tensor_out(context, a.tensor, 1, 0, std::nullopt, 2, out.tensor);
    EXPECT(out, {2, 2}, {1, 3, 4, 6});
    slice_copy_Tensor_out(context, a.tensor, 2, 0, 1, 1, out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // 1-d empties do not count; int joins float
    Context context;
    Box<float> a({2, 1}, {1, 2}), nothing({0}), out({2, 3});
    Box<int32_t> b({2, 2}, {3, 4, 5, 6});
    const Tensor parts[] = {a.tensor, nothing.tensor, b.tensor};
    cat_out(context, {parts, 3}, 1, out.tensor);
    EXPECT(out, {2, 3}, {1, 3, 4, 2, 5, 6});
  }
  {  // negative padding crops
    Context context;
    Box<float> a({2, 3}, six), out({3, 3});
    constant_pad_nd_out(context, a.tensor, list({1, -1, 0, 1}), Scalar(9), out.tensor);
    EXPECT(out, {3, 3}, {9, 1, 2, 9, 4, 5, 9, 9, 9});
  }
  {
    Context context;
    Box<float> a({1, 3}, {1, 2, 3}), out({1, 7});
    reflection_pad1d_out(context, a.tensor, list({2, 2}), out.tensor);
    EXPECT(out, {1, 7}, {3, 2, 1, 2, 3, 2, 1});
    reflection_pad1d_out(context, a.tensor, list({3, 0}), out.tensor);
    EXPECT_FAILURE(out);
  }
  {
    Context context;
    Box<float> a({1, 2, 2}, {1, 2, 3, 4}), out({1, 3, 4});
    replication_pad2d_out(context, a.tensor, list({1, 1, 1, 0}), out.tensor);
    EXPECT(out, {1, 3, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4});
  }
  {
    Context context;
    Box<float> a({2, 3}, six), out({2, 3});
    roll_out(context, a.tensor, list({1}), {}, out.tensor);
    EXPECT(out, {2, 3}, {6, 1, 2, 3, 4, 5});
    roll_out(context, a.tensor, list({1, -1}), list({0, 1}), out.tensor);
    EXPECT(out, {2, 3}, {5, 6, 4, 2, 3, 1});
    flip_out(context, a.tensor, list({-1}), out.tensor);
    EXPECT(out, {2, 3}, {3, 2, 1, 6, 5, 4});
    tril_out(context, a.tensor, 1, out.tensor);
    EXPECT(out, {2, 3}, {1, 2, 0, 4, 5, 6});
  }
  {
    Context context;
    Box<float> a({2}, {1, 2}), out({2, 4});
    repeat_out(context, a.tensor, list({2, 2}), out.tensor);
    EXPECT(out, {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  }
  {
    Context context;
    Box<float> out({4});
    arange_start_out(context, Scalar(1), Scalar(2.0), Scalar(0.25), out.tensor);
    EXPECT(out, {4}, {1, 1.25, 1.5, 1.75});
    arange_start_out(context, Scalar(5), Scalar(0), Scalar(-2), out.tensor);
    EXPECT(out, {3}, {5, 3, 1});
    full_out(context, list({2}), Scalar(7), out.tensor);
    EXPECT(out, {2}, {7, 7});
  }
}

void indexing() {
  const std::vector<float> six = {1, 2, 3, 4, 5, 6};
  {
    Context context;
    Box<float> a({2, 3}, six), out({2, 2});
    Box<int64_t> index({2, 2}, {0, 2, 1, 1});
    gather_out(context, a.tensor, 1, index.tensor, false, out.tensor);
    EXPECT(out, {2, 2}, {1, 3, 5, 5});
  }
  {  // an index out of range fails before anything is written
    Context context;
    Box<float> a({3}, {1, 2, 3}), out({2}, {8, 9});
    Box<int64_t> index({2}, {0, 3});
    gather_out(context, a.tensor, 0, index.tensor, false, out.tensor);
    EXPECT_FAILURE(out);
    index_select_out(context, a.tensor, 0, index.tensor, out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // repeated indices add up
    Context context;
    Box<float> a({3}, {1, 1, 1}), src({3}, {10, 20, 30}), out({3});
    Box<int64_t> index({3}, {2, 2, 0});
    scatter_add_out(context, a.tensor, 0, index.tensor, src.tensor, out.tensor);
    EXPECT(out, {3}, {31, 1, 31});
  }
  {
    Context context;
    Box<float> a({2, 3}, six), out({2, 2});
    Box<int32_t> index({2}, {2, 0});
    index_select_out(context, a.tensor, -1, index.tensor, out.tensor);
    EXPECT(out, {2, 2}, {3, 1, 6, 4});
  }
  {  // a[:, [[-1], [0]]], then a[mask]
    Context context;
    Box<float> a({2, 3}, six), out({2, 2, 1}), masked({6});
    Box<int64_t> index({2, 1}, {-1, 0});
    const std::optional<Tensor> columns[] = {std::nullopt, index.tensor};
    index_Tensor_out(context, a.tensor, {columns, 2}, out.tensor);
    EXPECT(out, {2, 2, 1}, {3, 1, 6, 4});
    Box<Bool> mask({2, 3}, {{0}, {1}, {0}, {1}, {0}, {1}});
    const std::optional<Tensor> places[] = {mask.tensor};
    index_Tensor_out(context, a.tensor, {places, 1}, masked.tensor);
    EXPECT(masked, {3}, {2, 4, 6});
  }
  {  // a[[0, 0], [1, 2]] += 10, a[[0], [0]] = 7
    Context context;
    Box<float> a({2, 3}, six), ten({}, {10}), seven({1}, {7});
    Box<int64_t> rows({2}, {0, 0}), columns({2}, {1, 2}), zero({1}, {0});
    const std::optional<Tensor> first[] = {rows.tensor, columns.tensor};
    index_put_(context, a.tensor, {first, 2}, ten.tensor, true);
    EXPECT(a, {2, 3}, {1, 12, 13, 4, 5, 6});
    const std::optional<Tensor> second[] = {zero.tensor, zero.tensor};
    index_put_(context, a.tensor, {second, 2}, seven.tensor, false);
    EXPECT(a, {2, 3}, {7, 12, 13, 4, 5, 6});
  }
  {  // -0 is zero
    Context context;
    Box<float> a({2, 2}, {0, 3, -0.0F, -1});
    Box<int64_t> out({4, 2});
    nonzero_out(context, a.tensor, out.tensor);
    EXPECT(out, {2, 2}, {0, 1, 1, 1});
  }
}

void primitives() {
  using namespace gen_kernels::prim;
  const auto binary = [](void (*kernel)(Context&, Span<EValue*>), EValue a, EValue b) {
    Context context;
    EValue result;
    EValue* stack[] = {&a, &b, &result};
    kernel(context, {stack, 3});
    return context.failure_state() == Error::Ok ? result : EValue();
  };
  EValue v = binary(floordiv_scalar, EValue(int64_t{-7}), EValue(int64_t{2}));
  if (!v.isInt() || v.toInt() != -4) {
    report(__FILE__, __LINE__, "-7 // 2");
  }
  v = binary(mod_int, EValue(int64_t{-7}), EValue(int64_t{3}));
  if (!v.isInt() || v.toInt() != 2) {
    report(__FILE__, __LINE__, "-7 % 3");
  }
  v = binary(truediv_scalar, EValue(int64_t{1}), EValue(int64_t{4}));
  if (!v.isDouble() || v.toDouble() != 0.25) {
    report(__FILE__, __LINE__, "1 / 4");
  }
  if (!binary(mod_int, EValue(int64_t{1}), EValue(int64_t{0})).isNone()) {
    report(__FILE__, __LINE__, "1 % 0");
  }
  {  // a row a step
    Context context;
    Box<float> to({2, 2}), row({2}, {3, 4});
    for (int64_t i = 0; i < 2; ++i) {
      EValue a(to.tensor), b(row.tensor), index(i), none;
      EValue* stack[] = {&a, &b, &index, &none};
      et_copy_index_tensor(context, {stack, 4});
    }
    EXPECT(to, {2, 2}, {3, 4, 3, 4});
  }
}

}  // namespace

void test_pointwise();

int main() {
  test_pointwise();
  moving();
  indexing();
  primitives();
  return kernel_test::failures > 125 ? 125 : kernel_test::failures;
}
