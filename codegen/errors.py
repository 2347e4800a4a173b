"""The catalogue of error codes: title and explanation of each, for `gen-kernels explain`.

Blocks: GK001-099 usage, files, output; GK100-149 schemas; GK150-199 catalogues; GK200-299 models;
GK300-349 selection; GK350-399 finding kernels; GK400-449 building.
"""

from __future__ import annotations

from .errors_catalogues import CATALOGUE_ERRORS
from .errors_models import MODEL_ERRORS

ERRORS: dict[str, tuple[str, str]] = {
    **CATALOGUE_ERRORS,
    **MODEL_ERRORS,
    "GK001": (
        "No such error code",
        "`gen-kernels explain` was asked about a code that does not exist. Without an argument it "
        "lists all codes.",
    ),
    "GK010": (
        "Cannot write the output",
        "A file or folder of the output could not be written: a missing permission, a full disk, "
        "or a folder where a file should be. What was there before is unchanged.",
    ),
    "GK011": (
        "The output is out of date",
        "`--check` compares the folder with what would be generated now. Something that goes in "
        "has changed since: the model, a catalogue, an option, a template or gen-kernels itself. "
        "Run the same command without --check.",
    ),
    "GK012": (
        "A template is wrong",
        "A template in the folder given with --template-dir has a mistake in its Jinja syntax, or "
        "uses a variable that does not exist.",
    ),
    "GK350": (
        "Unknown operator",
        "A model or an option asks for an operator that no catalogue has. Often it is not an out "
        "variant (`aten::abs` for `aten::abs.out`): a model exported through to_executorch() has "
        "out variants only. An operator of your own needs a catalogue: --functions my_ops.yaml.",
    ),
    "GK351": (
        "No kernel yet",
        "The bundled catalogues know the operator's schema, but this library has no kernel for it "
        "yet. Write one and name it in a catalogue given with --functions, or use kernels that "
        "you link yourself, such as ExecuTorch's own, with --kernels none.",
    ),
    "GK352": (
        "The runtime cannot carry this type",
        "The operator has an argument or result of a type that ExecuTorch's EValue cannot hold, "
        "such as Generator, Stream or a list of strings. No boxed call can be generated.",
    ),
    "GK353": (
        "No kernel for these tensors",
        "The operator has kernels for some dtypes and dim orders only, and the model calls it "
        "with others. A kernel with `arg_meta: null` serves all calls that no other one does.",
    ),
    "GK354": (
        "Operators left out",
        "--all selects what there are kernels for; the catalogues also list operators without.",
    ),
    "GK355": (
        "One kernel, two result types",
        "Two operators name the same C++ function with the same parameters, but their schemas "
        "return different types. C++ cannot overload on the result: give them different kernels.",
    ),
    "GK400": ("Unknown target", "--target takes host, rv32imc or cv32e40p."),
    "GK401": (
        "Compiler not found",
        "The compiler for the target is not on the PATH. Install it, or name your own with --cxx.",
    ),
    "GK402": (
        "No C++ headers for the target",
        "The compiler is there, but not the headers of the C++ standard library. Debian 12 has no "
        "package with them for RISC-V; `platform/setup cross` fetches them.",
    ),
    "GK403": (
        "A source does not compile",
        "The compiler's own message follows. With flags of your own (--cflags), check them first.",
    ),
    "GK404": ("The archiver failed", "`ar` could not write the static library."),
    "GK405": (
        "Isolating failed",
        "`--isolate` joins the objects of a library and hides their symbols with the GNU linker "
        "and objcopy beside the compiler. Other linkers cannot do it; without --isolate a program "
        "can hold several libraries as long as they share no kernel source.",
    ),
}


def explain(code: str) -> str | None:
    """Return title and explanation of `code`, wrapped for a terminal; None for an unknown one."""
    if code not in ERRORS:
        return None
    import textwrap

    title, text = ERRORS[code]
    return f"{code}: {title}\n\n{textwrap.fill(text, 88)}"
