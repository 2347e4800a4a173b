"""CPU time and memory of a whole run of gen-kernels, against the libraries that it imports.

    python benchmarks/codegen.py [--runs N] [--check]

The yardstick is `python -c "import jinja2, yaml"`, measured in the same rounds. With --check the
exit status is 1 when a goal is missed: one model at most 1.5 times, all 209 portable operators 3
times, 40 MiB. Run it in an environment where the package is installed, not editable: the finder of
an editable install costs every start 10 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
OFFICIAL = json.loads((TREE / "tests" / "data" / "official_signatures.json").read_text())
MODEL = TREE / "tests" / "models" / "lenet.pte"
MEMORY_GOAL = 40.0  # MiB

# Runs a command in a child and prints its CPU seconds and peak memory in KiB.
CHILD = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, done.returncode)
"""


def measure(command: list[str], cache: str) -> tuple[float, float]:
    """Return CPU milliseconds and peak MiB of one run."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = cache
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *command],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    seconds, kibibytes, status = done.stdout.split()
    if status != "0":
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return float(seconds) * 1000, int(kibibytes) / 1024


def main() -> int:
    """Measure and print; the exit status is 1 when --check is given and a goal missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15, help="rounds (default: 15)")
    parser.add_argument("--check", action="store_true", help="fail when a goal is missed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        listed = folder / "operators.txt"
        portable = [name for name, what in OFFICIAL.items() if what["catalogue"] == "portable"]
        listed.write_text("\n".join(portable) + "\n")
        script = Path(sys.executable).with_name("gen-kernels")
        tool = [sys.executable, str(script), "--quiet", "--out"]
        cases: dict[str, tuple[list[str], float]] = {
            "import jinja2, yaml": ([sys.executable, "-c", "import jinja2, yaml"], 1.0),
            "one model": ([*tool, str(folder / "one"), "--model", str(MODEL)], 1.5),
            "209 operators": ([*tool, str(folder / "all"), "--ops-file", str(listed)], 3.0),
        }
        cache = str(folder / "cache")
        for command, _ in cases.values():
            measure(command, cache)
        rounds = [
            {name: measure(command, cache) for name, (command, _) in cases.items()}
            for _ in range(arguments.runs)
        ]
    median = {n: statistics.median(r[n][0] for r in rounds) for n in cases}
    peak = {n: max(r[n][1] for r in rounds) for n in cases}
    base = median["import jinja2, yaml"]
    missed = False
    print("                      CPU ms   times   goal   peak MiB")
    for name, (_, goal) in cases.items():
        times = median[name] / base
        missed |= times > goal or peak[name] > MEMORY_GOAL
        print(f"{name:20} {median[name]:7.1f} {times:7.2f} {goal:6.1f} {peak[name]:10.1f}")
    return int(missed and arguments.check)


if __name__ == "__main__":
    sys.exit(main())
