"""What a firmware image takes of flash and RAM, by the sections of platform/cv32e40p/link.ld.

`python -m gen_kernels.codegen.image_size program.elf` prints a table. Source of the format: the
System V ABI's ELF-32 section headers.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SECTION_HEADERS = "<32xI10x3H"  # at byte 0: e_shoff, then e_shentsize, e_shnum, e_shstrndx
ALLOCATED = 2  # SHF_ALLOC


@dataclass(frozen=True)
class ImageSize:
    """Bytes of an image. `inputs` are embedded test inputs: in no total.

    `data` has its initial values in flash and its place in RAM; `pools` is memory that start-up
    does not clear (the runtime's pools); `bss` is cleared.
    """

    text: int
    rodata: int
    model: int
    inputs: int
    data: int
    bss: int
    pools: int
    stack: int

    @property
    def flash(self) -> int:
        """Code, constants, the model and initial values."""
        return self.text + self.rodata + self.model + self.data

    @property
    def ram(self) -> int:
        """Variables, pools and the stack."""
        return self.data + self.bss + self.pools + self.stack


def section_sizes(image: bytes) -> dict[str, int]:
    """Bytes of each allocated section of a 32-bit little-endian ELF; ValueError when it is none."""
    if image[:6] != b"\x7fELF\x01\x01":
        raise ValueError("not a 32-bit little-endian ELF file")
    try:
        offset, entry, count, names = struct.unpack_from(SECTION_HEADERS, image)
        headers = [struct.unpack_from("<6I", image, offset + i * entry) for i in range(count)]
        strings = headers[names][4]
        sizes: dict[str, int] = {}
        for name, _, flags, _, _, size in headers:
            if flags & ALLOCATED:
                end = image.index(b"\0", strings + name)
                sizes[image[strings + name : end].decode("ascii", "replace")] = size
    except (struct.error, IndexError, ValueError) as error:
        raise ValueError("damaged section headers") from error
    return sizes


def image_size(path: Path) -> ImageSize:
    """Reads the sizes of an image that was linked with link.ld."""
    sizes = section_sizes(path.read_bytes())

    def total(*names: str) -> int:
        return sum(sizes.get(name, 0) for name in names)

    return ImageSize(
        text=total(".text"),
        rodata=total(".rodata"),
        model=total(".model"),
        inputs=total(".inputs"),
        data=total(".data", ".tdata"),
        bss=total(".bss", ".tbss_space"),
        pools=total(".noinit"),
        stack=total(".stack"),
    )


def size_table(size: ImageSize) -> str:
    """The sizes as lines of text."""
    rows = [
        ("code", size.text, 0),
        ("constants", size.rodata, 0),
        ("model", size.model, 0),
        ("variables", size.data, size.data + size.bss),
        ("pools", 0, size.pools),
        ("stack", 0, size.stack),
        ("total", size.flash, size.ram),
    ]
    lines = [f"{'':10}{'flash':>12}{'RAM':>12}"]
    lines += [f"{name:10}{_number(flash):>12}{_number(ram):>12}" for name, flash, ram in rows]
    if size.inputs:
        lines.append(f"(and {size.inputs:,} bytes of embedded test inputs)")
    return "\n".join(lines)


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


def main(arguments: Sequence[str]) -> int:
    """Prints the table of one image."""
    if len(arguments) != 1:
        print("usage: python -m gen_kernels.codegen.image_size program.elf", file=sys.stderr)
        return 1
    try:
        print(size_table(image_size(Path(arguments[0]))))
    except (OSError, ValueError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
