r"""A run: its folder, its name, and the record of what became of it.

A run works in a folder of its own and is recorded in ``internal/state.json``::

    running -> parked -> publishing -> published -> superseded | withdrawn
       |         |  \-> quarantined
       |         \-> abandoned (killed before a decision)
       \-> failed | abandoned (killed)

``publishing`` lasts for the moment of publication only: found at rest, it is settled by where the ``current`` link points.
"""

import fcntl
import json
import os
import re
import shutil
import unicodedata
from contextlib import suppress
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError

from privrelease.documents import Document
from privrelease.errors import InputError, PrivreleaseError
from privrelease.release.digests import sha256_of
from privrelease.release.files import canonical_json, os_errors, write_atomically
from privrelease.release.manifest import FileName, InternalManifest, InternalPart, Manifest, Moment, Sha256, parsed_part
from privrelease.release.run_files import ParsedFiles
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from privrelease.release.run_files import Files

__all__ = [
    "Decided",
    "Logged",
    "OutputLink",
    "ReleaseName",
    "Replaced",
    "RunFolder",
    "RunRecord",
    "RunState",
    "Transition",
    "copied_run",
]

T = TypeVar("T")

_KEPT_OF_INTERNAL = frozenset({"state.json", "lock"})

_PART = re.compile(r"[^\W_][\w.-]*\Z")
_LONGEST_PART = 100


def _checked(what: str, part: str) -> str:
    if not _PART.match(part) or len(part.encode()) > _LONGEST_PART or unicodedata.normalize("NFC", part) != part:
        raise InputError(
            code="R110",
            message=f"the {what} cannot name a folder",
            hint=f"use letters, digits, '-', '_' and '.', beginning with a letter or digit, at most {_LONGEST_PART} bytes",
        )
    return part


@dataclass(frozen=True, slots=True)
class ReleaseName:
    """Name of one stream of releases: policy, environment where there is one, release. Each publication supersedes the last.

    Raises InputError (R110) where a part cannot name a folder.

    >>> ReleaseName("registry", "microdata", "ci").key
    'registry@ci/microdata'
    """

    policy: str
    release: str
    environment: str | None = None

    def __post_init__(self) -> None:
        _checked("policy's id", self.policy)
        _checked("release's id", self.release)
        if self.environment is not None:
            _checked("environment's name", self.environment)

    @property
    def key(self) -> str:
        """The relative path of the ``current`` link of this stream."""
        where = self.policy if self.environment is None else f"{self.policy}@{self.environment}"
        return f"{where}/{self.release}"


class RunState(StrEnum):
    """State of a run; see the module."""

    RUNNING = "running"
    PARKED = "parked"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"
    WITHDRAWN = "withdrawn"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Transition(Document):
    """A state, when it began, why."""

    state: RunState
    at: Moment
    reason: str = ""


class OutputLink(Document):
    """A path of the policy and the file in ``outgoing`` that it shows once published."""

    link: str
    """The link's path, relative to the state folder, so that a moved project stays whole."""
    file: FileName
    companion: bool = False
    """Manifest or report next to the data; shown where it exists."""


class Decided(Document):
    """The decision about a parked release, bound to the digest of the manifest that was audited."""

    outcome: Literal["pass", "warn", "review", "fail"]
    manifest_sha256: Sha256
    audit_sha256: Sha256 | None = Field(default=None, exclude_if=lambda digest: digest is None)
    """Of ``audit.json`` as it was then."""
    beside: dict[FileName, str] | None = Field(default=None, exclude_if=lambda files: files is None)
    """Of every file of ``outgoing`` but the data and the manifest: the recipients' report, where there is one. None: not recorded."""
    pages: tuple[Sha256, ...] = Field(default=(), exclude_if=lambda digests: not digests)
    """Of the internal report, by which people decide. Two while a sign-off is written into it: that before and that after. Empty: not recorded."""


class Replaced(Document):
    """A file that somebody else had put at an output path, and where its bytes are kept."""

    link: str
    """The output path, relative to the state folder."""
    kept: str
    """The file under ``replaced``, relative to the state folder."""


class Logged(Document):
    """The line of the log of publications that announced a run's publication."""

    log: str
    """The place of the log, relative to the state folder; `ledger` and its place where the ledger keeps it."""
    line: Sha256
    """SHA-256 of the line."""


