# gen_kernels_library, gen_kernels_generate, gen_kernels_firmware. See gen_kernels-config.cmake.

set(_gen_kernels_selection "MODELS;OPS;OPS_FILES;CATALOGUES;OPTIONS;REGISTRATION;LIBRARY;TARGET;OUTPUT_DIR"
  CACHE INTERNAL "options of gen_kernels_generate")
set(_gen_kernels_outputs
  "RegisterCodegenUnboxedKernels.cpp;RegisterKernels.h;Functions.h;NativeFunctions.h"
  "kernel_sources.txt;memory_plan.h;runtime_features.h;selected_max_kernel_num.h"
  "selected_op_variants.h;selected_operators.yaml;selected_prim_ops.h"
  CACHE INTERNAL "files that the generator writes")
# On the embedded targets, as codegen/toolchain.py has them: code that is seldom run saves registers
# by calls, and the runtime has no hot loops.
set(_gen_kernels_embedded_flags
  -fno-threadsafe-statics -fno-unwind-tables -fno-asynchronous-unwind-tables
  CACHE INTERNAL "for everything")
set(_gen_kernels_small_flags -msave-restore CACHE INTERNAL "for kernels and runtime")
set(_gen_kernels_runtime_flags -fno-move-loop-invariants CACHE INTERNAL "for the runtime")

# gen_kernels_library(NAME
#   [MODELS file...]         .pte or .bpte files; their operators and dtypes are selected
#   [OPS name...]            operators by name (aten::add.out)
#   [OPS_FILES file...]      selected_operators.yaml, or one name a line
#   [CATALOGUES file...]     YAML catalogues of your own kernels
#   [KERNEL_SOURCES file...] sources of your own kernels
#   [KERNELS bundled|none]   none: the kernels are linked from elsewhere
#   [RUNTIME own|none|target] the runtime. Default: gen_kernels::runtime, one for the libraries of
#                            the project, without the parts that none of their models needs; own:
#                            one for this library alone, for one of several programs of a project;
#                            a target: a library with a runtime (in an ExecuTorch tree: executorch)
#   [REGISTRATION manual|static]
#   [LIBRARY name]           names the registration function instead of NAME
#   [TARGET rv32imc|cv32e40p] cv32e40p: kernels with CORE-V instructions where there are any;
#                            the default is GEN_KERNELS_TARGET, which the toolchain file sets
#   [DTYPE_SELECTIVE ON|OFF] ON (default): kernels keep only the dtypes that the models use
#   [ISOLATE]                nothing but the registration function can be seen from outside, so
#                            that kernels which keep other dtypes can be in another library
#   [OPTIONS option...])     more options for gen-kernels
#
# Adds the static library NAME. Its registration function is gen_kernels::register_NAME_kernels(),
# declared in "RegisterKernels.h", or <NAME/RegisterKernels.h> where there are several. A relative
# file is relative to the current source folder.
function(gen_kernels_library NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ISOLATE" "KERNELS;RUNTIME;DTYPE_SELECTIVE"
    "KERNEL_SOURCES;${_gen_kernels_selection}")
  if(NOT DEFINED arg_DTYPE_SELECTIVE)
    set(arg_DTYPE_SELECTIVE ON)
  endif()
  if(NOT DEFINED arg_RUNTIME)
    set(arg_RUNTIME gen_kernels::runtime)
  endif()
  if(NOT DEFINED arg_KERNELS)
    set(arg_KERNELS bundled)
  endif()

  _gen_kernels_forward(forwarded)
  gen_kernels_generate(${NAME} ${forwarded} KERNELS ${arg_KERNELS} ${arg_UNPARSED_ARGUMENTS})

  set(sources ${${NAME}_SOURCES} ${arg_KERNEL_SOURCES})
  set(compiled ${NAME})
  if(arg_ISOLATE)
    set(compiled ${NAME}_objects)
    add_library(${compiled} OBJECT ${sources})
    _gen_kernels_isolated(${NAME} ${compiled} "${arg_LIBRARY}")
  else()
    add_library(${NAME} STATIC ${sources})
  endif()
  add_dependencies(${compiled} ${NAME}_generate)
  target_compile_features(${compiled} PUBLIC cxx_std_17)
  # Float kernels round every step, also where the machine has fused multiply-add.
  target_compile_options(${compiled} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti> -ffp-contract=off
    -ffunction-sections -fdata-sections)
  target_include_directories(${compiled} PRIVATE "${${NAME}_DIR}" "${GEN_KERNELS_ROOT}/kernels")
  target_include_directories(${NAME} PUBLIC "${${NAME}_DIR}" "${${NAME}_INCLUDE_DIR}")
  if(arg_DTYPE_SELECTIVE)
    target_compile_definitions(${compiled} PRIVATE EXECUTORCH_SELECTIVE_BUILD_DTYPE)
  endif()
  _gen_kernels_target(target)
  _gen_kernels_embedded(${compiled} "${target}")
  if(NOT arg_RUNTIME STREQUAL "none")
    if(arg_RUNTIME STREQUAL "own")
      set(arg_RUNTIME ${NAME}_runtime)
      _gen_kernels_runtime(${arg_RUNTIME} ${NAME} "${target}")
    elseif(arg_RUNTIME STREQUAL "gen_kernels::runtime")
      _gen_kernels_runtime(gen_kernels_runtime ${NAME} "${target}")
    endif()
    target_link_libraries(${NAME} PUBLIC ${arg_RUNTIME})
    if(arg_ISOLATE)
      target_link_libraries(${compiled} PUBLIC ${arg_RUNTIME})
    endif()
  endif()
