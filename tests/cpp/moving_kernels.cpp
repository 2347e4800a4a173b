// SPDX-License-Identifier: BSD-3-Clause
//
// Elementwise, moving and indexing kernels on small tensors with expected values worked out by
// hand from PyTorch's documented rules. Prints each failure and exits with their number.
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_includes.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

using executorch::aten::ArrayRef;
using executorch::aten::Half;
using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using executorch::runtime::TensorShapeDynamism;
using Context = KernelRuntimeContext;
using OptTensors = ArrayRef<std::optional<Tensor>>;

namespace torch::executor::native {
Tensor& add_out(Context&, const Tensor&, const Tensor&, const Scalar&, Tensor&);
Tensor& sub_out(Context&, const Tensor&, const Tensor&, const Scalar&, Tensor&);
Tensor& mul_out(Context&, const Tensor&, const Tensor&, Tensor&);
Tensor& div_out(Context&, const Tensor&, const Tensor&, Tensor&);
Tensor& div_out_mode(Context&, const Tensor&, const Tensor&, std::optional<std::string_view>,
                     Tensor&);
Tensor& remainder_Scalar_out(Context&, const Tensor&, const Scalar&, Tensor&);
Tensor& lt_scalar_out(Context&, const Tensor&, const Scalar&, Tensor&);
Tensor& clamp_out(Context&, const Tensor&, const std::optional<Scalar>&,
                  const std::optional<Scalar>&, Tensor&);
Tensor& maximum_out(Context&, const Tensor&, const Tensor&, Tensor&);
Tensor& where_out(Context&, const Tensor&, const Tensor&, const Tensor&, Tensor&);
Tensor& pow_Tensor_Scalar_out(Context&, const Tensor&, const Scalar&, Tensor&);
Tensor& bitwise_left_shift_Tensor_out(Context&, const Tensor&, const Tensor&, Tensor&);
Tensor& relu_out(Context&, const Tensor&, Tensor&);
Tensor& round_out(Context&, const Tensor&, Tensor&);
Tensor& sqrt_out(Context&, const Tensor&, Tensor&);
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
Tensor& to_copy_out(Context&, const Tensor&, bool, std::optional<executorch::aten::MemoryFormat>,
                    Tensor&);
}  // namespace torch::executor::native

namespace gen_kernels::prim {
void floordiv_scalar(Context&, Span<EValue*>);
void mod_int(Context&, Span<EValue*>);
void truediv_scalar(Context&, Span<EValue*>);
void et_copy_index_tensor(Context&, Span<EValue*>);
void et_view_default(Context&, Span<EValue*>);
}  // namespace gen_kernels::prim

namespace {

using namespace torch::executor::native;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
int failures = 0;

template <class T>
constexpr ScalarType kType = ScalarType::Undefined;
template <>
constexpr ScalarType kType<float> = ScalarType::Float;
template <>
constexpr ScalarType kType<Half> = ScalarType::Half;
template <>
constexpr ScalarType kType<int8_t> = ScalarType::Char;
template <>
constexpr ScalarType kType<uint8_t> = ScalarType::Byte;
template <>
constexpr ScalarType kType<int32_t> = ScalarType::Int;
template <>
constexpr ScalarType kType<int64_t> = ScalarType::Long;
// A Bool element is a byte of 0 or 1.
struct Bool {
  uint8_t value;
};
template <>
constexpr ScalarType kType<Bool> = ScalarType::Bool;

double number(float v) { return v; }
double number(Half v) { return static_cast<float>(v); }
double number(int8_t v) { return v; }
double number(uint8_t v) { return v; }
double number(int32_t v) { return v; }
double number(int64_t v) { return static_cast<double>(v); }
double number(Bool v) { return v.value; }

// A tensor and its memory, with guard bytes behind it.
template <class T>
struct Box {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides;
  std::vector<unsigned char> memory;
  TensorImpl impl;
  Tensor tensor;

