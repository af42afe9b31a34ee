"""The files of a source, digested under a secret key before they are read, and seen to be the same afterwards."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.errors import InputError
from privrelease.release.digests import keyed_digest
from privrelease.release.files import os_errors
from privrelease.release.manifest import InputDigest
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.relational.schema import ListFile, TableSource
    from privrelease.release.digests import DigestKey

__all__ = ["InputFiles", "digest_inputs"]


@dataclass(frozen=True, slots=True)
class InputFiles:
    """Digests of every input file, and what identified each file's state when it was digested."""

    digests: tuple[InputDigest, ...]
    states: tuple[tuple[Path, tuple[int, ...]], ...]

    def check_unchanged(self) -> None:
        """Raise InputError (D620) where a file is another, or was written to, since it was digested."""
        for path, state in self.states:
            if not path.exists() or _state(path) != state:
                raise InputError(
                    code="D620",
                    message=f"{path.name} changed while it was read",
                    hint="let whoever writes it finish, then run again",
                )


def digest_inputs(sources: Sequence[TableSource], key: DigestKey, lists: Sequence[ListFile] = ()) -> InputFiles:
    """Digest the files of ``sources``, and those of ``lists`` that a policy leads to. A source without a file gives nothing here: reading it is
    what fails, and says why.
    """
    digests = []
    states = []
    with os_errors("reading a source"):
        named = [(source.label, _files(source)) for source in sources]
        named += [(one.label, [one.path]) for one in lists if one.path.is_file()]
        for label, paths in named:
            for path in paths:
                states.append((path, _state(path)))
                digests.append(
                    InputDigest(
                        label=label,
                        file=path.name,
                        bytes=path.stat().st_size,
                        hmac_sha256=keyed_digest(path, key),
                        key_id=key.id,
                    )
                )
    return InputFiles(tuple(digests), tuple(states))


def _files(source: TableSource) -> list[Path]:
    exact = Path(source.path)
    found = [exact] if exact.exists() else [Path(path) for path in glob.glob(source.path, recursive=True)]  # noqa: PTH207 -- absolute pattern
    return sorted(path for path in found if path.is_file())


def _state(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