endfunction()

# gen_kernels_generate(NAME [OUTPUT_DIR folder] and the selection options of gen_kernels_library)
#
# Generates what ExecuTorch's gen_selected_ops and generate_bindings_for_kernels do, under the same
# names, without a library: RegisterCodegenUnboxedKernels.cpp, NativeFunctions.h, Functions.h,
# selected_operators.yaml, selected_op_variants.h, selected_max_kernel_num.h. Sets in the caller:
#   NAME_DIR          the folder with these files
#   NAME_INCLUDE_DIR  its parent, for <NAME/RegisterKernels.h>
#   NAME_SOURCES      registration and the bundled kernels to compile
# and adds the target NAME_generate, which a library that compiles them depends on.
function(gen_kernels_generate NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KERNELS;OUTPUT_DIR;REGISTRATION;LIBRARY;TARGET"
    "MODELS;OPS;OPS_FILES;CATALOGUES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gen_kernels: unknown arguments for ${NAME}: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DEFINED arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR "${CMAKE_CURRENT_BINARY_DIR}/gen_kernels/${NAME}")
  endif()
  get_filename_component(folder "${arg_OUTPUT_DIR}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  get_filename_component(include "${folder}" DIRECTORY)

  if(NOT arg_LIBRARY)
    set(arg_LIBRARY ${NAME})
  endif()
  set(command "${GEN_KERNELS_EXECUTABLE}" --out "${folder}" --library ${arg_LIBRARY} --quiet)
  set(inputs "")
  set(generated "")
  foreach(kind IN ITEMS MODELS OPS_FILES CATALOGUES)
    if(kind STREQUAL "MODELS")
      set(option --model)
    elseif(kind STREQUAL "OPS_FILES")
      set(option --ops-file)
    else()
      set(option --functions)
    endif()
    foreach(file IN LISTS arg_${kind})
      get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
      list(APPEND command ${option} "${file}")
      list(APPEND inputs "${file}")
      get_source_file_property(made "${file}" GENERATED)
      if(made)
        list(APPEND generated "${file}")
      elseif(NOT EXISTS "${file}")
        message(FATAL_ERROR "gen_kernels: ${NAME}: no such file: ${file}")
      endif()
    endforeach()
  endforeach()
  foreach(operator IN LISTS arg_OPS)
    list(APPEND command --op "${operator}")
  endforeach()
  if(arg_KERNELS)
    list(APPEND command --kernels ${arg_KERNELS})
  endif()
  if(arg_REGISTRATION)
    list(APPEND command --registration ${arg_REGISTRATION})
  endif()
  _gen_kernels_target(target)
  if(target)
    list(APPEND command --target ${target})
  endif()
  list(APPEND command ${arg_OPTIONS})

  set(outputs "")
  foreach(file IN LISTS _gen_kernels_outputs)
    list(APPEND outputs "${folder}/${file}")
  endforeach()
  # A change of the tool itself (an upgrade, an edited template) regenerates too.
  file(GLOB tool "${GEN_KERNELS_ROOT}/codegen/*.py" "${GEN_KERNELS_ROOT}/selective/*.py"
    "${GEN_KERNELS_ROOT}/templates/*" "${GEN_KERNELS_ROOT}/functions/*.yaml")

  if(generated)
    # A model that the build itself makes: which kernels it needs is not known yet, so all of them
    # are compiled; the linker takes those that are registered.
    message(STATUS "gen_kernels: ${NAME}: compiling every kernel, since the build makes ${generated}")
    set(kernels "")
    if(NOT arg_KERNELS STREQUAL "none")
      file(GLOB_RECURSE kernels "${GEN_KERNELS_ROOT}/kernels/*.cpp")
    endif()
  else()
    # What the kernel sources are must be known now; CMake looks again when an input changes.
    execute_process(COMMAND ${command} RESULT_VARIABLE failed ERROR_VARIABLE errors)
    if(failed)
      message(FATAL_ERROR "gen_kernels: ${NAME}:\n${errors}")
    endif()
    file(STRINGS "${folder}/kernel_sources.txt" kernels)
    list(TRANSFORM kernels PREPEND "${GEN_KERNELS_ROOT}/kernels/")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs} ${tool})
  endif()

  if(CMAKE_GENERATOR MATCHES "Makefiles")
    # Make compares time stamps only, and the generator leaves a file that stays the same alone: as
    # a rule it would run at every build, or rebuild what did not change. So it runs at every
    # build, and nothing else does.
    add_custom_target(${NAME}_generate
      COMMAND ${command}
      DEPENDS ${inputs}
      BYPRODUCTS ${outputs}
      VERBATIM COMMENT "")
  else()
    add_custom_command(OUTPUT ${outputs}
      COMMAND ${command} --depfile "${folder}/depfile"
      DEPENDS ${inputs} ${tool}
      DEPFILE "${folder}/depfile"
      VERBATIM COMMENT "Generating kernel registration ${NAME}")
    add_custom_target(${NAME}_generate DEPENDS ${outputs})
  endif()
  set_source_files_properties(${outputs} PROPERTIES GENERATED TRUE)
  if(target AND NOT target STREQUAL "host")
    # Kernels with CORE-V instructions are hot.
    set(small ${kernels})
    list(FILTER small EXCLUDE REGEX "/kernels/corev/")
    _gen_kernels_for_gcc(flags ${_gen_kernels_small_flags})
    set_source_files_properties(${small} PROPERTIES COMPILE_OPTIONS "${flags}")
  endif()

  set(${NAME}_DIR "${folder}" PARENT_SCOPE)
  set(${NAME}_INCLUDE_DIR "${include}" PARENT_SCOPE)
  set(${NAME}_SOURCES "${folder}/RegisterCodegenUnboxedKernels.cpp" ${kernels} PARENT_SCOPE)