  static constexpr size_t kGuard = 32;

  static size_t count(const std::vector<int32_t>& sizes) {
    size_t n = 1;
    for (const int32_t size : sizes) {
      n *= static_cast<size_t>(size);
    }
    return n;
  }
  static std::vector<uint8_t> row_major(size_t rank) {
    std::vector<uint8_t> order(rank);
    for (size_t d = 0; d < rank; ++d) {
      order[d] = static_cast<uint8_t>(d);
    }
    return order;
  }
  static std::vector<int32_t> strides_of(const std::vector<int32_t>& sizes,
                                         const std::vector<uint8_t>& order) {
    std::vector<int32_t> strides(sizes.size());
    int32_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      strides[order[i]] = stride;
      stride *= sizes[order[i]];
    }
    return strides;
  }

  // Elements in memory order. Results may shrink: the sizes are bounds.
  Box(std::vector<int32_t> shape, std::vector<T> values, std::vector<uint8_t> dim_order = {})
      : sizes(std::move(shape)),
        order(dim_order.empty() ? row_major(sizes.size()) : std::move(dim_order)),
        strides(strides_of(sizes, order)),
        memory(count(sizes) * sizeof(T) + kGuard, 0xA5),
        impl(kType<T>, static_cast<ssize_t>(sizes.size()), sizes.data(), memory.data(),
             order.data(), strides.data(), TensorShapeDynamism::DYNAMIC_BOUND),
        tensor(&impl) {
    if (!values.empty()) {
      std::memcpy(memory.data(), values.data(), values.size() * sizeof(T));
    }
  }
  explicit Box(std::vector<int32_t> shape) : Box(std::move(shape), {}) {}
  Box(const Box&) = delete;

  bool guard_intact() const {
    bool intact = true;
    for (size_t i = memory.size() - kGuard; i < memory.size(); ++i) {
      intact = intact && memory[i] == 0xA5;
    }
    return intact;
  }
};

void report(int line, const char* what) {
  std::printf("line %d: %s\n", line, what);
  ++failures;
}

// The kernel succeeded with these sizes and these elements, in memory order.
template <class T>
void expect(int line, Context& context, const Box<T>& out, std::vector<int32_t> sizes,
            std::vector<double> values) {
  if (context.failure_state() != Error::Ok) {
    report(line, "the kernel failed");
    return;
  }
  const auto actual = out.tensor.sizes();
  bool same = actual.size() == sizes.size() && out.guard_intact() &&
              static_cast<size_t>(out.tensor.numel()) == values.size();
  for (size_t d = 0; same && d < sizes.size(); ++d) {
    same = actual[d] == sizes[d];
  }
  for (size_t i = 0; same && i < values.size(); ++i) {
    T element;
    std::memcpy(&element, out.memory.data() + i * sizeof(T), sizeof(T));
    const double value = number(element);
    same = value == values[i] || (std::isnan(value) && std::isnan(values[i]));
    if (!same) {
      std::printf("  element %zu is %g, not %g\n", i, value, values[i]);
    }
  }
  if (!same) {
    report(line, "wrong result");
  }
}

// The kernel failed and touched nothing behind the output.
template <class T>
void expect_failure(int line, Context& context, const Box<T>& out) {
  if (context.failure_state() == Error::Ok) {
    report(line, "the kernel did not fail");
  }
  if (!out.guard_intact()) {
    report(line, "written behind the output");
  }
}

#define EXPECT(out, ...) expect(__LINE__, context, out, __VA_ARGS__)
#define EXPECT_FAILURE(out) expect_failure(__LINE__, context, out)

IntArrayRef list(const std::vector<int64_t>& values) { return {values.data(), values.size()}; }

