// Nearest-neighbour resampling of images.
#include "util/resample.h"

namespace gen_kernels {
namespace {

// The input places of an output line: index i of `outputs` comes from min(i * scale, inputs - 1).
struct Nearest {
  size_t inputs;
  size_t outputs;
  float scale;

  size_t source(size_t i) const {
    // Exact where the general formula could round.
    if (inputs == outputs) return i;
    if (outputs == 2 * inputs) return i / 2;
    const auto at = static_cast<size_t>(static_cast<float>(i) * scale);
    return at < inputs ? at : inputs - 1;
  }
};

bool nearest(const Tensor& in, const std::optional<IntArrayRef>& size,
             const std::optional<ArrayRef<double>>& scales, Tensor& out) {
  if (in.scalar_type() != out.scalar_type()) return false;
  double given[2];
  if (!resample_size(in, size, scales, given, out)) return false;
  const Nearest rows{size_at(in, 2), size_at(out, 2),
                     source_scale<float>(size_at(in, 2), size_at(out, 2), false, given[0])};
  const Nearest columns{size_at(in, 3), size_at(out, 3),
                        source_scale<float>(size_at(in, 3), size_at(out, 3), false, given[1])};
  const size_t element = element_size(in);
  const Image from(in);
  const Image to(out);
  for (size_t n = 0; n < size_at(out, 0); ++n) {
    for (size_t c = 0; c < size_at(out, 1); ++c) {
      for (size_t y = 0; y < rows.outputs; ++y) {
        const size_t row = rows.source(y);
        for (size_t x = 0; x < columns.outputs; ++x) {
          std::memcpy(to.at(n, c, y, x), from.at(n, c, row, columns.source(x)), element);
        }
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& upsample_nearest2d_vec_out(KernelRuntimeContext& ctx, const Tensor& input,
                                   std::optional<IntArrayRef> output_size,
                                   std::optional<ArrayRef<double>> scale_factors, Tensor& out) {
  if (!nearest(input, output_size, scale_factors, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace torch::executor::native
