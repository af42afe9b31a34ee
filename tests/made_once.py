"""States that several tests start from: commands make a folder for the first of them, and the others get a copy, state folder and ledger included.

What a command does is a function of the folder that it is called in, of its arguments and of the environment, but for the clock and for random names.
A copy is kept for as long as the process, under the digest of all these. A test that replaces a part of the product calls the command itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")
#: Variables that no test sets: pytest and the command line set them for themselves.
OWN = frozenset({"PYTEST_CURRENT_TEST", "OPENBLAS_THREAD_TIMEOUT", "PYDANTIC_DISABLE_PLUGINS", "GX_ANALYTICS_ENABLED"})


def contents(folder: Path) -> str:
    """Return the digest of every name, mode, link and byte below a folder."""
    found = hashlib.sha256()
    for home, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = os.path.join(home, name)  # noqa: PTH118  as os.walk has it
            found.update(f"{os.path.relpath(path, folder)}\0{os.lstat(path).st_mode}\0".encode())
            if os.path.islink(path):  # noqa: PTH114
                found.update(os.readlink(path).encode())  # noqa: PTH115
            elif os.path.isfile(path):  # noqa: PTH113
                with open(path, "rb") as file:  # noqa: PTH123
                    found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def emptied(folder: Path) -> None:
    """Remove everything in a folder, and keep the folder: a process may be in it."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


class MadeOnce:
    """Folders as commands left them, with what the commands said."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._said: dict[str, Any] = {}

    def __call__(self, folder: Path, question: object, make: Callable[[], T]) -> T:
        """Call ``make``, which changes ``folder``, or leave the folder as it did when the same was asked of the same folder."""
        environment = {name: value for name, value in os.environ.items() if name not in OWN}
        key = hashlib.sha256(f"{contents(folder)} {question!r} {sorted(environment.items())!r}".encode()).hexdigest()
        if key not in self._said:
            said = make()
            shutil.copytree(folder, self._home / key, symlinks=True)
            self._said[key] = said
        else:
            emptied(folder)
            shutil.copytree(self._home / key, folder, symlinks=True, dirs_exist_ok=True)
        return self._said[key]
