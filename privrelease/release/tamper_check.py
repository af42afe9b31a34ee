"""Check for parts of a parked release that are no longer as they were decided upon. No signature is read here; see
:mod:`privrelease.release.approvals`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from privrelease.errors import InputError
from privrelease.findings import Finding
from privrelease.release.digests import sha256_of
from privrelease.release.files import os_errors
from privrelease.release.runs import RunState
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from privrelease.release.manifest import Manifest
    from privrelease.release.publications import Layout
    from privrelease.release.runs import RunFolder, RunRecord

__all__ = ["alterations", "verified"]

#: Looks at a page and its record until they are called unlike: an approval changes the two one after the other.
_LOOKS = 3

_WITHDRAW: Final = "the release is published: restore the file from a copy, or withdraw the release and run it again"
_RUN_AGAIN: Final = "run the release again; this run is no longer published"
#: Remedies by state of a run; of all others nothing was published.
_REMEDIES: Final[Mapping[RunState, str]] = {
    RunState.PUBLISHING: _WITHDRAW,
    RunState.PUBLISHED: _WITHDRAW,
    RunState.SUPERSEDED: _RUN_AGAIN,
    RunState.WITHDRAWN: _RUN_AGAIN,
}


def alterations(run: RunFolder) -> tuple[Finding, ...]:
    """Compare what is parked with what was decided upon: a finding by name for each file that is not the same.

    R160 the manifest, R161 an output, R162 the audit, R168 an edition of the report.
    """
    record = run.record()
    hint = _REMEDIES.get(record.state, "run the release again; nothing was published")
    found = []
    try:
        manifest: Manifest | None = run.manifest()
    except InputError:
        manifest = None
    decided = record.decided
    if manifest is None or decided is None or manifest.digest() != decided.manifest_sha256 or manifest.run != run.id:
        found.append(_altered("R160", run.manifest_path.name, "altered_manifest", hint))
    for output in () if manifest is None else manifest.outputs:
        file = run.output(output.file)
        if file.is_symlink() or not file.is_file() or sha256_of(file) != output.sha256:
            found.append(_altered("R161", output.file, "altered_file", hint))
    audited = None if decided is None else decided.audit_sha256
    if audited is not None and (not run.audit.is_file() or sha256_of(run.audit) != audited):
        found.append(_altered("R162", run.audit.name, "altered_audit", hint))
    if decided is not None and decided.beside is not None and run.beside() != decided.beside:
        found.append(_altered("R168", run.recipient_report.name, "altered_recipient_report", hint))
    if decided is not None and decided.pages and not _shows_decided(run):
        found.append(_altered("R168", f"internal/{run.report.name}", "altered_report", hint))
    return tuple(found)


def _shows_decided(run: RunFolder) -> bool:
    """Return True if the internal report is one that is recorded. An approval in another process may change both meanwhile."""
    for _ in range(_LOOKS):
        decided = run.record().decided
        if decided is not None and run.report.is_file() and sha256_of(run.report) in decided.pages:
            return True
    return False


def _altered(code: str, name: str, what: str, hint: str) -> Finding:
    return Finding(code, say(what, name=name), hint=hint)


def verified(run: RunFolder, record: RunRecord, layout: Layout) -> tuple[tuple[Path, str], ...]:
    """Return (place, file) of everything that will be shown, after comparing it with the manifest that was decided upon.

    Raises InputError R120 where a file is not what was audited, R124 where the manifest does not know one, R128 where noise can be repeated.
    """
    manifest = run.manifest()
    assert record.decided is not None
    if manifest.digest() != record.decided.manifest_sha256 or manifest.run != run.id:
        raise _not_as_audited(run.manifest_path)
    audited = record.decided.audit_sha256
    if audited is not None and (not run.audit.is_file() or sha256_of(run.audit) != audited):
        raise _not_as_audited(run.audit)
    if manifest.privacy is not None and not manifest.privacy.private:
        raise InputError(
            code="R128",
            message="the noise of this release can be repeated: it is not private",
            hint="run it without --test-noise",
        )
    with os_errors("verifying the files of the release"):
        for output in manifest.outputs:
            file = run.output(output.file)
            if (
                file.is_symlink()
                or not file.is_file()
                or file.stat().st_size != output.bytes
                or sha256_of(file) != output.sha256
            ):
                raise _not_as_audited(file)
        present = {file.name for file in run.outgoing.iterdir()}
    listed = {output.file for output in manifest.outputs}
    shown = [link for link in record.links if link.file in present]
    if {link.file for link in record.links if not link.companion} != listed or present - {link.file for link in shown}:
        raise InputError(
            code="R124",
            message="outgoing holds a file that the manifest does not know",
            hint="remove it, or run the release again",
        )
    if run.beside() != (record.decided.beside or {}):
        raise _not_as_audited(run.recipient_report)
    return tuple((layout.place(link.link), link.file) for link in shown)


def _not_as_audited(file: Path) -> InputError:
    return InputError("R120", f"{file.name} is not what was audited", hint="run the release again; nothing was published")
