// SPDX-License-Identifier: BSD-3-Clause
#include "flat.h"

namespace gen_kernels::flat {

namespace {

class Verifier {
 public:
  Verifier(const Schema& schema, const uint8_t* data, uint32_t size)
      // Tables that nothing shares take 8 bytes at least, with the offset that leads to them. This
      // bounds the work on a file in which many offsets lead to the same table.
      : schema_(schema), data_(data), size_(size), budget_(size / 4) {}

  /// Whether the offset at `at`, a checked position, leads to a good table of type `type`.
  bool table(uint32_t at, uint32_t type) {
    if (!follow(at) || budget_-- == 0) {
      return false;
    }
    const uint32_t vtable = at - load<uint32_t>(data_ + at);
    if (vtable % 2 != 0 || vtable > size_ - 4) {
      return false;
    }
    const uint32_t vtable_size = load<uint16_t>(data_ + vtable);
    // Most tables of a type share one vtable: what follows from it alone is checked once.
    Layout& layout = layouts_[type];
    if (layout.vtable != vtable) {
      if (vtable_size % 2 != 0 || vtable_size < 4 || vtable_size > size_ - vtable ||
          !measure(vtable, vtable_size, type, layout.extent)) {
        return false;
      }
      layout.vtable = vtable;
    }
    if (layout.extent > size_ - at) {
      return false;
    }
    for (uint32_t i = schema_.first[type]; i < schema_.first[type + 1]; ++i) {
      const Field& field = schema_.fields[i];
      const uint32_t offset = entry(vtable, vtable_size, field.id);
      if (offset == 0 || field.kind <= Kind::Long) {
        continue;
      }
      if (field.kind == Kind::Union) {
        const uint32_t member = data_[at + offset];
        const uint32_t value = entry(vtable, vtable_size, field.id + 1u);
        if (member != 0 &&
            (member > field.members || value == 0 || !table(at + value, field.type + member - 1))) {
          return false;
        }
        continue;
      }
      if (field.kind == Kind::Table ? !table(at + offset, field.type)
                                    : !vector(at + offset, field.kind, field.type)) {
        return false;
      }
    }
    return true;
  }

 private:
  /// What the last vtable of a type says.
  struct Layout {
    uint32_t vtable = UINT32_MAX;
    uint32_t extent = 0;
  };

  /// Makes `at`, the position of an offset, the position that it leads to. The size of a vector,
  /// or the distance of a vtable, is sure to be inside then.
  bool follow(uint32_t& at) const {
    const uint32_t offset = load<uint32_t>(data_ + at);
    if (offset > size_ - at) {
      return false;
    }
    at += offset;
    return at % 4 == 0 && at <= size_ - 4;
  }

  uint32_t entry(uint32_t vtable, uint32_t vtable_size, uint32_t id) const {
    const uint32_t at = 4 + 2 * id;
    return at < vtable_size ? load<uint16_t>(data_ + vtable + at) : 0;
  }

  /// How far, from its beginning, the fields of a table with this vtable reach. False when one is
  /// not aligned. (The size that the vtable gives is no help: some writers let tables share a
  /// vtable that differ in size.)
  bool measure(uint32_t vtable, uint32_t vtable_size, uint32_t type, uint32_t& extent) const {
    extent = 4;
    for (uint32_t i = schema_.first[type]; i < schema_.first[type + 1]; ++i) {
      const Field& field = schema_.fields[i];
      const bool is_union = field.kind == Kind::Union;
      for (uint32_t half = 0; half <= is_union; ++half) {
        const uint32_t offset = entry(vtable, vtable_size, field.id + half);
        const bool is_byte = half == 0 && (field.kind == Kind::Byte || is_union);
        const uint32_t width = is_byte ? 1 : field.kind == Kind::Long ? 8 : 4;
        if (!is_byte && offset % 4 != 0) {
          return false;
        }
        extent = offset + width > extent ? offset + width : extent;
      }
    }
    return true;
  }

  bool vector(uint32_t at, Kind kind, uint32_t type) {
    if (!follow(at)) {
      return false;
    }
    const uint32_t count = load<uint32_t>(data_ + at);
    at += 4;
    const uint32_t shift = kind == Kind::Longs ? 3 : kind >= Kind::Words ? 2 : 0;
    if (count > (size_ - at) >> shift) {
      return false;
    }
    if (kind == Kind::String) {
      return count < size_ - at && data_[at + count] == 0;
    }
    for (uint32_t i = 0; kind == Kind::Tables && i < count; ++i) {
      if (!table(at + 4 * i, type)) {
        return false;
      }
    }
    return true;
  }

  const Schema& schema_;
  const uint8_t* data_;
  uint32_t size_;
  uint32_t budget_;
  Layout layouts_[kMaxTypes] = {};
};

}  // namespace

bool verify(const Schema& schema, const uint8_t* data, size_t size) {
  if (size < 8 || size > INT32_MAX) {
    return false;
  }
  return Verifier(schema, data, static_cast<uint32_t>(size)).table(0, 0);
}

}  // namespace gen_kernels::flat
