"""What an attestation is about: the released files, their manifest and the recipients' report; and how files compare with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.release.runs import RunFolder

__all__ = ["Compared", "companion_subjects", "compared", "run_of"]


def run_of(audit: Path) -> RunFolder | None:
    """Return the run whose audit it is, by its folder or its ``audit.json``; None where the audit belongs to no run that is here."""
    from privrelease.release.runs import RunFolder

    path = audit.resolve()
    home = path if path.is_dir() else path.parent.parent
    inside = path.is_dir() or (path.parent.name == "internal" and path.name == "audit.json")
    return RunFolder(home) if inside and (home / "internal" / "state.json").is_file() else None


def companion_subjects(run: RunFolder | None, audit: AuditResult) -> tuple[tuple[str, str], ...]:
    """Return name and SHA-256 of the manifest and of the recipients' report, where the run has them; named as beside the first output."""
    from privrelease.release.digests import sha256_of
    from privrelease.release.files import os_errors

    if run is None or not audit.identity.outputs:
        return ()
    beside = PurePosixPath(audit.identity.outputs[0].label)
    with os_errors("reading the manifest and the recipients' report"):
        files = [path for path in (run.manifest_path, run.recipient_report) if path.is_file()]
        return tuple((str(beside.with_name(path.name)), sha256_of(path)) for path in files)


@dataclass(frozen=True, slots=True)
class Compared:
    """A file, or an attested name for which no file was given, compared with an attestation."""

    name: str
    state: Literal["same", "differs", "not attested", "not given"]

    @property
    def wrong(self) -> bool:
        """Whether the attestation does not hold for it."""
        return self.state in {"differs", "not attested"}

    def __str__(self) -> str:
        words = {
            "same": "is what was attested",
            "differs": "differs from what was attested",
            "not attested": "is not among what was attested",
            "not given": "was not given, and not compared",
        }
        return f"{self.name} {words[self.state]}"


def compared(attested: Mapping[str, str], files: Sequence[Path]) -> tuple[Compared, ...]:
    """Compare files with what was attested (SHA-256 by name). A file that has an attested name must be that one; another name may hold any.

    >>> [str(one) for one in compared({"out/r.csv": "00"}, ())]
    ['out/r.csv was not given, and not compared']
    """
    from privrelease.release.digests import sha256_of

    found: list[Compared] = []
    seen: set[str] = set()
    for file in files:
        digest = sha256_of(file)
        named = [name for name in attested if PurePosixPath(name).name == file.name]
        equal = [name for name, sha256 in attested.items() if sha256 == digest and (not named or name in named)]
        seen.update(equal or named)
        found.append(Compared(str(file), "same" if equal else "differs" if named else "not attested"))
    return (*found, *(Compared(name, "not given") for name in attested if name not in seen))