void arithmetic() {
  {  // a row and a column broadcast
    Context context;
    Box<float> a({2, 1}, {1, 2}), b({3}, {10, 20, 30}), out({2, 3});
    add_out(context, a.tensor, b.tensor, Scalar(1), out.tensor);
    EXPECT(out, {2, 3}, {11, 21, 31, 12, 22, 32});
  }
  {  // alpha scales the second operand; the output shrinks from its bound
    Context context;
    Box<float> a({2}, {1, 2}), b({2}, {10, 20}), out({2});
    sub_out(context, a.tensor, b.tensor, Scalar(0.5), out.tensor);
    EXPECT(out, {2}, {-4, -8});
  }
  {  // a 0-d tensor does not widen the dtype, and int8 wraps
    Context context;
    Box<int8_t> a({2}, {100, 127}), out({2});
    Box<int64_t> b({}, {100});
    add_out(context, a.tensor, b.tensor, Scalar(1), out.tensor);
    EXPECT(out, {2}, {-56, -29});
  }
  {  // int32 and float promote to float
    Context context;
    Box<int32_t> a({2}, {1, 2});
    Box<float> b({2}, {0.5F, 0.25F}), out({2});
    mul_out(context, a.tensor, b.tensor, out.tensor);
    EXPECT(out, {2}, {0.5, 0.5});
  }
  {  // a float result does not go into an integer output
    Context context;
    Box<float> a({1}, {1.5F});
    Box<int32_t> out({1}, {7});
    mul_out(context, a.tensor, a.tensor, out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // shapes that do not broadcast
    Context context;
    Box<float> a({2}, {1, 2}), b({3}, {1, 2, 3}), out({3});
    add_out(context, a.tensor, b.tensor, Scalar(1), out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // an output that is too small for the result
    Context context;
    Box<float> a({4}, {1, 2, 3, 4}), out({2});
    add_out(context, a.tensor, a.tensor, Scalar(1), out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // true division of integers
    Context context;
    Box<int32_t> a({2}, {7, -7}), b({}, {2});
    Box<float> out({2});
    div_out(context, a.tensor, b.tensor, out.tensor);
    EXPECT(out, {2}, {3.5, -3.5});
  }
  {  // floor and trunc, integers
    Context context;
    Box<int32_t> a({3}, {7, -7, INT32_MIN}), b({3}, {2, 2, -1}), out({3});
    div_out_mode(context, a.tensor, b.tensor, "floor", out.tensor);
    EXPECT(out, {3}, {3, -4, INT32_MIN});
    div_out_mode(context, a.tensor, b.tensor, "trunc", out.tensor);
    EXPECT(out, {3}, {3, -3, INT32_MIN});
  }
  {  // integer division by zero
    Context context;
    Box<int32_t> a({1}, {1}), b({1}, {0}), out({1});
    div_out_mode(context, a.tensor, b.tensor, "floor", out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // the remainder has the divisor's sign
    Context context;
    Box<float> a({3}, {5, -5, 5}), out({3});
    remainder_Scalar_out(context, a.tensor, Scalar(-3.0), out.tensor);
    EXPECT(out, {3}, {-1, -2, -1});
  }
  {  // powers of integers
    Context context;
    Box<int64_t> a({3}, {2, -3, 0}), out({3});
    pow_Tensor_Scalar_out(context, a.tensor, Scalar(3), out.tensor);
    EXPECT(out, {3}, {8, -27, 0});
    pow_Tensor_Scalar_out(context, a.tensor, Scalar(-1), out.tensor);
    EXPECT_FAILURE(out);
  }
  {  // shifts by the width or more clear the value
    Context context;
    Box<uint8_t> a({3}, {1, 3, 255}), b({3}, {7, 8, 1}), out({3});
    bitwise_left_shift_Tensor_out(context, a.tensor, b.tensor, out.tensor);
    EXPECT(out, {3}, {128, 0, 254});
  }
  {  // Half rounds once, at the end
    Context context;
    Box<Half> a({1}, {Half(2048.0F)}), b({1}, {Half(3.0F)}), out({1});
    add_out(context, a.tensor, b.tensor, Scalar(1), out.tensor);
    EXPECT(out, {1}, {2052});
  }
}

void pointwise() {
  {  // NaN passes, negatives and -0 become 0
    Context context;
    Box<float> a({5}, {-1.5F, -0.0F, 2, kNan, -kNan}), out({5});
    relu_out(context, a.tensor, out.tensor);
    EXPECT(out, {5}, {0, 0, 2, kNan, kNan});
  }
  {  // halves to even
    Context context;
    Box<float> a({4}, {0.5F, 1.5F, -2.5F, 2.6F}), out({4});
    round_out(context, a.tensor, out.tensor);
    EXPECT(out, {4}, {0, 2, -2, 3});
  }
  {  // Bool computes in float
    Context context;
    Box<Bool> a({2}, {{1}, {0}});
    Box<float> out({2});
    sqrt_out(context, a.tensor, out.tensor);
    EXPECT(out, {2}, {1, 0});
  }
  {  // a number takes the tensor's dtype: 300 wraps to 44
    Context context;
    Box<int8_t> a({2}, {100, -100});
    Box<Bool> out({2});
    lt_scalar_out(context, a.tensor, Scalar(300), out.tensor);
    EXPECT(out, {2}, {0, 1});
  }
  {  // one bound, and NaN
    Context context;
    Box<float> a({3}, {-3, 3, kNan}), out({3});
    clamp_out(context, a.tensor, std::nullopt, Scalar(1.5), out.tensor);
    EXPECT(out, {3}, {-3, 1.5, kNan});
    clamp_out(context, a.tensor, std::nullopt, std::nullopt, out.tensor);
    EXPECT_FAILURE(out);
  }
  {
    Context context;
    Box<float> a({3}, {1, kNan, 1}), b({3}, {2, 0, kNan}), out({3});
    maximum_out(context, a.tensor, b.tensor, out.tensor);
    EXPECT(out, {3}, {2, kNan, kNan});
  }
  {  // condition, int64 and float promote
    Context context;
    Box<Bool> condition({2, 1}, {{1}, {0}});
    Box<int64_t> a({2}, {1, 2});
    Box<float> b({}, {0.5F}), out({2, 2});
    where_out(context, condition.tensor, a.tensor, b.tensor, out.tensor);
    EXPECT(out, {2, 2}, {1, 2, 0.5, 0.5});
  }
  {  // conversion truncates toward zero
    Context context;
    Box<float> a({3}, {1.9F, -1.9F, 0});
    Box<int32_t> out({3});
    to_copy_out(context, a.tensor, false, std::nullopt, out.tensor);
    EXPECT(out, {3}, {1, -1, 0});
  }
  {  // an output in channels-last order gets the same values
    Context context;
    Box<float> a({1, 2, 1, 2}, {1, 2, 3, 4}), out({1, 2, 1, 2}, {}, {0, 2, 3, 1});
    add_out(context, a.tensor, a.tensor, Scalar(1), out.tensor);
    EXPECT(out, {1, 2, 1, 2}, {2, 6, 4, 8});
  }
}

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
    report(__LINE__, "-7 // 2");
  }
  v = binary(mod_int, EValue(int64_t{-7}), EValue(int64_t{3}));
  if (!v.isInt() || v.toInt() != 2) {
    report(__LINE__, "-7 % 3");
  }
  v = binary(truediv_scalar, EValue(int64_t{1}), EValue(int64_t{4}));
  if (!v.isDouble() || v.toDouble() != 0.25) {
    report(__LINE__, "1 / 4");
  }
  if (!binary(mod_int, EValue(int64_t{1}), EValue(int64_t{0})).isNone()) {
    report(__LINE__, "1 % 0");
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

int main() {
  arithmetic();
  pointwise();
  moving();
  indexing();
  primitives();
  return failures > 125 ? 125 : failures;
}
