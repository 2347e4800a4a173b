// Average pool to a given size.
#include "util/tensor.h"

namespace gen_kernels {
namespace {

inline constexpr char kAdaptive[] = "aten::_adaptive_avg_pool2d.out";
using Supported = Types<float, double, Half, BFloat16>;

// Window `i` of `outputs` over `inputs`: [begin, end).
struct Window {
  size_t begin;
  size_t end;

  Window(size_t i, size_t inputs, size_t outputs)
      : begin(static_cast<size_t>(uint64_t{i} * inputs / outputs)),
        end(static_cast<size_t>(((uint64_t{i} + 1) * inputs + outputs - 1) / outputs)) {}
};

template <class T>
void average(const Tensor& in, const Tensor& out) {
  using C = OpMath<T>;
  const size_t dims = rank(in);
  const auto bytes = [](size_t i, ptrdiff_t stride) {
    return static_cast<ptrdiff_t>(i) * stride * ptrdiff_t{sizeof(T)};
  };
  Walk images;
  images.operands = 2;
  images.at[0] = const_cast<char*>(const_bytes(in));
  images.at[1] = mutable_bytes(out);
  for (size_t d = dims - 2; d-- > 0;) {
    const ptrdiff_t stride[] = {bytes(1, stride_at(in, d)), bytes(1, stride_at(out, d))};
    add_axis(images, size_at(in, d), stride);
  }
  if (images.empty) return;
  const size_t height = size_at(out, dims - 2);
  const size_t width = size_at(out, dims - 1);
  do {
    for (size_t i = 0; i < images.row(); ++i) {
      const char* from = images.at[0] + images.step(0) * static_cast<ptrdiff_t>(i);
      char* to = images.at[1] + images.step(1) * static_cast<ptrdiff_t>(i);
      for (size_t y = 0; y < height; ++y) {
        const Window rows(y, size_at(in, dims - 2), height);
        for (size_t x = 0; x < width; ++x) {
          const Window columns(x, size_at(in, dims - 1), width);
          C sum{};
          for (size_t r = rows.begin; r < rows.end; ++r) {
            const char* p = from + bytes(r, stride_at(in, dims - 2));
            for (size_t c = columns.begin; c < columns.end; ++c) {
              sum += static_cast<C>(
                  *reinterpret_cast<const T*>(p + bytes(c, stride_at(in, dims - 1))));
            }
          }
          const size_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
          *reinterpret_cast<T*>(to + bytes(y, stride_at(out, dims - 2)) +
                                bytes(x, stride_at(out, dims - 1))) =
              static_cast<T>(sum / static_cast<C>(count));
        }
      }
    }
  } while (next_row(images));
}

bool adaptive(const Tensor& in, IntArrayRef size, Tensor& out) {
  const size_t dims = rank(in);
  if (dims < 3 || dims > 4 || size.size() != 2 || in.scalar_type() != out.scalar_type()) {
    return false;
  }
  Shape shape = shape_of(in);
  shape.rank = dims - 2;
  for (size_t d = 0; d < 2; ++d) {
    if (size_at(in, dims - 2 + d) == 0 || !shape.push(size.data()[d])) return false;
  }
  return resize_out(out, shape) && dispatch<kAdaptive, Supported>(in.scalar_type(), [&](auto tag) {
           average<typename decltype(tag)::type>(in, out);
         });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& _adaptive_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                 IntArrayRef output_size, Tensor& out) {
  if (!adaptive(self, output_size, out)) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace torch::executor::native
