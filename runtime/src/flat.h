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
  Byte,  ///< numbers of 1, 4 or 8 bytes
  Word,
  Long,
  String,  ///< offsets to a string, or to a vector of numbers
  Bytes,
  Words,
  Longs,
  Table,   ///< offset to a table
  Tables,  ///< offset to a vector of tables
  Union,   ///< a byte that names a member, 0 for none; the next field is the offset to it
};

/// A field that some reader uses.
struct Field {
  uint8_t id;
  Kind kind;
  uint8_t type;     ///< Table, Tables: the type. Union: the type of member 1; the others follow.
  uint8_t members;  ///< Union: their number.
};

/// Types by number. The fields of type t are those from first[t] up to first[t + 1], by id.
struct Schema {
  const Field* fields;
  const uint8_t* first;
  uint8_t types;
};

/// The most types that a schema can have.
constexpr size_t kMaxTypes = 32;

/// Checks that a buffer, which must begin at a multiple of 4, is a table of type 0 with everything
/// in it inside the buffer and aligned. It takes time linear in `size`, and recurs as deep as the
/// schema, whatever the buffer holds. Returns whether it is.
bool verify(const Schema& schema, const uint8_t* data, size_t size);

}  // namespace gen_kernels::flat
