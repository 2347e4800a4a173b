// Sorting, and the k first of a sorted line. Stable: of equal elements the first comes first. NaNs
// count as larger than all numbers.
#include <tuple>
#include <utility>

#include "util/reduce.h"

namespace gen_kernels {
namespace {

inline constexpr char kSort[] = "aten::sort.values";
inline constexpr char kTopk[] = "aten::topk.values";

// A line of n elements along the dim and its k results. Steps are in bytes.
struct Line {
  const char* in;
  char* values;
  char* indices;
  size_t n = 1;
  size_t k = 1;
  ptrdiff_t in_step = 0;
  ptrdiff_t value_step = 0;
  ptrdiff_t index_step = 0;
  ScalarType type;
  size_t element;
  bool descending;
};

// Sorts through a heap in the indices, whose root is the last element kept so far.
template <TypeMask Mask, class C>
class Sorter {
 public:
  explicit Sorter(const Line& line) : line_(line) {}

  void run() {
    for (size_t i = 0; i < line_.n; ++i) {
      const auto candidate = static_cast<int64_t>(i);
      if (i < line_.k) {
        size_t at = i;
        for (; at > 0 && before(index((at - 1) / 2), candidate); at = (at - 1) / 2) {
          index(at) = index((at - 1) / 2);
        }
        index(at) = candidate;
      } else if (before(candidate, index(0))) {
        sift(candidate, line_.k);
      }
    }
    for (size_t end = line_.k; end-- > 1;) {
      const int64_t moved = index(end);
      index(end) = index(0);
      sift(moved, end);
    }
    for (size_t i = 0; i < line_.k; ++i) {
      memcpy(line_.values + static_cast<ptrdiff_t>(i) * line_.value_step, at(index(i)),
             line_.element);
    }
  }

 private:
  int64_t& index(size_t i) {
    return *reinterpret_cast<int64_t*>(line_.indices +
                                       static_cast<ptrdiff_t>(i) * line_.index_step);
  }
  const char* at(int64_t i) const { return line_.in + static_cast<ptrdiff_t>(i) * line_.in_step; }

  GEN_KERNELS_NOINLINE bool before(int64_t a, int64_t b) const {
    const C x = load_one<C, Mask>(at(a), line_.type);
    const C y = load_one<C, Mask>(at(b), line_.type);
    const bool x_less = x < y || (is_nan(y) && !is_nan(x));
    const bool y_less = y < x || (is_nan(x) && !is_nan(y));
    if (x_less || y_less) return line_.descending ? y_less : x_less;
    return a < b;
  }

  // Puts `moved` at the root of a heap of n and sinks it to its place.
  void sift(int64_t moved, size_t n) {
    size_t at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
      if (child + 1 < n && before(index(child), index(child + 1))) ++child;
      if (!before(moved, index(child))) break;
      index(at) = index(child);
      at = child;
    }
    index(at) = moved;
  }

  const Line& line_;
};

template <TypeMask Mask>
bool sort(const Tensor& in, int64_t k, int64_t dim, bool descending, Tensor& values,
          Tensor& indices) {
  const ScalarType type = in.scalar_type();
  if (values.scalar_type() != type || indices.scalar_type() != ScalarType::Long) return false;
  if (!wrap_dim(dim, rank(in))) return false;
  Line line{};
  line.type = type;
  line.element = element_size(in);
  line.descending = descending;
  Shape shape = shape_of(in);
  if (rank(in) > 0) line.n = size_at(in, static_cast<size_t>(dim));
  if (k < 0) k = static_cast<int64_t>(line.n);
  if (k > static_cast<int64_t>(line.n)) return false;
  line.k = static_cast<size_t>(k);
  if (rank(in) > 0) shape.sizes[dim] = static_cast<SizesType>(k);
  if (!resize_out(values, shape) || !resize_out(indices, shape)) return false;
  Walk w;
  w.operands = 3;
  w.at[0] = const_cast<char*>(const_bytes(in));
  w.at[1] = mutable_bytes(values);
  w.at[2] = mutable_bytes(indices);
  for (size_t d = rank(in); d-- > 0;) {
    const ptrdiff_t stride[] = {stride_at(in, d) * in.element_size(),
                                stride_at(values, d) * in.element_size(),
                                stride_at(indices, d) * indices.element_size()};
    if (d == static_cast<size_t>(dim)) {
      line.in_step = stride[0];
      line.value_step = stride[1];
      line.index_step = stride[2];
    } else {
      add_axis(w, size_at(in, d), stride);
    }
  }
  return dispatch_compute<Mask>(type, [&](auto tag) {
    using C = typename decltype(tag)::type;
    if (w.empty || line.k == 0) return;
    do {
      for (size_t i = 0; i < w.row(); ++i) {
        const auto n = static_cast<ptrdiff_t>(i);
        line.in = w.at[0] + w.step(0) * n;
        line.values = w.at[1] + w.step(1) * n;
        line.indices = w.at[2] + w.step(2) * n;
        Sorter<Mask, C>(line).run();
      }
    } while (next_row(w));
  });
}

}  // namespace

namespace native {

std::tuple<Tensor&, Tensor&> sort_values(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                                         bool descending, Tensor& values, Tensor& indices) {
  if (!sort<kReduced<kSort>>(self, -1, dim, descending, values, indices)) {
    ctx.fail(Error::InvalidArgument);
  }
  return {values, indices};
}

}  // namespace native
}  // namespace gen_kernels

namespace torch::executor::native {

using namespace gen_kernels;

// The results are always sorted, whether asked or not.
std::tuple<Tensor&, Tensor&> topk_values(KernelRuntimeContext& ctx, const Tensor& self, int64_t k,
                                         int64_t dim, bool largest, bool, Tensor& values,
                                         Tensor& indices) {
  if (k < 0 || !sort<kReduced<kTopk>>(self, k, dim, largest, values, indices)) {
    ctx.fail(Error::InvalidArgument);
  }
  return {values, indices};
}

}  // namespace torch::executor::native
