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
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(load<uint32_t>(at) | uint64_t{load<uint32_t>(at + 4)} << 32);
  } else {
    T value;
    memcpy(&value, __builtin_assume_aligned(at, sizeof(T)), sizeof(T));
    return value;
  }
}

/// What stands for everything that is absent: the number 0, a vector without elements, an empty
/// string, and a table without fields.
alignas(8) inline constexpr uint8_t kNothing[8] = {};

/// What the offset at `at` leads to.
inline const uint8_t* follow(const uint8_t* at) { return at + load<uint32_t>(at); }

/// Where field `id` lies; kNothing when it is absent.
const uint8_t* field(const uint8_t* table, uint32_t id);
/// What field `id`, an offset, leads to.
const uint8_t* field_target(const uint8_t* table, uint32_t id);

/// A table of which many fields are read, fast: its vtable is looked up once.
class Fields {
 public:
  [[gnu::always_inline]] explicit Fields(const uint8_t* table)
      : table_(table), vtable_(table - load<int32_t>(table)), size_(load<uint16_t>(vtable_)) {}
  [[gnu::always_inline]] const uint8_t* operator[](uint32_t id) const {
    const uint32_t entry = 4 + 2 * id;
    const uint32_t offset = entry < size_ ? load<uint16_t>(vtable_ + entry) : 0;
    return offset == 0 ? kNothing : table_ + offset;
  }

 private:
  const uint8_t* table_;
  const uint8_t* vtable_;
  uint32_t size_;
};

inline uint8_t field_u8(const uint8_t* table, uint32_t id) { return *field(table, id); }
inline uint32_t field_u32(const uint8_t* table, uint32_t id) {
  return load<uint32_t>(field(table, id));
}
inline uint64_t field_u64(const uint8_t* table, uint32_t id) {
  return load<uint64_t>(field(table, id));
}
inline const uint8_t* field_table(const uint8_t* table, uint32_t id) {
  return field_target(table, id);
}
/// Vectors and strings.
inline const uint8_t* field_vector(const uint8_t* table, uint32_t id) {
  return field_target(table, id);
}

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
  return follow(vector + 4 + 4 * index);
}

/// What a field holds, as far as safety goes. The bits say: 0 and 1 the width of a number or of an
/// element, as a shift; 2 whether it is an offset to a vector; 3 and 4 whether it is an index, or
/// an offset to a table; the others tell apart what is the same so far.
enum class Kind : uint8_t {
  Byte = 0,  ///< Numbers of one, 4 and 8 bytes.
  Word = 2,
  Long = 3,
  Bytes = 4,  ///< Vectors of them.
  Words = 6,
  Longs = 7,
  Index = 10,    ///< A number below the size of the last vector of tables of this type.
  Indexes = 14,  ///< Vectors of Index, in 4 and 8 bytes.
  WideIndexes = 15,
  Table = 18,
  Tables = 22,
  Union = 32,            ///< Byte: which member of a union the field behind it leads to, 0: none.
  RequiredUnion = 96,    ///< The same, never 0.
  String = 36,           ///< Bytes, and a zero behind them.
  Bound = 42,            ///< Index, or the size itself.
  OptionalIndexes = 46,  ///< Indexes, or -1.
};

/// A field that some reader uses.
struct Field {
  constexpr Field() : Field(0, Kind::Byte) {}
  constexpr Field(uint8_t id_, Kind kind_, uint8_t type_ = 0, uint8_t members_ = 0)
      : id(id_ & 15u), members(members_ & 15u), kind(kind_), type(type_) {}

  uint8_t id : 4;
  uint8_t members : 4;  ///< Of a union, which follow one another.
  Kind kind;
  uint8_t type;  ///< Of tables and indexes, or of a union's first member.
};

constexpr size_t kMaxTypes = 32;

/// Types by number. The fields of type t are those from first[t] up to first[t + 1].
struct Schema {
  const Field* fields;
  const uint8_t* first;
};

/// Checks that a buffer, which must begin at a multiple of 4, is a table of type 0 with everything
/// in it inside the buffer and aligned. It takes time linear in `size`, and recurs as deep as the
/// schema, whatever the buffer holds. Returns whether it is.
bool verify(const Schema& schema, const uint8_t* data, size_t size);

}  // namespace gen_kernels::flat
