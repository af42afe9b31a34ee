"""The log of publications: one line for each, so that a run with a fresh state folder knows that something was published before.

A regular file of JSON lines, meant for version control and never for recipients; or the ledger's database, which keeps the same lines
(:mod:`privrelease.ledger.publications`). Each line holds the SHA-256 of the one before it, and its signature where a key is configured: a
signature covers every earlier line. A line is written before its release is shown: a crash in between leaves a line too many, which the
next command settles by another line, never one too few. What a cut at the end removes, the records of the runs show (``RunRecord.logged``).
"""

import base64
import fcntl
import hashlib
import json
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol

from pydantic import Field, ValidationError

from privrelease.documents import Document
from privrelease.errors import InputError
from privrelease.release.files import flush_folder, os_errors
from privrelease.release.manifest import Moment, Sha256
from privrelease.value_classes import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from privrelease.release.signing import SigningKey

__all__ = [
    "LOG_KEY",
    "Appending",
    "ChargedEntry",
    "FileLog",
    "LineSignature",
    "LoggedLine",
    "PublicationLine",
    "PublicationLog",
    "newest",
    "next_line",
    "require_signed",
    "verified_lines",
]

#: The environment variable that holds the PEM of the private key by which lines are signed.
LOG_KEY: Final = "PRIVRELEASE_LOG_KEY"

_RESTORE: Final = (
    "restore it from version control (after a merge: keep one side), or name a new file in `publications`: "
    "the runs of this state folder are then written to that one"
)


class LineSignature(Document):
    """An Ed25519 signature of a line without this signature. ``key``: id of the public key. ``value``: base64."""

    key: Sha256
    value: str


class ChargedEntry(Document):
    """The entry of a ledger that a release was charged in, and for whom: it exposes an older copy where the manifest is gone."""

    ledger: str
    sequence: Annotated[int, Field(ge=0)]
    hash: str
    population: str
    unit: str


class PublicationLine(Document):
    """One publication, or what became of it afterwards."""

    format: Literal["privrelease/publication"] = "privrelease/publication"
    version: Literal[1] = 1
    sequence: Annotated[int, Field(ge=0)]
    event: Literal["published", "stopped", "withdrawn"]
    """``stopped``: the publication that an earlier line announced did not take place. ``withdrawn``: it was taken back; its recipients have it."""
    at: Moment
    run: str
    policy: str
    environment: str | None
    release: str
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$")]
    population: str | None
    dataset: str
    files: tuple[Sha256, ...]
    """SHA-256 of the published data files."""
    columns: tuple[str, ...]
    inputs: tuple[Sha256, ...]
    """Keyed digest of the source's file: it confirms nothing to whoever lacks the key."""
    key: str | None
    """Fingerprint of the key of these digests; None where nothing was digested."""
    charged: ChargedEntry | None = Field(default=None, exclude_if=lambda entry: entry is None)
    previous: str
    """SHA-256 of the line before; empty for the first."""
    signature: LineSignature | None = Field(default=None, exclude_if=lambda signature: signature is None)


@dataclass(frozen=True, slots=True)
class LoggedLine:
    """A line as it is stored. ``hash``: SHA-256 of its text."""

    line: PublicationLine
    text: str
    hash: str


class Appending(Protocol):
    """The log while it is locked for writing."""

    @property
    def texts(self) -> "Sequence[str]":
        """Every line, those appended included."""
        ...

    def append(self, text: str) -> None:
        """Write one line durably, completely or not at all."""
        ...


class PublicationLog(Protocol):
    """The place where lines are kept."""

    @property
    def shown(self) -> str:
        """Return the name in messages."""
        ...

    @property
    def place(self) -> str:
        """Return the name in records: two logs differ in it."""
        ...

    def check(self) -> None:
        """Raise InputError (R190, R195) where a line could not be written."""
        ...

    def texts(self) -> tuple[str, ...]:
        """Return every line, without waiting for a writer."""
        ...

    def writing(self) -> "AbstractContextManager[Appending]":
        """Lock the log against other writers for the length of a block."""
        ...


