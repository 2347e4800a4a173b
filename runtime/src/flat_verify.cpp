// SPDX-License-Identifier: BSD-3-Clause
#include "features.h"
#include "flat.h"

namespace gen_kernels::flat {

namespace {

template <typename T>
T read(uintptr_t at) {
  return load<T>(reinterpret_cast<const uint8_t*>(at));
}

constexpr uint32_t kVector = 4;
constexpr uint32_t kIndex = 8;
constexpr uint32_t kTable = 16;

constexpr uint32_t number_of(Kind kind) { return static_cast<uint32_t>(kind); }

// Places are numbers here: a damaged file makes some that no pointer may have.
class Verifier {
 public:
  Verifier(const Schema& schema, uintptr_t data, size_t size)
      // Tables that nothing shares take 8 bytes at least, with the offset that leads to them. This
      // bounds the work on a file in which many offsets lead to the same table.
      : schema_(schema), begin_(data), end_(data + size), budget_(size / 4) {}

  /// Whether the offset at `at`, a checked place, leads to a good table of type `type`.
  bool table(uintptr_t at, uint32_t type) {
    at = follow(at);
    if (at == 0 || budget_-- == 0) {
      return false;
    }
    // The table's size, which stands in the vtable too, is no help: some writers let tables of
    // different size share a vtable. What counts is that fields are inside the buffer.
    const uintptr_t vtable = at - static_cast<uintptr_t>(intptr_t{read<int32_t>(at)});
    if (vtable % 2 != 0 || !is_inside(vtable, 4)) {
      return false;
    }
    const uintptr_t vtable_end = vtable + read<uint16_t>(vtable);
    if (vtable_end % 2 != 0 || vtable_end > end_) {
      return false;
    }
    const size_t room = end_ - at;
    const auto offset_of = [vtable, vtable_end](uint32_t id) -> uint32_t {
      const uintptr_t entry = vtable + 4 + 2 * id;
      return entry < vtable_end ? read<uint16_t>(entry) : 0;
    };
    const Field* const last = &schema_.fields[schema_.first[type + 1]];
    for (const Field* field = &schema_.fields[schema_.first[type]]; field != last; ++field) {
      uint32_t offset = offset_of(field->id);
      uint32_t kind = number_of(field->kind);
      uint32_t field_type = field->type;
      if (kind % 64 == number_of(Kind::Union)) {
        const uint32_t member = offset != 0 && offset < room ? read<uint8_t>(at + offset) : 0;
        offset = offset_of(field->id + 1u);
        if (member > field->members ||
            (member == 0 ? kind == number_of(Kind::RequiredUnion) : offset == 0)) {
          return false;
        }
        kind = number_of(member == 0 ? Kind::Byte : Kind::Table);
        field_type += member - 1;
      }
      const uint32_t width = (kind & kVector) != 0 ? 4 : 1u << (kind & 3);
      if (offset + width > room || (offset & (width - 1) & 3) != 0) {
        return false;
      }
      if (kind > number_of(Kind::Long) &&
          !(offset == 0 ? absent(kind, field_type) : inside(at + offset, kind, field_type))) {
        return false;
      }
    }
    return true;
  }

 private:
  bool is_inside(uintptr_t at, size_t size) const { return at - begin_ <= end_ - begin_ - size; }

  /// Where the offset at `at` leads to, 0 when that is outside or not aligned. The size of a
  /// vector, or the distance of a vtable, is inside.
  [[gnu::noinline]] uintptr_t follow(uintptr_t at) const {
    const uint32_t offset = read<uint32_t>(at);
    // The offset is looked at as well: on a machine of 32 bits the sum may begin anew.
    return offset <= end_ - at && (at + offset) % 4 == 0 && is_inside(at + offset, 4) ? at + offset
                                                                                      : 0;
  }

  /// A field that is not there: no elements, or an index of 0.
  bool absent(uint32_t kind, uint32_t type) {
    if (kind == number_of(Kind::Tables)) {
      limits_[type] = 0;
    }
    return kind != number_of(Kind::Index) || limits_[type] != 0;
  }

  /// Whether what the field at `at` holds is good.
  bool inside(uintptr_t at, uint32_t kind, uint32_t type) {
    uint32_t count = 1;
    const uint32_t shift = kind & 3;
    if ((kind & kVector) != 0) {
      at = follow(at);
      if (at == 0) {
        return false;
      }
      count = read<uint32_t>(at);
      at += 4;
      const size_t rest = end_ - at;
      if (count > rest >> shift ||
          (kind == number_of(Kind::String) && (count == rest || read<uint8_t>(at + count) != 0))) {
        return false;
      }
      if (kind == number_of(Kind::Tables)) {
        limits_[type] = count;
      }
    }
    if ((kind & (kIndex | kTable)) == 0) {
      return true;
    }
    for (; count != 0; --count, at += 1u << shift) {
      if (!((kind & kTable) != 0 ? table(at, type) : index(at, kind, type))) {
        return false;
      }
    }
    return true;
  }

  bool index(uintptr_t at, uint32_t kind, uint32_t type) const {
    const uint32_t number = read<uint32_t>(at);
    const uint32_t limit = limits_[type];
    if (number < limit) {
      return !features::kIntLists || kind != number_of(Kind::WideIndexes) ||
             read<uint32_t>(at + 4) == 0;
    }
    return (features::kControlFlow && kind == number_of(Kind::Bound) && number == limit) ||
           (features::kTensorLists && kind == number_of(Kind::OptionalIndexes) &&
            number == UINT32_MAX);
  }

  const Schema& schema_;
  const uintptr_t begin_;
  const uintptr_t end_;
  size_t budget_;
  uint32_t limits_[kMaxTypes];  ///< By type: the size of the last vector of such tables.
};

}  // namespace

bool verify(const Schema& schema, const uint8_t* data, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  return size >= 8 && size <= INT32_MAX && Verifier(schema, begin, size).table(begin, 0);
}

}  // namespace gen_kernels::flat
