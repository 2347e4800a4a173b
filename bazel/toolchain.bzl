"""A RISC-V GCC with picolibc as a toolchain; repository.bzl says where it is."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl", "feature", "flag_group", "flag_set", "tool_path")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

_C = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.preprocess_assemble,
]
_CXX = [ACTION_NAMES.cpp_compile, ACTION_NAMES.cpp_header_parsing]

# Headers keep the names under which Bazel declared them.
_COMMON = ["-fno-canonical-system-headers", "-Os"]

def _flags(name, actions, flags):
    sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])]
    return feature(name = name, enabled = True, flag_sets = sets)

def _config_impl(ctx):
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "picolibc",
        abi_version = "ilp32",
        compiler = "gcc",
        cxx_builtin_include_directories = ctx.attr.include_folders,
        features = [
            _flags("c", _C, ctx.attr.cflags + _COMMON),
            _flags("cxx", _CXX, ctx.attr.cxxflags + _COMMON),
            _flags("link", [ACTION_NAMES.cpp_link_executable], ctx.attr.ldflags),
        ],
        host_system_name = "local",
        target_cpu = "riscv32",
        target_libc = "picolibc",
        target_system_name = "riscv32-unknown-elf",
        tool_paths = [tool_path(name = n, path = p) for n, p in ctx.attr.tools.items()],
        toolchain_identifier = "gen_kernels_riscv32",
    )

riscv32_toolchain_config = rule(
    implementation = _config_impl,
    attrs = {
        "cflags": attr.string_list(doc = "For C and assembly."),
        "cxxflags": attr.string_list(doc = "For C++."),
        "include_folders": attr.string_list(doc = "Where the compiler's own headers are."),
        "ldflags": attr.string_list(doc = "For the linker."),
        "tools": attr.string_dict(doc = "Bazel's name of each tool, and where it is."),
    },
    provides = [CcToolchainConfigInfo],
)
