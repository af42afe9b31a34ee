"""Files that are there completely or not at all, and operating-system failures said in words.

Whoever reads a path sees the old bytes or the new ones: content is written next to its place, forced to disk and renamed.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

from privrelease.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["canonical_json", "flush", "flush_folder", "os_errors", "write_atomically"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CLOSED = frozenset({errno.EACCES, errno.EPERM})
_LONG = frozenset({errno.ENAMETOOLONG})
_SHAPE = frozenset({errno.ENOTDIR, errno.EISDIR, errno.ELOOP})


@contextmanager
def os_errors(doing: str) -> Iterator[None]:
    """Turn an :class:`OSError` of the block into an :class:`~privrelease.errors.InputError` (exit 3) that says what failed and what next.

    >>> with os_errors("writing the manifest"):
    ...     raise OSError(errno.ENOSPC, "No space left on device", "m.json")
    Traceback (most recent call last):
    ...
    privrelease.errors.InputError: R102 the disk is full while writing the manifest: m.json
    hint: free some space, or put the state folder and the output on a larger file system; nothing was published
    """
    try:
        yield
    except OSError as error:
        raise _spoken(error, doing) from error


def _spoken(error: OSError, doing: str) -> InputError:
    where = f": {error.filename}" if isinstance(error.filename, str | os.PathLike) else ""
    if error.errno in _FULL:
        return InputError(
            "R102",
            f"the disk is full while {doing}{where}",
            hint="free some space, or put the state folder and the output on a larger file system; nothing was published",
        )
    if error.errno in _CLOSED:
        return InputError(
            "R101",
            f"no permission while {doing}{where}",
            hint="check owner and mode of the folder, or name another state folder",
        )
    if error.errno == errno.EROFS:
        return InputError(
            "R216",
            f"the file system is read-only, found while {doing}{where}",
            hint="name another state folder (`--state`) or output path, or have the file system mounted for writing",
        )
    if error.errno in _LONG:
        return InputError(
            "R103", f"a path is too long while {doing}", hint="shorten the output path, the release id or the folder's path"
        )
    if error.errno in _SHAPE:
        return InputError(
            "R104", f"a file is where a folder must be, or the reverse, while {doing}{where}", hint="check the path"
        )
    reason = error.strerror or type(error).__name__
    return InputError(
        "R105", f"the operating system refused ({reason}) while {doing}{where}", hint="check the disk and the path"
    )


def canonical_json(value: object) -> bytes:
    r"""Return ``value`` as JSON whose bytes depend on the value alone: sorted keys, fixed spacing, UTF-8, one newline at the end.

    >>> canonical_json({"b": 1, "a": ["ä"]}).decode()
    '{\n  "a": [\n    "ä"\n  ],\n  "b": 1\n}\n'
    """
    return (json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def write_atomically(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Write ``content`` to ``path``: a reader, also after a crash, sees the old bytes or all of the new ones. Raises OSError."""
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush(path: Path) -> None:
    """Force a file's content to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_folder(path: Path) -> None:
    """Force a folder's entries to disk, so that a rename in it outlives a power cut."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
