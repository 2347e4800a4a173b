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
    // The table's size, which stands beside, is no help: some writers let tables of different size
    // share a vtable. What counts is that fields are inside the buffer.
    const uint32_t vtable_size = load<uint16_t>(data_ + vtable);
    if (vtable_size % 2 != 0 || vtable_size > size_ - vtable) {
      return false;
    }
    uint32_t member = 0;
    for (uint32_t i = schema_.first[type]; i < schema_.first[type + 1]; ++i) {
      const Field field = schema_.fields[i];
      const uint32_t entry = 4 + 2 * uint32_t{field.id};
      const uint32_t offset = entry + 2 <= vtable_size ? load<uint16_t>(data_ + vtable + entry) : 0;
      if (offset == 0) {
        if (field.kind == Kind::Member && member != 0) {
          return false;
        }
        continue;
      }
      const uint32_t alignment = field.kind <= Kind::Union ? 0 : 3;
      const uint32_t width = field.kind == Kind::Long ? 8 : alignment + 1;
      if ((offset & alignment) != 0 || offset + width > size_ - at) {
        return false;
      }
      const uint32_t where = at + offset;
      bool good = true;
      switch (field.kind) {
        case Kind::Union:
          member = data_[where];
          break;
        case Kind::Member:
          // `type` is the last member's.
          good = member == 0 || (member <= schema_.fields[i - 1].type &&
                                 table(where, field.type - schema_.fields[i - 1].type + member));
          break;
        case Kind::Table:
          good = table(where, field.type);
          break;
        case Kind::Byte:
        case Kind::Word:
        case Kind::Long:
          break;
        default:
          good = vector(where, field);
      }
      if (!good) {
        return false;
      }
    }
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

  bool vector(uint32_t at, Field field) {
    if (!follow(at)) {
      return false;
    }
    const uint32_t count = load<uint32_t>(data_ + at);
    at += 4;
    const uint32_t shift = field.kind == Kind::Longs ? 3 : field.kind >= Kind::Words ? 2 : 0;
    if (count > (size_ - at) >> shift) {
      return false;
    }
    if (field.kind == Kind::String) {
      return count < size_ - at && data_[at + count] == 0;
    }
    if (field.kind == Kind::Tables) {
      for (uint32_t i = 0; i < count; ++i, at += 4) {
        if (!table(at, field.type)) {
          return false;
        }
      }
    }
    return true;
  }

  const Schema& schema_;
  const uint8_t* data_;
  uint32_t size_;
  uint32_t budget_;
};

}  // namespace

bool verify(const Schema& schema, const uint8_t* data, size_t size) {
  return size >= 8 && size <= INT32_MAX &&
         Verifier(schema, data, static_cast<uint32_t>(size)).table(0, 0);
}

}  // namespace gen_kernels::flat
