// CORE-V (PULP) instructions of the CV32E40P as inline functions.
//
// On RISC-V each is one instruction, written with `.insn` so that any assembler
// takes it; elsewhere (or with GEN_KERNELS_COREV_MODEL) it is a C model, bit for
// bit the same. Encodings: the CV32E40P v2 user manual.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__riscv) && !defined(GEN_KERNELS_COREV_MODEL)
#define GEN_KERNELS_COREV 1
#else
#define GEN_KERNELS_COREV 0
#endif

#define GEN_KERNELS_INLINE inline __attribute__((always_inline))

// Tests ask which way a call takes; `gen-kernels inspect` says it beforehand (selective/paths.py).
#if defined(GEN_KERNELS_PATHS)
extern "C" void gen_kernels_path(const char* name);
#define GEN_KERNELS_PATH(name) gen_kernels_path(name)
#else
#define GEN_KERNELS_PATH(name) static_cast<void>(0)
#endif

namespace gen_kernels::corev {

// ---- C models ----
namespace model {

inline int32_t byte(uint32_t word, int i) { return static_cast<int8_t>(word >> (8 * i)); }
inline int32_t ubyte(uint32_t word, int i) {
  return static_cast<int32_t>((word >> (8 * i)) & 0xff);
}
inline uint32_t u(int32_t value) { return static_cast<uint32_t>(value); }
inline int32_t s(uint32_t value) { return static_cast<int32_t>(value); }

inline int32_t sdotsp_b(int32_t sum, uint32_t a, uint32_t b) {
  for (int i = 0; i < 4; ++i) {
    sum = s(u(sum) + u(byte(a, i) * byte(b, i)));
  }
  return sum;
}
inline int32_t sdotusp_b(int32_t sum, uint32_t a, uint32_t b) {
  for (int i = 0; i < 4; ++i) {
    sum = s(u(sum) + u(ubyte(a, i) * byte(b, i)));
  }
  return sum;
}
inline int32_t mac(int32_t sum, int32_t a, int32_t b) { return s(u(sum) + u(a) * u(b)); }
inline int32_t muls_n(int32_t a, int32_t b, unsigned n) {
  return (static_cast<int16_t>(a) * static_cast<int16_t>(b)) >> n;
}
inline int32_t sdotsp_h(int32_t sum, uint32_t a, uint32_t b) {
  sum = s(u(sum) + u(static_cast<int16_t>(a) * static_cast<int16_t>(b)));
  return s(u(sum) + u(static_cast<int16_t>(a >> 16) * static_cast<int16_t>(b >> 16)));
}
inline int32_t machhu(int32_t sum, int32_t a, int32_t b) {
  return s(u(sum) + (u(a) >> 16) * (u(b) >> 16));
}
inline int32_t mulu_n(int32_t a, int32_t b, unsigned n) {
  return s(((u(a) & 0xffff) * (u(b) & 0xffff)) >> n);
}
inline int32_t add_nr(int32_t a, int32_t b, uint32_t n) { return s(u(a) + u(b)) >> (n & 31); }
inline int32_t clipur(int32_t a, int32_t high) { return a <= 0 ? 0 : a > high ? high : a; }
inline int32_t clip(int32_t a, unsigned bits) {
  const int32_t high = s((uint32_t{1} << (bits - 1)) - 1);
  return a > high ? high : a < -high - 1 ? -high - 1 : a;
}
inline int32_t fl1(uint32_t a) { return a == 0 ? 32 : 31 - __builtin_clz(a); }
inline int32_t min(int32_t a, int32_t b) { return a < b ? a : b; }
inline int32_t max(int32_t a, int32_t b) { return a > b ? a : b; }
template <class F>
inline uint32_t bytes(uint32_t a, uint32_t b, F f) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    word |= (u(f(byte(a, i), byte(b, i))) & 0xff) << (8 * i);
  }
  return word;
}
inline uint32_t min_b(uint32_t a, uint32_t b) { return bytes(a, b, min); }
inline uint32_t max_b(uint32_t a, uint32_t b) { return bytes(a, b, max); }
inline uint32_t sub_b(uint32_t a, uint32_t b) {
  return bytes(a, b, [](int32_t x, int32_t y) { return x - y; });
}
inline uint32_t pack(uint32_t a, uint32_t b) { return (a << 16) | (b & 0xffff); }
inline uint32_t pack_h(uint32_t a, uint32_t b) { return (a & 0xffff0000) | (b >> 16); }
inline uint32_t packlo_b(uint32_t word, uint32_t a, uint32_t b) {
  return (word & 0xffff0000) | ((a & 0xff) << 8) | (b & 0xff);
}
inline uint32_t packhi_b(uint32_t word, uint32_t a, uint32_t b) {
  return (word & 0xffff) | ((a & 0xff) << 24) | ((b & 0xff) << 16);
}
// Byte i of the result: byte (selector & 3) of `a` where the selector's bit 2 is set, else of
// `word`.
inline uint32_t shuffle2_b(uint32_t word, uint32_t a, uint32_t selector) {
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const int pick = ubyte(selector, i);
    result |= u(ubyte((pick & 4) != 0 ? a : word, pick & 3)) << (8 * i);
  }
  return result;
}

}  // namespace model

