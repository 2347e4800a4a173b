// SPDX-License-Identifier: BSD-3-Clause
//
// Error codes, with ExecuTorch's numbers.
#pragma once

#include <executorch/runtime/platform/log.h>
#include <stdint.h>

namespace executorch::runtime {

typedef uint32_t error_code_t;

enum class Error : error_code_t {
  Ok = 0x00,

  // The system as a whole.
  Internal = 0x01,      ///< A mistake in the runtime, or a kernel's failure without a better name.
  InvalidState = 0x02,  ///< The object is not in a state that allows the call.
  EndOfMethod = 0x03,   ///< step(): no instruction is left.
  AlreadyLoaded = 0x04,

  // The call.
  NotSupported = 0x10,
  NotImplemented = 0x11,
  InvalidArgument = 0x12,
  InvalidType = 0x13,
  OperatorMissing = 0x14,
  RegistrationExceedingMaxKernels = 0x15,
  RegistrationAlreadyRegistered = 0x16,

  // Resources.
  NotFound = 0x20,
  MemoryAllocationFailed = 0x21,
  AccessFailed = 0x22,
  InvalidProgram = 0x23,
  InvalidExternalData = 0x24,
  OutOfResources = 0x25,

  // Delegates.
  DelegateInvalidCompatibility = 0x30,
  DelegateMemoryAllocationFailed = 0x31,
  DelegateInvalidHandle = 0x32,
};

/// The enumerator's name, as "Error::Ok".
constexpr const char* to_string(const Error error) {
  switch (error) {
#define GEN_KERNELS_ERROR_CASE(name) \
  case Error::name:                  \
    return "Error::" #name;
    GEN_KERNELS_ERROR_CASE(Ok)
    GEN_KERNELS_ERROR_CASE(Internal)
    GEN_KERNELS_ERROR_CASE(InvalidState)
    GEN_KERNELS_ERROR_CASE(EndOfMethod)
    GEN_KERNELS_ERROR_CASE(AlreadyLoaded)
    GEN_KERNELS_ERROR_CASE(NotSupported)
    GEN_KERNELS_ERROR_CASE(NotImplemented)
    GEN_KERNELS_ERROR_CASE(InvalidArgument)
    GEN_KERNELS_ERROR_CASE(InvalidType)
    GEN_KERNELS_ERROR_CASE(OperatorMissing)
    GEN_KERNELS_ERROR_CASE(RegistrationExceedingMaxKernels)
    GEN_KERNELS_ERROR_CASE(RegistrationAlreadyRegistered)
    GEN_KERNELS_ERROR_CASE(NotFound)
    GEN_KERNELS_ERROR_CASE(MemoryAllocationFailed)
    GEN_KERNELS_ERROR_CASE(AccessFailed)
    GEN_KERNELS_ERROR_CASE(InvalidProgram)
    GEN_KERNELS_ERROR_CASE(InvalidExternalData)
    GEN_KERNELS_ERROR_CASE(OutOfResources)
    GEN_KERNELS_ERROR_CASE(DelegateInvalidCompatibility)
    GEN_KERNELS_ERROR_CASE(DelegateMemoryAllocationFailed)
    GEN_KERNELS_ERROR_CASE(DelegateInvalidHandle)
#undef GEN_KERNELS_ERROR_CASE
  }
  return "Error::Unknown";
}

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::Error;
using ::executorch::runtime::error_code_t;
}  // namespace torch::executor

/// Leaves the function with Error::`error` unless `condition` holds.
#define ET_CHECK_OR_RETURN_ERROR(condition, error, message, ...) \
  do {                                                           \
    if (!(condition)) {                                          \
      ET_LOG(Error, message, ##__VA_ARGS__);                     \
      return ::executorch::runtime::Error::error;                \
    }                                                            \
  } while (0)

/// Leaves the function with false unless `condition` holds.
#define ET_CHECK_OR_RETURN_FALSE(condition, message, ...)                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ET_LOG(Error, "Check failed (%s): " message, #condition, ##__VA_ARGS__); \
      return false;                                                            \
    }                                                                          \
  } while (0)

/// Leaves the function with the error that the first argument gives, unless it is Ok. A printf
/// format and its arguments may follow.
#define ET_CHECK_OK_OR_RETURN_ERROR(error, ...)            \
  do {                                                     \
    const ::executorch::runtime::Error et_error = (error); \
    if (et_error != ::executorch::runtime::Error::Ok) {    \
      ET_LOG(Error, "" __VA_ARGS__);                       \
      return et_error;                                     \
    }                                                      \
  } while (0)
