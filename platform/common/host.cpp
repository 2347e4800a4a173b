// The platform of platform.h on the host: standard output, no counters.

#include <cstdio>
#include <cstdlib>

#include "platform.h"

void platform_putc(char c) { std::putchar(c); }
void platform_exit(int code) { std::exit(code); }
uint64_t platform_cycles(void) { return 0; }
uint64_t platform_instret(void) { return 0; }
uintptr_t platform_stack_limit(void) { return 0; }
