"""Compiled templates, kept the way Python keeps its own: in `__pycache__` beside the source.

Compiling the templates would take longer than everything else this package does. The cache follows
PYTHONDONTWRITEBYTECODE and PYTHONPYCACHEPREFIX, and a folder that cannot be written is no error.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache


class TemplateCache(BytecodeCache):
    """Jinja's bytecode cache for templates that are files in `folder`.

    Jinja itself compares a checksum of the source, its own version and Python's with what is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, bucket: Bucket) -> Path:
        # The key is a digest of name and path: an overriding template has a file of its own.
        source = str(self.folder / f"{bucket.key}.py")
        return Path(importlib.util.cache_from_source(source))

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill `bucket` from its file, if there is one."""
        with contextlib.suppress(OSError), self._path(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of `bucket`, if files can be written here."""
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("wb") as file:
                bucket.write_bytecode(file)
            new.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