// ---- Instructions ----
// Each macro instance defines the function by its `.insn` operands or by its model.

#if GEN_KERNELS_COREV
#define GEN_KERNELS_COREV_2(type, name, insn, ta, tb)               \
  inline type name(ta a, tb b) {                                    \
    type d;                                                         \
    asm(".insn r " insn ", %0, %1, %2" : "=r"(d) : "r"(a), "r"(b)); \
    return d;                                                       \
  }
#define GEN_KERNELS_COREV_3(type, name, insn, ta, tb)               \
  inline type name(type d, ta a, tb b) {                            \
    asm(".insn r " insn ", %0, %1, %2" : "+r"(d) : "r"(a), "r"(b)); \
    return d;                                                       \
  }
#else
#define GEN_KERNELS_COREV_2(type, name, insn, ta, tb) \
  inline type name(ta a, tb b) { return model::name(a, b); }
#define GEN_KERNELS_COREV_3(type, name, insn, ta, tb) \
  inline type name(type d, ta a, tb b) { return model::name(d, a, b); }
#endif

// d + the dot product of four signed bytes
GEN_KERNELS_COREV_3(int32_t, sdotsp_b, "0x7b, 1, 0x54", uint32_t, uint32_t)
// d + the dot product of four bytes, unsigned in a, signed in b
GEN_KERNELS_COREV_3(int32_t, sdotusp_b, "0x7b, 1, 0x50", uint32_t, uint32_t)
// d + a * b
GEN_KERNELS_COREV_3(int32_t, mac, "0x2b, 3, 0x48", int32_t, int32_t)
// d + the product of the high halves, unsigned
GEN_KERNELS_COREV_3(int32_t, machhu, "0x5b, 7, 0x20", int32_t, int32_t)
// d + the dot product of two signed halves
GEN_KERNELS_COREV_3(int32_t, sdotsp_h, "0x7b, 0, 0x54", uint32_t, uint32_t)
// (d + a) >> n
GEN_KERNELS_COREV_3(int32_t, add_nr, "0x2b, 3, 0x40", int32_t, uint32_t)
GEN_KERNELS_COREV_2(int32_t, min, "0x2b, 3, 0x2b", int32_t, int32_t)
GEN_KERNELS_COREV_2(int32_t, max, "0x2b, 3, 0x2d", int32_t, int32_t)
// a, clipped to 0 ... b
GEN_KERNELS_COREV_2(int32_t, clipur, "0x2b, 3, 0x3b", int32_t, int32_t)
// byte by byte
GEN_KERNELS_COREV_2(uint32_t, min_b, "0x7b, 1, 0x10", uint32_t, uint32_t)
GEN_KERNELS_COREV_2(uint32_t, max_b, "0x7b, 1, 0x18", uint32_t, uint32_t)
GEN_KERNELS_COREV_2(uint32_t, sub_b, "0x7b, 1, 0x04", uint32_t, uint32_t)
// {a[15:0], b[15:0]} and {a[31:16], b[31:16]}
GEN_KERNELS_COREV_2(uint32_t, pack, "0x7b, 0, 0x78", uint32_t, uint32_t)
GEN_KERNELS_COREV_2(uint32_t, pack_h, "0x7b, 0, 0x79", uint32_t, uint32_t)
// {a[7:0], b[7:0]} into the low or the high half of d
GEN_KERNELS_COREV_3(uint32_t, packlo_b, "0x7b, 1, 0x7c", uint32_t, uint32_t)
GEN_KERNELS_COREV_3(uint32_t, packhi_b, "0x7b, 1, 0x7d", uint32_t, uint32_t)
GEN_KERNELS_COREV_3(uint32_t, shuffle2_b, "0x7b, 1, 0x70", uint32_t, uint32_t)
#undef GEN_KERNELS_COREV_2
#undef GEN_KERNELS_COREV_3

