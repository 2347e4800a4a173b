// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdint.h>

extern "C" {
/// A point in time, in ticks of the platform's clock.
typedef uint64_t et_timestamp_t;
}
