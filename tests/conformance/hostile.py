"""Calls every operator with arguments that do not fit: no crash, no write beside the results.

    python -m tests.conformance.hostile SEED CALLS [OPERATOR]

CALLS an operator, under the sanitizers: it starts itself again with them, once torch's own samples
are there to start from. Prints how many calls of each operator were refused, and with OPERATOR
each call before it is made.
"""

from __future__ import annotations

import io
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from .harness import library
from .harness.caller import DTYPES, KernelError, Library, NotRepresentableError, Out
from .harness.cases import brief, find_overload, opinfo_cases
from .harness.run import signatures

INTEGERS = (0, 1, -1, 2, -2, 3, 7, 100, -100, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63))
REALS = (0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, -1e300, math.inf, -math.inf, math.nan)
TEXTS = ("", "none", "tanh", "floor", "trunc", "reflect")
SAMPLES = 6  # valid calls an operator to start from


class Maker:
    """Arguments by schema type, from a seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def tensor(self) -> torch.Tensor:
        rank = self.pick((0, 1, 1, 2, 2, 3, 4, 4, 5))
        shape = [self.pick((0, 1, 1, 2, 3, 5)) for _ in range(rank)]
        dtype = self.pick((torch.float32, torch.float32, torch.int64, *DTYPES))
        values = torch.randint(-2, 7, shape) * self.pick((1, 1, 1000000007))
        t = values.to(dtype)
        return (
            t.contiguous(memory_format=torch.channels_last) if rank == 4 and values.numel() else t
        )

    def integers(self) -> list[int]:
        return [self.pick(INTEGERS) for _ in range(self.random.randrange(5))]

    def value(self, type_text: str) -> Any:
        """Anything that the type allows."""
        if type_text.startswith("Optional[") and self.random.random() < 0.3:
            return None
        inner = type_text.removeprefix("Optional[")
        if inner.startswith("List["):
            if "Tensor" in inner:
                some = [self.tensor() for _ in range(self.random.randrange(4))]
                holes = "Optional" in inner
                return [None if holes and self.random.random() < 0.3 else t for t in some]
            if "float" in inner:
                return [self.pick(REALS) for _ in range(self.random.randrange(4))]
            if "bool" in inner:
                return [self.pick((True, False)) for _ in range(self.random.randrange(4))]
            return self.integers()
        kinds = {
            "Tensor": self.tensor,
            "bool": lambda: self.pick((True, False)),
            "float": lambda: self.pick(REALS),
            "str": lambda: self.pick(TEXTS),
            "number": lambda: self.pick((*INTEGERS, *REALS, True)),
        }
        return kinds.get(inner.rstrip("]"), lambda: self.pick(INTEGERS))()

    def change(self, value: Any, type_text: str) -> Any:
        """A value a little off, or another one."""
        if isinstance(value, torch.Tensor) and value.dim() and self.random.random() < 0.5:
            dim = self.random.randrange(value.dim())
            return self.pick(
                (
                    lambda: value.narrow(dim, 0, max(value.shape[dim] - 1, 0)).clone(),
                    lambda: torch.cat([value, value], dim),
                    lambda: value.unsqueeze(dim),
                    lambda: value.to(self.pick(list(DTYPES))),
                    lambda: value.select(dim, 0).clone() if value.shape[dim] else value,
                )
            )()
        if isinstance(value, list) and value and self.random.random() < 0.5:
            changed = list(value)
            place = self.random.randrange(len(changed))
            if self.random.random() < 0.3:
                del changed[place]
            elif isinstance(changed[place], int):
                changed[place] = self.pick(INTEGERS)
            return changed
        return self.value(type_text)

    def out(self, t: torch.Tensor | None) -> Out:
        """A result buffer, mostly like a valid one."""
        if t is not None and t.dtype in DTYPES and self.random.random() < 0.7:
            try:
                return Out.like(t, self.pick((0, 0, 1)))
            except NotRepresentableError:
                pass
        return Out.like(self.tensor())


def can_be_saved(value: Any) -> bool:
    """Whether it goes through a file."""
    try:
        torch.save(value, io.BytesIO())
    except TypeError:
        return False
    return True


Valid = dict[str, list[tuple[tuple[Any, ...], tuple[Any, ...]]]]


def samples(operators: Sequence[str]) -> Valid:
    """Valid calls of each operator, where there are OpInfo samples: arguments and results."""
    found: Valid = {}
    dtypes = (torch.float32, torch.int64)
    for case in opinfo_cases(operators, dtypes=dtypes, limit=SAMPLES, first=SAMPLES):
        call = (case.values, case.expected)
        if can_be_saved(call):
            found.setdefault(case.operator, []).append(call)
    return found


def schemas() -> dict[str, Any]:
    """Of all operators: the catalogues' own, else torch's."""
    found = {}
    for catalogue in sorted((library.ROOT / "functions").glob("*.yaml")):
        for line in catalogue.read_text().splitlines():
            text = line.removeprefix("- func: ")
            if text != line and catalogue.name != "aten_schemas.yaml":
                name = text.partition("(")[0]
                # Parsing needs no "default" and takes no unnamed namespace.
                schema = torch._C.parse_schema(text.replace(".default(", "("))
                found[name if "::" in name else f"aten::{name}"] = schema
    return found


def attack(
    lib: Library,
    operator: str,
    schema: Any,
    valid: Sequence[Any],
    calls: int,
    seed: str,
    log: bool,
) -> int:
    """Makes the calls; the number of those that the kernel refused."""
    maker = Maker(f"{seed} {operator}")
    torch.manual_seed(maker.random.randrange(2**31))
    refused = 0
    inputs = [a for a in schema.arguments if not a.is_out]
    results = [a for a in schema.arguments if a.is_out]
    for _ in range(calls):
        if valid and maker.random.random() < 0.8:
            values, expected = maker.pick(valid)
            values = list(values)
            for place in maker.random.sample(
                range(len(values)), min(len(values), maker.pick((1, 1, 2)))
            ):
                values[place] = maker.change(values[place], str(inputs[place].type))
        else:
            values, expected = [maker.value(str(a.type)) for a in inputs], ()
        likes = [*expected, *[None] * len(results)][: len(results)]
        outs: list[Any] = []
        for like, argument in zip(likes, results, strict=True):
            if "List" in str(argument.type):
                parts = (
                    like if isinstance(like, (list, tuple)) else [None] * maker.random.randrange(4)
                )
                outs.append([maker.out(t) for t in parts])
            else:
                outs.append(maker.out(like if isinstance(like, torch.Tensor) else None))
        # Results in place are arguments, too: the harness looks after their memory.
        values = [v.clone() if isinstance(v, torch.Tensor) else v for v in values]
        if log:
            print(
                operator,
                ", ".join(map(brief, values)),
                [o.shape for o in outs if not isinstance(o, list)],
                flush=True,
            )
        try:
            lib.call(operator, schema, values, outs)
        except KernelError:
            refused += 1
        except NotRepresentableError:
            continue
    return refused


def sanitized(arguments: Sequence[str], valid: Path) -> int:
    """Runs this module in a process with the sanitizers' libraries."""
    names = ("libasan.so", "libstdc++.so.6")
    found = [
        subprocess.run(["g++", f"-print-file-name={n}"], capture_output=True, text=True, check=True)
        for n in names
    ]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(done.stdout.strip() for done in found),
        "ASAN_OPTIONS": "detect_leaks=0",
        "HOSTILE_SAMPLES": str(valid),
    }
    command = [sys.executable, "-m", "tests.conformance.hostile", *arguments]
    return subprocess.run(command, env=environment, cwd=library.ROOT, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Command line."""
    seed, calls, only = arguments[0], int(arguments[1]), arguments[2:]
    file = os.environ.get("HOSTILE_SAMPLES")
    lib = Library(library.build("micro", sanitize=file is not None))
    known = schemas()
    operators = sorted((signatures() | set(known)) & lib.operators)
    if only:
        operators = [o for o in operators if o in only]
    if file is None:
        library.build("micro", sanitize=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.pt"
            torch.save(samples(operators), path)
            return sanitized(arguments, path)
    valid: Valid = torch.load(file, weights_only=False)
    for operator in operators:
        print(f"{operator} ", end="", flush=True)
        overload = find_overload(operator)
        schema = known.get(operator) or overload._schema
        refused = attack(lib, operator, schema, valid.get(operator, []), calls, seed, bool(only))
        print(refused, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