endfunction()

# gen_kernels_firmware(EXECUTABLE)
#
# Makes EXECUTABLE a firmware for the CV32E40P (RTL bench, QEMU's virt machine): start-up code,
# console, linker script. On the host: the console alone.
function(gen_kernels_firmware TARGET)
  set(platform "${GEN_KERNELS_ROOT}/platform")
  target_include_directories(${TARGET} PRIVATE "${platform}/common")
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    target_sources(${TARGET} PRIVATE "${platform}/common/host.cpp")
    return()
  endif()
  set(script "${platform}/cv32e40p/link.ld")
  target_sources(${TARGET} PRIVATE "${platform}/cv32e40p/crt0.S" "${platform}/cv32e40p/platform.c"
    "${platform}/common/cxx_support.cpp")
  target_link_options(${TARGET} PRIVATE "-T${script}" -Wl,--gc-sections
    -DPICOLIBC_INTEGER_PRINTF_SCANF)
  target_link_libraries(${TARGET} PRIVATE m)
  set_property(TARGET ${TARGET} APPEND PROPERTY LINK_DEPENDS "${script}")
  # The C++ driver would ask for libstdc++, which bare metal need not have.
  set_property(TARGET ${TARGET} PROPERTY LINKER_LANGUAGE C)
endfunction()

# ----- What the functions above share.

# Collects the parsed selection options for another call.
macro(_gen_kernels_forward variable)
  set(${variable} "")
  foreach(_option IN LISTS _gen_kernels_selection)
    if(DEFINED arg_${_option})
      list(APPEND ${variable} ${_option} ${arg_${_option}})
    endif()
  endforeach()
