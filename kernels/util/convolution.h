// What a convolution and its gradients share: shapes, and a convolution as a correlation.
#pragma once

#include "util/correlate.h"

namespace gen_kernels {

struct ConvolutionArgs {
  IntArrayRef stride;
  IntArrayRef padding;
  IntArrayRef dilation;
  bool transposed;
  IntArrayRef output_padding;
  int64_t groups;
};

// The list's element for one of `dims` dims: a list of one holds for all, an empty one means
// `otherwise`. -1 when it is no number from 0 to 2^15 - 1, or the list has another length.
GEN_KERNELS_NOINLINE inline int32_t parameter(IntArrayRef list, size_t dim, size_t dims,
                                              int32_t otherwise) {
  if (list.size() == 0) return otherwise;
  if (list.size() == 1) {
    dim = 0;
  } else if (list.size() != dims) {
    return -1;
  }
  const int64_t value = list.data()[dim];
  return value < 0 || value >= 1 << 15 ? -1 : static_cast<int32_t>(value);
}

// The shape of the result. False when the arguments do not fit together.
GEN_KERNELS_NOINLINE inline bool convolution_shape(const Tensor& input, const Tensor& weight,
                                                   const ConvolutionArgs& args, Shape& shape) {
  const size_t dims = rank(weight);
  if (dims < 3 || dims > 2 + kSpatial || rank(input) != dims) return false;
  if (input.scalar_type() != weight.scalar_type()) return false;
  const size_t rows = size_at(weight, 0);
  const size_t columns = size_at(weight, 1);
  const auto groups = static_cast<size_t>(args.groups);
  if (args.groups < 1 || args.groups > INT16_MAX || rows % groups != 0) return false;
  if (size_at(input, 1) != (args.transposed ? rows : columns * groups)) return false;
  shape.push(static_cast<int64_t>(size_at(input, 0)));
  shape.push(static_cast<int64_t>(args.transposed ? columns * groups : rows));
  for (size_t d = 2; d < dims; ++d) {
    const int32_t stride = parameter(args.stride, d - 2, dims - 2, 1);
    const int32_t padding = parameter(args.padding, d - 2, dims - 2, 0);
    const int32_t dilation = parameter(args.dilation, d - 2, dims - 2, 1);
    const auto inputs = static_cast<int32_t>(size_at(input, d));
    const auto kernel = static_cast<int32_t>(size_at(weight, d));
    if (stride < 1 || padding < 0 || dilation < 1) return false;
    if (inputs > INT32_MAX / 4 || kernel < 1 || kernel >= 1 << 15) return false;
    int64_t outputs = dilation * (kernel - 1) + 1;
    if (args.transposed) {
      const int32_t extra = parameter(args.output_padding, d - 2, dims - 2, 0);
      if (extra < 0 || (extra >= stride && extra >= dilation)) return false;
      outputs += int64_t{stride} * (inputs - 1) + extra - padding * 2;
    } else {
      const int32_t slack = inputs + padding * 2 - static_cast<int32_t>(outputs);
      outputs = slack < 0 ? 0 : slack / stride + 1;
    }
    if (outputs < 1 || outputs > INT32_MAX / 4 || !shape.push(outputs)) return false;
  }
  return true;
}

// Sets up output = convolution(input, weight) for checked arguments. `transposed` also serves the
// gradient of a convolution's input, and plain the gradient of a transposed one's.
inline void set_up(Correlation& c, const Tensor& input, const Tensor& weight, const char* bias,
                   const Tensor& output, const ConvolutionArgs& args, bool transposed) {
  const auto element = static_cast<ptrdiff_t>(element_size(input));
  const auto step = [=](const Tensor& t, size_t dim) { return stride_at(t, dim) * element; };
  const size_t dims = rank(weight);
  Walk& w = c.windows.walk;
  w.operands = 4;
  w.at[0] = const_cast<char*>(const_bytes(input));
  w.at[1] = const_cast<char*>(const_bytes(weight));
  w.at[2] = const_cast<char*>(bias);
  w.at[3] = mutable_bytes(output);
  add_loop(w, 1, 0, 0, 0, 0);
  for (size_t i = 0; i < kSpatial; ++i) {
    Axis& axis = c.windows.axes[i];
    c.input_step[i] = 0;
    c.kernel_step[i] = 0;
    if (i + 2 >= dims) {
      add_loop(w, 1, 0, 0, 0, 0);
      continue;
    }
    const size_t dim = dims - 1 - i;
    const int32_t stride = parameter(args.stride, dim - 2, dims - 2, 1);
    const int32_t padding = parameter(args.padding, dim - 2, dims - 2, 0);
    const int32_t dilation = parameter(args.dilation, dim - 2, dims - 2, 1);
    axis.inputs = static_cast<int32_t>(size_at(input, dim));
    axis.kernel = static_cast<int32_t>(size_at(weight, dim));
    axis.stride = transposed ? 1 : stride;
    axis.offset = transposed ? padding : -padding;
    axis.tap_stride = transposed ? -dilation : dilation;
    axis.divisor = transposed ? stride : 1;
    c.input_step[i] = step(input, dim);
    c.kernel_step[i] = step(weight, dim);
    add_loop(w, size_at(output, dim), 0, 0, 0, step(output, dim));
  }
  const auto groups = static_cast<size_t>(args.groups);
  const size_t in_channels = size_at(input, 1) / groups;
  const size_t out_channels = size_at(output, 1) / groups;
  const ptrdiff_t in_step = step(weight, transposed ? 0 : 1);
  const ptrdiff_t out_step = step(weight, transposed ? 1 : 0);
  const ptrdiff_t bias_step = bias == nullptr ? 0 : element;
  const auto times = [](size_t n, ptrdiff_t bytes) { return static_cast<ptrdiff_t>(n) * bytes; };
  c.sum = {static_cast<int32_t>(in_channels), step(input, 1), in_step};
  add_loop(w, out_channels, 0, out_step, bias_step, step(output, 1));
  add_loop(w, groups, times(in_channels, step(input, 1)),
           times(transposed ? in_channels : out_channels, step(weight, 0)),
           times(out_channels, bias_step), times(out_channels, step(output, 1)));
  add_loop(w, size_at(output, 0), step(input, 0), 0, 0, step(output, 0));
}

}  // namespace gen_kernels
