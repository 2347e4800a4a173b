// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/kernel/operator_registry.h>

#include "kernel_search.h"

namespace executorch::runtime {

namespace {

struct Table {
  Span<const Kernel> kernels;
  bool is_sorted = false;
};

Table g_tables[GEN_KERNELS_MAX_TABLES];
size_t g_table_count = 0;

/// Where, in a sorted table, kernels whose name compares not less than the operator's begin.
const Kernel* lower_bound(Span<const Kernel> kernels, const internal::OperatorName& name) {
  const Kernel* first = kernels.begin();
  size_t count = kernels.size();
  while (count > 0) {
    const size_t half = count / 2;
    if (name.compare(first[half].name_) > 0) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

/// Searches one table. A specialised kernel that matches is the result; the fallback is left in
/// `fallback`.
OpFunction search(const Table& table, const internal::OperatorName& name,
                  internal::KeyMatcher matches, void* args, OpFunction& fallback) {
  const Kernel* kernel = table.is_sorted ? lower_bound(table.kernels, name) : table.kernels.begin();
  for (; kernel != table.kernels.end(); ++kernel) {
    if (name.compare(kernel->name_) != 0) {
      if (table.is_sorted) {
        break;
      }
    } else if (kernel->kernel_key_.is_fallback()) {
      fallback = fallback == nullptr ? kernel->op_ : fallback;
    } else if (matches(kernel->kernel_key_.data(), args)) {
      return kernel->op_;
    }
  }
  return nullptr;
}

bool is_same(const char* key, void* other) {
  return other != nullptr && strcmp(key, static_cast<const char*>(other)) == 0;
}

/// Whether a table holds a kernel of this very name and key.
bool holds(const Table& table, const Kernel& kernel) {
  OpFunction fallback = nullptr;
  const char* key = kernel.kernel_key_.data();
  return search(table, {kernel.name_, ""}, is_same, const_cast<char*>(key), fallback) != nullptr ||
         (key == nullptr && fallback != nullptr);
}

}  // namespace

namespace internal {

int OperatorName::compare(const char* other) const {
  const char* at = name;
  const char* rest = overload;
  for (;; ++other) {
    if (*at == '\0' && rest != nullptr && *rest != '\0') {
      // The full name is "name.overload".
      if (*other != '.') {
        return '.' - static_cast<unsigned char>(*other);
      }
      at = rest;
      rest = nullptr;
      continue;
    }
    if (*at != *other || *at == '\0') {
      return static_cast<unsigned char>(*at) - static_cast<unsigned char>(*other);
    }
    ++at;
  }
}

bool KeyCursor::expect(char c) {
  // A key that ends early ends the comparison: its zero is never passed.
  if (*at_ != c) {
    return false;
  }
  ++at_;
  return true;
}

bool KeyCursor::number(unsigned value) {
  unsigned found = 0;
  while (*at_ >= '0' && *at_ <= '9') {
    found = found * 10 + static_cast<unsigned>(*at_++ - '0');
  }
  return found == value;
}

bool KeyCursor::tensor(executorch::aten::ScalarType dtype, const uint8_t* dim_order, size_t dims) {
  bool good = expect(separator_) && number(static_cast<unsigned>(dtype)) && expect(';');
  separator_ = '|';
  for (size_t i = 0; good && i < dims; ++i) {
    good = (i == 0 || expect(',')) && number(dim_order[i]);
  }
  return good;
}

Error find_kernel(const OperatorName& name, Span<const Kernel> kernels, KeyMatcher matches,
                  void* args, OpFunction& function) {
  OpFunction fallback = nullptr;
  OpFunction special = nullptr;
  if (!kernels.empty()) {
    special = search({kernels, false}, name, matches, args, fallback);
  } else {
    for (size_t i = 0; i < g_table_count && special == nullptr; ++i) {
      special = search(g_tables[i], name, matches, args, fallback);
    }
  }
  function = special == nullptr ? fallback : special;
  ET_CHECK_OR_RETURN_ERROR(function != nullptr, OperatorMissing, "No kernel for %s.%s", name.name,
                           name.overload);
  return Error::Ok;
}

Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size) {
  char* const end = buf + buf_size;
  const auto put = [&buf, end](char c) {
    if (buf < end) {
      *buf++ = c;
    }
  };
  const auto put_number = [put](unsigned value) {
    if (value >= 10) {
      put(static_cast<char>('0' + value / 10));
    }
    put(static_cast<char>('0' + value % 10));
  };
  put('v');
  put('1');
  char separator = '/';
  for (const TensorMeta& meta : key) {
    put(separator);
    separator = '|';
    put_number(static_cast<unsigned>(meta.dtype_));
    put(';');
    for (size_t i = 0; i < meta.dim_order_.size(); ++i) {
      if (i != 0) {
        put(',');
      }
      put_number(meta.dim_order_[i]);
    }
  }
  // One character is sure to be left only when everything before fitted.
  ET_CHECK_OR_RETURN_ERROR(buf < end, InvalidArgument, "%zu bytes are too few for the key",
                           buf_size);
  *buf = '\0';
  return Error::Ok;
}

}  // namespace internal

Error register_kernels(const Span<const Kernel> kernels) {
  // A table that continues the last one is the same table: kernels that come one by one.
  const bool continues =
      g_table_count > 0 && g_tables[g_table_count - 1].kernels.end() == kernels.begin();
  const size_t index = continues ? g_table_count - 1 : g_table_count;
  if (index == GEN_KERNELS_MAX_TABLES) {
    ET_LOG(Error, "More than %d tables of kernels", GEN_KERNELS_MAX_TABLES);
    return Error::RegistrationExceedingMaxKernels;
  }
  Table table = continues ? g_tables[index] : Table{{kernels.data(), size_t{0}}, true};
  for (const Kernel& kernel : kernels) {
    const size_t size = table.kernels.size();
    // In a sorted table only a neighbour can have the same name: this takes linear time.
    const int order = size == 0 ? -1 : strcmp(table.kernels[size - 1].name_, kernel.name_);
    table.is_sorted = table.is_sorted && order <= 0;
    bool is_known = (order == 0 || !table.is_sorted) && holds(table, kernel);
    for (size_t i = 0; i < index; ++i) {
      is_known = is_known || holds(g_tables[i], kernel);
    }
    if (is_known) {
      ET_LOG(Error, "%s is registered already", kernel.name_);
      return Error::RegistrationAlreadyRegistered;
    }
    table.kernels = {table.kernels.data(), size + 1};
  }
  g_tables[index] = table;
  g_table_count = index + !table.kernels.empty();
  return Error::Ok;
}

Error register_kernel(const Kernel& kernel) {
  static Kernel kernels[GEN_KERNELS_MAX_SINGLE_KERNELS];
  static size_t count = 0;
  if (count == GEN_KERNELS_MAX_SINGLE_KERNELS) {
    ET_LOG(Error, "More than %d single kernels", GEN_KERNELS_MAX_SINGLE_KERNELS);
    return Error::RegistrationExceedingMaxKernels;
  }
  kernels[count] = kernel;
  const Error error = register_kernels({&kernels[count], 1});
  count += error == Error::Ok;
  return error;
}

namespace {
bool matches_metas(const char* key, void* args) {
  const auto& metas = *static_cast<const Span<const TensorMeta>*>(args);
  internal::KeyCursor cursor(key);
  bool good = cursor.begin();
  for (size_t i = 0; good && i < metas.size(); ++i) {
    good = cursor.tensor(metas[i].dtype_, metas[i].dim_order_.data(), metas[i].dim_order_.size());
  }
  return good && cursor.at_end();
}
}  // namespace

Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_list) {
  OpFunction function;
  ET_CHECK_OK_OR_RETURN_ERROR(
      internal::find_kernel({name, ""}, kernel_list, matches_metas, &meta_list, function));
  return function;
}

Result<OpFunction> get_op_function_from_registry(const char* name,
                                                 Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list, {});
}

bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list, {}).ok();
}

Span<const Kernel> get_registered_kernels() { return g_tables[0].kernels; }

}  // namespace executorch::runtime
