// Text on the console, without printf.
#ifndef GEN_KERNELS_PRINT_H
#define GEN_KERNELS_PRINT_H

#include <cstddef>
#include <cstdint>

#include "platform.h"

namespace runner {

inline void put(const char* text) {
  while (*text != 0) {
    platform_putc(*text++);
  }
}

#ifdef RUNNER_SMALL
inline void put_unsigned(uint32_t value) {
  char digits[11];
  char* at = digits + sizeof digits - 1;
  *at = 0;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  put(at);
}
#else
// Divides in 16-bit steps: a 64-bit division would link 1.7 kB of library code.
inline void put_unsigned(uint64_t value) {
  uint32_t limbs[4];
  for (int i = 0; i < 4; ++i) {
    limbs[i] = static_cast<uint32_t>(value >> (48 - 16 * i)) & 0xffffu;
  }
  char digits[21];
  char* at = digits + sizeof digits - 1;
  *at = 0;
  uint32_t rest;
  do {
    uint32_t remainder = 0;
    rest = 0;
    for (uint32_t& limb : limbs) {
      const uint32_t dividend = (remainder << 16) | limb;
      limb = dividend / 10;
      remainder = dividend % 10;
      rest |= limb;
    }
    *--at = static_cast<char>('0' + remainder);
  } while (rest != 0);
  put(at);
}

inline void put_signed(int64_t value) {
  if (value < 0) {
    put("-");
    put_unsigned(~static_cast<uint64_t>(value) + 1);
  } else {
    put_unsigned(static_cast<uint64_t>(value));
  }
}
#endif

inline void put_bytes(const void* data, size_t size) {
  static const char kDigits[] = "0123456789abcdef";
  const uint8_t* const bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i) {
    platform_putc(kDigits[bytes[i] >> 4]);
    platform_putc(kDigits[bytes[i] & 15]);
  }
}

// `put("a", 1, "b")`: the words of one line.
inline void put_word(const char* word) { put(word); }
inline void put_word(size_t word) { put_unsigned(word); }
template <class... Words>
inline void put_line_start(const char* first, Words... words) {
  put(first);
  ((put(" "), put_word(words)), ...);
}

}  // namespace runner

#endif
