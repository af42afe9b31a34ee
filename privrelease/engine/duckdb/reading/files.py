"""The files that a source names: existing, inside the allowed folders, in a fixed order."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.engine.duckdb.errors import source_refusal

if TYPE_CHECKING:
    from privrelease.engine.duckdb.connection import Connection
    from privrelease.relational.schema import TableSource

__all__ = ["SourceFile", "files_of"]


class SourceFile:
    """One file of a source: ``path`` to read, ``label`` for messages."""

    __slots__ = ("label", "path")

    def __init__(self, path: Path, label: str) -> None:
        self.path = path
        self.label = label


def files_of(connection: Connection, source: TableSource, *, many: bool) -> tuple[SourceFile, ...]:
    """Return the files of a source, sorted by name; a glob only where ``many``.

    Raises InputError: D101 no such file, D102 outside the folders that may be read.
    """
    exact = Path(source.path)
    pattern = many and not exact.exists() and any(sign in source.path for sign in "*?[")
    paths = sorted(Path(found) for found in glob.glob(source.path, recursive=True)) if pattern else [exact]  # noqa: PTH207 - the pattern is absolute
    paths = [path for path in paths if path.is_file()]
    if not paths:
        message = f"no file matches {source.label}" if pattern else f"the file {source.label} does not exist"
        raise source_refusal(source, "D101", message, "check the path in `source`; it is relative to the policy")
    if any(not connection.readable(path) for path in paths):
        message = f"{source.label} leads outside the folders that may be read"
        raise source_refusal(source, "D102", message, "keep the data below the policy's folder or the data root")
    parent = Path(source.label).parent
    return tuple(
        SourceFile(
            path.resolve() if path.suffix == path.resolve().suffix else path,
            str(parent / path.name) if pattern else source.label,
        )
        for path in paths
    )
