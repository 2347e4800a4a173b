// Console, exit, counters and the trap report of the CV32E40P firmware (RTL bench and QEMU virt).

#include "platform.h"

#include <stddef.h>
#include <stdio.h>

#define CONSOLE (*(volatile uint8_t*)0x10000000u)
#define FINISHER (*(volatile uint32_t*)0x00100000u)

void platform_putc(char c) { CONSOLE = (uint8_t)c; }

void platform_exit(int code) {
  FINISHER = code == 0 ? 0x5555u : ((uint32_t)code << 16) | 0x3333u;
  for (;;) {
  }
}

// The C library's own exits end here too.
void _exit(int code) { platform_exit(code); }

#define READ_COUNTER(name, low, high)                                                 \
  uint64_t name(void) {                                                               \
    uint32_t hi, lo, again;                                                           \
    do {                                                                              \
      __asm__ volatile(                                                               \
          ".option push\n\t.option arch, +zicsr\n\t"                                  \
          "csrr %0, " high "\n\tcsrr %1, " low "\n\tcsrr %2, " high "\n\t.option pop" \
          : "=&r"(hi), "=&r"(lo), "=&r"(again)::"memory");                            \
    } while (hi != again);                                                            \
    return ((uint64_t)hi << 32) | lo;                                                 \
  }

READ_COUNTER(platform_cycles, "mcycle", "mcycleh")
READ_COUNTER(platform_instret, "minstret", "minstreth")

static int console_put(char c, FILE* stream) {
  (void)stream;
  platform_putc(c);
  return c;
}

// picolibc's streams: printf in an application prints to the console.
static FILE console = FDEV_SETUP_STREAM(console_put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE* const stdout = &console;
FILE* const stderr = &console;

static void put_text(const char* text) {
  while (*text != 0) {
    platform_putc(*text++);
  }
}

static void put_hex(const char* label, uint32_t value) {
  put_text(label);
  put_text("0x");
  for (int shift = 28; shift >= 0; shift -= 4) {
    platform_putc("0123456789abcdef"[(value >> shift) & 15u]);
  }
}

// With NDEBUG traps are told by numbers alone: the texts take 0.5 kB.
#ifndef NDEBUG
static const char* cause_name(uint32_t cause) {
  switch (cause) {
    case 0:
      return "instruction address misaligned";
    case 1:
      return "instruction access fault";
    case 2:
      return "illegal instruction";
    case 3:
      return "breakpoint";
    case 4:
    case 6:
      return "misaligned address";
    case 5:
      return "load access fault";
    case 7:
      return "store access fault";
    case 11:
      return "environment call";
    default:
      return "unexpected trap";
  }
}

// CORE-V v2 uses RISC-V's custom-0 to custom-3 opcodes.
static bool is_corev(uint32_t instruction) {
  const uint32_t opcode = instruction & 0x7fu;
  return opcode == 0x0bu || opcode == 0x2bu || opcode == 0x5bu || opcode == 0x7bu;
}
#endif

// Called on a stack of its own by crt0's trap entry; does not return.
void platform_trap(uint32_t cause, uint32_t pc, uint32_t value) {
  put_text("\ntrap: ");
#ifndef NDEBUG
  put_text(cause_name(cause));
  put_text(", ");
#endif
  put_hex("mcause ", cause);
  put_hex(" mepc ", pc);
  put_hex(" mtval ", value);
#ifndef NDEBUG
  if (cause == 2) {
    const volatile uint16_t* const half = (const volatile uint16_t*)(uintptr_t)pc;
    uint32_t instruction = half[0];
    if ((instruction & 3u) == 3u) {
      instruction |= (uint32_t)half[1] << 16;
    }
    put_hex(" instruction ", instruction);
    if (is_corev(instruction)) {
      put_text(
          "\ntrap: this is a CORE-V instruction and the core has none: build the kernels for a "
          "plain core (--target rv32imc)");
    }
  }
#endif
  platform_putc('\n');
  platform_exit(cause < 32 ? (int)(PLATFORM_TRAP_EXIT + cause) : 63);
}

extern char __stack_limit[];

uintptr_t platform_stack_limit(void) { return (uintptr_t)__stack_limit; }

// picolibc copies and fills a byte at a time, 7 to 9 cycles each. These go by words where both ends
// allow it. The attribute keeps the compiler from turning the loops into calls of themselves.
#define NO_LOOP_CALLS __attribute__((optimize("no-tree-loop-distribute-patterns")))

typedef uint32_t __attribute__((may_alias)) word_t;

NO_LOOP_CALLS void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  uint8_t* d = to;
  const uint8_t* s = from;
  if ((((uintptr_t)d ^ (uintptr_t)s) & 3) == 0) {
    for (; ((uintptr_t)d & 3) != 0 && size > 0; --size) {
      *d++ = *s++;
    }
    for (; size >= 16; size -= 16, d += 16, s += 16) {
      const word_t a = ((const word_t*)s)[0], b = ((const word_t*)s)[1];
      const word_t c = ((const word_t*)s)[2], e = ((const word_t*)s)[3];
      ((word_t*)d)[0] = a;
      ((word_t*)d)[1] = b;
      ((word_t*)d)[2] = c;
      ((word_t*)d)[3] = e;
    }
    for (; size >= 4; size -= 4, d += 4, s += 4) {
      *(word_t*)d = *(const word_t*)s;
    }
  }
  while (size-- > 0) {
    *d++ = *s++;
  }
  return to;
}

NO_LOOP_CALLS void* memset(void* to, int value, size_t size) {
  uint8_t* d = to;
  const word_t word = (word_t)(uint8_t)value * 0x01010101u;
  for (; ((uintptr_t)d & 3) != 0 && size > 0; --size) {
    *d++ = (uint8_t)value;
  }
  for (; size >= 16; size -= 16, d += 16) {
    ((word_t*)d)[0] = word;
    ((word_t*)d)[1] = word;
    ((word_t*)d)[2] = word;
    ((word_t*)d)[3] = word;
  }
  for (; size >= 4; size -= 4, d += 4) {
    *(word_t*)d = word;
  }
  while (size-- > 0) {
    *d++ = (uint8_t)value;
  }
  return to;
}
