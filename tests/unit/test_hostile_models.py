"""Damaged models: a diagnostic or a program, never an exception, a hang or a flood of memory.

Bounded; benchmarks/fuzz runs the same check for millions of executions.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.check_model import check_model
from tests.support.mutate import mutate

MODELS = Path(__file__).parent.parent / "models"
FILES = sorted(
    path for path in MODELS.iterdir() if path.suffix in (".pte", ".bpte", ".ptd") and path.is_file()
)
LIMIT_SECONDS = 2.0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_mutations(path: Path) -> None:
    rng = random.Random(path.name)
    data = path.read_bytes()
    other = rng.choice(FILES).read_bytes()
    for number in range(40):
        changed = mutate(data, rng, other)
        started = time.process_time()
        check_model(changed)
        assert time.process_time() - started < LIMIT_SECONDS, f"mutation {number}"


@pytest.mark.parametrize("name", ["add.pte", "multi_method.pte", "lenet.pte"])
def test_every_truncation(name: str) -> None:
    data = (MODELS / name).read_bytes()
    step = max(1, len(data) // 400)
    for end in range(0, len(data), step):
        assert not check_model(data[:end]), f"cut at {end} passes for whole"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["add.pte", "cat_index.pte"])
def test_every_byte_made_an_edge_value(name: str) -> None:
    data = (MODELS / name).read_bytes()
    for position in range(8, len(data)):
        for value in (0x00, 0x7F, 0xFF):
            check_model(data[:position] + bytes([value]) + data[position + 1 :])


@pytest.mark.slow
def test_memory_stays_small() -> None:
    """Mutations in a process of its own: at most 100 MiB."""
    code = (
        "import random, re\n"
        "from pathlib import Path\n"
        "from tests.support.check_model import check_model\n"
        "from tests.support.mutate import mutate\n"
        "rng = random.Random(7)\n"
        f"files = sorted(Path({str(MODELS)!r}).glob('*.pte'))\n"
        "for number in range(400):\n"
        "    check_model(mutate(rng.choice(files).read_bytes(), rng))\n"
        # Not ru_maxrss: that one starts at what the parent had when it forked.
        "status = Path('/proc/self/status').read_text()\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', status)[1])\n"
    )
    tree = Path(__file__).parent.parent.parent
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, check=True, capture_output=True, text=True
    )
    assert 5 << 20 < int(result.stdout) * 1024 < 100 << 20
