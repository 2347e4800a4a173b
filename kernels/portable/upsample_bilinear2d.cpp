// Bilinear resampling of images, and the same with a filter against aliasing.
#include <cmath>

#include "util/resample.h"

namespace gen_kernels {
namespace {

inline constexpr char kBilinear[] = "aten::upsample_bilinear2d.vec_out";
inline constexpr char kAntialias[] = "aten::_upsample_bilinear2d_aa.out";

// Two neighbours of a source position, and the weight of the second.
template <class C>
struct Neighbours {
  size_t first;
  size_t second;
  C weight;

  Neighbours(size_t i, size_t inputs, size_t outputs, C scale, bool align_corners) {
    if (inputs == outputs) {  // A copy, whatever the scale.
      first = second = i;
      weight = C{};
      return;
    }
    C at = static_cast<C>(i) * scale;
    if (!align_corners) {
      at = (static_cast<C>(i) + C(0.5)) * scale - C(0.5);
      if (at < C{}) at = C{};
    }
    first = static_cast<size_t>(at);
    if (first > inputs - 1) first = inputs - 1;
    second = first + (first < inputs - 1 ? 1 : 0);
    weight = at - static_cast<C>(first);
    if (weight > C{1}) weight = C{1};
  }
};

struct Sampling {
  const Tensor& in;
  const Tensor& out;
  bool align_corners;
  double given[2];
};

template <class T>
OpMath<T> value_at(const char* p) {
  return static_cast<OpMath<T>>(*reinterpret_cast<const T*>(p));
}

template <class T>
void bilinear(const Sampling& s) {
  using C = OpMath<T>;
  const size_t height = size_at(s.in, 2);
  const size_t width = size_at(s.in, 3);
  const C scale_y = source_scale<C>(height, size_at(s.out, 2), s.align_corners, s.given[0]);
  const C scale_x = source_scale<C>(width, size_at(s.out, 3), s.align_corners, s.given[1]);
  const Image from(s.in);
  const Image to(s.out);
  for (size_t y = 0; y < size_at(s.out, 2); ++y) {
    const Neighbours<C> v(y, height, size_at(s.out, 2), scale_y, s.align_corners);
    for (size_t x = 0; x < size_at(s.out, 3); ++x) {
      const Neighbours<C> h(x, width, size_at(s.out, 3), scale_x, s.align_corners);
      for (size_t n = 0; n < size_at(s.out, 0); ++n) {
        for (size_t c = 0; c < size_at(s.out, 1); ++c) {
          const auto row = [&](size_t r) {
            return (C{1} - h.weight) * value_at<T>(from.at(n, c, r, h.first)) +
                   h.weight * value_at<T>(from.at(n, c, r, h.second));
          };
          *reinterpret_cast<T*>(to.at(n, c, y, x)) =
              static_cast<T>((C{1} - v.weight) * row(v.first) + v.weight * row(v.second));
        }
      }
    }
  }
}

// The triangle filter around an output element: elements [begin, begin + count) of the input.
template <class C>
struct Filter {
  size_t begin;
  size_t count;
  C centre;
  C inverse;
  C total{};

  Filter(size_t i, size_t inputs, C scale) {
    const C support = scale >= C{1} ? scale : C{1};
    inverse = C{1} / support;
    centre = scale * (static_cast<C>(i) + C(0.5));
    const C low = centre - support + C(0.5);
    const C high = centre + support + C(0.5);
    const C all = static_cast<C>(inputs);
    begin = low > C{} ? static_cast<size_t>(low < all ? low : all) : 0;
    const size_t end = high < all ? static_cast<size_t>(high) : inputs;
    count = end > begin ? end - begin : 0;
    for (size_t k = 0; k < count; ++k) total += weight(k);
    if (total == C{}) count = 0;
  }

  C weight(size_t k) const {
    const C distance = std::fabs((static_cast<C>(begin + k) - centre + C(0.5)) * inverse);
    return distance < C{1} ? C{1} - distance : C{};
  }
};

template <class T>
void antialias(const Sampling& s) {
  using C = OpMath<T>;
  const size_t height = size_at(s.in, 2);
  const size_t width = size_at(s.in, 3);
  const C scale_y = source_scale<C>(height, size_at(s.out, 2), s.align_corners, s.given[0]);
  const C scale_x = source_scale<C>(width, size_at(s.out, 3), s.align_corners, s.given[1]);
  const Image from(s.in);
  const Image to(s.out);
  for (size_t y = 0; y < size_at(s.out, 2); ++y) {
    const Filter<C> v(y, height, scale_y);
    for (size_t x = 0; x < size_at(s.out, 3); ++x) {
      const Filter<C> h(x, width, scale_x);
      for (size_t n = 0; n < size_at(s.out, 0); ++n) {
        for (size_t c = 0; c < size_at(s.out, 1); ++c) {
          C sum{};
          for (size_t j = 0; j < v.count; ++j) {
            C row{};
            for (size_t i = 0; i < h.count; ++i) {
              row += h.weight(i) * value_at<T>(from.at(n, c, v.begin + j, h.begin + i));
            }
            sum += v.weight(j) * row;
          }
          *reinterpret_cast<T*>(to.at(n, c, y, x)) = static_cast<T>(sum / (v.total * h.total));
        }
      }
    }
  }
}

// The filter of one axis in whole numbers, as PyTorch does it for bytes: all weights are scaled by
// the power of two with which the largest just fits 16 bits.
struct WholeFilter {
  size_t inputs;
  double scale;
  int32_t bits = 0;

