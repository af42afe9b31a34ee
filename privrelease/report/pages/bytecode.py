"""Compiled templates, kept where Python keeps compiled modules.

Compiling the templates of one page takes a quarter of a CPU second, which every run would pay. Their code lies in ``__pycache__`` next to the
template, under the same rules as that of a module: written where the package may be written and Python is not told otherwise
(``PYTHONDONTWRITEBYTECODE``), moved by ``PYTHONPYCACHEPREFIX``, used only for the very text it was compiled from.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from jinja2.bccache import BytecodeCache

if TYPE_CHECKING:
    from jinja2.bccache import Bucket

__all__ = ["TemplateCode"]


class TemplateCode(BytecodeCache):
    """Bytecode of templates next to their sources. ``options``: what else than a template's text its code depends on, in words."""

    def __init__(self, options: str) -> None:
        self._options = f"{jinja2.__version__} {options}"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the path of a template's code; empty where it is no file of its own, or Python keeps no code at all."""
        del name
        if filename is None:
            return ""
        try:
            return cache_from_source(filename)
        except NotImplementedError:  # this Python names no cache
            return ""

    def get_source_checksum(self, source: str) -> str:
        """Return a digest of the text and of what compiles it."""
        return super().get_source_checksum(f"{self._options}\n{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take a template's code where it is there and of this text; a file that cannot be read counts as absent."""
        if not bucket.key:
            return
        try:
            with Path(bucket.key).open("rb") as file:
                bucket.load_bytecode(file)
        except Exception:  # noqa: BLE001 -- a damaged file of code is compiled again, as a module's would be
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code, completely or not at all; where that is not possible the next run compiles again."""
        if not bucket.key or sys.dont_write_bytecode:
            return
        target = Path(bucket.key)
        part = target.with_name(f"{target.name}.{os.getpid()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                bucket.write_bytecode(file)
            part.replace(target)
        except OSError:
            with suppress(OSError):
                part.unlink()
