"""The command line: `gen-kernels [COMMAND] ...`. Without a command it generates.

Exit status: 0 when all went well, 1 for a mistake in the inputs, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .arguments import HELP, generation_parser, options_from, request_from
from .diagnostics import Diagnostic, format_diagnostic, has_errors, sort_diagnostics
from .options import TESTED_EXECUTORCH

if TYPE_CHECKING:
    from .generate import Generation, Request


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # A short run leaves few cycles behind: collecting them would take a tenth of its time.
    collecting = gc.isenabled()
    gc.disable()
    command = arguments[0] if arguments else ""
    try:
        run = _COMMANDS.get(command)
        status = run(arguments[1:]) if run is not None else _generate(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if collecting:
            gc.enable()
    return status


def report(diagnostics: Sequence[Diagnostic]) -> None:
    """Print diagnostics to standard error, sorted, each once."""
    lines = [format_diagnostic(d) for d in sort_diagnostics(diagnostics)]
    if lines:
        text = "\n".join(lines) + "\n"
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _generate(arguments: Sequence[str]) -> int:
    parser = generation_parser()
    args = parser.parse_args(arguments)
    if args.help:
        sys.stdout.write(HELP)
        return 0
    if args.version:
        from importlib.metadata import version

        print(f"gen-kernels {version('gen-kernels')}")
        print(f"tested with ExecuTorch {', '.join(TESTED_EXECUTORCH)}")
        return 0
    if args.completion:
        from .completion import completion_script

        sys.stdout.write(completion_script(args.completion))
        return 0
    if args.cmake_dir:
        from .generate import PACKAGE

        print((PACKAGE / "cmake").as_posix())
        return 0
    if args.out is None:
        parser.error("--out is required")
    if args.list_outputs:
        from .render import output_names

        for name in output_names(options_from(args)):
            print((args.out / name).as_posix())
        return 0
    request = request_from(parser, args)
    if args.check or args.diff:
        return _compare(request, args)
    generation, diagnostics = generate_and_write(request, args)
    return finish(generation, diagnostics, args)


def generate_and_write(
    request: Request, args: argparse.Namespace, write: bool = True
) -> tuple[Generation, tuple[Diagnostic, ...]]:
    """Generate and, when nothing is wrong and `write`, write the files and the depfile."""
    from .generate import generate, tool_files
    from .output import depfile_text, write_files

    generation = generate(request)
    diagnostics = list(generation.diagnostics)
    if write and not has_errors(diagnostics):
        _, problems = write_files(generation.files, args.out)
        diagnostics.extend(problems)
        if args.depfile is not None and not problems:
            targets = [(args.out / name).as_posix() for name in sorted(generation.files)]
            text = depfile_text(targets, (*generation.inputs, *tool_files(request.options)))
            _, problems = write_files({args.depfile.name: text}, args.depfile.parent)
            diagnostics.extend(problems)
    return generation, tuple(diagnostics)


def finish(
    generation: Generation, diagnostics: Sequence[Diagnostic], args: argparse.Namespace
) -> int:
    """Print the report in the format asked for and return the exit status."""
    failed = has_errors(diagnostics)
    if args.format == "json":
        import json

        from .generate import operator_facts

        document = {
            "diagnostics": [d.to_json() for d in sort_diagnostics(diagnostics)],
            "files": [] if failed else sorted(generation.files),
            "operators": [] if failed else operator_facts(generation),
        }
        print(json.dumps(document, indent=2))
        return int(failed)
    report(diagnostics)
    if not failed and not args.quiet:
        from .generate import summary

        print(summary(generation, args.model))
    return int(failed)


def _compare(request: Request, args: argparse.Namespace) -> int:
    from .generate import generate
    from .output import check_files, diff_files

    generation = generate(request)
    diagnostics = list(generation.diagnostics)
    if has_errors(diagnostics):
        return finish(generation, diagnostics, args)
    if args.diff:
        report(diagnostics)
        sys.stdout.write(diff_files(generation.files, args.out))
        return 0
    diagnostics.extend(check_files(generation.files, args.out))
    args.quiet = True
    return finish(generation, diagnostics, args)


def _build(arguments: Sequence[str]) -> int:
    from .build import run_build

    return run_build(arguments)


def _config(arguments: Sequence[str]) -> int:
    from .config import add_arguments, run_config

    parser = argparse.ArgumentParser(
        prog="gen-kernels config",
        description="Print what a build without CMake needs: compiler, flags, sources.",
        allow_abbrev=False,
    )
    add_arguments(parser)
    line, diagnostics = run_config(parser.parse_args(arguments))
    report(diagnostics)
    if not has_errors(diagnostics):
        print(line)
    return int(has_errors(diagnostics))


def _explain(arguments: Sequence[str]) -> int:
    from .explain import add_arguments, run_explain

    what = "Explain an operator or an error code."
    return _print_text("explain", what, arguments, add_arguments, run_explain)


def _ops(arguments: Sequence[str]) -> int:
    from .operators_command import add_arguments, run_ops

    what = "List operators with the catalogue and the kernel source that serve each."
    return _print_text("ops", what, arguments, add_arguments, run_ops)


def _catalogue(arguments: Sequence[str]) -> int:
    from .catalogue_lint import add_arguments, run_catalogue

    what = "Check catalogues of your own, or refresh the bundled ones."
    return _print_text("catalogue", what, arguments, add_arguments, run_catalogue)


def _inspect(arguments: Sequence[str]) -> int:
    from ..selective.inspect import add_arguments, run_inspect

    what = "Show what is in models: methods, operators and their kernels, memory, weights."
    return _print_text("inspect", what, arguments, add_arguments, run_inspect)


def _print_text(
    command: str,
    what: str,
    arguments: Sequence[str],
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], tuple[str, tuple[Diagnostic, ...]]],
) -> int:
    """Run a command that gives text for standard output, and diagnostics."""
    parser = argparse.ArgumentParser(
        prog=f"gen-kernels {command}", description=what, allow_abbrev=False
    )
    add_arguments(parser)
    text, diagnostics = run(parser.parse_args(arguments))
    report(diagnostics)
    sys.stdout.write(text)
    return int(has_errors(diagnostics))


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "build": _build,
    "catalogue": _catalogue,
    "config": _config,
    "explain": _explain,
    "inspect": _inspect,
    "ops": _ops,
}