# ------------------------------------------------------------------------------------------------------------------ lines and their chain


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(line: PublicationLine) -> str:
    return json.dumps(line.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def next_line(make: "Callable[[int, str], PublicationLine]", texts: "Sequence[str]", signer: "SigningKey | None") -> LoggedLine:
    """Return the line that follows ``texts``. ``make`` gets its number and the hash of the line before; it is signed where ``signer`` is."""
    line = make(len(texts), _hash(texts[-1]) if texts else "")
    if signer is not None:
        value = base64.b64encode(signer.sign(_text(line).encode())).decode()
        line = line.model_copy(update={"signature": LineSignature(key=signer.public.id, value=value)})
    text = _text(line)
    return LoggedLine(line, text, _hash(text))


def verified_lines(texts: "Sequence[str]", shown: str) -> tuple[LoggedLine, ...]:
    """Read the lines of a log and verify their chain. Raises InputError (R191) at the first that is not as it was written."""
    found: list[LoggedLine] = []
    before = ""
    for number, text in enumerate(texts):
        try:
            line = PublicationLine.model_validate_json(text)
        except ValidationError:
            raise _altered(shown, number, "cannot be read, or was written by a newer version") from None
        if _text(line) != text:
            raise _altered(shown, number, "is not as it was written")
        if line.sequence != number or line.previous != before:
            raise _altered(shown, number, "does not follow the one before it: a line was altered, removed or inserted")
        before = _hash(text)
        found.append(LoggedLine(line, text, before))
    return tuple(found)


def _altered(shown: str, number: int, why: str) -> InputError:
    return InputError(code="R191", message=f"line {number + 1} of the log of publications {shown} {why}", hint=_RESTORE)


def require_signed(lines: "Sequence[LoggedLine]", signer: "SigningKey | None", known: frozenset[str], shown: str) -> None:
    """Require that a key vouches for every line, where one is configured. ``known``: hashes of lines that this state folder wrote itself.

    Raises InputError: R193 a line after the last signed one that is not known here, or a signature that does not verify; R194 the log is
    signed and no key is configured.
    """
    if signer is None:
        if lines and lines[-1].line.signature is not None:
            raise InputError(
                code="R194",
                message=f"the lines of the log of publications {shown} are signed, and {LOG_KEY} is not set",
                hint=f"put the PEM of the signing key into {LOG_KEY}",
            )
        return
    covered = 0
    for number, one in enumerate(lines):
        signature = one.line.signature
        if signature is None or signature.key != signer.public.id:
            continue
        plain = _text(one.line.model_copy(update={"signature": None})).encode()
        if not _verifies(signer, signature.value, plain):
            raise InputError(
                code="R193", message=f"the signature of line {number + 1} of {shown} does not verify", hint=_RESTORE
            )
        covered = number + 1
    for number, one in enumerate(lines[covered:], start=covered + 1):
        if one.hash not in known:
            raise InputError(
                code="R193",
                message=f"line {number} of the log of publications {shown} is not signed with the key in {LOG_KEY}",
                hint="run once from the state folder that wrote it, with the key: its next signature covers all earlier lines",
            )


def _verifies(signer: "SigningKey", value: str, content: bytes) -> bool:
    try:
        return signer.public.verifies(base64.b64decode(value, validate=True), content)
    except ValueError:
        return False


def newest(lines: "Sequence[LoggedLine]") -> dict[str, PublicationLine]:
    """Return the newest line of each run, in the order of their first lines."""
    return {one.line.run: one.line for one in lines}


# -------------------------------------------------------------------------------------------------------------------------- in a file


@dataclass(frozen=True, slots=True)
class FileLog:
    """The log in a file next to a policy. ``shown``: the path as the policy writes it. ``place``: relative to the state folder."""

    path: "Path"
    shown: str
    place: str

    def check(self) -> None:
        """Raise InputError (R190, R195) where a line could not be written."""
        with os_errors("looking at the log of publications"):
            self._require_regular()
            there = self.path if os.path.lexists(self.path) else self.path.parent
            if there.exists() and os.access(there, os.W_OK) and (there.is_file() or os.access(there, os.X_OK)):
                return
        what, way = (
            ("cannot be written", "make its folder writable")
            if there.exists()
            else ("lies in a folder that does not exist", "make that folder")
        )
        raise InputError(
            code="R190",
            message=f"the log of publications {self.shown} {what}, and nothing is published without its line",
            hint=f"{way}, or name a file elsewhere below the policy's folder, or `ledger`, in `publications`",
        )

    def _require_regular(self) -> None:
        if os.path.lexists(self.path) and not stat.S_ISREG(self.path.lstat().st_mode):
            raise InputError(
                code="R195",
                message=f"the log of publications {self.shown} is not a regular file",
                hint="name another file in `publications`",
            )

    def texts(self) -> tuple[str, ...]:
        """Return every line; the beginning of one that a killed process wrote is none."""
        with os_errors("reading the log of publications"):
            self._require_regular()
            try:
                return _split(self.path.read_bytes(), self.shown)[0]
            except FileNotFoundError:
                return ()

    @contextmanager
    def writing(self) -> "Iterator[Appending]":
        """Lock the file; it is made where it is not there."""
        self.check()
        with os_errors("opening the log of publications"):
            handle = self._locked()
        try:
            yield _FileAppending(self, handle)
        finally:
            os.close(handle)

    def _locked(self) -> int:
        """Open and lock the file that has the name once the lock is held: version control may have put another one there meanwhile."""
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_APPEND, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), self.path.lstat()):
                        return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)


class _FileAppending:
    """A locked file."""

    def __init__(self, log: FileLog, handle: int) -> None:
        self._handle = handle
        self._folder = log.path.parent
        with os_errors("reading the log of publications"):
            content = os.pread(handle, os.fstat(handle).st_size, 0)
        texts, self._whole = _split(content, log.shown)
        self._open_ended = self._whole > 0 and content[self._whole - 1 : self._whole] != b"\n"
        self._texts = list(texts)

    @property
    def texts(self) -> "Sequence[str]":
        return self._texts

    def append(self, text: str) -> None:
        line = (b"\n" if self._open_ended else b"") + text.encode() + b"\n"
        with os_errors("writing the log of publications"):
            try:
                os.ftruncate(self._handle, self._whole)  # less what a killed process began to write
                written = 0
                while written < len(line):
                    written += os.write(self._handle, line[written:])
                os.fsync(self._handle)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(self._handle, self._whole)
                raise
            flush_folder(self._folder)
        self._whole += len(line)
        self._open_ended = False
        self._texts.append(text)


def _split(content: bytes, shown: str) -> tuple[tuple[str, ...], int]:
    """Return the lines of a file, and how many of its bytes they take up: a last one that is no whole JSON value was never finished."""
    whole = len(content)
    end = content.rfind(b"\n") + 1
    rest = content[end:].strip()
    if rest and not _is_json(rest):
        whole = end
    try:
        text = content[:whole].decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(code="R191", message=f"the log of publications {shown} is not UTF-8", hint=_RESTORE) from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return tuple(lines), whole


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True
