"""The options of a generation: how they are written, and what they may not be together."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from .options import REGISTRATION, SHELLS, Options

if TYPE_CHECKING:
    from .generate import Request

USAGE = """gen-kernels --model FILE... --out DIR [OPTION]...
       gen-kernels COMMAND [OPTION]..."""

# A screen of 24 lines of 80 columns, with the options that most runs take.
HELP = f"""usage: {USAGE}

Generate the registration of the kernels that ExecuTorch models need.

  --model FILE       operators of a model (.pte, folder, pattern); repeatable
  --op NAME          an operator (aten::add.out, add.out:Float); repeatable
  --functions FILE   a catalogue of your own kernels; repeatable
  --library NAME     register with register_NAME_kernels()
  --out DIR          folder to write to; --check, --diff: write nothing

commands, each with --help of its own:
  build       generate, then compile the kernels into a static library
  inspect     show what is in a model       ops         list the operators
  explain     an operator or error code     catalogue   check catalogues
  config      print compiler and linker flags for a target

examples:
  gen-kernels --model model.pte --out build
  gen-kernels build --model model.pte --out build --target cv32e40p
  gen-kernels inspect model.pte

--help-all shows all options, --version this and ExecuTorch's tested versions.
"""


def add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what to generate and from what."""
    select = parser.add_argument_group("selection (all are united)")
    select.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="FILE",
        help="operators of a model: .pte or .bpte file, folder, pattern, '-'; repeatable",
    )
    select.add_argument(
        "--op",
        action="append",
        default=[],
        metavar="NAME",
        help="an operator, such as aten::add.out or add.out:Float; repeatable",
    )
    select.add_argument(
        "--ops-file",
        action="append",
        default=[],
        metavar="FILE",
        help="operators listed in a file (selected_operators.yaml or one name a line); repeatable",
    )
    select.add_argument("--all", action="store_true", help="every operator of the catalogues")
    select.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAME",
        help="leave an operator out; repeatable",
    )
    what = parser.add_argument_group("kernels and code")
    what.add_argument(
        "--functions",
        action="append",
        default=[],
        metavar="FILE",
        help="a catalogue of your own kernels, asked before the bundled ones; repeatable",
    )
    what.add_argument(
        "--kernels",
        choices=("bundled", "none"),
        default="bundled",
        help="'none': register kernels that you link from elsewhere (ExecuTorch's own)",
    )
    what.add_argument(
        "--library",
        default="all",
        metavar="NAME",
        help="register with register_NAME_kernels() (default: all)",
    )
    what.add_argument(
        "--registration",
        choices=("manual", "static"),
        default="manual",
        help="'static': register before main() too",
    )
    what.add_argument(
        "--api",
        choices=("span", "stack"),
        default="span",
        help="'stack': the EValue** form of ExecuTorch 0.7 and older",
    )
    what.add_argument(
        "--aten", action="store_true", help="for ExecuTorch's ATen mode, with PyTorch's own kernels"
    )
    what.add_argument(
        "--exception-boundary",
        action="store_true",
        help="turn exceptions of kernels into errors of the call",
    )
    what.add_argument(
        "--pytorch",
        action="store_true",
        help="also write sources that register your operators into PyTorch",
    )
    what.add_argument(
        "--whole-runtime",
        action="store_true",
        help="leave no part of the runtime out: programs may come that are not among the models",
    )
    what.add_argument(
        "--source-name",
        default=REGISTRATION,
        metavar="FILE",
        help="name of the registration's source, such as RegisterKernels.cpp",
    )
    what.add_argument(
        "--template-dir",
        type=Path,
        metavar="DIR",
        help="templates here replace the bundled ones of the same name",
    )
    out = parser.add_argument_group("output")
    out.add_argument("--out", type=Path, metavar="DIR", help="folder to write to")
    out.add_argument("--format", choices=("text", "json"), default="text", help="of the report")
    out.add_argument("--quiet", action="store_true", help="no summary")
    out.add_argument("--depfile", type=Path, metavar="FILE", help="write a Make depfile too")


def generation_parser() -> argparse.ArgumentParser:
    """Return the parser of `gen-kernels` without a command."""
    parser = argparse.ArgumentParser(
        prog="gen-kernels",
        usage=USAGE,
        description="Generate the registration of the kernels that ExecuTorch models need.",
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("--help", "-h", action="store_true", help="what is needed most")
    parser.add_argument("--help-all", action="help", help="this list")
    parser.add_argument(
        "--version", action="store_true", help="print this version and those of ExecuTorch"
    )
    parser.add_argument(
        "--completion", choices=SHELLS, help="print a script that completes commands in this shell"
    )
    parser.add_argument(
        "--cmake-dir", action="store_true", help="print the folder of the CMake package"
    )
    parser.add_argument(
        "--target",
        choices=("host", "rv32imc", "cv32e40p"),
        help="use kernels with instructions of this target",
    )
    add_selection_arguments(parser)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when the output is out of date"
    )
    mode.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    mode.add_argument("--list-outputs", action="store_true", help="print the files of --out")
    return parser


def request_from(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Request:
    """Check the options against each other (exit status 2) and gather them."""
    from .generate import Request

    if not args.library.isidentifier() or not args.library.isascii():
        parser.error(f"--library: '{args.library}' is not a C identifier")
    if not (args.model or args.op or args.ops_file or args.all):
        parser.error("nothing selected: give --model, --op, --ops-file or --all")
    if args.aten and args.api == "stack":
        parser.error("--aten and --api stack do not go together")
    if not re.fullmatch(r"\w[\w.+-]*\.(cpp|cc|cxx)", args.source_name, re.ASCII):
        parser.error(f"--source-name: '{args.source_name}' is not the name of a C++ source")
    if args.template_dir is not None and not args.template_dir.is_dir():
        parser.error(f"--template-dir: '{args.template_dir}' is not a folder")
    return Request(
        models=tuple(args.model),
        ops=tuple(args.op),
        ops_files=tuple(args.ops_file),
        include_all=args.all,
        exclude=tuple(args.exclude),
        functions=tuple(args.functions),
        library=args.library,
        our_kernels=args.kernels == "bundled" and not args.aten,
        target=args.target or "",
        options=options_from(args),
    )


def options_from(args: argparse.Namespace) -> Options:
    """Gather what shapes the output besides the plan."""
    return Options(
        static_registration=args.registration == "static",
        stack_api=args.api == "stack",
        aten=args.aten,
        exception_boundary=args.exception_boundary,
        pytorch=args.pytorch,
        whole_runtime=args.whole_runtime,
        template_dir=args.template_dir,
        registration_source=args.source_name,
    )
