// Bilinear resampling of images, and the same with a filter against aliasing.
#include <cmath>

#include "util/resample.h"

namespace gen_kernels {
namespace {

inline constexpr char kBilinear[] = "aten::upsample_bilinear2d.vec_out";
inline constexpr char kAntialias[] = "aten::_upsample_bilinear2d_aa.out";

struct Sampling {
  const Tensor& in;
  const Tensor& out;
  bool align_corners;
  double given[2];

  // The scale of dim 2 or 3.
  template <class C>
  C scale(size_t dim) const {
    return source_scale<C>(size_at(in, dim), size_at(out, dim), align_corners, given[dim - 2]);
  }
};

// What an output element is made of along one dim: `count` input elements from `begin` on, with
// weights whose sum is `total`. Neighbours takes the two around its place.
template <class C>
struct Neighbours {
  size_t begin;
  size_t count;
  C second{};
  static constexpr C total{1};

  Neighbours(size_t i, size_t inputs, size_t outputs, C scale, bool align_corners) {
    begin = i;
    count = 1;
    if (inputs == outputs) return;  // A copy, whatever the scale.
    C at = static_cast<C>(i) * scale;
    if (!align_corners) {
      at = (static_cast<C>(i) + C(0.5)) * scale - C(0.5);
      if (at < C{}) at = C{};
    }
    begin = static_cast<size_t>(at);
    if (begin >= inputs - 1) {
      begin = inputs - 1;
      return;
    }
    count = 2;
    second = at - static_cast<C>(begin);
  }

  C weight(size_t k) const { return k != 0 ? second : C{1} - second; }
};

// The triangle around its place, as wide as an output element, but not narrower than an input one.
template <class C>
struct Triangle {
  size_t begin;
  size_t count;
  C centre;
  C inverse;
  C total{};

  Triangle(size_t i, size_t inputs, size_t, C scale, bool) {
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

// Calls cell(from, to, v, h) for every output element: the places of the first input element that
// it is made of and of itself, and what it takes along both dims.
template <class Filter, class C, class Cell>
void for_each_pixel(const Sampling& s, C scale_y, C scale_x, const Cell& cell) {
  const Image from(s.in);
  const Image to(s.out);
  const size_t height = size_at(s.out, 2);
  const size_t width = size_at(s.out, 3);
  for (size_t y = 0; y < height; ++y) {
    const Filter v(y, size_at(s.in, 2), height, scale_y, s.align_corners);
    for (size_t x = 0; x < width; ++x) {
      const Filter h(x, size_at(s.in, 3), width, scale_x, s.align_corners);
      for (size_t n = 0; n < size_at(s.out, 0); ++n) {
        for (size_t c = 0; c < size_at(s.out, 1); ++c) {
          cell(from, from.at(n, c, v.begin, h.begin), to.at(n, c, y, x), v, h);
        }
      }
    }
  }
}

template <class T, class Filter, class C = OpMath<T>>
void resample(const Sampling& s) {
  for_each_pixel<Filter, C>(
      s, s.scale<C>(2), s.scale<C>(3),
      [](const Image& image, const char* from, char* to, const Filter& v, const Filter& h) {
        C sum{};
        for (size_t j = 0; j < v.count; ++j, from += image.stride[2]) {
          const char* at = from;
          C row{};
          for (size_t i = 0; i < h.count; ++i, at += image.stride[3]) {
            row += h.weight(i) * static_cast<C>(*reinterpret_cast<const T*>(at));
          }
          sum += v.weight(j) * row;
        }
        if (!std::is_same_v<Filter, Neighbours<C>>) sum /= v.total * h.total;
        *reinterpret_cast<T*>(to) = static_cast<T>(sum);
      });
}

// One dim in whole numbers, as PyTorch does it for bytes: all weights are scaled by the power of
// two with which the largest just fits 16 bits.
template <class Filter>
struct Whole {
  double scale;
  int32_t bits = 0;

  Whole(const Sampling& s, size_t dim) : scale(s.scale<double>(dim)) {
    const size_t outputs = size_at(s.out, dim);
    double most = 0;
    for (size_t i = 0; i < outputs; ++i) {
      const Filter f(i, size_at(s.in, dim), outputs, scale, s.align_corners);
      for (size_t k = 0; k < f.count; ++k) most = std::fmax(most, f.weight(k) / f.total);
    }
    while (bits < 22 && static_cast<int32_t>(0.5 + most * (2 << bits)) < 1 << 15) ++bits;
  }

  int32_t weight(const Filter& f, size_t k) const {
    return static_cast<int32_t>(0.5 + f.weight(k) / f.total * (1 << bits));
  }

  // The sum of bytes times weights, rounded.
  int32_t byte(int32_t sum) const {
    sum = (sum + (1 << bits >> 1)) >> bits;
    return sum > 255 ? 255 : sum;
  }
};

template <class Filter>
void resample_bytes(const Sampling& s) {
  const Whole<Filter> rows(s, 2);
  const Whole<Filter> columns(s, 3);
  for_each_pixel<Filter, double>(
      s, rows.scale, columns.scale,
      [&](const Image& image, const char* from, char* to, const Filter& v, const Filter& h) {
        int32_t sum = 0;
        for (size_t j = 0; j < v.count; ++j, from += image.stride[2]) {
          const char* at = from;
          int32_t row = 0;
          for (size_t i = 0; i < h.count; ++i, at += image.stride[3]) {
            row += columns.weight(h, i) * *reinterpret_cast<const uint8_t*>(at);
          }
          sum += rows.weight(v, j) * columns.byte(row);
        }
        *reinterpret_cast<uint8_t*>(to) = static_cast<uint8_t>(rows.byte(sum));
      });
}

template <const char* Op, template <class> class Filter>
bool resample(const Sampling& s) {
  using Supported = Types<float, double, Half, BFloat16, uint8_t>;
  return dispatch<Op, Supported>(s.in.scalar_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      resample_bytes<Filter<double>>(s);
    } else {
      resample<T, Filter<OpMath<T>>>(s);
    }
  });
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
                    resample<kBilinear, Neighbours>(s);
  return finish(ctx, good, out);
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
  good = good && resample<kAntialias, Triangle>(s);
  return finish(ctx, good, out);
}

}  // namespace torch::executor::native
