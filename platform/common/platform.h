// What a firmware may ask of the platform. common/host.cpp offers the same on the host.
#ifndef GEN_KERNELS_PLATFORM_H
#define GEN_KERNELS_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A trap ends the program with this exit code plus mcause: 66 is an illegal instruction.
enum { PLATFORM_TRAP_EXIT = 64 };

void platform_putc(char c);
void platform_exit(int code) __attribute__((noreturn));

// Clock cycles and retired instructions since reset; 0 where there is no such counter.
uint64_t platform_cycles(void);
uint64_t platform_instret(void);

// The end of the stack (lowest address), 0 where it is unknown.
uintptr_t platform_stack_limit(void);

void platform_trap(uint32_t cause, uint32_t pc, uint32_t value) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
