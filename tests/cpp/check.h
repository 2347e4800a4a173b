// SPDX-License-Identifier: BSD-3-Clause
//
// CHECK counts and prints what does not hold; finish() gives the exit status.
#pragma once

#include <cstdio>

inline int g_checks = 0;
inline int g_failures = 0;

#define CHECK(condition)                                          \
  do {                                                            \
    ++g_checks;                                                   \
    if (!(condition)) {                                           \
      ++g_failures;                                               \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                             \
  } while (0)

inline int finish() {
  std::printf("%d checks, %d failures\n", g_checks, g_failures);
  return g_failures == 0 ? 0 : 1;
}
