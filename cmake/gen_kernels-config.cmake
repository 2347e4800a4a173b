# The CMake package of gen-kernels: find_package(gen_kernels CONFIG).
#
# Found through CMAKE_PREFIX_PATH or -Dgen_kernels_DIR="$(gen-kernels --cmake-dir)". It offers
#   gen_kernels_library()    a static library for models: registration and kernels
#   gen_kernels_generate()   the generated files alone, for a library of your own
#   gen_kernels_firmware()   start-up code and linker script of the CV32E40P for an executable
#   gen_kernels::runtime     the micro runtime
# GenKernels.cmake documents each.

cmake_minimum_required(VERSION 3.20)

get_filename_component(GEN_KERNELS_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(GEN_KERNELS_ROOT "${GEN_KERNELS_ROOT}" CACHE INTERNAL "the gen_kernels package")

# The generator runs on the building machine, also when cross-compiling. The one of this very
# package comes first: in an environment's bin folder (…/lib/python3.x/site-packages/gen_kernels),
# or in the source tree's .venv.
find_program(GEN_KERNELS_EXECUTABLE gen-kernels
  PATHS "${GEN_KERNELS_ROOT}/../../../../bin" "${GEN_KERNELS_ROOT}/.venv/bin"
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
find_program(GEN_KERNELS_EXECUTABLE gen-kernels NO_CMAKE_FIND_ROOT_PATH)

if(NOT GEN_KERNELS_EXECUTABLE)
  set(gen_kernels_FOUND FALSE)
  set(gen_kernels_NOT_FOUND_MESSAGE
    "the program gen-kernels is not on PATH: pip install gen-kernels, or set GEN_KERNELS_EXECUTABLE")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/GenKernels.cmake")
