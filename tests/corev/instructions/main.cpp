// Each function of kernels/corev/corev.h on corners and random operands. Prints "name hash" of all
// results: the host's (the C models) and the core's must be the same.
#include <stdio.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "corev/corev.h"

using namespace gen_kernels::corev;

namespace {

constexpr int kRandom = 1000;
constexpr uint32_t kCorners[] = {
    0,          1,          2,          15,         16,         17,         31,         32,
    0x7f,       0x80,       0xff,       0x100,      0x7fff,     0x8000,     0xffff,     0x10000,
    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xffffff80, 0xffffff7f, 0xffff8000, 0x7f807f80,
    0x80808080, 0x7f7f7f7f, 0x00ff00ff, 0x01020304, 0x07060504, 0x03020100};
constexpr int kCount = sizeof kCorners / sizeof *kCorners;

uint32_t hash;
uint64_t state;

void begin() {
  hash = 2166136261U;
  state = 1;
}
void add(uint32_t value) {
  for (int i = 0; i < 4; ++i) {
    hash = (hash ^ ((value >> (8 * i)) & 0xff)) * 16777619U;
  }
}
void end(const char* name) { printf("%s %08lx\n", name, static_cast<unsigned long>(hash)); }

uint32_t random32() {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<uint32_t>(state >> 32);
}
// Any word, a corner, or a small number.
uint32_t operand() {
  const uint32_t kind = random32() & 7;
  const uint32_t value = random32();
  return kind == 0   ? kCorners[value % static_cast<uint32_t>(kCount)]
         : kind == 1 ? value >> (random32() & 31)
         : kind == 2 ? static_cast<uint32_t>(static_cast<int32_t>(value) >> (random32() & 31))
                     : value;
}

template <class F>
void unary(const char* name, F f) {
  begin();
  for (const uint32_t a : kCorners) {
    add(f(a));
  }
  for (int i = 0; i < kRandom; ++i) {
    add(f(operand()));
  }
  end(name);
}

template <class F>
void binary(const char* name, F f) {
  begin();
  for (const uint32_t a : kCorners) {
    for (const uint32_t b : kCorners) {
      add(f(a, b));
    }
  }
  for (int i = 0; i < kRandom; ++i) {
    const uint32_t a = operand();
    add(f(a, operand()));
  }
  end(name);
}

// f(d, a, b), where d is read and written.
template <class F>
void ternary(const char* name, F f) {
  begin();
  for (const uint32_t d : {0U, 0x7fffffffU, 0x80000000U, 0x12345678U}) {
    for (const uint32_t a : kCorners) {
      for (const uint32_t b : kCorners) {
        add(f(d, a, b));
      }
    }
  }
  for (int i = 0; i < kRandom; ++i) {
    const uint32_t d = operand();
    const uint32_t a = operand();
    add(f(d, a, operand()));
  }
  end(name);
}

alignas(4) int8_t source[256];
alignas(4) int8_t target[256];

void add_target() {
  for (int i = 0; i < 256; i += 4) {
    uint32_t word;
    memcpy(&word, target + i, 4);
    add(word);
  }
}

// A load at each offset and step: its value and where the pointer went.
template <class F>
void load(const char* name, F f) {
  begin();
  for (int start = 64; start < 72; ++start) {
    for (const int32_t step : {0, 1, 2, 3, 4, 5, 7, 8, 100, -1, -4, -60}) {
      const int8_t* at = source + start;
      add(f(at, step));
      add(static_cast<uint32_t>(at - source));
    }
  }
  end(name);
}

template <class F>
void store(const char* name, F f) {
  begin();
  memset(target, 0, sizeof target);
  for (int start = 64; start < 72; ++start) {
    for (const int32_t step : {0, 1, 2, 3, 4, 5, 7, 8, 100, -1, -4, -60}) {
      int8_t* at = target + start;
      f(at, operand(), step);
      add(static_cast<uint32_t>(at - target));
      add_target();
    }
  }
  end(name);
}

int32_t s(uint32_t value) { return static_cast<int32_t>(value); }
uint32_t u(int32_t value) { return static_cast<uint32_t>(value); }

#define UNARY(name, in, out) unary(#name, [](uint32_t a) { return out(name(in(a))); })
#define BINARY(name, in, out) \
  binary(#name, [](uint32_t a, uint32_t b) { return out(name(in(a), in(b))); })
#define TERNARY(name, d_, a_, b_, out) \
  ternary(#name, [](uint32_t d, uint32_t a, uint32_t b) { return out(name(d_(d), a_(a), b_(b))); })

}  // namespace

int main() {
  for (int i = 0; i < 256; ++i) {
    source[i] = static_cast<int8_t>(i * 37 + 11);
  }
  TERNARY(sdotsp_b, s, , , u);
  TERNARY(sdotusp_b, s, , , u);
  TERNARY(sdotsp_h, s, , , u);
  TERNARY(mac, s, s, s, u);
  TERNARY(machhu, s, s, s, u);
  TERNARY(add_nr, s, s, , u);
  TERNARY(packlo_b, , , , );
  TERNARY(packhi_b, , , , );
  TERNARY(shuffle2_b, , , , );
  BINARY(min, s, u);
  BINARY(max, s, u);
  // The bound is not negative: the manual leaves the rest open.
  binary("clipur", [](uint32_t a, uint32_t b) { return u(clipur(s(a), s(b & 0x7fffffff))); });
  BINARY(min_b, , );
  BINARY(max_b, , );
  BINARY(sub_b, , );
  BINARY(pack, , );
  BINARY(pack_h, , );
  BINARY(mulu_16, s, u);
  BINARY(muls_16, s, u);
  BINARY(add_n24, s, u);
  BINARY(addu_n15, , );
  BINARY(mulh, s, u);
  UNARY(clip8, s, u);
  UNARY(clip30, s, u);
  UNARY(last_bit, , u);
  load("load_word", [](const int8_t*& at, int32_t) { return load_word(at); });
  load("load_word_step", [](const int8_t*& at, int32_t step) { return load_word(at, step); });
  load("load_byte", [](const int8_t*& at, int32_t step) { return load_byte(at, step); });
  store("store_word", [](int8_t*& at, uint32_t value, int32_t) { store_word(at, value); });
  store("store_word_step",
        [](int8_t*& at, uint32_t value, int32_t step) { store_word(at, value, step); });
  store("store_byte",
        [](int8_t*& at, uint32_t value, int32_t) { store_byte(at, static_cast<int8_t>(value)); });
  store("store_byte_step", [](int8_t*& at, uint32_t value, int32_t step) {
    store_byte(at, static_cast<int8_t>(value), step);
  });
  // Hardware loops, of every length that has a tail of its own.
  begin();
  for (int32_t count = 0; count < 70; ++count) {
    memset(target, 0, sizeof target);
    copy(target + (count & 3), source + (count >> 2), count);
    add_target();
  }
  end("copy");
  begin();
  for (int32_t count = 0; count < 130; ++count) {
    memset(target, 0, sizeof target);
    fill(target + (count & 3), s(operand()), count);
    add_target();
  }
  end("fill");
  return 0;
}
