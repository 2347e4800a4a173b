// SPDX-License-Identifier: BSD-3-Clause
#include "flat.h"

namespace gen_kernels::flat {

namespace {

/// Layouts that are remembered.
constexpr uint32_t kLayouts = 16;

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
    // Most tables of a type share a vtable: what follows from it alone is looked at once. (The
    // table's size, which stands there too, is no help: some writers let tables of different size
    // share a vtable. What counts is that fields are inside the buffer.)
    Layout& layout = layouts_[(vtable / 2 + type) % kLayouts];
    if ((layout.after != vtable + 1 || layout.type != type) && !measure(vtable, type, layout)) {
      return false;
    }
    if (layout.extent > size_ - at) {
      return false;
    }
    // Tables inside this one may take the layout's place.
    const Field* const numbers = layout.numbers;
    uint32_t member = 0;
    for (const Field* field = &schema_.fields[schema_.first[type]]; field != numbers; ++field) {
      const uint32_t offset = entry(vtable, field->id);
      if (offset == 0) {
        if (field->kind == Kind::Member && member != 0) {
          return false;
        }
        continue;
      }
      const uint32_t where = at + offset;
      bool good = true;
      switch (field->kind) {
        case Kind::Union:
          member = data_[where];
          break;
        case Kind::Member: {
          // `type` is the last member's.
          const uint32_t members = field[-1].type;
          good = member == 0 || (member <= members && table(where, field->type - members + member));
          break;
        }
        case Kind::Table:
          good = table(where, field->type);
          break;
        default:
          good = vector(where, *field);
      }
      if (!good) {
        return false;
      }
    }
    return true;
  }

 private:
  /// What a vtable says about tables of one type.
  struct Layout {
    uint32_t after;  ///< 1 + the position of the vtable, 0 for none.
    uint32_t type;
    uint32_t extent;       ///< How far fields reach, from the table's beginning.
    const Field* numbers;  ///< Where the fields begin that need no look of their own.
  };

  uint32_t entry(uint32_t vtable, uint32_t id) const {
    const uint32_t at = 4 + 2 * id;
    return at < load<uint16_t>(data_ + vtable) ? load<uint16_t>(data_ + vtable + at) : 0;
  }

  /// Fills in a layout; false when the vtable is not inside, or a field not aligned.
  bool measure(uint32_t vtable, uint32_t type, Layout& layout) const {
    const uint32_t vtable_size = load<uint16_t>(data_ + vtable);
    if (vtable_size % 2 != 0 || vtable_size > size_ - vtable) {
      return false;
    }
    layout.after = vtable + 1;
    layout.type = type;
    layout.extent = 4;
    const Field* field = &schema_.fields[schema_.first[type]];
    const Field* end = &schema_.fields[schema_.first[type + 1]];
    layout.numbers = field;
    for (; field != end; ++field) {
      const uint32_t offset = entry(vtable, field->id);
      const bool is_byte = field->kind == Kind::Byte || field->kind == Kind::Union;
      const uint32_t alignment = is_byte ? 0 : 3;
      const uint32_t width = field->kind == Kind::Long ? 8 : alignment + 1;
      if ((offset & alignment) != 0) {
        return false;
      }
      if (offset + width > layout.extent) {
        layout.extent = offset + width;
      }
      if (field->kind >= Kind::Union) {
        layout.numbers = field + 1;
      }
    }
    return true;
  }

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
  Layout layouts_[kLayouts] = {};
};

}  // namespace

bool verify(const Schema& schema, const uint8_t* data, size_t size) {
  return size >= 8 && size <= INT32_MAX &&
         Verifier(schema, data, static_cast<uint32_t>(size)).table(0, 0);
}

}  // namespace gen_kernels::flat
