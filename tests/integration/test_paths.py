"""What is told of CORE-V calls beforehand is what they do: their paths and temporary memory.

selective/paths.py and kernel_memory.py tell, kernels compiled with GEN_KERNELS_PATHS report.
"""

from __future__ import annotations

import random
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from gen_kernels.codegen.catalogue import open_catalogues
from gen_kernels.selective.call_ways import CallWay, call_ways
from gen_kernels.selective.constants import integer_constants
from gen_kernels.selective.kernel_memory import call_bytes
from gen_kernels.selective.models import load_models
from gen_kernels.selective.program import calls

from ..support import pte_builder as build
from ..support.models import MODELS, TREE
from ..support.run import missing_tools

CHAR, INT, FLOAT = 1, 3, 6
CALLS = 100  # of each operator
ROOM = 1 << 18
LAST = (0, 2, 3, 1)  # channels innermost


def operators() -> list[str]:
    """The operators that have a CORE-V kernel."""
    text = (TREE / "functions" / "corev.yaml").read_text()
    return re.findall(r"^- func: ([\w:.]+)\(", text, re.MULTILINE)


def library(folder: Path, models: Sequence[Path]) -> Path:
    """A host program of the CORE-V kernels that runs models and prints the paths."""
    command = [sys.executable, "-m", "gen_kernels", "--quiet", "--target", "cv32e40p"]
    for model in models:
        command += ["--model", str(model)]
    for operator in operators():
        command += ["--op", operator]
    subprocess.run([*command, "--out", str(folder)], check=True)
    kernels = (folder / "kernel_sources.txt").read_text().split()
    sources = [TREE / "kernels" / name for name in kernels]
    sources += sorted((TREE / "runtime" / "src").glob("*.cpp"))
    sources += [TREE / "tests/corev/paths/main.cpp", folder / "RegisterCodegenUnboxedKernels.cpp"]
    includes = [f"-I{path}" for path in (folder, TREE / "kernels", TREE / "runtime" / "include")]
    program = folder / "paths"
    flags = ["-std=c++17", "-O1", "-DGEN_KERNELS_PATHS", *includes]
    subprocess.run(["c++", *flags, *map(str, sources), "-o", str(program)], check=True)
    return program


def told(models: Sequence[Path]) -> list[list[tuple[CallWay, int]]]:
    """What is told of the CORE-V calls of each model, and the temporary bytes of each."""
    catalogues, _ = open_catalogues((), "cv32e40p")
    loaded, problems = load_models([str(path) for path in models])
    assert not problems
    by_name = {model.display: model for model in loaded}
    found = []
    for path in models:
        model = by_name[path.as_posix()]
        method = model.program.methods[0]
        ways = call_ways(
            method,
            lambda name: next((e for c in catalogues if (e := c.find(name)) is not None), None),
            integer_constants(model),
        )
        sizes = [
            call_bytes(w.kernel, method, c.args) for w, c in zip(ways, calls(method), strict=True)
        ]
        told_of = zip(ways, sizes, strict=True)
        found.append([(way, size) for way, size in told_of if "corev" in way.kernel])
    return found


def taken(program: Path, models: Sequence[Path]) -> list[list[tuple[str, int]]]:
    """The path and temporary bytes of each instruction; "portable" where none is reported."""
    command = [str(program), *map(str, models)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:]
    found = []
    for part in re.split(r"^model \d+\n", done.stdout, flags=re.MULTILINE)[1:]:
        lines = [line.split(" ", 2) for line in part.splitlines()]
        found.append([("portable" if path == "-" else path, int(n)) for _, n, path in lines])
    return found


