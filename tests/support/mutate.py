"""Damages files the way that finds faults: structure-aware and blind mutations of real ones."""

from __future__ import annotations

import random
import struct

EDGES = (0, 1, 3, 4, 7, 8, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF)


def mutate(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """One to four changes of `data`: cuts, edge values, offsets that move, parts of `other`."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if len(changed) < 8:
            break
        rng.choice(_CHANGES)(changed, rng, other)
    return bytes(changed)


def _place(data: bytearray, rng: random.Random, size: int) -> int:
    """A position, more often in the front, where the program is."""
    end = len(data) - size
    if rng.random() < 0.7:
        end = min(end, 8192)
    return rng.randrange(max(end, 0) + 1)


def _flip(data: bytearray, rng: random.Random, _: bytes) -> None:
    data[_place(data, rng, 1)] ^= 1 << rng.randrange(8)


def _byte(data: bytearray, rng: random.Random, _: bytes) -> None:
    data[_place(data, rng, 1)] = rng.randrange(256)


def _edge(data: bytearray, rng: random.Random, _: bytes) -> None:
    struct.pack_into("<I", data, _place(data, rng, 4) & ~3, rng.choice(EDGES))


def _shift(data: bytearray, rng: random.Random, _: bytes) -> None:
    """An offset or a length that is a little off."""
    position = _place(data, rng, 4) & ~3
    (value,) = struct.unpack_from("<I", data, position)
    moved = (value + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8, 1 << 16))) & 0xFFFFFFFF
    struct.pack_into("<I", data, position, moved)


def _point(data: bytearray, rng: random.Random, _: bytes) -> None:
    """An offset that points somewhere else in the file: what it finds there is well formed."""
    position = _place(data, rng, 4) & ~3
    struct.pack_into("<I", data, position, rng.randrange(max(len(data) - position, 1)))


def _copy(data: bytearray, rng: random.Random, other: bytes) -> None:
    source = other or bytes(data)
    size = min(rng.choice((4, 8, 64, 512)), len(source), len(data))
    start = rng.randrange(len(source) - size + 1)
    place = _place(data, rng, size)
    data[place : place + size] = source[start : start + size]


def _cut(data: bytearray, rng: random.Random, _: bytes) -> None:
    del data[rng.randrange(len(data)) :]


def _remove(data: bytearray, rng: random.Random, _: bytes) -> None:
    place = _place(data, rng, 4)
    del data[place : place + rng.choice((1, 4, 16))]


def _insert(data: bytearray, rng: random.Random, _: bytes) -> None:
    place = _place(data, rng, 1)
    data[place:place] = rng.randbytes(rng.choice((1, 4, 16)))


_CHANGES = (
    _flip,
    _byte,
    _edge,
    _edge,
    _shift,
    _shift,
    _point,
    _point,
    _copy,
    _cut,
    _remove,
    _insert,
)
