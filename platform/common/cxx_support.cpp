// What the C++ compiler refers to and firmware without libstdc++ lacks. Weak: a C++ library wins.

#include <cstddef>

#include "platform.h"

extern "C" {
__attribute__((weak)) void* __dso_handle = nullptr;
__attribute__((weak)) void __cxa_pure_virtual() { platform_exit(62); }
// Destructors of static objects never run: the firmware does not end.
__attribute__((weak)) int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
}

// Virtual destructors name the delete operators; nothing was ever allocated with new.
__attribute__((weak)) void operator delete(void*) noexcept {}
__attribute__((weak)) void operator delete(void*, std::size_t) noexcept {}