endmacro()

# Adds the static library NAME of one object: those of `objects` joined, with the registration
# function as the only global symbol. Groups must go, since linkers take one of several groups of
# the same name, whatever file it is from.
function(_gen_kernels_isolated NAME objects library)
  if(NOT library)
    set(library ${NAME})
  endif()
  set(entry "register_${library}_kernels")
  string(LENGTH "${entry}" length)
  separate_arguments(machine UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}")
  list(FILTER machine INCLUDE REGEX "^-m")
  set(joined "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.joined${CMAKE_CXX_OUTPUT_EXTENSION}")
  add_custom_command(OUTPUT "${joined}"
    COMMAND "${CMAKE_CXX_COMPILER}" ${machine} -r -nostdlib -Wl,--force-group-allocation
      -o "${joined}" "$<TARGET_OBJECTS:${objects}>"
    COMMAND "${CMAKE_OBJCOPY}" "--keep-global-symbol=_ZN11gen_kernels${length}${entry}Ev"
      "${joined}"
    DEPENDS ${objects} "$<TARGET_OBJECTS:${objects}>"
    COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining ${NAME}")
  set_source_files_properties("${joined}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${NAME} STATIC "${joined}")
  set_property(TARGET ${NAME} PROPERTY LINKER_LANGUAGE CXX)
endfunction()

# What gen_kernels_library compiles for: its TARGET, or that of the toolchain file.
macro(_gen_kernels_target variable)
  set(${variable} "${arg_TARGET}")
  if(NOT ${variable})
    set(${variable} "${GEN_KERNELS_TARGET}")
  endif()
endmacro()

# GCC's flags, as an expression that is empty for other compilers.
function(_gen_kernels_for_gcc variable)
  set(${variable} "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:${ARGN}>" PARENT_SCOPE)
endfunction()

# Adds to `library`, which is compiled for `target`, the flags that make embedded code small.
function(_gen_kernels_embedded library target)
  if(target AND NOT target STREQUAL "host")
    _gen_kernels_for_gcc(flags ${_gen_kernels_embedded_flags} ${ARGN})
    target_compile_options(${library} PRIVATE "${flags}")
  endif()
endfunction()

# The micro runtime as the library `runtime`, with the parts that the library NAME needs beside those
# that others need for which it was called before.
function(_gen_kernels_runtime runtime NAME target)
  if(NOT TARGET ${runtime})
    file(GLOB sources "${GEN_KERNELS_ROOT}/runtime/src/*.cpp")
    add_library(${runtime} STATIC ${sources})
    if(runtime STREQUAL "gen_kernels_runtime")
      add_library(gen_kernels::runtime ALIAS ${runtime})
    endif()
    target_compile_features(${runtime} PUBLIC cxx_std_17)
    target_compile_options(${runtime} PRIVATE
      -fno-exceptions -fno-rtti -ffp-contract=off -ffunction-sections -fdata-sections)
    _gen_kernels_embedded(${runtime} "${target}"
      ${_gen_kernels_small_flags} ${_gen_kernels_runtime_flags})
    target_include_directories(${runtime} PUBLIC "${GEN_KERNELS_ROOT}/runtime/include")

    # Each header defines what its library needs: one that includes all has what any of them needs.
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/gen_kernels_features/${runtime}")
    set(headers "$<TARGET_PROPERTY:${runtime},GEN_KERNELS_FEATURES>")
    file(GENERATE OUTPUT "${folder}/runtime_features.h"
      CONTENT "#include \"$<JOIN:${headers},\"\n#include \">\"\n")
    target_include_directories(${runtime} PRIVATE "${folder}")

    # A program with two runtimes would silently take one of them: CMake refuses it.
    set_target_properties(${runtime} PROPERTIES
      INTERFACE_GEN_KERNELS_RUNTIME ${runtime}
      COMPATIBLE_INTERFACE_STRING GEN_KERNELS_RUNTIME)
  endif()
  set_property(TARGET ${runtime} APPEND PROPERTY
    GEN_KERNELS_FEATURES "${${NAME}_DIR}/runtime_features.h")
  add_dependencies(${runtime} ${NAME}_generate)
endfunction()
