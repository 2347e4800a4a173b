// SPDX-License-Identifier: BSD-3-Clause
//
// Elementwise kernels on small tensors with expected values worked out by hand from PyTorch's
// documented rules.
#include <limits>
#include <optional>
#include <string_view>

#include "kernel_test.h"

using executorch::aten::Scalar;
using executorch::aten::Tensor;
using Context = executorch::runtime::KernelRuntimeContext;

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
Tensor& to_copy_out(Context&, const Tensor&, bool, std::optional<executorch::aten::MemoryFormat>,
                    Tensor&);
}  // namespace torch::executor::native

namespace {

using namespace kernel_test;
using namespace torch::executor::native;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

}  // namespace

void test_pointwise() {
  arithmetic();
  pointwise();
}
