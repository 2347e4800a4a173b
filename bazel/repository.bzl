"""Finds the RISC-V compiler of this machine; no toolchain is registered here."""

_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_toolchain")
load("{rules}", "riscv32_toolchain_config")

filegroup(name = "none")

riscv32_toolchain_config(
    name = "config",
    cflags = {cflags},
    cxxflags = {cxxflags},
    include_folders = {include_folders},
    ldflags = {ldflags},
    tools = {tools},
)

cc_toolchain(
    name = "compiler",
    all_files = ":none",
    compiler_files = ":none",
    dwp_files = ":none",
    linker_files = ":none",
    objcopy_files = ":none",
    strip_files = ":none",
    supports_param_files = True,
    toolchain_config = ":config",
)

toolchain(
    name = "cc",
    target_compatible_with = ["{riscv32}"],
    toolchain = ":compiler",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)
"""

def _run(repository_ctx, command):
    done = repository_ctx.execute(command)
    if done.return_code != 0:
        fail(done.stderr)
    return done

def _config(repository_ctx, what):
    tool = repository_ctx.path(Label("//bazel:tool.py"))
    command = [repository_ctx.which("python3"), tool, "config", "--target", "cv32e40p"]
    words = _run(repository_ctx, command + ["--print", what]).stdout.strip().split(" ")

    # What is in this module is left to its targets, which declare it.
    ours = "{}/".format(tool.realpath.dirname.dirname)
    return [w for w in words if not w.startswith("-I" + ours) and not w.startswith("-T" + ours)]

def _toolchain_impl(repository_ctx):
    cxxflags = _config(repository_ctx, "cxxflags")
    cxx = repository_ctx.which(_config(repository_ctx, "cxx")[0])
    command = [cxx] + cxxflags + ["-E", "-v", "-x", "c++", "/dev/null"]
    search = _run(repository_ctx, command).stderr
    search = search.partition("#include <...> search starts here:\n")[2].partition("\nEnd")[0]
    prefix = str(cxx)[:-len("g++")]
    tools = {name: prefix + name for name in ["cpp", "gcc", "gcov", "ar", "ld", "nm", "objcopy", "objdump", "strip"]}
    repository_ctx.file("BUILD.bazel", _BUILD.format(
        cflags = repr(_config(repository_ctx, "asflags")),
        cxxflags = repr(cxxflags),
        # Bazel takes no path with .. in it.
        include_folders = repr([str(repository_ctx.path(f.strip())) for f in search.splitlines()]),
        ldflags = repr(_config(repository_ctx, "ldflags")),
        riscv32 = Label("//bazel:riscv32"),
        rules = Label("//bazel:toolchain.bzl"),
        tools = repr(tools),
    ))

riscv32_toolchain = repository_rule(
    implementation = _toolchain_impl,
    doc = "A repository with the toolchain :cc; asks `gen-kernels config` for compiler and flags.",
    configure = True,
    environ = ["HOME", "PATH", "XDG_CACHE_HOME"],
    local = True,
)
