// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <stddef.h>
#include <string.h>

#include <array>
#include <type_traits>
#include <variant>

namespace executorch::runtime {

static constexpr size_t kMaxOptionKeyLength = 64;
static constexpr size_t kMaxOptionValueLength = 256;

using OptionValue = std::variant<bool, int, std::array<char, kMaxOptionValueLength>>;

/// A setting of a backend.
struct BackendOption {
  char key[kMaxOptionKeyLength]{};
  OptionValue value;
};

/// The value of `key`: InvalidArgument when it is of another type, NotFound without such a key.
template <typename T>
Error find_option(Span<const BackendOption> options, const char* key, T& out) {
  for (const BackendOption& option : options) {
    if (strcmp(option.key, key) != 0) {
      continue;
    }
    if constexpr (std::is_same_v<T, const char*>) {
      if (const auto* text = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value)) {
        out = text->data();
        return Error::Ok;
      }
    } else if (const T* value = std::get_if<T>(&option.value)) {
      out = *value;
      return Error::Ok;
    }
    return Error::InvalidArgument;
  }
  return Error::NotFound;
}

/// At most MaxCapacity settings, by key.
template <size_t MaxCapacity>
class BackendOptions {
 public:
  Span<BackendOption> view() { return Span<BackendOption>(options_, size_); }

  template <size_t N>
  Error set_option(const char (&key)[N], bool value) noexcept {
    return set(key, N, value);
  }
  template <size_t N>
  Error set_option(const char (&key)[N], int value) noexcept {
    return set(key, N, value);
  }
  template <size_t N>
  Error set_option(const char (&key)[N], const char* value) noexcept {
    std::array<char, kMaxOptionValueLength> text{};
    for (size_t i = 0; i + 1 < text.size() && value[i] != '\0'; ++i) {
      text[i] = value[i];
    }
    return set(key, N, text);
  }
  template <typename T, size_t N>
  Error get_option(const char (&key)[N], T& out) const {
    return find_option(Span<const BackendOption>(options_, size_), key, out);
  }

 private:
  Error set(const char* key, size_t key_size, OptionValue value) {
    size_t i = 0;
    while (i < size_ && strcmp(options_[i].key, key) != 0) {
      ++i;
    }
    if (i == MaxCapacity || key_size > kMaxOptionKeyLength) {
      return Error::InvalidArgument;
    }
    if (i == size_) {
      memcpy(options_[size_++].key, key, key_size);
    }
    options_[i].value = value;
    return Error::Ok;
  }

  BackendOption options_[MaxCapacity]{};
  size_t size_ = 0;
};

}  // namespace executorch::runtime
