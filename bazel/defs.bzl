"""gen_kernels_library: a static library of the kernels that models need, with its registration."""

load("@rules_cc//cc:defs.bzl", "cc_library")

_HEADERS = [
    "Functions.h",
    "NativeFunctions.h",
    "RegisterKernels.h",
    "selected_max_kernel_num.h",
    "selected_op_variants.h",
    "selected_prim_ops.h",
]
_REGISTRATION = "RegisterCodegenUnboxedKernels.cpp"
_OTHER = ["kernel_sources.txt", "selected_operators.yaml"]

def _generate_impl(ctx):
    folder = ctx.label.name
    headers = _HEADERS + (["memory_plan.h", "runtime_features.h"] if ctx.files.models else [])
    files = {
        name: ctx.actions.declare_file(folder + "/" + name)
        for name in headers + [_REGISTRATION] + _OTHER
    }
    kernels = ctx.actions.declare_directory(folder + "/kernels")
    arguments = ctx.actions.args()
    arguments.add_all(["--copy-sources", kernels.path])
    arguments.add("--out", files[_REGISTRATION].dirname)
    arguments.add("--library", ctx.attr.library)
    arguments.add("--registration", ctx.attr.registration)
    arguments.add("--kernels", ctx.attr.kernels)
    arguments.add("--quiet")
    arguments.add_all(ctx.files.models, before_each = "--model")
    arguments.add_all(ctx.attr.ops, before_each = "--op")
    arguments.add_all(ctx.files.ops_files, before_each = "--ops-file")
    arguments.add_all(ctx.files.catalogues, before_each = "--functions")
    if ctx.target_platform_has_constraint(ctx.attr._corev[platform_common.ConstraintValueInfo]):
        arguments.add_all(["--target", "cv32e40p"])
    arguments.add_all(ctx.attr.options)
    ctx.actions.run(
        outputs = files.values() + [kernels],
        inputs = ctx.files.models + ctx.files.ops_files + ctx.files.catalogues,
        executable = ctx.executable.tool,
        arguments = [arguments],
        mnemonic = "GenKernels",
        progress_message = "Generating kernel registration %s" % ctx.label,
        use_default_shell_env = True,
    )
    sources = [files[_REGISTRATION], kernels]
    return [
        DefaultInfo(files = depset(files.values() + [kernels])),
        OutputGroupInfo(
            headers = depset([files[name] for name in headers]),
            sources = depset(sources),
            operators = depset([files["selected_operators.yaml"]]),
        ),
    ]

gen_kernels_generate = rule(
    implementation = _generate_impl,
    doc = "Generates registration code; output groups: headers, sources, operators.",
    attrs = {
        "catalogues": attr.label_list(allow_files = [".yaml", ".yml"], doc = "Catalogues of your own kernels."),
        "kernels": attr.string(default = "bundled", values = ["bundled", "none"], doc = "none: the kernels are linked from elsewhere."),
        "library": attr.string(mandatory = True, doc = "Names the registration function."),
        "models": attr.label_list(allow_files = True, doc = ".pte or .bpte files."),
        "ops": attr.string_list(doc = "Operators by name (aten::add.out)."),
        "ops_files": attr.label_list(allow_files = True, doc = "selected_operators.yaml, or one name a line."),
        "options": attr.string_list(doc = "More options for gen-kernels."),
        "registration": attr.string(default = "manual", values = ["manual", "static"], doc = "static: register before main() too."),
        "tool": attr.label(default = Label("//:gen_kernels"), executable = True, cfg = "exec", doc = "The generator."),
        "_corev": attr.label(default = Label("//bazel:corev")),
    },
)

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
        runtime = Label("//:runtime"),
        dtype_selective = True,
        options = [],
        copts = [],
        deps = [],
        visibility = None,
        **kwargs):
    """A cc_library with the kernels of models and gen_kernels::register_<library>_kernels().

    Args:
      name: the target; <name>_generated holds the files, under its own folder.
      models: .pte or .bpte files, whose operators and dtypes are selected.
      ops: operators by name.
      ops_files: files that list operators.
      catalogues: YAML catalogues of your own kernels.
      kernel_sources: sources of your own kernels.
      kernels: "bundled", or "none" when they are linked from elsewhere.
      registration: "manual" or "static".
      library: names the registration function; the default is `name`.
      runtime: the runtime library; ExecuTorch's own in an ExecuTorch tree.
      dtype_selective: kernels keep only the dtypes that the models use.
      options: more options for gen-kernels.
      copts: more compiler options.
      deps: more libraries that the kernels need.
      visibility: as usual.
      **kwargs: passed to cc_library.
    """
    generated = name + "_generated"
    gen_kernels_generate(
        name = generated,
        catalogues = catalogues,
        kernels = kernels,
        library = library or name,
        models = models,
        ops = ops,
        ops_files = ops_files,
        options = options,
        registration = registration,
        visibility = ["//visibility:private"],
    )
    for group in ["headers", "sources"]:
        native.filegroup(
            name = generated + "_" + group,
            srcs = [":" + generated],
            output_group = group,
            visibility = ["//visibility:private"],
        )
    cc_library(
        name = name,
        srcs = [":" + generated + "_sources"] + kernel_sources,
        hdrs = [":" + generated + "_headers"],
        includes = [generated],
        copts = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"] + copts,
        local_defines = ["EXECUTORCH_SELECTIVE_BUILD_DTYPE"] if dtype_selective else [],
        deps = [runtime, Label("//:kernel_headers")] + deps,
        visibility = visibility,
        # A firmware links archives; a shared library of it would only cost a link.
        linkstatic = kwargs.pop("linkstatic", True),
        **kwargs
    )