// a, clipped to a signed byte
inline int32_t clip8(int32_t a) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x2b, 3, 0x38, %0, %1, x8" : "=r"(d) : "r"(a));
  return d;
#else
  return model::clip(a, 8);
#endif
}

// a, clipped to 30 digits
inline int32_t clip30(int32_t a) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x2b, 3, 0x38, %0, %1, x30" : "=r"(d) : "r"(a));
  return d;
#else
  return model::clip(a, 30);
#endif
}

// (a + b) >> 24
inline int32_t add_n24(int32_t a, int32_t b) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x5b, 2, 0x18, %0, %1, %2" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  return model::add_nr(a, b, 24);
#endif
}

// (a + b) >> 15, unsigned
inline uint32_t addu_n15(uint32_t a, uint32_t b) {
#if GEN_KERNELS_COREV
  uint32_t d;
  asm(".insn r 0x5b, 2, 0x2f, %0, %1, %2" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  return (a + b) >> 15;
#endif
}

// The place of the highest 1; 32 when there is none.
inline int32_t last_bit(uint32_t a) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x2b, 3, 0x22, %0, %1, x0" : "=r"(d) : "r"(a));
  return d;
#else
  return model::fl1(a);
#endif
}

// The product of the low halves, unsigned: its high half.
inline int32_t mulu_16(int32_t a, int32_t b) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x5b, 5, 0x10, %0, %1, %2" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  return model::mulu_n(a, b, 16);
#endif
}

// The product of the low halves, signed: its high half.
inline int32_t muls_16(int32_t a, int32_t b) {
#if GEN_KERNELS_COREV
  int32_t d;
  asm(".insn r 0x5b, 4, 0x10, %0, %1, %2" : "=r"(d) : "r"(a), "r"(b));
  return d;
#else
  return model::muls_n(a, b, 16);
#endif
}

// Loads and stores that step their pointer afterwards. Words may lie anywhere: the core splits a
// misaligned access.
inline uint32_t load_word(const int8_t*& from) {
#if GEN_KERNELS_COREV
  uint32_t d;
  asm volatile(".insn i 0x0b, 2, %0, %1, 4" : "=&r"(d), "+&r"(from) : : "memory");
  return d;
#else
  uint32_t d;
  std::memcpy(&d, from, 4);
  from += 4;
  return d;
#endif
}

inline uint32_t load_word(const int8_t*& from, int32_t step) {
#if GEN_KERNELS_COREV
  uint32_t d;
  asm volatile(".insn r 0x2b, 3, 0x02, %0, %1, %2" : "=&r"(d), "+&r"(from) : "r"(step) : "memory");
  return d;
#else
  uint32_t d;
  std::memcpy(&d, from, 4);
  from += step;
  return d;
#endif
}

inline uint32_t load_byte(const int8_t*& from, int32_t step) {
#if GEN_KERNELS_COREV
  uint32_t d;
  asm volatile(".insn r 0x2b, 3, 0x08, %0, %1, %2" : "=&r"(d), "+&r"(from) : "r"(step) : "memory");
  return d;
#else
  const auto d = static_cast<uint8_t>(*from);
  from += step;
  return d;
#endif
}

inline void store_word(int8_t*& to, uint32_t value) {
#if GEN_KERNELS_COREV
  asm volatile(".insn s 0x2b, 2, %1, 4(%0)" : "+&r"(to) : "r"(value) : "memory");
#else
  std::memcpy(to, &value, 4);
  to += 4;
#endif
}