class RunRecord(Document):
    """``internal/state.json``."""

    format: Literal["privrelease/run"] = "privrelease/run"
    version: Literal[1] = 1
    run: str
    policy: str
    environment: str | None
    release: str
    links: tuple[OutputLink, ...]
    history: Annotated[tuple[Transition, ...], Field(min_length=1)]
    decided: Decided | None = None
    replaced: tuple[Replaced, ...] = Field(default=(), exclude_if=lambda files: not files)
    removed: tuple[str, ...] = Field(default=(), exclude_if=lambda places: not places)
    """Output paths that the run before it had and this one has not: its publication took them away. Relative to the state folder."""
    file: str | None = Field(default=None, exclude_if=lambda place: place is None)
    """The policy's file, relative to the state folder. None: not recorded."""
    logged: Logged | None = Field(default=None, exclude_if=lambda line: line is None)
    """Set before the line is written. None: published by a version that kept no log, or never announced."""
    closed: bool = False
    """The process that ran it ended in order; False is found after a kill."""

    @property
    def state(self) -> RunState:
        """The state it is in."""
        return self.history[-1].state

    @property
    def name(self) -> ReleaseName:
        """The stream that this run belongs to."""
        return ReleaseName(self.policy, self.release, self.environment)

    def to(self, state: RunState, at: "datetime", reason: str = "") -> Self:
        """Return the record in the next state."""
        return self.model_copy(update={"history": (*self.history, Transition(state=state, at=at, reason=reason))})


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one run. ``outgoing`` may be published, ``internal`` never, ``temporary`` is removed when the run ends.

    ``files``: how its small files are read.
    """

    path: "Path"
    files: "Files" = field(default_factory=ParsedFiles, compare=False, repr=False)

    @property
    def id(self) -> str:
        """The run's id, which sorts by time."""
        return self.path.name

    @property
    def outgoing(self) -> "Path":
        """Data, recipient's manifest and report."""
        return self.path / "outgoing"

    @property
    def internal(self) -> "Path":
        """Audit, internal report, row map, record."""
        return self.path / "internal"

    @property
    def temporary(self) -> "Path":
        """Return the place where an engine spills to disk."""
        return self.internal / "tmp"

    @property
    def row_map(self) -> "Path":
        """Map of released rows to source rows."""
        return self.internal / "row_map.parquet"

    @property
    def audit(self) -> "Path":
        """The audit's result."""
        return self.internal / "audit.json"

    @property
    def report(self) -> "Path":
        """The internal edition of the report."""
        return self.internal / "report.html"

    @property
    def lock(self) -> "Path":
        """Held by the process that runs it."""
        return self.internal / "lock"

    @property
    def is_live(self) -> bool:
        """Return True if a process holds the run's lock."""
        try:
            handle = os.open(self.lock, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def record(self) -> RunRecord:
        """Read the record. Raises InputError (R123, R126) where there is none or it is not valid."""
        with os_errors("reading the state of a run"):
            try:
                return self.files.read(self.internal / "state.json", _record)
            except FileNotFoundError:
                raise InputError(
                    code="R123", message=f"{self.id} is not a run", hint="see `privrelease list` for the runs"
                ) from None

    def save(self, record: RunRecord) -> RunRecord:
        """Write the record and return it."""
        with os_errors("recording the state of a run"):
            write_atomically(self.internal / "state.json", canonical_json(record.model_dump(mode="json")))
        return record

    def output(self, file: str) -> "Path":
        """Return the path of a file of ``outgoing``."""
        return self.outgoing / file

    @property
    def data(self) -> "tuple[Path, ...]":
        """Return the places where the data files are to be written: one path per sink, in the policy's order."""
        return tuple(self.outgoing / link.file for link in self.record().links if not link.companion)

    def _companion(self, ending: str) -> "Path":
        return next(self.outgoing / link.file for link in self.record().links if link.companion and link.file.endswith(ending))

    @property
    def manifest_path(self) -> "Path":
        """The recipient's manifest."""
        return self._companion(".manifest.json")

    @property
    def recipient_report(self) -> "Path":
        """Return the place of the recipient's edition of the report, to be published with the data."""
        return self._companion(".report.html")

    def beside(self) -> dict[str, str]:
        """Digest what is in ``outgoing`` except the data and the manifest, as it is now; no plain file: an empty digest."""
        known = {self.manifest_path, *self.data}
        with os_errors("reading what is published next to the data"):
            return {
                path.name: sha256_of(path) if path.is_file() and not path.is_symlink() else ""
                for path in sorted(self.outgoing.iterdir())
                if path not in known
            }

    def manifest(self) -> Manifest:
        """Read the recipient's manifest."""
        return self._document(self.manifest_path, Manifest.parsed)

    def internal_manifest(self) -> InternalManifest:
        """Read the internal manifest."""
        return self._document(self.internal / "manifest.json", InternalManifest.parsed)

    def internal_part(self) -> InternalPart:
        """Read the internal manifest of a release of any kind."""
        return self._document(self.internal / "manifest.json", parsed_part)

    def _document(self, path: "Path", parse: "Callable[[bytes, Path], T]") -> T:
        with os_errors("reading the manifest"):
            return self.files.read(path, parse)

    def audited(self) -> dict[str, Any]:
        """Return the sections of the run's audit that other runs look at: ``data``, ``legal`` and ``threats``.

        Raises OSError, and ValueError or TypeError where it is no such document; a section that it lacks is not there.
        """
        return self.files.read(self.audit, _sections)

    def clear(self) -> None:
        """Remove what the run made: nothing unverified stays. Its record does, and its lock."""
        if self.outgoing.exists():
            shutil.rmtree(self.outgoing)
        for path in self.internal.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in _KEPT_OF_INTERNAL:
                path.unlink()


def _record(content: bytes, path: "Path") -> RunRecord:
    try:
        return RunRecord.model_validate_json(content)
    except ValidationError:
        raise InputError(
            code="R126",
            message=f"the record of run {path.parent.parent.name} cannot be read",
            hint="restore internal/state.json, or move the run away",
        ) from None


def _sections(content: bytes, path: "Path") -> dict[str, Any]:
    del path
    audit = json.loads(content.decode("utf-8"))
    return {name: audit[name] for name in ("data", "legal", "threats") if name in audit}


def copied_run(run_id: str, folders: "Sequence[RunFolder]") -> InputError:
    """Return the error of a run that was copied: no command can know which of the folders is meant."""
    found = []
    for folder in folders:
        with suppress(PrivreleaseError):
            found.append(f"{folder.path.parent.name} ({folder.record().state.value})")
    return InputError(
        code="R225",
        message=f"run {run_id} exists twice: in {' and in '.join(found) or 'runs and in quarantine'}",
        hint="move the copy out of the state folder; nothing is decided about a run that exists twice",
    )
