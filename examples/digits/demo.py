"""`make demo`: a real model becomes a library and classifies images on the simulated CV32E40P.

Generates and builds the library, links the firmware, runs it on the core's RTL, and shows each
image, the class, the right answer, cycles and instructions; at the end the flash and RAM it takes.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PIXELS = 64
SHADES = " .:-=+*#@"
SHOWN = 6


def run(title: str, command: list[str], **options: object) -> str:
    """Runs a command with its title and time on the terminal; stops the demo when it fails."""
    print(f"• {title}", flush=True)
    print(f"    $ {' '.join(command)}", flush=True)
    started = time.monotonic()
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != 0:
        print(done.stdout, end="")
        sys.exit(f"the command failed with exit status {done.returncode}")
    print(f"    {time.monotonic() - started:.1f} s", flush=True)
    return str(done.stdout)


def picture(pixels: bytes) -> list[str]:
    """An 8 x 8 image (values 0 to 16) as eight lines of text, two characters a pixel."""
    rows = [pixels[start : start + 8] for start in range(0, PIXELS, 8)]
    return ["".join(SHADES[p * (len(SHADES) - 1) // 16] * 2 for p in row) for row in rows]


def choose(labels: bytes, count: int) -> list[int]:
    """The first image of `count` different digits."""
    return [labels.index(digit) for digit in range(10)][:count]


def main() -> int:
    """Builds, runs and shows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="cv32e40p", choices=["cv32e40p", "host"])
    parser.add_argument("--on", default="rtl", choices=["rtl", "qemu"], help="for cv32e40p")
    parser.add_argument("--images", type=int, default=SHOWN, choices=range(1, 11), metavar="1-10")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "demo")
    args = parser.parse_args()

    build = args.build.resolve() / (args.target if args.target == "host" else args.on)
    build.mkdir(parents=True, exist_ok=True)
    images = (HERE / "images.bin").read_bytes()
    labels = (HERE / "labels.bin").read_bytes()
    chosen = choose(labels, args.images)
    selected = build / "images.bin"
    selected.write_bytes(b"".join(images[i * PIXELS : (i + 1) * PIXELS] for i in chosen))

    # QEMU has no CORE-V instructions.
    library = "rv32imc" if args.on == "qemu" and args.target != "host" else args.target
    # The tool of the environment that runs this script, whatever PATH says.
    scripts = sysconfig.get_path("scripts")
    environment = dict(os.environ, PATH=scripts + os.pathsep + os.environ["PATH"])
    make = [
        "make", "-s", "-C", str(HERE), f"TARGET={library}", f"BUILD={build}",
        f"IMAGES={selected}",
    ]  # fmt: skip
    print(run("generate, build libgen_kernels.a, link the firmware", make, env=environment), end="")

    elf = build / "digits.elf"
    if args.target == "host":
        command = [str(elf)]
    else:
        command = [sys.executable, str(ROOT / "platform/cv32e40p/run"), f"--{args.on}", str(elf)]
    output = run(f"classify {len(chosen)} images on the simulated core", command)

    wrong = 0
    for line in output.splitlines():
        found = re.fullmatch(r"image (\d+) class (\d+) cycles (\d+) instructions (\d+)", line)
        if found is None:
            continue
        index, answer, cycles, instructions = map(int, found.groups())
        truth = labels[chosen[index]]
        wrong += answer != truth
        pixels = images[chosen[index] * PIXELS : (chosen[index] + 1) * PIXELS]
        notes = [
            "",
            f"class {answer}",
            f"right answer {truth}  {'✓' if answer == truth else '✗'}",
            "",
            f"{cycles:12,} cycles",
            f"{instructions:12,} instructions",
        ]
        notes += [""] * (8 - len(notes))
        print(
            "\n".join(
                f"    |{row}|  {note}" for row, note in zip(picture(pixels), notes, strict=True)
            )
        )
        print()
    print(f"{len(chosen) - wrong} of {len(chosen)} right")
    if args.target != "host":
        sizes = [sys.executable, "-m", "gen_kernels.codegen.image_size", str(elf)]
        print(run("what the image takes", sizes), end="")
        given = build / "image.f32"
        pixels = images[chosen[0] * PIXELS : (chosen[0] + 1) * PIXELS]
        given.write_bytes(struct.pack(f"<{PIXELS}f", *(p / 16 for p in pixels)))
        profile = [sys.executable, "-m", "gen_kernels.codegen.profile", "--target", library]
        profile += ["--on", args.on, "--model", str(HERE / "digits_int8.pte")]
        profile += ["--inputs", str(given), "--out", str(build / "profile")]
        print(run("where the cycles of one image go", profile), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
