"""Modules of many kinds, small, to be exported and compared with eager PyTorch.

Each entry gives a module, example inputs, and the names of dimensions that stay dynamic. They are
what users bring: layers of every kind, indexing, several dtypes, control flow, state.
"""

from __future__ import annotations

from collections.abc import Callable

from .entry import Entry
from .functions import FUNCTIONS
from .layers import LAYERS
from .programs import PROGRAMS

__all__ = ["ZOO", "Entry"]

ZOO: dict[str, Callable[[], Entry]] = {**LAYERS, **FUNCTIONS, **PROGRAMS}
