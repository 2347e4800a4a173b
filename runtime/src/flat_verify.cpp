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
    const uint32_t table_size = load<uint16_t>(data_ + vtable + 2);
    if (table_size > size_ - at) {
      return false;
    }
    // Most tables of a type share one vtable: what follows from it alone is checked once.
    const bool known = checked_[type] == vtable + 1;
    if (!known && (vtable_size % 2 != 0 || vtable_size < 4 || vtable_size > size_ - vtable)) {
      return false;
    }
    for (uint32_t i = schema_.first[type]; i < schema_.first[type + 1]; ++i) {
      const Field& field = schema_.fields[i];
      uint32_t offset = entry(vtable, vtable_size, field.id);
      if (offset == 0) {
        continue;
      }
      if (!known && !fits(offset, field.kind, table_size)) {
        return false;
      }
      if (field.kind <= Kind::Long) {
        continue;
      }
      uint32_t target = field.type;
      if (field.kind == Kind::Union) {
        const uint32_t member = data_[at + offset];
        if (member == 0) {
          continue;
        }
        offset = entry(vtable, vtable_size, field.id + 1u);
        if (member > field.members || offset == 0 || !fits(offset, Kind::Table, table_size)) {
          return false;
        }
        target += member - 1;
      }
      if (field.kind == Kind::Table || field.kind == Kind::Union
              ? !table(at + offset, target)
              : !vector(at + offset, field.kind, target)) {
        return false;
      }
    }
    checked_[type] = vtable + 1;
    return true;
  }

 private:
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

  static bool fits(uint32_t offset, Kind kind, uint32_t table_size) {
    const bool byte = kind == Kind::Byte || kind == Kind::Union;
    const uint32_t width = byte ? 1 : kind == Kind::Long ? 8 : 4;
    return (byte || offset % 4 == 0) && offset + width <= table_size;
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
  uint32_t checked_[kMaxTypes] = {};  ///< By type: 1 + the position of the last vtable.
};

}  // namespace

bool verify(const Schema& schema, const uint8_t* data, size_t size) {
  if (size < 8 || size > INT32_MAX) {
    return false;
  }
  return Verifier(schema, data, static_cast<uint32_t>(size)).table(0, 0);
}

}  // namespace gen_kernels::flat
