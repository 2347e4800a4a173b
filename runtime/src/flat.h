// SPDX-License-Identifier: BSD-3-Clause
//
// Reading FlatBuffers (https://flatbuffers.dev, "Internals"): little-endian; an offset is relative
// to its own position; a table begins with the distance back to its vtable, which lists the
// table's size and where each field lies. A field that is absent has its default value.
//
// The readers check nothing. verify() does, once, when a file is loaded.
#pragma once

#include <executorch/runtime/core/error.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read where they lie");

namespace gen_kernels::flat {

/// A number in the file. Numbers of 8 bytes are only sure to lie at multiples of 4.
template <typename T>
inline T load(const uint8_t* at) {
  T value;
  memcpy(&value, __builtin_assume_aligned(at, sizeof(T) < 4 ? sizeof(T) : 4), sizeof(T));
  return value;
}

/// A vector without elements, and an empty string.
alignas(4) inline constexpr uint8_t kEmpty[8] = {};

/// A table whose fields are read one after another: its vtable is looked up once.
class View {
 public:
  [[gnu::always_inline]] explicit View(const uint8_t* table)
      : table_(table), vtable_(table - load<int32_t>(table)), size_(load<uint16_t>(vtable_)) {}

  [[gnu::always_inline]] const uint8_t* field(uint32_t id) const {
    const uint32_t entry = 4 + 2 * id;
    const uint32_t offset = entry < size_ ? load<uint16_t>(vtable_ + entry) : 0;
    return offset == 0 ? nullptr : table_ + offset;
  }
  [[gnu::always_inline]] uint8_t u8(uint32_t id) const {
    const uint8_t* at = field(id);
    return at == nullptr ? 0 : *at;
  }
  [[gnu::always_inline]] uint32_t u32(uint32_t id) const {
    const uint8_t* at = field(id);
    return at == nullptr ? 0 : load<uint32_t>(at);
  }
  /// What an offset leads to: a table, null when it is absent.
  [[gnu::always_inline]] const uint8_t* table(uint32_t id) const {
    const uint8_t* at = field(id);
    return at == nullptr ? nullptr : at + load<uint32_t>(at);
  }
  /// What an offset leads to: a vector, empty when it is absent.
  [[gnu::always_inline]] const uint8_t* vector(uint32_t id) const {
    const uint8_t* at = field(id);
    return at == nullptr ? kEmpty : at + load<uint32_t>(at);
  }

 private:
  const uint8_t* table_;
  const uint8_t* vtable_;
  uint32_t size_;
};

/// Where field `id` lies, or null when it is absent.
const uint8_t* field(const uint8_t* table, uint32_t id);
uint8_t field_u8(const uint8_t* table, uint32_t id);
uint32_t field_u32(const uint8_t* table, uint32_t id);
uint64_t field_u64(const uint8_t* table, uint32_t id);
/// What field `id`, an offset, leads to: a table, or null when it is absent.
const uint8_t* field_table(const uint8_t* table, uint32_t id);
/// The same for vectors and strings: an absent one is empty.
const uint8_t* field_vector(const uint8_t* table, uint32_t id);

inline uint32_t vector_size(const uint8_t* vector) { return load<uint32_t>(vector); }
inline const uint8_t* vector_data(const uint8_t* vector) { return vector + 4; }
inline const char* string_data(const uint8_t* string) {
  return reinterpret_cast<const char*>(string + 4);
}
/// Element `index` of a vector of 32-bit numbers.
inline uint32_t vector_u32(const uint8_t* vector, size_t index) {
  return load<uint32_t>(vector + 4 + 4 * index);
}
inline uint64_t vector_u64(const uint8_t* vector, size_t index) {
  return load<uint64_t>(vector + 4 + 8 * index);
}
/// Element `index` of a vector of tables.
inline const uint8_t* vector_table(const uint8_t* vector, size_t index) {
  const uint8_t* at = vector + 4 + 4 * index;
  return at + load<uint32_t>(at);
}

/// What a field holds, as far as safety goes.
enum class Kind : uint8_t {
  Byte,  ///< Numbers of one, 4 and 8 bytes.
  Word,
  Long,
  Union,   ///< One byte: which member of a union the next field is, 0 for none.
  Member,  ///< Offset to the table that the field before tells.
  Table,   ///< Offset to a table.
  String,  ///< Offsets to a string, and to vectors of numbers of 1, 4 and 8 bytes.
  Bytes,
  Words,
  Longs,
  Tables,  ///< Offset to a vector of tables.
};

/// A field that some reader uses.
struct Field {
  constexpr Field() : Field(0, Kind::Byte) {}
  constexpr Field(uint8_t id_, Kind kind_, uint8_t type_ = 0)
      : id(id_ & 15u), kind(kind_), type(type_) {}

  uint8_t id : 4;
  Kind kind : 4;
  /// Table, Tables: the type. Union: the number of members. Member: the type of the last member;
  /// those of the others come before it.
  uint8_t type;
};

/// Types by number. The fields of type t are those from first[t] up to first[t + 1]; the numbers
/// stand last.
struct Schema {
  const Field* fields;
  const uint8_t* first;
};

/// Checks that a buffer, which must begin at a multiple of 4, is a table of type 0 with everything
/// in it inside the buffer and aligned. It takes time linear in `size`, and recurs as deep as the
/// schema, whatever the buffer holds. Returns whether it is.
bool verify(const Schema& schema, const uint8_t* data, size_t size);

}  // namespace gen_kernels::flat
