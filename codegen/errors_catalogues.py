"""Error texts of schemas and catalogues: a block of errors.py."""

from __future__ import annotations

CATALOGUE_ERRORS: dict[str, tuple[str, str]] = {
    "GK100": (
        "Bad schema",
        "The text behind `func:` is not an operator schema. A schema is "
        "`namespace::name.overload(Type argument, *, Tensor(a!) out) -> Tensor(a!)`: types and "
        "names in pairs, `*` before keyword-only arguments, out arguments last, results behind "
        "`->`. The caret marks where reading stopped.",
    ),
    "GK150": (
        "Catalogue not readable",
        "The file does not exist, may not be read, is larger than any catalogue, or is not UTF-8 "
        "text.",
    ),
    "GK151": (
        "Not YAML",
        "The catalogue breaks the rules of YAML at the place given: often indentation, a tab, a "
        "missing blank behind a colon, or a quote that is never closed. Anchors and aliases "
        "(&a, *a) are not supported in catalogues.",
    ),
    "GK152": (
        "Wrong structure",
        "A catalogue is a list of entries; an entry is a mapping with `op` or `func` and "
        "`kernels`; a kernel is a mapping with `kernel_name`. Here stands something else.",
    ),
    "GK153": (
        "Unknown key",
        "The key means nothing here, so what it was to do would silently not happen. An entry has "
        "op or func, kernels, type_alias, dim_order_alias, variants, tags, "
        "manual_kernel_registration and boxed; a kernel has arg_meta, kernel_name and source. "
        "Keys of PyTorch's native_functions.yaml are allowed in an entry and ignored.",
    ),
    "GK154": ("Repeated key", "A mapping has the same key twice; only one of them could count."),
    "GK155": (
        "Entry without an operator",
        "Each entry names its operator either with `op:` (an operator of ATen, whose schema is "
        "known: `op: add.out`) or with `func:` (a whole schema).",
    ),
    "GK156": (
        "No such ATen operator",
        "`op:` looks the schema up in ATen, and ATen has no operator of this name and overload. "
        "`gen-kernels explain <name>` lists the overloads. Give operators of your own a schema "
        "with `func:`.",
    ),
    "GK157": (
        "No kernels",
        "An entry lists at least one kernel: kernels: [{arg_meta: null, kernel_name: my::fn}].",
    ),
    "GK158": (
        "Bad kernel name",
        "`kernel_name` is a C++ function with its namespaces. As in ExecuTorch the function is "
        "looked for in the namespace `native` there: my::add_out is my::native::add_out.",
    ),
    "GK159": (
        "Bad source",
        "`source` names the file of this package's kernels folder that defines the kernel, such "
        "as portable/binary.cpp.",
    ),
    "GK160": (
        "Bad arg_meta",
        "`arg_meta` is null (the fallback, for any tensors) or gives two aliases for each tensor "
        "argument: {self: [T0, D0], out: [T0, D0]}, the first from type_alias, the second from "
        "dim_order_alias.",
    ),
    "GK161": (
        "A kernel that no call can match",
        "The runtime looks for a specialised kernel by dtype and dim order of every tensor of the "
        "call in argument order, the result included, tensor lists not. So arg_meta must list all "
        "Tensor arguments; a Tensor? that it leaves out stands for None. Other arguments take no "
        "part.",
    ),
    "GK162": (
        "Unknown alias",
        "arg_meta refers to an alias that type_alias or dim_order_alias of the entry does not "
        "define.",
    ),
    "GK163": (
        "Bad dtype",
        "`type_alias` lists ScalarTypes by ExecuTorch's names: Byte, Char, Short, Int, Long, Half, "
        "Float, Double, Bool, BFloat16, UInt16, UInt32, UInt64 and so on, each once.",
    ),
    "GK164": (
        "Bad dim order",
        "A dim order is a permutation of 0 to n - 1, outermost dimension first: [0, 1, 2, 3] is "
        "contiguous, [0, 2, 3, 1] channels last, [] a tensor without dimensions. An alias is one "
        "order or a list of orders.",
    ),
    "GK165": (
        "Two kernels for the same tensors",
        "Two kernels of one operator would be registered under the same kernel key, or both as "
        "the fallback. The runtime refuses that when it starts.",
    ),
    "GK166": ("Specialised boxed operator", "An operator with `boxed: true` has one kernel only."),
    "GK167": (
        "Operator twice in a catalogue",
        "A catalogue has one entry an operator. To replace a kernel of another catalogue, put the "
        "entry into a file of its own and give it with --functions: the first file wins.",
    ),
    "GK168": ("Bad value", "The key takes other values, see the message."),
    "GK169": (
        "Too many mistakes",
        "The file has so many mistakes that it is probably not a catalogue, or one for another "
        "tool. The first hundred are shown.",
    ),
    "GK170": (
        "Out arguments and results differ",
        "An out variant returns exactly the arguments that it writes.",
    ),
    "GK171": (
        "Namespace native twice",
        "The namespace `native` is added to every kernel_name, as ExecuTorch does.",
    ),
    "GK172": ("Unused alias", "No kernel of the entry uses the alias."),
    "GK173": (
        "A type that models cannot carry",
        "An argument of this type has no form in a model file, so that no model can call the "
        "operator. Models carry Tensor, int, float, bool, str, Scalar, optionals of these, and "
        "lists of Tensor, Tensor?, int, float and bool.",
    ),
    "GK174": (
        "Not an out variant",
        "Models that went through to_executorch() call out variants only: operators that write "
        "their results into arguments behind `*`.",
    ),
    "GK175": ("Source does not exist", "`source` names a file that this package does not have."),
    "GK176": (
        "No fallback",
        "All kernels of the operator are for certain dtypes and dim orders. A call with other "
        "tensors finds none, unless another catalogue brings a kernel without arg_meta.",
    ),
    "GK180": (
        "Nothing to import from",
        "`catalogue import` asks another Python, which must have torch and executorch installed.",
    ),
    "GK181": ("Import failed", "A catalogue of the executorch package has an unexpected form."),
    "GK182": ("Cannot write a catalogue", "The folder of the catalogues is not writable."),
    "GK185": (
        "Unknown operator",
        "Neither ATen nor a catalogue has an operator of this name and overload.",
    ),
    "GK186": ("Nothing to list", "The filter matches no operator."),
}
"""Code -> title, explanation."""
