// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/kernel/operator_registry.h>

#include "features.h"
#include "kernel_search.h"

namespace executorch::runtime {

namespace features = gen_kernels::features;

namespace {

struct Table {
  const Kernel* begin;
  const Kernel* end;
  bool is_sorted;
};

Table g_tables[GEN_KERNELS_MAX_TABLES];
size_t g_table_count = 0;

/// Searches one table. A specialised kernel that matches is the result; the fallback is left in
/// `fallback`.
OpFunction search(const Table& table, const internal::OperatorName& name,
                  internal::KeyMatcher matches, void* args, OpFunction& fallback) {
  const Kernel* kernel = table.begin;
  // In a sorted table, the first whose name compares not less.
  int order = 1;
  for (auto count = table.is_sorted ? static_cast<size_t>(table.end - kernel) : 0; count != 0;) {
    const size_t half = count / 2;
    const int order_there = name.compare(kernel[half].name_);
    if (order_there > 0) {
      kernel += half + 1;
      count -= half + 1;
    } else {
      order = order_there;  // at the last, of the kernel that is found
      count = half;
    }
  }
  for (; kernel != table.end; ++kernel, order = 1) {
    order = order == 0 ? 0 : name.compare(kernel->name_);
    if (order == 0) {
      if (!features::kKernelKeys) {
        fallback = fallback == nullptr ? kernel->op_ : fallback;
        break;
      }
      if (kernel->kernel_key_.is_fallback()) {
        fallback = fallback == nullptr ? kernel->op_ : fallback;
      } else if (matches(kernel->kernel_key_.data(), args)) {
        return kernel->op_;
      }
    } else if (table.is_sorted) {
      break;
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
  return search(table, {kernel.name_, ""}, features::kKernelKeys ? is_same : nullptr,
                const_cast<char*>(key), fallback) != nullptr ||
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

OpFunction find_kernel(const OperatorName& name, Span<const Kernel> kernels, KeyMatcher matches,
                       void* args) {
  OpFunction fallback = nullptr;
  const Table own = {kernels.begin(), kernels.end(), false};
  const Table* table = kernels.empty() ? g_tables : &own;
  const Table* const end = table + (kernels.empty() ? g_table_count : 1);
  for (; table != end; ++table) {
    if (const OpFunction special = search(*table, name, matches, args, fallback)) {
      return special;
    }
  }
  return fallback;
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
  Table* table = g_tables + g_table_count;
  Table grown = {kernels.begin(), kernels.begin(), true};
  const bool continues = g_table_count != 0 && table[-1].end == kernels.begin();
  if (continues) {
    grown = *--table;
  }
  if (table == g_tables + GEN_KERNELS_MAX_TABLES) {
    ET_LOG(Error, "More than %d tables of kernels", GEN_KERNELS_MAX_TABLES);
    return Error::RegistrationExceedingMaxKernels;
  }
  for (; grown.end != kernels.end(); ++grown.end) {
    const Kernel& kernel = *grown.end;
    if (!features::kKernelKeys && !kernel.kernel_key_.is_fallback()) {
      return Error::NotSupported;
    }
    // In a sorted table only a neighbour can have the same name: this takes linear time.
    const int order = grown.begin == &kernel ? -1 : strcmp((&kernel)[-1].name_, kernel.name_);
    grown.is_sorted = grown.is_sorted && order <= 0;
    bool is_known = (order == 0 || !grown.is_sorted) && holds(grown, kernel);
    for (const Table* other = g_tables; other != table; ++other) {
      is_known = is_known || holds(*other, kernel);
    }
    if (is_known) {
      ET_LOG(Error, "%s is registered already", kernel.name_);
      return Error::RegistrationAlreadyRegistered;
    }
  }
  if (!kernels.empty()) {
    *table = grown;
    g_table_count += !continues;
  }
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
  const OpFunction function =
      internal::find_kernel({name, ""}, kernel_list, matches_metas, &meta_list);
  ET_CHECK_OR_RETURN_ERROR(function != nullptr, OperatorMissing, "No kernel for %s", name);
  return function;
}

Result<OpFunction> get_op_function_from_registry(const char* name,
                                                 Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list, {});
}

bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list, {}).ok();
}

Span<const Kernel> get_registered_kernels() { return {g_tables[0].begin, g_tables[0].end}; }

}  // namespace executorch::runtime
