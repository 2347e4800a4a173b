# CMake toolchain for the CV32E40P (rv32imc) and QEMU's virt machine:
#   cmake -DCMAKE_TOOLCHAIN_FILE=…/platform/cv32e40p/toolchain.cmake
# GEN_KERNELS_CROSS names another compiler's prefix, for instance riscv32-corev-elf-.
# GEN_KERNELS_TARGET=rv32imc leaves CORE-V instructions out (QEMU has none).

set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)

set(GEN_KERNELS_CROSS "riscv64-unknown-elf-" CACHE STRING "prefix of the RISC-V compiler")
set(GEN_KERNELS_TARGET cv32e40p CACHE STRING "target of gen_kernels_library")
# try_compile runs this file anew and has to see the same prefix.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GEN_KERNELS_CROSS)

# Small code, unless the user asks for something else.
set(CMAKE_BUILD_TYPE_INIT MinSizeRel)

set(CMAKE_C_COMPILER "${GEN_KERNELS_CROSS}gcc")
set(CMAKE_CXX_COMPILER "${GEN_KERNELS_CROSS}g++")
set(CMAKE_ASM_COMPILER "${GEN_KERNELS_CROSS}gcc")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(_machine "-march=rv32imc -mabi=ilp32")
set(_link "${_machine}")
set(_c "")
set(_cxx "")
if(GEN_KERNELS_CROSS STREQUAL "riscv64-unknown-elf-")
  # Debian: picolibc, whose compressed libraries are those for rv32imac (no atomics get linked).
  set(_c "--specs=picolibc.specs")
  set(_cxx "--specs=picolibcpp.specs")
  set(_link "-march=rv32imac -mabi=ilp32")
  # Debian 12 has no C++ headers for this compiler; `platform/setup cross` keeps some in the cache.
  set(_cache "$ENV{XDG_CACHE_HOME}")
  if(NOT _cache)
    set(_cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB _headers "${_cache}/gen-kernels/libstdcxx/usr/include/newlib/c++/*")
  if(_headers)
    list(GET _headers -1 _headers)
    string(APPEND _cxx " -I\"${_headers}\" -I\"${_headers}/arm-none-eabi\"")
  endif()
endif()

set(CMAKE_ASM_FLAGS_INIT "${_machine}")
set(CMAKE_C_FLAGS_INIT "${_machine} ${_c} -ffunction-sections -fdata-sections")
string(CONCAT CMAKE_CXX_FLAGS_INIT "${_machine} ${_cxx} -fno-exceptions -fno-rtti "
  "-ffunction-sections -fdata-sections -fno-threadsafe-statics -fno-unwind-tables "
  "-fno-asynchronous-unwind-tables")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${_link} -nostartfiles")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
