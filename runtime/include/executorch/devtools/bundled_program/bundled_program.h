// SPDX-License-Identifier: BSD-3-Clause
//
// Bundled programs (.bpte): a program with test cases, inputs and expected outputs.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/executor/method.h>
#include <stddef.h>

namespace executorch::bundled_program {

/// The bytes of a file that get_program_data() has found good.
using SerializedBundledProgram = const void;

/// Whether a file is a bundled program: whether it has the identifier.
bool is_bundled_program(const void* file_data, size_t file_data_len);

/// The program inside a file. A file that is no bundled program is taken for the program itself.
/// InvalidProgram for a damaged one.
ET_NODISCARD runtime::Error get_program_data(const void* file_data, size_t file_data_len,
                                             const void** out_program_data,
                                             size_t* out_program_data_len);

/// Sets the inputs of a method to those of test case `testset_idx`; InvalidArgument when there is
/// none.
ET_NODISCARD runtime::Error load_bundled_input(runtime::Method& method,
                                               SerializedBundledProgram* bundled_program,
                                               size_t testset_idx);

/// Whether the outputs are the expected ones: floating-point numbers within atol + rtol times the
/// expected one, all else exactly. NotFound when they differ, InvalidArgument without such a case,
/// NotSupported when the case has no expected outputs.
ET_NODISCARD runtime::Error verify_method_outputs(runtime::Method& method,
                                                  SerializedBundledProgram* bundled_program,
                                                  size_t testset_idx, double rtol = 1e-5,
                                                  double atol = 1e-8);

}  // namespace executorch::bundled_program
