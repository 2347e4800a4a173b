"""The repository of repository.bzl for MODULE.bazel."""

load(":repository.bzl", "riscv32_toolchain")

def _riscv32_impl(_module_ctx):
    riscv32_toolchain(name = "gen_kernels_riscv32")

riscv32 = module_extension(
    implementation = _riscv32_impl,
    doc = "Makes @gen_kernels_riscv32//:cc, to be registered by those who build for the core.",
)
