"""gen_kernels_library: a static library of the kernels that models need, with its registration."""

load("@rules_cc//cc:defs.bzl", "cc_library")

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
_OTHER = ["kernel_sources.txt", "selected_operators.yaml"]

# As codegen/toolchain.py has them: on the embedded targets, code that is seldom run saves registers
# by calls, and the runtime has no hot loops.
_FLAGS = ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off"]
_EMBEDDED_FLAGS = ["-fno-threadsafe-statics", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"]
_SMALL_FLAGS = ["-msave-restore"]
_RUNTIME_FLAGS = ["-fno-move-loop-invariants"]

def _flags(embedded):
    return _FLAGS + select({
        str(Label("//bazel:is_riscv32")): _EMBEDDED_FLAGS + embedded,
        "//conditions:default": [],
    })

def _generate_impl(ctx):
    folder = ctx.label.name
    files = {
        name: ctx.actions.declare_file(folder + "/" + name)
        for name in _HEADERS + [_REGISTRATION] + _OTHER
    }
    kernels = ctx.actions.declare_directory(folder + "/kernels")
    corev = ctx.actions.declare_directory(folder + "/corev_kernels")
    arguments = ctx.actions.args()
    arguments.add_all(["--copy-sources", kernels.path, corev.path])
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
        outputs = files.values() + [kernels, corev],
        inputs = ctx.files.models + ctx.files.ops_files + ctx.files.catalogues,
        executable = ctx.executable.tool,
        arguments = [arguments],
        mnemonic = "GenKernels",
        progress_message = "Generating kernel registration %s" % ctx.label,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset(files.values() + [kernels, corev])),
        OutputGroupInfo(
            features = depset([files["runtime_features.h"]]),
            headers = depset([files[name] for name in _HEADERS]),
            kernels = depset([kernels]),
            operators = depset([files["selected_operators.yaml"]]),
            sources = depset([files[_REGISTRATION], corev]),
        ),
    ]

gen_kernels_generate = rule(
    implementation = _generate_impl,
    doc = "Generates registration code; output groups: headers, sources, kernels, features, operators.",
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
        runtime = None,
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
      runtime: the runtime library. The default is <name>_runtime, without the parts that the models
        do without; libraries of one program share a gen_kernels_runtime(), or the whole
        @gen_kernels//:runtime. ExecuTorch's own in an ExecuTorch tree.
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
    for group in ["features", "headers", "kernels", "sources"]:
        native.filegroup(
            name = generated + "_" + group,
            srcs = [":" + generated],
            output_group = group,
            visibility = visibility if group == "features" else ["//visibility:private"],
        )
    cc_library(
        name = name + "_headers",
        hdrs = [":" + generated + "_headers"],
        includes = [generated],
        visibility = visibility,
    )
    if runtime == None:
        runtime = ":" + name + "_runtime"
        runtime_library(name + "_runtime", [":" + name + "_headers"], visibility = visibility)
    common = dict(
        copts = copts,
        local_defines = ["EXECUTORCH_SELECTIVE_BUILD_DTYPE"] if dtype_selective else [],
        # A firmware links archives; a shared library of it would only cost a link.
        linkstatic = kwargs.pop("linkstatic", True),
        deps = [runtime, ":" + name + "_headers", Label("//:kernel_headers")] + deps,
    )

    # Kernels with CORE-V instructions, which are hot, and registration are not made small.
    _library(
        name = name + "_kernels",
        srcs = [":" + generated + "_kernels"],
        embedded = _SMALL_FLAGS,
        visibility = ["//visibility:private"],
        **common
    )
    common["deps"] = common["deps"] + [":" + name + "_kernels"]
    common.update(kwargs)
    _library(
        name = name,
        srcs = [":" + generated + "_sources"] + kernel_sources,
        visibility = visibility,
        **common
    )

def gen_kernels_runtime(name, libraries, visibility = None):
    """The runtime for several libraries of one program, with the parts that any of them needs.

    Args:
      name: the target, for `runtime` of each of the libraries.
      libraries: labels of gen_kernels_library(), with the name ("//package:name", ":name").
      visibility: as usual.
    """
    folder = name + "_features"

    # Each header defines what its library needs.
    native.genrule(
        name = folder + "_united",
        srcs = [library + "_generated_features" for library in libraries],
        outs = [folder + "/runtime_features.h"],
        cmd = "cat $(SRCS) > $@",
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = folder,
        hdrs = [folder + "/runtime_features.h"],
        includes = [folder],
        visibility = ["//visibility:private"],
    )
    runtime_library(name, [":" + folder], visibility = visibility)

def runtime_library(name, features = [], visibility = None):
    """The runtime, with the parts that runtime_features.h of the libraries `features` names.

    Args:
      name: the target.
      features: cc_library targets with one such header; with none, nothing is left out.
      visibility: as usual.
    """

    # The linker would silently take one of two runtimes: each brings the same symbol along.
    cc_library(
        name = name + "_once",
        srcs = [Label("//bazel:one_runtime.cpp")],
        alwayslink = True,
        linkstatic = True,
        visibility = ["//visibility:private"],
    )
    _library(
        name = name,
        srcs = [Label("//:runtime_sources")],
        embedded = _SMALL_FLAGS + _RUNTIME_FLAGS,
        linkstatic = True,
        deps = [":" + name + "_once", Label("//:kernel_headers"), Label("//:runtime_headers")] + features,
        visibility = visibility,
    )

def _library(name, embedded = [], copts = [], **kwargs):
    cc_library(name = name, copts = _flags(embedded) + copts, **kwargs)