inline void store_word(int8_t*& to, uint32_t value, int32_t step) {
#if GEN_KERNELS_COREV
  asm volatile(".insn r 0x2b, 3, 0x12, %2, %0, %1" : "+&r"(to) : "r"(value), "r"(step) : "memory");
#else
  std::memcpy(to, &value, 4);
  to += step;
#endif
}

inline void store_byte(int8_t*& to, int32_t value) {
#if GEN_KERNELS_COREV
  asm volatile(".insn s 0x2b, 0, %1, 1(%0)" : "+&r"(to) : "r"(value) : "memory");
#else
  *to++ = static_cast<int8_t>(value);
#endif
}

inline void store_byte(int8_t*& to, int32_t value, int32_t step) {
#if GEN_KERNELS_COREV
  asm volatile(".insn r 0x2b, 3, 0x10, %2, %0, %1" : "+&r"(to) : "r"(value), "r"(step) : "memory");
#else
  *to = static_cast<int8_t>(value);
  to += step;
#endif
}

// The high word of the product (plain RISC-V; 5 cycles).
inline int32_t mulh(int32_t a, int32_t b) {
  return static_cast<int32_t>((static_cast<int64_t>(a) * b) >> 32);
}

// ---- Hardware loops ----
// A loop's body stands in one asm block: at least three uncompressed instructions, no branch, on a
// 4-byte boundary. `count` is at least 1; GEN_KERNELS_LOOP(count operand, instructions in the
// body).
#define GEN_KERNELS_LOOP_BEGIN ".option push\n.balign 4\n.option norvc\n"
#define GEN_KERNELS_LOOP(count, instructions) \
  ".insn i 0x2b, 4, x14, %[" #count "], " #instructions " + 1\n"
#define GEN_KERNELS_LOOP_END ".option pop\n"

// Copies `count` bytes; fast in words.
inline void copy(int8_t* to, const int8_t* from, int32_t count) {
  int32_t words = count >> 2;
#if GEN_KERNELS_COREV
  for (; words >= 3; words = 0) {
    int32_t pairs = words >> 1;
    uint32_t a;
    uint32_t b;
    asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 4)
                 ".insn i 0x0b, 2, %[a], %[from], 4\n"
                 ".insn i 0x0b, 2, %[b], %[from], 4\n"
                 ".insn s 0x2b, 2, %[a], 4(%[to])\n"
                 ".insn s 0x2b, 2, %[b], 4(%[to])\n" GEN_KERNELS_LOOP_END
                 : [a] "=&r"(a), [b] "=&r"(b), [from] "+&r"(from), [to] "+&r"(to)
                 : [n] "r"(pairs)
                 : "memory");
    if ((words & 1) != 0) {
      store_word(to, load_word(from));
    }
  }
#endif
  for (; words > 0; --words) {
    store_word(to, load_word(from));
  }
  for (count &= 3; count > 0; --count) {
    *to++ = *from++;
  }
}

inline void fill(int8_t* to, int32_t value, int32_t count) {
  const uint32_t word = (static_cast<uint32_t>(value) & 0xff) * 0x01010101U;
#if GEN_KERNELS_COREV
  if (count >= 32) {
    const int32_t blocks = count >> 4;
    asm volatile(GEN_KERNELS_LOOP_BEGIN GEN_KERNELS_LOOP(n, 4)
                 ".insn s 0x2b, 2, %[word], 4(%[to])\n"
                 ".insn s 0x2b, 2, %[word], 4(%[to])\n"
                 ".insn s 0x2b, 2, %[word], 4(%[to])\n"
                 ".insn s 0x2b, 2, %[word], 4(%[to])\n" GEN_KERNELS_LOOP_END
                 : [to] "+&r"(to)
                 : [n] "r"(blocks), [word] "r"(word)
                 : "memory");
    count &= 15;
  }
#endif
  for (; count >= 4; count -= 4) {
    store_word(to, word);
  }
  for (; count > 0; --count) {
    *to++ = static_cast<int8_t>(value);
  }
}

}  // namespace gen_kernels::corev
