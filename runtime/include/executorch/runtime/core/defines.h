// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// 1: names of enumerators are available as text (tag_to_string). Unused names cost no flash.
#ifndef ET_ENABLE_ENUM_STRINGS
#define ET_ENABLE_ENUM_STRINGS 1
#endif
