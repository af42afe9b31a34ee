"""The files of a release, opened: the digest of their bytes, their rows next to one another, or why they stay shut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privrelease.audit.microdata.evidence import FileEvidence
from privrelease.errors import PrivreleaseError
from privrelease.release.digests import sha256_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from privrelease.engine.protocol.audit import MeasuringEngine
    from privrelease.engine.protocol.base import ReleasedFile, Staged
    from privrelease.plan.model import MicrodataPlan
    from privrelease.relational.schema import Column, Sink

__all__ = ["compared", "digest_of", "held_in_memory", "opened", "planned_columns"]


def planned_columns(plan: MicrodataPlan) -> tuple[Column, ...]:
    """Give the columns that the plan releases, as the source declares them, with the types in which they are released."""
    return tuple(replace(plan.source.column(column.name), type=column.type) for column in plan.columns)


def digest_of(path: Path | None) -> str | None:
    """Return the SHA-256 of a file's bytes; None where there is no such file."""
    try:
        return None if path is None else sha256_of(path)
    except OSError:
        return None


def opened(engine: MeasuringEngine, sink: Sink, columns: Sequence[Column], *, marked: bool) -> FileEvidence:
    """Open a file of the release (``marked``: the declared marks of suppressed values are read as such), or say why it stays shut."""
    try:
        digest, size = sha256_of(sink.path), sink.path.stat().st_size
    except OSError:
        return FileEvidence(sink, None, 0, None, "missing")
    try:
        released = engine.open_release(sink, columns, marked=marked)
        return FileEvidence(sink, digest, size, released, leftovers=engine.leftovers(sink))
    except PrivreleaseError as error:
        return FileEvidence(sink, digest, size, None, _unreadable(error), why=_why(error))


def held_in_memory(
    engine: MeasuringEngine, files: tuple[FileEvidence, ...], source: Staged, recoded: Collection[str] = ()
) -> tuple[FileEvidence, ...]:
    """Hold the first readable file, of which most is asked, in memory; a file may prove unreadable only then."""
    for place, file in enumerate(files):
        if file.released is None:
            continue
        try:
            held = replace(file, released=engine.hold(file.released, source, recoded))
        except PrivreleaseError as error:
            refused = replace(file, released=None, refused=_unreadable(error), why=_why(error))
            return held_in_memory(engine, (*files[:place], refused, *files[place + 1 :]), source, recoded)
        return (*files[:place], held, *files[place + 1 :])
    return files


def compared(engine: MeasuringEngine, files: Sequence[FileEvidence], main: ReleasedFile | None) -> tuple[FileEvidence, ...]:
    """Compare every further readable file of the same columns with the main one, row by row."""
    done = []
    for file in files:
        other = file.released
        if main is None or other is None or other is main or other.columns != main.columns:
            done.append(file)
            continue
        names = [name for name, _ in main.columns]
        done.append(replace(file, differs=engine.unequal_rows(main, other, names)))
    return tuple(done)


def _unreadable(error: PrivreleaseError) -> str:
    """Give the code of a file's fault; want of memory is no fault of the file, and is raised."""
    if error.code == "D120":
        raise error
    return error.code


def _why(error: PrivreleaseError) -> str:
    """Give the first message of an error, with the line and column where it has them; no message of the engine has a cell."""
    where = "" if error.location is None or not error.location.line else f"line {error.location.line}: "
    return where + error.message.partition("\n")[0]
