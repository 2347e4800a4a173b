"""Error texts of models and selections: a block of errors.py."""

from __future__ import annotations

MODEL_ERRORS: dict[str, tuple[str, str]] = {
    "GK200": (
        "Model not readable",
        "The file given with --model does not exist, may not be read, or is no file. `-` reads "
        "standard input.",
    ),
    "GK201": (
        "Empty model",
        "The file has no bytes. Often an export or a download stopped before it wrote anything.",
    ),
    "GK202": (
        "Not a program",
        "The file is something else than an ExecuTorch program: bytes 4 to 7 of a .pte are "
        "`ET12`, of a bundled program `BP08`. A .pte comes from to_edge(...).to_executorch(); "
        "torch.save, torch.export.save and TensorFlow Lite write other formats, and a .ptd holds "
        "weights only: give the .pte that uses it.",
    ),
    "GK203": (
        "Damaged program",
        "The file begins like a program but breaks its format. The message says at which byte, in "
        "which table and field of ExecuTorch's program.fbs, and in which value, instruction or "
        "method. Often a transfer cut the file or changed it (text mode, a wrong flash offset): "
        "compare its size and checksum with the original.",
    ),
    "GK204": (
        "Unknown format version",
        "The file's identifier names another version of the .pte format than this reader knows. "
        "Export the model with a release that writes `ET12` (all releases up to 1.5 do), or use a "
        "newer gen-kernels.",
    ),
    "GK205": (
        "No model found",
        "The folder or pattern given with --model holds no .pte and no .bpte file. Other names, "
        "such as C sources with a model in them, must be given one by one.",
    ),
    "GK206": (
        "No model in this source",
        "The file is text. Text is read as C source that holds a program as an array of numbers, "
        "as `xxd -i model.pte` writes it. Where one model is wanted, it must hold one program.",
    ),
    "GK207": (
        "Tensors without data",
        "The model keeps tensors in a .ptd file, and none of the files given with --data has "
        "these. The program will not load on the device without them.",
    ),
    "GK210": (
        "Wrong number of arguments",
        "The model calls the operator with another number of values than its schema in the "
        "catalogue says: the schema's arguments (out arguments included) and one value for the "
        "result. Model and library are of different releases; on the device execute() would "
        "return InvalidProgram. Export the model again, or use a catalogue of its release.",
    ),
    "GK211": (
        "Wrong kind of argument",
        "A value in the model's call is not of the type that the schema says. On the device the "
        "kernel would abort or read a value as what it is not.",
    ),
    "GK212": (
        "Wrong result slot",
        "The last value of a call must name what the operator returns: the out tensor again, or a "
        "list of all out tensors. In this model it names something else.",
    ),
    "GK213": (
        "A constant is written",
        "The model passes a weight where the operator writes its result. Weights lie in flash.",
    ),
    "GK214": (
        "Too many tensors in one call",
        "ExecuTorch's runtime looks a kernel up by a text made from the dtypes and dim orders of "
        "all tensors of the call, in a buffer of fixed size. This call's do not fit, so "
        "load_method() would fail there (InvalidArgument). gen-kernels' own runtime has no such "
        "limit. Split the operator, or pass the tensors as a list.",
    ),
    "GK300": (
        "Wrong operator on the command line",
        "--op and --exclude take operator names: `aten::add.out`, `add.out` (aten is meant), "
        "`aten::add` (every overload), patterns with * and ?. --op takes dtypes too: "
        "`add.out:Float,Int`. Dtype names are ExecuTorch's (Float, Char) or torch's (float32, "
        "int8).",
    ),
    "GK301": (
        "Operator list not readable",
        "The file given with --ops-file does not exist or may not be read.",
    ),
    "GK302": ("Operator list is not text", "A list is a text file in UTF-8."),
    "GK303": (
        "Wrong operator list",
        "--ops-file takes a selected_operators.yaml, a catalogue (a YAML list of `op:` and `func:` "
        "entries), or a plain list with operators as --op takes them, `#` for comments.",
    ),
    "GK304": (
        "Nothing to exclude",
        "--exclude names an operator that is not in the selection anyway. Is it spelt right?",
    ),
}
