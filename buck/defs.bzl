"""gen_kernels_library for Buck2: a genrule with named outputs and a cxx_library over them.

Not run by this project's tests, which have no Buck2: parsed and linted alone.
"""

_HEADERS = [
    "Functions.h",
    "NativeFunctions.h",
    "RegisterKernels.h",
    "memory_plan.h",
    "runtime_features.h",
    "selected_max_kernel_num.h",
    "selected_op_variants.h",
    "selected_prim_ops.h",
]
_REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"
_FLAGS = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"]

# A macro cannot look into the folder of another package: runtime/src.
RUNTIME_SOURCES = [
    "bundled_program.cpp",
    "cxx_support.cpp",
    "delegate.cpp",
    "evalue.cpp",
    "external_data.cpp",
    "features.h",
    "flat.cpp",
    "flat.h",
    "flat_tensor_data_map.cpp",
    "flat_verify.cpp",
    "half.cpp",
    "kernel_search.h",
    "log.cpp",
    "memory_allocator.cpp",
    "method.cpp",
    "method_load.cpp",
    "method_meta.cpp",
    "method_run.cpp",
    "method_state.h",
    "method_values.cpp",
    "operator_registry.cpp",
    "platform.cpp",
    "program.cpp",
    "program_check.cpp",
    "program_schema.cpp",
    "program_schema.h",
    "pte_data_map.cpp",
    "soft_float.cpp",
    "tensor.cpp",
    "tensor_view.cpp",
    "tensor_view.h",
    "value_view.h",
]

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
        runtime = None,
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
      runtime: the runtime library. The default is <name>_runtime, without the parts that the models
        do without; libraries of one program share a gen_kernels_runtime(), or the whole
        gen_kernels//:runtime. ExecuTorch's own in an ExecuTorch tree.
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
    generated = name + "_generated"
    native.genrule(
        name = generated,
        srcs = [file for file in models + ops_files + catalogues if ":" not in file],
        outs = {file: [file] for file in _HEADERS + [_REGISTRATION, "selected_operators.yaml"]},
        cmd = " ".join(command + options),
        default_outs = ["."],
        visibility = visibility,
    )
    if runtime == None:
        runtime = ":" + name + "_runtime"
        runtime_library(name + "_runtime", ":{}[runtime_features.h]".format(generated), visibility)
    native.cxx_library(
        name = name,
        srcs = [":{}[{}]".format(generated, _REGISTRATION)] + kernel_sources,
        compiler_flags = _FLAGS,
        exported_headers = {file: ":{}[{}]".format(generated, file) for file in _HEADERS},
        header_namespace = "",
        link_style = "static",
        exported_deps = [runtime],
        deps = ([kernel_library] if kernels == "bundled" else []) + deps,
        visibility = visibility,
    )

def gen_kernels_runtime(name, libraries, visibility = None):
    """The runtime for several libraries of one program, with the parts that any of them needs.

    Args:
      name: the target, for `runtime` of each of the libraries.
      libraries: targets of gen_kernels_library().
      visibility: as usual.
    """

    # Each header defines what its library needs.
    headers = ["$(location {}_generated[runtime_features.h])".format(each) for each in libraries]
    native.genrule(
        name = name + "_features",
        out = "runtime_features.h",
        cmd = "cat {} > $OUT".format(" ".join(headers)),
    )
    runtime_library(name, ":{}_features".format(name), visibility)

def runtime_library(name, features = None, visibility = None):
    """The runtime, with the parts that the header `features` names.

    Args:
      name: the target.
      features: a runtime_features.h; with none, nothing is left out.
      visibility: as usual.
    """

    # The linker would silently take one of two runtimes: each brings the same symbol along.
    native.cxx_library(
        name = name + "_once",
        srcs = ["gen_kernels//:bazel/one_runtime.cpp"],
        link_style = "static",
        link_whole = True,
    )
    headers = {file: "gen_kernels//:runtime/src/" + file for file in RUNTIME_SOURCES if file.endswith(".h")}
    if features:
        headers["runtime_features.h"] = features
    native.cxx_library(
        name = name,
        srcs = ["gen_kernels//:runtime/src/" + file for file in RUNTIME_SOURCES if file.endswith(".cpp")],
        compiler_flags = _FLAGS,
        headers = headers,
        header_namespace = "",
        link_style = "static",
        exported_deps = ["gen_kernels//:runtime_headers"],
        deps = [":{}_once".format(name)],
        visibility = visibility,
    )
