"""gen_kernels_library for Buck2: a genrule with named outputs and a cxx_library over them.

Not run by this project's tests, which have no Buck2: parsed and linted alone.
"""

_HEADERS = [
    "Functions.h",
    "NativeFunctions.h",
    "RegisterKernels.h",
    "selected_max_kernel_num.h",
    "selected_op_variants.h",
    "selected_prim_ops.h",
]
_REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"

def gen_kernels_library(
        name,
        models = [],
        ops = [],
        ops_files = [],
        catalogues = [],
        kernel_sources = [],
        kernels = "bundled",
        registration = "manual",
        library = None,
        tool = "gen_kernels//:gen_kernels",
        kernel_library = "gen_kernels//:kernels",
        runtime = "gen_kernels//:runtime",
        options = [],
        deps = [],
        visibility = None):
    """A cxx_library with gen_kernels::register_<library>_kernels() and the kernels it needs.

    Which kernel sources a model needs is not known before the build: the bundled kernels come
    from `kernel_library`, of which the linker takes what is registered.

    Args:
      name: the target; <name>_generated has the outputs by name.
      models: .pte or .bpte files, whose operators and dtypes are selected.
      ops: operators by name.
      ops_files: files that list operators.
      catalogues: YAML catalogues of your own kernels.
      kernel_sources: sources of your own kernels.
      kernels: "bundled", or "none" when they are linked from elsewhere.
      registration: "manual" or "static".
      library: names the registration function; the default is `name`.
      tool: the generator.
      kernel_library: the bundled kernels.
      runtime: the runtime library; ExecuTorch's own in an ExecuTorch tree.
      options: more options for gen-kernels.
      deps: more libraries that the kernels need.
      visibility: as usual.
    """
    command = ["$(exe {})".format(tool), "--out", "$OUT", "--library", library or name]
    command += ["--kernels", kernels, "--registration", registration, "--quiet"]
    for option, files in [("--model", models), ("--ops-file", ops_files), ("--functions", catalogues)]:
        for file in files:
            command += [option, "$(location {})".format(file) if ":" in file else "$SRCDIR/" + file]
    for operator in ops:
        command += ["--op", operator]
    headers = _HEADERS + (["memory_plan.h", "runtime_features.h"] if models else [])
    generated = name + "_generated"
    native.genrule(
        name = generated,
        srcs = [file for file in models + ops_files + catalogues if ":" not in file],
        outs = {file: [file] for file in headers + [_REGISTRATION, "selected_operators.yaml"]},
        cmd = " ".join(command + options),
        default_outs = ["."],
    )
    native.cxx_library(
        name = name,
        srcs = [":{}[{}]".format(generated, _REGISTRATION)] + kernel_sources,
        compiler_flags = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"],
        exported_headers = {file: ":{}[{}]".format(generated, file) for file in headers},
        header_namespace = "",
        link_style = "static",
        exported_deps = [runtime],
        deps = ([kernel_library] if kernels == "bundled" else []) + deps,
        visibility = visibility,
    )
