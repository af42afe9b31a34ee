"""Earlier releases of the same persons that were published from the same state folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from privrelease.audit.comparison.combine import named
from privrelease.audit.comparison.previous_release import (
    EarlierRelease,
    EarlierReleases,
    Recipients,
    UnreadableRelease,
    named_by_run,
)
from privrelease.errors import InputError, PrivreleaseError, UnseenReleaseError
from privrelease.pipeline.kinds import KINDS, Kind, kind_named, kind_of, kind_of_manifest
from privrelease.pipeline.previous.run_folders import inputs_of, of_same_persons, release_of_run
from privrelease.pipeline.publication_log import unknown_publications
from privrelease.release.run_files import Look
from privrelease.texts.sentences import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from privrelease.audit.document.model import AuditResult
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.release.runs import RunFolder, RunRecord
    from privrelease.release.store import ReleaseStore

__all__ = ["MOST_EARLIER", "published_before", "require_audited_together"]

#: Earlier releases of different content that a run looks at, the newest first.
MOST_EARLIER: Final = 24


def published_before(
    store: ReleaseStore, release: ReleasePlan, policy: Plan, run: str | None, *, kinds: Sequence[Kind[Any]] = KINDS
) -> EarlierReleases:
    """Return releases of the same persons that were published before, newest first.

    The same persons: of the population that both name; where either names none, of one dataset of one policy; and whatever was
    made of the same files under other names, statistics apart, which are the ledger's matter. Releases of the same content count once, but
    for statistics, each of which was paid for, and whoever got one of them has it; a withdrawn one counts, for its recipients have it.
    ``run``: the run that is audited, which is not earlier. What was published and cannot be looked at is named, never passed over.
    """
    return _published(store, release, policy, run, kinds, Look(store.files), files=True)


def require_audited_together(
    store: ReleaseStore,
    release: ReleasePlan,
    policy: Plan,
    run: RunFolder,
    audit: AuditResult,
    kinds: Sequence[Kind[Any]] = KINDS,
) -> None:
    """Raise UnseenReleaseError (R167) where an audit made now would look at a release that the run's audit did not look at.

    For the store's lock: another release may have been published since the audit. One of the same content is no other, unless the audit left
    it out because others got it, and somebody who gets this release has it now. Statistics are the ledger's matter, and where recipients hold
    no previous release none is combined. Files are not digested again.
    """
    kind = kind_of(release, kinds)
    if kind.accounted or not release.recipients_hold_previous:
        return
    facts = audit.earlier
    looked = () if facts is None else facts.releases
    seen = {one.run or one.release for one in looked}
    combined = {one.run or one.release for one in looked if one.looked != "not_held"}
    look = Look(store.files)
    out = _published(store, release, policy, run.id, kinds, look, files=False)
    others = [one for one in out.releases if one.held and not kind_named(one.kind, kinds).accounted and one.run not in combined]
    if others:
        known = _digests(store, run.id, look).union(*(_digests(store, one, look) for one in combined))
        others = [one for one in others if not one.digests & known]
    unlooked = (*out.unlooked, *out.unknown)
    names = [one.name for one in others] + [one.name for one in unlooked if (one.run or one.name) not in seen]
    if names:
        raise UnseenReleaseError(
            code="R167",
            message=f"the audit of release {release.id} (run {run.id}) was made without what is published of the same persons: {named(names)}",
            hint=f"two releases of the same persons may reveal more than each alone. Run the release again (`--release {release.id}`), so that both are "
            "audited together; where approvals are required, they are given to that new run",
        )


def _digests(store: ReleaseStore, run: str, look: Look) -> frozenset[str]:
    """Of the files that a run made; none where that cannot be read any more."""
    try:
        return frozenset(output.sha256 for output in store.folder(run, look).manifest().outputs)
    except (PrivreleaseError, OSError, ValueError, StopIteration):
        return frozenset()


def _published(
    store: ReleaseStore,
    release: ReleasePlan,
    policy: Plan,
    run: str | None,
    kinds: Sequence[Kind[Any]],
    look: Look,
    *,
    files: bool,
) -> EarlierReleases:
    """As said of :func:`published_before`. ``files``: see that each file is still the one that was published."""
    kind = kind_of(release, kinds)
    must = release.recipients_hold_previous and not kind.accounted
    try:
        records = [one for one in reversed(store.records(look)) if _was_published(one) and one.run != run]
    except (PrivreleaseError, OSError) as error:
        return EarlierReleases(unlooked=(UnreadableRelease(say("state_folder_content"), None, _why(error), must=must),))
    found: list[EarlierRelease] = []
    unlooked: list[UnreadableRelease] = []
    twice: list[RunRecord] = []
    left = 0
    own = () if run is None or kind.accounted else _own_inputs(store, release, run, kinds)
    made = frozenset() if run is None else _digests(store, run, look)
    for record in records:
        try:
            folder = store.folder(record.run, look)
            if not (of_same_persons(folder, record, release, policy) or _same_files(folder, own, kinds)):
                twice.append(record)
                continue
            one = _given_to(release_of_run(folder, release, kinds), folder, release, policy)
            if files:
                _check_files(folder, one)
                one = replace(one, state=_state(store, release, one, kinds))
        except (PrivreleaseError, OSError, ValueError, TypeError, LookupError, StopIteration) as error:
            weighs = must and not made & _digests(store, record.run, look) and not _is_accounted(store, record, kinds)
            unlooked.append(UnreadableRelease(named_by_run(record.release, record.run), record.run, _why(error), must=weighs))
            twice.append(record)
            continue
        alike = [other for other in found if other.kind == one.kind]
        if kind.accounted and one.kind == kind.name:
            found.append(one)
        elif any(one.digests & other.digests for other in alike):
            twice.append(record)
        elif not one.apart and sum(not other.apart for other in alike) >= MOST_EARLIER:
            left += 1
        else:
            found.append(one)
    held = release.recipients_hold_previous
    unknown = unknown_publications(store, release, policy, (own, made), kinds, held=held, outputs=files)
    return EarlierReleases(_held_by_all(found, twice, store, (release, policy), kinds, look), left, tuple(unlooked), unknown)


def _held_by_all(
    found: Sequence[EarlierRelease],
    twice: Sequence[RunRecord],
    store: ReleaseStore,
    asked: tuple[ReleasePlan, Plan],
    kinds: Sequence[Kind[Any]],
    look: Look,
) -> tuple[EarlierRelease, ...]:
    """Add to each release whoever got the same files by another publication, whatever its policy calls them. ``twice``: all others.

    A publication of which only its files are known was given to anybody.
    """
    every = list(found)
    if not any(one.apart for one in every):
        return tuple(every)
    for record in twice:
        files = _digests(store, record.run, look)
        for place, one in enumerate(every):
            if one.apart and one.digests & files:
                every[place] = one.given_too(_publication(one, store.folder(record.run, look), asked, kinds))
    return tuple(every)


def _publication(
    one: EarlierRelease, folder: RunFolder, asked: tuple[ReleasePlan, Plan], kinds: Sequence[Kind[Any]]
) -> EarlierRelease:
    """Another publication of what ``one`` holds, with its recipients."""
    release, policy = asked
    try:
        return _given_to(release_of_run(folder, release, kinds), folder, release, policy)
    except (PrivreleaseError, OSError, ValueError, TypeError, LookupError, StopIteration):
        return replace(one, recipients=None, apart=False, held=release.recipients_hold_previous)


def _state(store: ReleaseStore, release: ReleasePlan, one: EarlierRelease, kinds: Sequence[Kind[Any]]) -> Path | None:
    """Return the file that an earlier table was made of, where it is still there and the same: by its name, next to the source of today."""
    from privrelease.release.digests import digest_key, keyed_digest

    if not kind_named(one.kind, kinds).differences or not one.inputs:
        return None
    noted, source = one.inputs[0], Path(release.source.path)
    root = Path(release.source.path.removesuffix(release.source.label)) if release.source.label else source.parent
    for path in dict.fromkeys((root / noted.label, source.parent / noted.file)):
        if path.is_file():
            key = digest_key(store.state, os.environ)
            if key.id == noted.key_id and keyed_digest(path, key) == noted.hmac_sha256:
                return path
    return None


def _why(error: Exception) -> str:
    """Say what went wrong, without a word of what was read."""
    if isinstance(error, PrivreleaseError):
        return error.code
    return say("file_of_it_unread") if isinstance(error, OSError) else say("file_of_it_other")


def _check_files(folder: RunFolder, one: EarlierRelease) -> None:
    """Raise InputError (R120) where a file is not the one that was published, OSError where it is gone."""
    from privrelease.release.digests import sha256_of

    manifest = folder.manifest()
    for output in manifest.outputs:
        if sha256_of(folder.output(output.file)) != output.sha256:
            raise InputError(
                code="R120",
                message=f"a file of {one.name} is not what was published",
                hint="restore it from a recipient's copy",
            )


def _was_published(record: RunRecord) -> bool:
    """A publication under way, or one that was killed, may be out."""
    return record.state.value == "publishing" or any(step.state.value == "published" for step in record.history)


def _is_accounted(store: ReleaseStore, record: RunRecord, kinds: Sequence[Kind[Any]]) -> bool:
    """Return True if a run was of a kind that the ledger governs, as far as its manifest can be read."""
    try:
        return kind_of_manifest(store.folder(record.run).manifest(), kinds).accounted
    except (PrivreleaseError, OSError, ValueError, LookupError, StopIteration):
        return False


def _own_inputs(store: ReleaseStore, release: ReleasePlan, run: str, kinds: Sequence[Kind[Any]]) -> tuple[str, ...]:
    """Keyed digests of the files of a release's source: as its run noted them, or as they are where it has not come to that."""
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.release.digests import digest_key

    try:
        noted = inputs_of(store.folder(run), kinds)
    except (PrivreleaseError, OSError):
        noted = ()
    every = noted or digest_inputs((release.source,), digest_key(store.state, os.environ)).digests
    return tuple(one.hmac_sha256 for one in every if one.label == release.source.label)


def _same_files(run: RunFolder, own: tuple[str, ...], kinds: Sequence[Kind[Any]]) -> bool:
    """Return True if a run was made of these files: of its inputs the first is its source's."""
    inputs = inputs_of(run, kinds) if own else ()
    return bool(inputs) and inputs[0].hmac_sha256 in own


def _given_to(one: EarlierRelease, folder: RunFolder, release: ReleasePlan, policy: Plan) -> EarlierRelease:
    """Add who got an earlier release, and whether recipients of the new one may hold it: not where both name theirs and none is in both.

    Ids and names are those of one policy, whatever its version: another one may call the same recipient otherwise.
    """
    from privrelease.audit.checks.facts import legal_facts

    audit = folder.audited()
    ids = audit["data"].get("recipients")
    theirs = None if ids is None else Recipients.stated(ids, audit["legal"]["stated"])
    apart = (
        theirs is not None
        and release.recipients is not None
        and one.manifest is not None
        and one.manifest.policy.id == policy.policy_id
        and not theirs.meet(Recipients.stated(release.recipients, legal_facts(policy.legal, ()).stated))
    )
    given = None if theirs is None else theirs.ids
    return replace(one, recipients=given, apart=apart, held=release.recipients_hold_previous and not apart)
