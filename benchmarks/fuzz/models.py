"""Coverage-guided fuzzing of everything that reads a model, with atheris (PyPI).

    pip install atheris
    python benchmarks/fuzz/models.py [--executions 10000000] [--corpus DIR] [--seconds N]

Starts from the test models, adds what finds new paths to the corpus folder, and stops at the first
fault: an exception, more than 2 seconds or more than 100 MiB beyond the start. The input that
caused it is written as crash-*, timeout-* or oom-* beside the corpus.

One execution in sixteen goes through the reports too (tests/support/check_model.py); the others
only through the reader, the selection and the call check, which are what a build runs.
"""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path

import atheris

TREE = Path(__file__).resolve().parents[2]
MODELS = TREE / "tests" / "models"
MEGABYTES = 100
SEGMENTS = 1 << 20  # bytes that a file is said to have, so that programs go without their segments

sys.path.insert(0, str(TREE))
with atheris.instrument_imports(include=["gen_kernels.selective"]):
    from gen_kernels.selective import (  # noqa: F401
        c_array,
        flatbuffer,
        model_file,
        ptd,
        pte,
        pte_values,
        select,
    )

    from tests.support.check_model import check_model, check_quickly
    from tests.support.mutate import mutate


def one_input(data: bytes) -> None:
    """What one execution does."""
    one_input.count += 1  # type: ignore[attr-defined]
    if one_input.count % 16 == 0:  # type: ignore[attr-defined]
        check_model(data, size_of(data))
    else:
        check_quickly(data, size_of(data))


def size_of(data: bytes) -> int:
    """The size that the file is said to have."""
    whole = program_size(data) <= len(data) and data[8:12] == b"eh00"
    return SEGMENTS if whole else len(data)


def own_mutation(data: bytes, max_size: int, seed: int) -> bytes:
    """Half of the mutations know the format, the others are libFuzzer's."""
    import random

    rng = random.Random(seed)
    if rng.random() < 0.5:
        return mutate(data, rng)[:max_size]
    return bytes(atheris.Mutate(data, max_size))


def program_size(data: bytes) -> int:
    """Bytes of the program, as the extended header says; all without one."""
    has_header = data[8:12] == b"eh00" and len(data) >= 24
    return int.from_bytes(data[16:24], "little") if has_header else len(data)


def program_of(data: bytes) -> bytes:
    """A model without the segments behind its program."""
    return data[: program_size(data)]


def main() -> None:
    """Set libFuzzer up and run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executions", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=0, help="stop after this time; 0: never")
    parser.add_argument("--corpus", type=Path, required=True, help="folder, made if missing")
    parser.add_argument("--timeout", type=int, default=2, help="seconds; more on a busy machine")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.corpus.mkdir(parents=True, exist_ok=True)
    for path in MODELS.iterdir():
        if path.suffix in (".pte", ".bpte", ".ptd"):
            (args.corpus / path.name).write_bytes(program_of(path.read_bytes()))
    one_input.count = 0  # type: ignore[attr-defined]
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    options = [
        f"-runs={args.executions}",
        f"-max_total_time={args.seconds}",
        f"-seed={args.seed}",
        f"-timeout={args.timeout}",
        f"-rss_limit_mb={used + MEGABYTES + 400}",  # libFuzzer's own corpus and tables are in it
        f"-malloc_limit_mb={MEGABYTES}",
        f"-artifact_prefix={args.corpus}/../",
        "-max_len=32768",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(args.corpus)], one_input, custom_mutator=own_mutation)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
