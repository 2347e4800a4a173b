// Samples of images at places that a grid names.
#include <cmath>

#include "util/resample.h"

namespace gen_kernels {
namespace {

inline constexpr char kGridSampler[] = "aten::grid_sampler_2d.out";

enum Mode : int64_t { kBilinear, kNearest, kBicubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

template <class C>
struct Sampler {
  int32_t size;
  Padding padding;
  bool align_corners;

  // From [-1, 1] to element indices.
  C place(C x) const {
    const C n = static_cast<C>(size);
    return align_corners ? (x + C{1}) / C{2} * (n - C{1}) : ((x + C{1}) * n - C{1}) / C{2};
  }

  C clip(C x) const {
    const C last = static_cast<C>(size - 1);
    return x > C{} ? (x < last ? x : last) : C{};  // NaN goes to 0.
  }

  // Mirrors at the outer elements' centres, or at their outer edges.
  C reflect(C x) const {
    const C low = align_corners ? C{} : C(-0.5);
    const C span = static_cast<C>(align_corners ? size - 1 : size);
    if (span <= C{}) return C{};
    x = std::fabs(x - low);
    const C rest = std::fmod(x, span);
    const bool even = std::fmod(std::floor(x / span), C{2}) == C{};
    return even ? rest + low : span - rest + low;
  }

  C pad(C x) const {
    if (padding == kBorder) return clip(x);
    if (padding == kReflection) return clip(reflect(x));
    return x;
  }

  // The element at x, which is whole; -1 when it is outside.
  int32_t element(C x) const {
    return x >= C{} && x < static_cast<C>(size) ? static_cast<int32_t>(x) : -1;
  }
};

// Weights of the four elements around a position `t` behind the second.
template <class C>
void cubic_weights(C t, C (&w)[4]) {
  constexpr C a = C(-0.75);
  const auto near = [=](C x) { return ((a + C{2}) * x - (a + C{3})) * x * x + C{1}; };
  const auto far = [=](C x) { return ((a * x - C{5} * a) * x + C{8} * a) * x - C{4} * a; };
  w[0] = far(t + C{1});
  w[1] = near(t);
  w[2] = near(C{1} - t);
  w[3] = far(C{2} - t);
}

// What one axis contributes: up to four elements (-1: outside) and their weights.
template <class C>
struct Contribution {
  int32_t count;
  int32_t element[4];
  C weight[4];

  Contribution(const Sampler<C>& s, C x, Mode mode) {
    x = s.place(x);
    if (mode == kNearest) {
      count = 1;
      element[0] = s.element(std::nearbyint(s.pad(x)));
      weight[0] = C{1};
    } else if (mode == kBilinear) {
      x = s.pad(x);
      const C low = std::floor(x);
      count = 2;
      element[0] = s.element(low);
      element[1] = s.element(low + C{1});
      weight[1] = x - low;
      weight[0] = C{1} - weight[1];
    } else {
      const C low = std::floor(x);
      count = 4;
      cubic_weights(x - low, weight);
      for (int32_t i = 0; i < 4; ++i) {
        element[i] = s.element(s.pad(low + static_cast<C>(i - 1)));
      }
    }
  }
};

template <class T>
void sample(const Tensor& input, const Tensor& grid, Mode mode, Padding padding, bool align_corners,
            const Tensor& out) {
  using C = OpMath<T>;
  const Image from(input);
  const Image places(grid);
  const Image to(out);
  const Sampler<C> rows{static_cast<int32_t>(size_at(input, 2)), padding, align_corners};
  const Sampler<C> columns{static_cast<int32_t>(size_at(input, 3)), padding, align_corners};
  for (size_t n = 0; n < size_at(out, 0); ++n) {
    for (size_t y = 0; y < size_at(out, 2); ++y) {
      for (size_t x = 0; x < size_at(out, 3); ++x) {
        const auto coordinate = [&](size_t k) {
          return static_cast<C>(*reinterpret_cast<const T*>(places.at(n, y, x, k)));
        };
        const Contribution<C> h(columns, coordinate(0), mode);
        const Contribution<C> v(rows, coordinate(1), mode);
        for (size_t c = 0; c < size_at(out, 1); ++c) {
          C sum{};
          for (int32_t j = 0; j < v.count; ++j) {
            C row{};
            for (int32_t i = 0; i < h.count; ++i) {
              if (v.element[j] < 0 || h.element[i] < 0) continue;
              row +=
                  h.weight[i] *
                  static_cast<C>(*reinterpret_cast<const T*>(from.at(
                      n, c, static_cast<size_t>(v.element[j]), static_cast<size_t>(h.element[i]))));
            }
            sum += v.weight[j] * row;
          }
          *reinterpret_cast<T*>(to.at(n, c, y, x)) = static_cast<T>(sum);
        }
      }
    }
  }
}

bool grid_sample(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                 bool align_corners, Tensor& out) {
  const ScalarType type = input.scalar_type();
  if (grid.scalar_type() != type || out.scalar_type() != type) return false;
  if (rank(input) != 4 || rank(grid) != 4 || input.size(0) != grid.size(0) || grid.size(3) != 2) {
    return false;
  }
  if (size_at(input, 2) == 0 || size_at(input, 3) == 0) return false;
  if (mode < 0 || mode > kBicubic || padding < 0 || padding > kReflection) return false;
  const SizesType sizes[] = {
      static_cast<SizesType>(input.size(0)), static_cast<SizesType>(input.size(1)),
      static_cast<SizesType>(grid.size(1)), static_cast<SizesType>(grid.size(2))};
  return resize_out(out, {sizes, 4}) &&
         dispatch<kGridSampler, FloatHBF16Types>(type, [&](auto tag) {
           sample<typename decltype(tag)::type>(input, grid, static_cast<Mode>(mode),
                                                static_cast<Padding>(padding), align_corners, out);
         });
}

}  // namespace
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

Tensor& grid_sampler_2d_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& grid,
                            int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                            Tensor& out) {
  if (!grid_sample(input, grid, interpolation_mode, padding_mode, align_corners, out)) {
    ctx.fail(Error::InvalidArgument);
  }
  return out;
}

}  // namespace torch::executor::native