class Calls:
    """Random calls as one method: values, constants, instructions."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.values: list[build.Table] = []
        self.data = bytearray()
        self.offsets = [0]
        self.operators: list[str] = []
        self.calls: list[build.Table] = []

    def add(self, value: build.Table) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, sizes: Sequence[int], dtype: int, order: Sequence[int], room: int) -> int:
        """A planned tensor; those of one `room` share their memory."""
        place = (1, room * ROOM)
        return self.add(build.tensor(list(sizes), dtype, order=list(order), place=place))

    def constant(self, values: Sequence[int], dtype: int = INT) -> int:
        form = "b" if dtype == CHAR else "i"
        self.data += bytes(-len(self.data) % 16)
        self.offsets.append(len(self.data))
        self.data += struct.pack(f"<{len(values)}{form}", *values)
        return self.add(build.tensor([len(values)], dtype, data=len(self.offsets) - 1))

    def int(self, number: int) -> int:
        return self.add(build.integer(number))

    def ints(self, numbers: Sequence[int]) -> int:
        return self.add(build.items(build.INT_LIST, [self.int(number) for number in numbers]))

    def call(self, operator: str, args: list[int]) -> None:
        if operator not in self.operators:
            self.operators.append(operator)
        self.calls.append(build.call(self.operators.index(operator), args))

    def bytes(self) -> bytes:
        method = build.method(
            self.values, self.calls, self.operators, buffers=[4 * ROOM], inputs=[], outputs=[]
        )
        program = build.program(
            [method],
            slot4=[{0: build.Num("Q", 0), 1: build.Num("Q", len(self.data))}],
            slot5={0: build.Num("I", 0), 1: build.Vec("Q", self.offsets)},
        )
        return build.with_header(build.serialise(program), bytes(self.data))

    # ---- What operators share ----

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def rare(self, usual: int, *others: int) -> int:
        """`usual`, but now and then one of `others`."""
        return self.rng.choice(others) if self.chance(6) else usual

    def zero(self) -> int:
        return self.rare(self.rng.choice((-128, 0, 127, self.rng.randint(-128, 127))), 200, -300)

    def multiplier(self) -> int:
        return self.rare(self.rng.randrange(1 << 30, 1 << 31), -5)

    def shift(self) -> int:
        return self.rare(self.rng.randint(-12, -1), 0, 1, -21, -26, -27)

    def order(self) -> Sequence[int]:
        return LAST if self.chance(85) else range(4)

    def tables(self, channels: int) -> list[int]:
        """Multipliers and shifts."""
        usual = [self.rng.randrange(1 << 30, 1 << 31) for _ in range(channels)]
        shifts = [self.rng.randint(-12, -1) for _ in range(channels)]
        place = self.rng.randrange(channels)
        usual[place], shifts[place] = self.rare(usual[place], -7), self.rare(shifts[place], 0, -30)
        return [self.constant(usual), self.constant(shifts)]

    def bias(self, channels: int) -> int:
        if self.chance(20):
            return self.add(build.value(build.NULL))
        values = [self.rng.randint(-30000, 30000) for _ in range(channels)]
        values[-1] = self.rng.choice((values[-1], values[-1], values[-1], 1 << 28))
        return self.constant(values)


def image(calls: Calls, nhwc: bool, sizes: Sequence[int], room: int) -> int:
    """An image of (batch, channels, height, width)."""
    n, c, h, w = sizes
    if nhwc:
        return calls.tensor((n, h, w, c), CHAR, range(4), room)
    return calls.tensor(sizes, CHAR, calls.order(), room)


def convolution(calls: Calls, kind: str, nhwc: bool) -> None:
    rng = calls.rng
    groups = rng.choice((1, 1, 2)) if kind == "conv2d" else 1
    inner, outputs = rng.choice((1, 3, 4, 8)), rng.randint(1, 9)
    channels = inner * groups
    outputs *= groups
    kernel = rng.choice(((1, 1), (1, 1), (3, 3), (2, 4), (1, 5), (9, 1)))
    stride = rng.choice(((1, 1), (1, 1), (2, 1)))
    padding = rng.choice(((0, 0), (0, 0), (1, 1)))
    dilation = rng.choice(((1, 1), (1, 1), (2, 1), (1, 2)))
    if kind == "depthwise_conv2d":
        channels = rng.choice((1, 2, 4))
        outputs = channels * rng.randint(1, 5 if channels == 1 else 2)
    size = [rng.randint(9, 11), rng.randint(9, 11)]
    if kind == "transpose_conv2d":
        result = [
            (size[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + 1
            for i in range(2)
        ]
    else:
        size = [max(size[i], dilation[i] * (kernel[i] - 1) + 1) for i in range(2)]
        result = [
            (size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
            for i in range(2)
        ]
    batch = rng.choice((1, 1, 2))
    shape = (1, *kernel, outputs) if kind == "depthwise_conv2d" else (outputs, *kernel, inner)
    source = image(calls, nhwc, (batch, channels, *size), 0)
    out = image(calls, nhwc, (batch, outputs, *result), 2)
    scratch = calls.tensor((0,), CHAR, (0,), 3)
    args = [source, calls.tensor(shape, CHAR, range(4), 1), calls.bias(outputs)]
    args += [calls.ints(stride), calls.ints(padding)]
    args += [calls.ints((0, 0))] if kind == "transpose_conv2d" else []
    args += [calls.ints(dilation)]
    args += [calls.int(outputs // channels)] if kind == "depthwise_conv2d" else []
    args += [calls.int(-calls.zero()), calls.int(calls.zero()), *calls.tables(outputs)]
    args += [calls.int(-128), calls.int(127), scratch]
    args += [scratch] if kind == "transpose_conv2d" else []
    calls.call(f"cortex_m::quantized_{kind}{'_nhwc' if nhwc else ''}.out", [*args, out, out])


def linear(calls: Calls) -> None:
    rows, columns, inner = (
        calls.rng.randint(1, 5),
        calls.rng.randint(1, 9),
        calls.rng.randint(1, 20),
    )
    inner = calls.rare(inner, 1829, 1830)
    args = [calls.tensor((rows, inner), CHAR, range(2), 0)]
    args += [calls.tensor((columns, inner), CHAR, range(2), 1)]
    args += [calls.bias(columns), calls.bias(columns)]
    offset = calls.rare(-calls.zero(), 256)
    args += [calls.int(offset), calls.int(calls.rare(0, 5, 300)), calls.int(calls.zero())]
    args += [calls.ints([calls.multiplier()]), calls.ints([calls.shift()])]
    out = calls.tensor((rows, columns), CHAR, range(2), 2)
    args += [calls.int(127), calls.int(-128), out, out]
    calls.call("cortex_m::quantized_linear.out", args)


def batch_matmul(calls: Calls) -> None:
    batch, rows, columns, inner = (calls.rng.randint(1, n) for n in (2, 5, 9, 20))
    left = calls.tensor((batch, rows, inner), CHAR, range(3), 0)
    right = calls.tensor((batch, columns, inner), CHAR, range(3), 1)
    out = calls.tensor((batch, rows, columns), CHAR, range(3), 2)
    args = [left, calls.int(calls.rare(-calls.zero(), 256)), right]
    args += [calls.int(calls.rare(0, 5, -256)), calls.int(calls.zero())]
    args += [calls.int(calls.multiplier()), calls.int(calls.shift())]
    args += [calls.tensor((0,), CHAR, (0,), 3), out, out]
    calls.call("cortex_m::quantized_batch_matmul.out", args)


def pool(calls: Calls, kind: str, nhwc: bool) -> None:
    rng = calls.rng
    channels, batch = rng.randint(1, 9), rng.choice((1, 2))
    kernel = rng.choice(((2, 2), (3, 1), (16, 16), (16, 17)))
    size = [k + rng.randint(0, 3) for k in kernel]
    result = [(s - k) // 2 + 1 for s, k in zip(size, kernel, strict=True)]
    args = [image(calls, nhwc, (batch, channels, *size), 0), calls.ints(kernel)]
    args += [calls.ints((2, 2)), calls.ints((0, 0))]
    no = calls.add(build.boolean(False))
    if kind == "avg":
        args += [no, calls.int(calls.zero()), calls.int(calls.rare(calls.multiplier(), 0))]
        args += [calls.int(calls.rare(calls.shift(), 60, -70)), calls.tensor((0,), CHAR, (0,), 3)]
    else:
        zero = calls.int(calls.zero())
        args += [calls.ints((1, 1)), no, zero, zero]
        args += [calls.int(calls.rare(-128, -129)), calls.int(calls.rare(127, 200))]
    out = image(calls, nhwc, (batch, channels, *result), 2)
    name = f"cortex_m::quantized_{kind}_pool2d{'_nhwc' if nhwc else ''}.out"
    calls.call(name, [*args, out, out])


def binary(calls: Calls, kind: str) -> None:
    rng = calls.rng
    shape = [rng.randint(1, 3) for _ in range(4)]
    other = [1 if calls.chance(30) else size for size in shape]
    a, b = (calls.tensor(s, CHAR, calls.order(), i) for i, s in enumerate((shape, other)))
    out = calls.tensor(shape, CHAR, calls.order(), 2)
    rescales = [[calls.int(calls.multiplier()), calls.int(calls.shift())] for _ in range(3)]
    zeros = [calls.int(calls.zero()) for _ in range(3)]
    if kind == "quantized_add":
        args = [a, zeros[0], *rescales[0], b, zeros[1], *rescales[1], zeros[2], *rescales[2]]
        args += [calls.int(-128), calls.int(127)]
    elif kind == "quantized_mul":
        args = [a, zeros[0], b, zeros[1], zeros[2], *rescales[2]]
    elif kind == "quantized_activation":
        args = [a, calls.constant(list(range(-128, 128)), CHAR)]
    else:
        args = [a, b]
    calls.call(f"cortex_m::{kind}.out", [*args, out, out])


def scaled(calls: Calls, kind: str) -> None:
    shape, order = [calls.rng.randint(1, 5) for _ in range(4)], calls.order()
    exponent = calls.rng.choice((-70, -64, -63, 63, 64, 65, 70, 200)) if calls.chance(30) else -3
    scale = calls.rng.choice((1.0, 1.5, 1.999999999, -1.5 if calls.chance(10) else 1.25))
    args = [calls.tensor(shape, FLOAT if kind == "quantize" else CHAR, order, 0)]
    args += [calls.add(build.double(scale * 2.0**exponent)), calls.int(calls.zero())]
    args += [calls.int(-128), calls.int(127), calls.int(CHAR)]
    out = calls.tensor(shape, CHAR if kind == "quantize" else FLOAT, order, 2)
    calls.call(f"cortex_m::{kind}_per_tensor.out", [*args, out, out])


def softmax(calls: Calls) -> None:
    shape = [calls.rng.randint(1, 5) for _ in range(3)]
    shift = calls.rng.choice((57 - 31, 57 - 72, 57 - 71, 57 - 8, 57 - 7, 22))
    args = [calls.tensor(shape, CHAR, range(3), 0), calls.int(calls.rng.randint(-3, 2))]
    args += [calls.int(calls.zero()), calls.int(-128), calls.int(abs(calls.multiplier()))]
    args += [calls.int(shift), calls.int(0)]
    out = calls.tensor(shape, CHAR, range(3), 2)
    calls.call("cortex_m::softmax.out", [*args, out, out])


def transpose(calls: Calls) -> None:
    shape = [calls.rng.randint(1, 3) for _ in range(4)]
    perm = calls.rng.sample(range(4), 4)
    dtype = calls.rng.choice((CHAR, CHAR, FLOAT, 4, 5))
    source = calls.tensor(shape, dtype, calls.order(), 0)
    out = calls.tensor([shape[d] for d in perm], dtype, calls.order(), 2)
    calls.call("cortex_m::transpose.out", [source, calls.ints(perm), out, out])


def pad(calls: Calls) -> None:
    shape, order = [calls.rng.randint(1, 3) for _ in range(4)], calls.order()
    pads = [[calls.rng.choice((0, 0, 1, 2, -1)) for _ in range(4)] for _ in range(2)]
    last = shape[1] == 1 or shape[2:] == [1, 1] or order is LAST
    result = []
    for dim in range(4):
        at = (0, 3, 1, 2)[dim] if last else dim
        pads[0][at] = max(pads[0][at], -shape[dim] - pads[1][at])  # no size below 0
        result.append(shape[dim] + pads[0][at] + pads[1][at])
    source = calls.tensor(shape, CHAR, order, 0)
    out = calls.tensor(result, CHAR, order, 2)
    args = [source, calls.ints(pads[0]), calls.ints(pads[1]), calls.int(calls.zero())]
    calls.call("cortex_m::pad.out", [*args, out, out])


KINDS: list[Callable[[Calls], None]] = [
    *(
        lambda calls, kind=kind, nhwc=nhwc: convolution(calls, kind, nhwc)
        for kind in ("conv2d", "depthwise_conv2d", "transpose_conv2d")
        for nhwc in (False, True)
    ),
    linear,
    batch_matmul,
    *(
        lambda calls, kind=kind, nhwc=nhwc: pool(calls, kind, nhwc)
        for kind in ("avg", "max")
        for nhwc in (False, True)
    ),
    *(
        lambda calls, kind=kind: binary(calls, kind)
        for kind in ("quantized_add", "quantized_mul", "quantized_activation", "minimum", "maximum")
    ),
    lambda calls: scaled(calls, "quantize"),
    lambda calls: scaled(calls, "dequantize"),
    softmax,
    transpose,
    pad,
]


@pytest.mark.slow
def test_paths_are_those_of_the_kernels(tmp_path: Path) -> None:
    if reason := missing_tools("host"):
        pytest.skip(reason)
    models = [MODELS / f"cortexm_{name}.pte" for name in ("add", "dscnn", "mlp")]
    models.append(TREE / "examples" / "digits" / "digits_int8.pte")
    for number, kind in enumerate(KINDS):
        drawn = Calls(number)
        for _ in range(CALLS):
            kind(drawn)
        models.append(tmp_path / f"random_{number}.pte")
        models[-1].write_bytes(drawn.bytes())
    expected = told(models)
    got = taken(library(tmp_path, models[:4]), models)
    for path, ways, reported in zip(models, expected, got, strict=True):
        for way, size in ways:
            real, bytes_taken = reported[way.position[1]]
            assert way.path == real, (path.name, way)
            # The portable code takes none: there the plan is an upper bound.
            assert bytes_taken == (0 if real == "portable" else size), (path.name, way)
    # Every operator takes its fast ways and is handed back too.
    seen = Counter(
        (way.operator, way.path == "portable") for ways in expected[4:] for way, _ in ways
    )
    assert {operator for operator, _ in seen} == set(operators())
    for operator in operators():
        assert seen[operator, True] > 0 and seen[operator, False] > CALLS / 10, operator
