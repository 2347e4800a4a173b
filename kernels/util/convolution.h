// What a convolution and its gradients share: shapes, and a convolution as a correlation.
#pragma once

#include "util/correlate.h"
#include "util/view.h"

namespace gen_kernels {

// The parameters of one spatial dimension, in this order: a pool has its kernel where a convolution
// has the output padding.
enum Parameter : size_t { kStride, kPadding, kDilation, kExtra, kParameters };

// Reads each parameter of a dimension from its list, where one element holds for all dimensions;
// an empty list leaves what is there. False for a list of another length and for numbers that are
// less than what is there, the least that makes sense, or 2^15 and more.
GEN_KERNELS_NOINLINE inline bool read_parameters(const IntArrayRef* lists, size_t dim, size_t dims,
                                                 int32_t* values) {
  for (size_t k = 0; k < kParameters; ++k) {
    const size_t n = lists[k].size();
    if (n == 0) continue;
    if (n != 1 && n != dims) return false;
    const int64_t value = lists[k].data()[n == 1 ? 0 : dim];
    if (value < values[k] || value >= 1 << 15) return false;
    values[k] = static_cast<int32_t>(value);
  }
  return true;
}

struct ConvolutionArgs {
  IntArrayRef lists[kParameters];
  bool transposed;
  int64_t groups;
  // By dimension, innermost last; convolution_shape() reads them.
  int32_t spatial[kSpatial][kParameters] = {};
};

// The shape of the result. False when the arguments do not fit together.
GEN_KERNELS_NOINLINE inline bool convolution_shape(const Tensor& input, const Tensor& weight,
                                                   ConvolutionArgs& args, Shape& shape) {
  const size_t dims = rank(weight);
  if (dims < 3 || dims > 2 + kSpatial || rank(input) != dims) return false;
  if (input.scalar_type() != weight.scalar_type()) return false;
  const SizesType* const in = input.sizes().data();
  const SizesType* const w = weight.sizes().data();
  if (args.groups < 1 || args.groups > INT16_MAX) return false;
  const auto groups = static_cast<int32_t>(args.groups);
  if (w[0] % groups != 0) return false;
  const int64_t columns = int64_t{w[1]} * groups;
  if (in[1] != (args.transposed ? w[0] : columns)) return false;
  shape.push(in[0]);
  shape.push(args.transposed ? columns : w[0]);
  for (size_t d = 2; d < dims; ++d) {
    int32_t* const p = args.spatial[d - 2];
    p[kStride] = p[kDilation] = 1;
    const int32_t inputs = in[d];
    const int32_t kernel = w[d];
    if (!read_parameters(args.lists, d - 2, dims - 2, p)) return false;
    if (inputs > INT32_MAX / 4 || kernel < 1 || kernel >= 1 << 15) return false;
    const int32_t reach = p[kDilation] * (kernel - 1) + 1;
    int64_t outputs = inputs + p[kPadding] * 2 - reach;
    if (args.transposed) {
      if (p[kExtra] >= p[kStride] && p[kExtra] >= p[kDilation]) return false;
      outputs = int64_t{p[kStride]} * (inputs - 1) + (p[kExtra] - p[kPadding] * 2 + reach);
    } else if (outputs >= 0) {
      outputs = static_cast<int32_t>(outputs) / p[kStride] + 1;
    }
    if (outputs < 1 || outputs > INT32_MAX / 4 || !shape.push(outputs)) return false;
  }
  return true;
}

// Sets up output = convolution(input, weight) for checked arguments. `transposed` also serves the
// gradient of a convolution's input, and plain the gradient of a transposed one's.
inline void set_up(Correlation& c, const Tensor& input, const Tensor& weight, const char* bias,
                   const Tensor& output, const ConvolutionArgs& args, bool transposed) {
  const View in = view_of(input);
  const View kernel = view_of(weight);
  const View out = view_of(output);
  Walk& w = c.windows.walk;
  w.operands = 4;
  w.at[0] = in.data;
  w.at[1] = kernel.data;
  w.at[2] = const_cast<char*>(bias);
  w.at[3] = out.data;
  add_loop(w, 1, 0, 0, 0, 0);
  for (size_t i = 0; i < kSpatial; ++i) {
    Axis& axis = c.windows.axes[i];
    c.input_step[i] = 0;
    c.kernel_step[i] = 0;
    if (i + 2 >= kernel.rank) {
      add_loop(w, 1, 0, 0, 0, 0);
      continue;
    }
    const size_t dim = kernel.rank - 1 - i;
    const int32_t* const p = args.spatial[dim - 2];
    axis.inputs = in.sizes[dim];
    axis.kernel = kernel.sizes[dim];
    axis.stride = transposed ? 1 : p[kStride];
    axis.offset = transposed ? p[kPadding] : -p[kPadding];
    axis.tap_stride = transposed ? -p[kDilation] : p[kDilation];
    axis.divisor = transposed ? p[kStride] : 1;
    c.input_step[i] = in.strides[dim];
    c.kernel_step[i] = kernel.strides[dim];
    add_loop(w, out.size(dim), 0, 0, 0, out.strides[dim]);
  }
  const auto groups = static_cast<int32_t>(args.groups);
  const int32_t in_channels = in.sizes[1] / groups;
  const int32_t out_channels = out.sizes[1] / groups;
  const int32_t rows = kernel.sizes[0] / groups;
  const ptrdiff_t bias_step = bias == nullptr ? 0 : static_cast<ptrdiff_t>(in.element);
  c.sum = {in_channels, in.strides[1], kernel.strides[transposed ? 0 : 1]};
  add_loop(w, static_cast<size_t>(out_channels), 0, kernel.strides[transposed ? 1 : 0], bias_step,
           out.strides[1]);
  add_loop(w, static_cast<size_t>(groups), in_channels * in.strides[1], rows * kernel.strides[0],
           out_channels * bias_step, out_channels * out.strides[1]);
  add_loop(w, out.size(0), in.strides[0], 0, 0, out.strides[0]);
}

}  // namespace gen_kernels
