"""Small files of run folders as they are read: what is looked at several times is parsed once.

What a file said is never believed without its bytes. :class:`ParsedFiles` reads them each time, and keeps what it made of them for as long as their digest
is the same: a file that was written again, however, is parsed again. A :class:`Look` reads each file once, so that one judgement rests on one content of it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Files", "Look", "ParsedFiles"]

T = TypeVar("T")


class Files(Protocol):
    """A way to read files."""

    def read(self, path: Path, parse: Callable[[bytes, Path], T]) -> T:
        """Return what ``parse`` makes of a file's content. Raises OSError, and whatever ``parse`` raises."""
        ...


class ParsedFiles:
    """Contents by path and by what parses them. Values must not be changed by whoever gets them."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, Any], tuple[bytes, Any]] = {}

    def read(self, path: Path, parse: Callable[[bytes, Path], T]) -> T:
        """Read a file, and parse it unless its bytes are those that were parsed last."""
        content = path.read_bytes()
        digest = sha256(content).digest()
        before = self._known.get((path, parse))
        if before is not None and before[0] == digest:
            known: T = before[1]
            return known
        value = parse(content, path)
        self._known[path, parse] = digest, value
        return value


class Look:
    """One look at several runs: each file is read once. What cannot be read, or parsed, is tried again."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._seen: dict[tuple[Path, Any], Any] = {}

    def read(self, path: Path, parse: Callable[[bytes, Path], T]) -> T:
        """Return what a file said when this look first read it."""
        if (path, parse) not in self._seen:
            self._seen[path, parse] = self._files.read(path, parse)
        known: T = self._seen[path, parse]
        return known