  WholeFilter(const Sampling& s, size_t dim, double given) : inputs(size_at(s.in, dim)) {
    const size_t outputs = size_at(s.out, dim);
    scale = source_scale<double>(inputs, outputs, s.align_corners, given);
    double most = 0;
    for (size_t i = 0; i < outputs; ++i) {
      const Filter<double> f(i, inputs, scale);
      for (size_t k = 0; k < f.count; ++k) most = std::fmax(most, f.weight(k) / f.total);
    }
    while (bits < 22 && static_cast<int32_t>(0.5 + most * (2 << bits)) < 1 << 15) ++bits;
  }

  int32_t weight(const Filter<double>& f, size_t k) const {
    return static_cast<int32_t>(0.5 + f.weight(k) / f.total * (1 << bits));
  }

  // The sum of bytes times weights, rounded.
  int32_t byte(int32_t sum) const {
    sum = (sum + (1 << bits >> 1)) >> bits;
    return sum > 255 ? 255 : sum;
  }
};

void antialias_bytes(const Sampling& s) {
  const WholeFilter rows(s, 2, s.given[0]);
  const WholeFilter columns(s, 3, s.given[1]);
  const Image from(s.in);
  const Image to(s.out);
  for (size_t y = 0; y < size_at(s.out, 2); ++y) {
    const Filter<double> v(y, rows.inputs, rows.scale);
    for (size_t x = 0; x < size_at(s.out, 3); ++x) {
      const Filter<double> h(x, columns.inputs, columns.scale);
      for (size_t n = 0; n < size_at(s.out, 0); ++n) {
        for (size_t c = 0; c < size_at(s.out, 1); ++c) {
          int32_t sum = 0;
          for (size_t j = 0; j < v.count; ++j) {
            int32_t row = 0;
            for (size_t i = 0; i < h.count; ++i) {
              const char* p = from.at(n, c, v.begin + j, h.begin + i);
              row += columns.weight(h, i) * *reinterpret_cast<const uint8_t*>(p);
            }
            sum += rows.weight(v, j) * columns.byte(row);
          }
          *reinterpret_cast<uint8_t*>(to.at(n, c, y, x)) = static_cast<uint8_t>(rows.byte(sum));
        }
      }
    }
  }
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& upsample_bilinear2d_vec_out(KernelRuntimeContext& ctx, const Tensor& input,
                                    std::optional<IntArrayRef> output_size, bool align_corners,
                                    std::optional<ArrayRef<double>> scale_factors, Tensor& out) {
  Sampling s{input, out, align_corners, {}};
  const bool good = input.scalar_type() == out.scalar_type() &&
                    resample_size(input, output_size, scale_factors, s.given, out) &&
                    dispatch<kBilinear, FloatHBF16Types>(input.scalar_type(), [&](auto tag) {
                      bilinear<typename decltype(tag)::type>(s);
                    });
  if (!good) ctx.fail(Error::InvalidArgument);
  return out;
}

Tensor& _upsample_bilinear2d_aa_out(KernelRuntimeContext& ctx, const Tensor& self,
                                    IntArrayRef output_size, bool align_corners,
                                    std::optional<double> scales_h, std::optional<double> scales_w,
                                    Tensor& out) {
  Sampling s{self, out, align_corners, {}};
  bool good = self.scalar_type() == out.scalar_type() &&
              resample_size(self, output_size, std::nullopt, s.given, out);
  s.given[0] = scales_h.value_or(0);
  s.given[1] = scales_w.value_or(0);
  using Supported = Types<float, double, Half, BFloat16, uint8_t>;
  good = good && dispatch<kAntialias, Supported>(self.scalar_type(), [&](auto tag) {
           using T = typename decltype(tag)::type;
           if constexpr (std::is_integral_v<T>) {
             antialias_bytes(s);
           } else {
             antialias<T>(s);
           }
         });
  if (!good) ctx.fail(Error::InvalidArgument);
  return out;
}

}  // namespace torch::executor::native
